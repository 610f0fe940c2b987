//! What machines, kubelets and Kubernetes' own controllers do by themselves each second.

use zonewarden_cluster::records::VolumeAttachment;
use zonewarden_cluster::{Kind, Object, ObjectName};
use zonewarden_contract::attachment::InstanceState;

use super::world::{World, node_of, volume_of};

const RENEW_EVERY: u64 = 10;
/// A Node counts as not ready when its Lease is so old.
const NOT_READY_AFTER: i64 = 40;
/// A pod whose Node is gone is collected after so long.
const COLLECTED_AFTER: u64 = 50;

impl World {
    /// One second of the world, but for the weather.
    pub(super) fn step(&mut self) {
        self.second += 1;
        self.end_machines();
        if !self.api_away {
            self.renew_leases();
            self.judge_nodes();
            self.attach();
            self.start_containers();
            self.collect_pods();
            self.bring_back();
            self.end_nodes();
        }
        for pod in self.pods() {
            self.used.insert(Self::number_of(&pod.identity.name), self.second);
        }
        self.past.push_back(std::sync::Arc::new(self.truth.clone()));
        self.ec2_past.push_back(self.ec2.clone());
        for _ in 40..self.past.len() {
            self.past.pop_front();
            self.ec2_past.pop_front();
        }
    }

