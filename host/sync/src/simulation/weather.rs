//! What happens to the world from outside.

use proptest::prelude::*;
use zonewarden_cluster::{Kind, Object, ObjectName};
use zonewarden_contract::attachment::InstanceState;

use super::ec2::Lens;
use super::world::{World, node_of, volume_of};

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// The machine of a Node's name shuts down, and is terminated after so many seconds.
    Kill(usize, u64),
    /// Its network is cut; its containers go on.
    Cut(usize),
    /// Its network is back.
    Join(usize),
    /// Its kubelet dies; its containers go on.
    Crash(usize),
    /// Its kubelet is back.
    Revive(usize),
    /// It is stopped, and keeps its volumes.
    Stop(usize),
    /// Somebody deletes the Node.
    DeleteNode(usize),
    /// A new machine comes with the name, and its kubelet adopts the Node where there is one.
    Replace(usize),
    /// Somebody detaches the volume in EC2.
    Detach(usize),
    /// Somebody deletes the pod, and it comes back on the same Node.
    RestartPod(usize),
    /// EC2 says for so many seconds that the Node's machine is terminated.
    Lie(usize, u64),
    /// Only DescribeVolumes says so.
    VolumesLie(usize, u64),
    /// Only DescribeInstances says so.
    InstancesLie(usize, u64),
    /// EC2 shows the state of some seconds ago, for so many seconds.
    Behind(usize, u64),
    /// EC2 throttles for so many seconds.
    Throttle(u64),
    /// EC2 says for so many seconds that nothing exists.
    Nonsense(u64),
    /// EC2 says for so many seconds that every volume is free.
    AllFree(u64),
    /// A new machine comes with the name and has not registered its Node yet.
    Boot(usize),
    /// Somebody takes the volume of a pod to another Node's machine.
    Elsewhere(usize, usize),
    /// A kubelet lists a volume as in use.
    InUse(usize),
    /// Somebody else taints a Node as out of service.
    Taint(usize),
    /// Somebody deletes a pod for good.
    ScaleDown(usize),
    /// A pod is made on a Node, whatever is there.
    Bind(usize),
    /// The volume of a pod that is gone is detached as it should be.
    Release(usize),
    /// The containers of a pod do not start any more.
    Slow(usize),
    /// The API server is away, or back.
    Away(bool),
    /// The watch lags by so many seconds.
    Lag(usize),
    /// A pod names its volume itself, from its first second on: there is no claim and no PersistentVolume.
    Inline(usize),
    /// A Node is deleted and drained by an autoscaler, whose finalizer holds it for so many seconds after its instance is gone.
    Terminating(usize, u64),
    /// The host starts anew and has seen nothing.
    Restart,
}

/// What holds for a while.
#[derive(Clone, Debug, Default)]
pub(super) struct Sky {
    pub(super) lag: usize,
    /// Whether the host has to start anew.
    pub(super) restarts: bool,
    /// From when and until when each lens is before the host's eyes.
    shown: Vec<(u64, u64, Lens)>,
}

impl Sky {
    /// The lens of this second. EC2 lies for long only where the kubelet can tell otherwise: nobody could see through any other
    /// lie. About a Node that is gone it lies for less than two sweeps, and about one whose kubelet is silent in one read.
    pub(super) fn lens(&self, world: &World) -> Lens {
        let second = world.second;
        let mut lens = Lens::default();
        for (from, _, part) in self.shown.iter().filter(|(from, until, _)| (*from..*until).contains(&second)) {
            lens.behind = lens.behind.max(part.behind);
            lens.throttled |= part.throttled;
            lens.nonsense |= part.nonsense;
            lens.all_free |= part.all_free;
            let Some(lie) = &part.lie else { continue };
            let half = part.volumes_only || part.instances_only;
            let machine = world.machines.iter().find(|machine| machine.instance == *lie).expect("a machine");
            let node = world.node(&machine.node);
            let told = machine.renews() && node.is_some();
            if half || told || second == *from || (node.is_none() && second < from + 8) {
                lens.lie = Some(lie.clone());
                (lens.volumes_only, lens.instances_only) = (part.volumes_only, part.instances_only);
            }
        }
        lens
    }