    fn end_machines(&mut self) {
        let second = self.second;
        for machine in &mut self.machines {
            if machine.ends.is_some_and(|ends| ends <= second) && machine.lives() {
                machine.state = InstanceState::Terminated;
                // EC2 lets go of the volumes a little later.
                self.releases.push((second + 3, machine.instance.clone()));
            }
            if let Some(known) = self.ec2.instances.get_mut(&machine.instance) {
                known.0 = machine.state.clone();
            }
        }
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.releases).into_iter().partition(|(at, _)| *at <= second);
        self.releases = later;
        for (_, instance) in due {
            for holder in self.ec2.holders.values_mut().filter(|holder| holder.as_deref() == Some(&instance)) {
                *holder = None;
            }
        }
    }

    fn renew_leases(&mut self) {
        for machine in 0..self.machines.len() {
            // Kubelets do not all renew in the same second.
            let turn = (self.second + 3 * machine as u64).is_multiple_of(RENEW_EVERY);
            let is_current = self.machine_of(&self.machines[machine].node) == Some(machine);
            if turn && is_current && self.machines[machine].renews() {
                self.renew(machine);
            }
        }
    }

    fn judge_nodes(&mut self) {
        let now = self.calendar();
        for mut node in self.truth.nodes().cloned().collect::<Vec<_>>() {
            let lease = self.truth.lease(&node.identity.name.name).and_then(|lease| lease.renewed);
            let ready = lease.is_some_and(|renewed| now.as_second() - renewed.as_second() < NOT_READY_AFTER);
            if node.ready != ready {
                node.ready = ready;
                self.apply(Object::Node(node));
            }
        }
    }

    /// The attach-detach controller, the attacher and the driver, as far as they matter here: a volume that nobody has is
    /// attached to where its pod is.
    fn attach(&mut self) {
        for pod in self.pods() {
            let number = Self::number_of(&pod.identity.name);
            let Some(node) = pod.node.clone().filter(|node| self.node(&node.node_name).is_some()) else { continue };
            let machine = self.machine_of(&node.node_name).expect("a Node is a machine's");
            let name = ObjectName::new("", &format!("csi-{number}-{}", node.node_name));
            let holder = self.ec2.holders[&volume_of(number)].clone();
            let running = self.machines[machine].state == InstanceState::Running;
            let instance = self.machines[machine].instance.clone();
            match self.truth.attachment(&name.name).cloned() {
                None if holder.is_none() && running => self.add_attachment(number, &node.node_name, &instance),
                Some(mut attachment) if !attachment.attached && running => {
                    let free = holder.is_none() || holder.as_ref() == Some(&instance);
                    if free && attachment.node_id.as_ref() == Some(&instance) {
                        self.ec2.holders.insert(volume_of(number), Some(instance));
                        attachment.attached = true;
                        self.apply(Object::VolumeAttachment(attachment));
                    }
                }
                _ => {}
            }
        }
    }

    fn add_attachment(&mut self, number: usize, node: &str, instance: &str) {
        let (uid, now) = (format!("va-{number}-{}", self.second), self.calendar());
        let source = if self.inline.contains(&number) {
            let volume = volume_of(number);
            format!("inlineVolumeSpec: {{csi: {{driver: ebs.csi.aws.com, volumeHandle: {volume}}}}}")
        } else {
            format!("persistentVolumeName: data-{number}")
        };
        self.apply_text(&format!(
            "
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {{name: csi-{number}-{node}, uid: {uid}, creationTimestamp: '{now}', annotations: {{csi.alpha.kubernetes.io/node-id: {instance}}}}}
spec: {{attacher: ebs.csi.aws.com, nodeName: {node}, source: {{{source}}}}}
status: {{attached: false}}
"
        ));
    }

    fn start_containers(&mut self) {
        for mut pod in self.pods() {
            let Some(node) = pod.node.clone() else { continue };
            let number = Self::number_of(&pod.identity.name);
            let Some(machine) = self.machine_of(&node.node_name) else { continue };
            let attachment = self.truth.attachment(&format!("csi-{number}-{}", node.node_name));
            let attached = attachment.is_some_and(|attachment| attachment.attached);
            let there = self.ec2.holders[&volume_of(number)].as_ref() == Some(&self.machines[machine].instance);
            let able = self.machines[machine].kubelet && self.machines[machine].state == InstanceState::Running;
            if self.slow.contains(&number) {
                continue;
            }
            if attached && there && able && self.machines[machine].cut {
                // It starts, and nobody hears of it.
                self.started.insert(pod.identity.uid.clone(), machine);
            } else if !pod.has_started_container && attached && there && able {
                self.started.insert(pod.identity.uid.clone(), machine);
                pod.has_started_container = true;
                "Running".clone_into(&mut pod.phase);
                self.apply(Object::Pod(pod));
                self.use_volume(&node.node_name, number);
            }
        }
    }

    pub(super) fn use_volume(&mut self, node: &str, number: usize) {
        let Some(mut node) = self.node(node) else { return };
        let name = format!("kubernetes.io/csi/ebs.csi.aws.com^{}", volume_of(number));
        if !node.volumes_in_use.contains(&name) {
            node.volumes_in_use.push(name);
            self.apply(Object::Node(node));
        }
    }

    /// The collector takes pods away whose Node is gone, unless their machine lives: a kubelet would tell.
    fn collect_pods(&mut self) {
        for pod in self.pods() {
            let Some(node) = &pod.node else { continue };
            let gone = self.node(&node.node_name).is_none() && self.second.is_multiple_of(COLLECTED_AFTER);
            if gone && !self.runs(&pod) {
                self.remove_pod(&pod.identity.name, None);
            }
        }
    }

    /// Takes a pod away; its StatefulSet makes it again on a Node that is well, or where it is told.
    pub(super) fn remove_pod(&mut self, name: &ObjectName, to: Option<String>) {
        if let Some(Object::Pod(pod)) = self.truth.delete(Kind::Pod, name) {
            self.started.remove(&pod.identity.uid);
            let number = Self::number_of(name);
            let well = (0..self.nodes).map(node_of).find(|node| {
                self.node(node).is_some_and(|node| node.ready && node.taints.is_empty())
                    && pod.node.as_ref().is_none_or(|former| former.node_name != *node)
            });
            let node = to.or(well).or_else(|| pod.node.map(|node| node.node_name));
            self.coming.extend(node.map(|node| (self.second + 2, number, node)));
        }
    }

    fn bring_back(&mut self) {
        let second = self.second;
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.coming).into_iter().partition(|(at, ..)| *at <= second);
        self.coming = later;
        for (_, number, node) in due {
            self.add_pod(number, &node);
        }
    }

    /// The controller detaches a volume that nobody uses any more, as it should.
    pub(super) fn release(&mut self, number: usize) {
        let node = node_of(number);
        if let Some(attachment) = self.truth.attachment(&format!("csi-{number}-{node}")).cloned() {
            self.finish_deletion(&attachment);
        }
        if let Some(mut node) = self.node(&node) {
            node.volumes_in_use.retain(|name| !name.ends_with(&volume_of(number)));
            self.apply(Object::Node(node));
        }
    }

    /// The attacher and the driver finish a deletion at once: the volume leaves the instance that the attachment was for.
    pub(super) fn finish_deletion(&mut self, attachment: &VolumeAttachment) {
        self.truth.delete(Kind::VolumeAttachment, &attachment.identity.name);
        let volume = volume_of(Self::attached_by(&attachment.identity.name));
        let held = self.ec2.holders.get_mut(&volume).expect("every volume is there");
        if held.is_some() && *held == attachment.node_id {
            *held = None;
        }
    }

    /// An autoscaler deletes a Node and drains it; its finalizer keeps the Node until the instance is gone.
    pub(super) fn drain(&mut self, node: usize, holds: u64) {
        let name = node_of(node);
        let Some(mut object) = self.node(&name) else { return };
        object.identity.deleted = Some(self.calendar());
        self.apply(Object::Node(object));
        self.terminating.insert(name.clone(), holds);
        for pod in self.truth.pods_on_node(&name).map(|pod| pod.identity.name.clone()).collect::<Vec<_>>() {
            self.remove_pod(&pod, None);
        }
    }

    /// The autoscaler takes its finalizer off where the instance is gone for long enough.
    fn end_nodes(&mut self) {
        for (name, holds) in self.terminating.clone() {
            let machine = &self.machines[self.machine_of(&name).expect("a Node is a machine's")];
            if !machine.lives() && machine.ends.is_some_and(|ends| ends + holds <= self.second) {
                self.terminating.remove(&name);
                self.delete_node(&name);
            }
        }
    }

    pub(super) fn delete_node(&mut self, name: &str) {
        let name = ObjectName::new("", name);
        self.truth.delete(Kind::Node, &name);
        self.truth.delete(Kind::CsiNode, &name);
        self.truth.delete(Kind::Lease, &ObjectName::new("kube-node-lease", &name.name));
    }

    /// A pod that names its volume itself, before anything is attached.
    pub(super) fn make_inline(&mut self, number: usize) {
        self.inline.insert(number);
        self.truth.delete(Kind::PersistentVolume, &ObjectName::new("", &format!("data-{number}")));
        self.truth.delete(Kind::PersistentVolumeClaim, &ObjectName::new("default", &format!("data-{number}")));
        self.add_pod(number, &node_of(number));
    }
}