    fn show(&mut self, world: &World, seconds: u64, lens: Lens) {
        let from = world.second + 1;
        self.shown.push((from, from + seconds, lens));
    }
}

impl World {
    pub(super) fn happen(&mut self, event: &Event, sky: &mut Sky) {
        let second = self.second;
        let machine = |world: &Self, node: usize| world.machine_of(&node_of(node)).expect("every name has a machine");
        match event {
            Event::Kill(node, after) => {
                let machine = machine(self, *node);
                let machine = &mut self.machines[machine];
                if machine.state == InstanceState::Running {
                    machine.state = InstanceState::ShuttingDown;
                    machine.ends = Some(second + after);
                }
            }
            Event::Stop(node) => {
                let machine = machine(self, *node);
                let machine = &mut self.machines[machine];
                if machine.state == InstanceState::Running {
                    machine.state = InstanceState::Stopped;
                }
            }
            Event::Cut(node) => self.with(machine(self, *node), |machine| machine.cut = true),
            Event::Join(node) => self.with(machine(self, *node), |machine| machine.cut = false),
            Event::Crash(node) => self.with(machine(self, *node), |machine| machine.kubelet = false),
            Event::Revive(node) => self.with(machine(self, *node), |machine| machine.kubelet = true),
            Event::DeleteNode(node) => self.delete_node(&node_of(*node)),
            Event::Replace(node) => self.replace(*node),
            Event::Detach(volume) => drop(self.ec2.holders.insert(volume_of(*volume), None)),
            Event::RestartPod(number) => {
                let name = ObjectName::new("default", &format!("web-{number}"));
                let node = self.truth.pod(&name).and_then(|pod| pod.node.clone()).map(|node| node.node_name);
                self.remove_pod(&name, node);
            }
            Event::Lie(node, seconds) => self.lie((*node, *seconds), &Lens::default(), sky),
            Event::VolumesLie(node, seconds) => {
                self.lie((*node, *seconds), &Lens { volumes_only: true, ..Lens::default() }, sky);
            }
            Event::InstancesLie(node, seconds) => {
                self.lie((*node, *seconds), &Lens { instances_only: true, ..Lens::default() }, sky);
            }
            Event::Behind(behind, seconds) => sky.show(self, *seconds, Lens { behind: *behind, ..Lens::default() }),
            Event::Throttle(seconds) => sky.show(self, *seconds, Lens { throttled: true, ..Lens::default() }),
            Event::Nonsense(seconds) => sky.show(self, *seconds, Lens { nonsense: true, ..Lens::default() }),
            Event::AllFree(seconds) => sky.show(self, *seconds, Lens { all_free: true, ..Lens::default() }),
            Event::Boot(node) => {
                if !self.machines[machine(self, *node)].lives() {
                    self.add_machine(node_of(*node));
                }
            }
            Event::Elsewhere(volume, node) => {
                let holder = self.machines[machine(self, *node)].instance.clone();
                self.ec2.holders.insert(volume_of(*volume), Some(holder));
            }
            Event::InUse(number) => self.use_volume(&node_of(*number), *number),
            Event::Taint(node) => self.taint(*node),
            Event::ScaleDown(number) => {
                self.truth.delete(Kind::Pod, &ObjectName::new("default", &format!("web-{number}")));
                self.coming.retain(|(_, coming, _)| coming != number);
            }
            Event::Release(number) => self.release(*number),
            Event::Slow(number) => drop(self.slow.insert(*number)),
            Event::Bind(number) => self.add_pod(*number, &node_of(*number)),
            Event::Away(away) => self.api_away = *away,
            Event::Lag(seconds) => sky.lag = *seconds,
            Event::Inline(number) => self.make_inline(*number),
            Event::Terminating(node, holds) => self.drain(*node, *holds),
            Event::Restart => sky.restarts = true,
        }
    }

    fn with(&mut self, machine: usize, change: impl FnOnce(&mut super::world::Machine)) {
        change(&mut self.machines[machine]);
    }

    fn taint(&mut self, node: usize) {
        let Some(mut node) = self.node(&node_of(node)) else { return };
        let key = crate::observations::OUT_OF_SERVICE.to_owned();
        if node.taints.is_empty() {
            node.taints.push(zonewarden_cluster::records::Taint {
                key,
                value: String::new(),
                effect: "NoExecute".to_owned(),
                added: None,
            });
            self.apply(Object::Node(node));
        }
    }

    fn lie(&self, (node, seconds): (usize, u64), lens: &Lens, sky: &mut Sky) {
        let machine = self.machine_of(&node_of(node)).expect("every name has a machine");
        let lie = Some(self.machines[machine].instance.clone());
        sky.show(self, seconds, Lens { lie, ..lens.clone() });
    }

    /// Only a name whose machine is dead gets another one: a kubelet with a name that lives is refused.
    fn replace(&mut self, node: usize) {
        let old = self.machine_of(&node_of(node)).expect("every name has a machine");
        if self.machines[old].lives() {
            return;
        }
        let new = self.add_machine(node_of(node));
        match self.node(&node_of(node)) {
            // A kubelet that finds a Node of its name adopts it, and leaves its provider id.
            Some(mut adopted) => {
                adopted.volumes_in_use.clear();
                self.apply(Object::Node(adopted));
                self.add_csi_node(new);
                self.renew(new);
            }
            None => self.add_node(new),
        }
    }
}

/// Any weather in which nobody could be deceived for good: EC2 may lie for long about a machine whose kubelet renews its Lease,
/// and for one read about any.
pub(super) fn any_event(nodes: usize) -> impl Strategy<Value = Event> {
    let node = 0..nodes;
    prop_oneof![
        6 => (node.clone(), 2_u64..20).prop_map(|(node, after)| Event::Kill(node, after)),
        2 => node.clone().prop_map(Event::Cut),
        3 => node.clone().prop_map(Event::Join),
        2 => node.clone().prop_map(Event::Crash),
        3 => node.clone().prop_map(Event::Revive),
        1 => node.clone().prop_map(Event::Stop),
        2 => node.clone().prop_map(Event::DeleteNode),
        4 => node.clone().prop_map(Event::Replace),
        4 => node.clone().prop_map(Event::Detach),
        4 => node.clone().prop_map(Event::RestartPod),
        4 => (node.clone(), 1_u64..60).prop_map(|(node, seconds)| Event::Lie(node, seconds)),
        2 => (node.clone(), 1_u64..60).prop_map(|(node, seconds)| Event::VolumesLie(node, seconds)),
        2 => (node.clone(), 1_u64..60).prop_map(|(node, seconds)| Event::InstancesLie(node, seconds)),
        1 => node.clone().prop_map(Event::Boot),
        1 => node.clone().prop_map(Event::InUse),
        1 => node.clone().prop_map(Event::Taint),
        1 => node.clone().prop_map(Event::ScaleDown),
        1 => (node.clone(), node.clone()).prop_map(|(volume, node)| Event::Elsewhere(volume, node)),
        3 => (1_usize..30, 1_u64..10).prop_map(|(behind, seconds)| Event::Behind(behind, seconds)),
        2 => (1_u64..30).prop_map(Event::Throttle),
        1 => (1_u64..30).prop_map(Event::Nonsense),
        1 => Just(Event::AllFree(1)),
        1 => (node, 0_u64..60).prop_map(|(node, holds)| Event::Terminating(node, holds)),
        1 => Just(Event::Restart),
        1 => any::<bool>().prop_map(Event::Away),
        3 => Just(Event::Away(false)),
        3 => (0_usize..6).prop_map(Event::Lag),
    ]
}
