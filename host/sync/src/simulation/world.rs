//! What really is: machines, containers, EC2, and the objects in the API server.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use zonewarden_cluster::records::{Node, Pod};
use zonewarden_cluster::{Index, Object, ObjectName, parse};
use zonewarden_contract::attachment::InstanceState;

const START: i64 = 1_800_000_000;

/// A machine, which is one instance.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) instance: String,
    /// The Node's name that its kubelet has.
    pub(super) node: String,
    pub(super) state: InstanceState,
    /// Whether the kubelet runs: containers go on without it.
    pub(super) kubelet: bool,
    /// Whether the network is cut.
    pub(super) cut: bool,
    /// When it is terminated, once it shuts down.
    pub(super) ends: Option<u64>,
}

impl Machine {
    /// Whether anything on it may still write to a disk.
    pub(super) fn lives(&self) -> bool {
        self.state != InstanceState::Terminated
    }

    pub(super) fn renews(&self) -> bool {
        self.kubelet && !self.cut && self.state == InstanceState::Running
    }
}

/// EC2's own state, which is true and may be shown late, or not at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Ec2 {
    /// The instances' states, and the names that they bear.
    pub(super) instances: BTreeMap<String, (InstanceState, String)>,
    /// The instance that holds each volume.
    pub(super) holders: BTreeMap<String, Option<String>>,
}

/// What went wrong, and what went right.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) violations: Vec<String>,
    pub(super) right: BTreeMap<&'static str, usize>,
}

/// Everything.
#[derive(Debug)]
pub(super) struct World {
    pub(super) second: u64,
    /// How many Nodes there are, each with a pod and its volume.
    pub(super) nodes: usize,
    pub(super) machines: Vec<Machine>,
    /// The objects as they are.
    pub(super) truth: Index,
    /// The objects as they were each second, the newest last: what a watch that lags shows.
    pub(super) past: VecDeque<Arc<Index>>,
    pub(super) ec2: Ec2,
    pub(super) ec2_past: VecDeque<Ec2>,
    /// When EC2 lets go of the volumes of an instance.
    pub(super) releases: Vec<(u64, String)>,
    /// The machine that started a pod's container, by the pod's uid.
    pub(super) started: BTreeMap<String, usize>,
    /// Pods that come back: when, which one, and where.
    pub(super) coming: Vec<(u64, usize, String)>,
    /// When each pod's volume was last used by a pod.
    pub(super) used: BTreeMap<usize, u64>,
    /// Pods whose containers do not start for reasons of their own.
    pub(super) slow: std::collections::BTreeSet<usize>,
    /// Pods that name their volumes themselves.
    pub(super) inline: std::collections::BTreeSet<usize>,
    /// The Nodes that a finalizer holds, and for how long after their instance is gone.
    pub(super) terminating: BTreeMap<String, u64>,
    pub(super) api_away: bool,
    pub(super) tally: Tally,
    pub(super) versions: u64,
}

pub(super) fn node_of(number: usize) -> String {
    format!("node-{number}")
}

pub(super) fn volume_of(number: usize) -> String {
    format!("vol-0000000000000000{number}")
}

pub(super) fn instance_of(number: usize) -> String {
    format!("i-0000000000000000{number}")
}

impl World {
    pub(super) fn new(nodes: usize) -> Self {
        let mut world = Self {
            second: 0,
            nodes,
            machines: Vec::new(),
            truth: Index::default(),
            past: VecDeque::new(),
            ec2: Ec2::default(),
            ec2_past: VecDeque::new(),
            releases: Vec::new(),
            started: BTreeMap::new(),
            coming: Vec::new(),
            used: BTreeMap::new(),
            slow: std::collections::BTreeSet::new(),
            inline: std::collections::BTreeSet::new(),
            terminating: BTreeMap::new(),
            api_away: false,
            tally: Tally::default(),
            versions: 1,
        };
        for number in 0..nodes {
            world.add_machine(node_of(number));
            world.add_node(number);
            let (name, volume) = (format!("data-{number}"), volume_of(number));
            world.apply_text(&format!(
                "
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}, uid: pv-{number}}}
spec: {{csi: {{driver: ebs.csi.aws.com, volumeHandle: {volume}}}, claimRef: {{namespace: default, name: {name}, uid: pvc-{number}}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {name}, namespace: default, uid: pvc-{number}}}
spec: {{volumeName: {name}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
"
            ));
            world.ec2.holders.insert(volume, None);
            world.add_pod(number, &node_of(number));
        }
        world
    }

    pub(super) fn calendar(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(START + i64::try_from(self.second).expect("a short run")).expect("in range")
    }

    fn version(&mut self) -> String {
        self.versions += 1;
        self.versions.to_string()
    }

    pub(super) fn apply_text(&mut self, text: &str) {
        let loaded = parse(text.as_bytes(), "simulation");
        assert_eq!(loaded.problems, []);
        let index = loaded.index;
        let objects = index
            .volumes()
            .cloned()
            .map(Object::PersistentVolume)
            .chain(index.claims().cloned().map(Object::PersistentVolumeClaim))
            .chain(index.pods().cloned().map(Object::Pod))
            .chain(index.nodes().cloned().map(Object::Node))
            .chain(index.csi_nodes().cloned().map(Object::CsiNode))
            .chain(index.attachments().cloned().map(Object::VolumeAttachment))
            .chain(index.leases().cloned().map(Object::Lease));
        for object in objects.collect::<Vec<_>>() {
            self.apply(object);
        }
    }

    /// Writes an object as the API server does: with a new version.
    pub(super) fn apply(&mut self, mut object: Object) {
        let version = self.version();
        match &mut object {
            Object::Node(object) => object.identity.resource_version = version,
            Object::Pod(object) => object.identity.resource_version = version,
            Object::VolumeAttachment(object) => object.identity.resource_version = version,
            Object::PersistentVolume(object) => object.identity.resource_version = version,
            Object::PersistentVolumeClaim(object) => object.identity.resource_version = version,
            Object::CsiNode(object) => object.identity.resource_version = version,
            Object::CsiDriver(object) => object.identity.resource_version = version,
            Object::StorageClass(object) => object.identity.resource_version = version,
            Object::Lease(object) => object.identity.resource_version = version,
        }
        drop(self.truth.apply(object));
    }

    pub(super) fn add_machine(&mut self, node: String) -> usize {
        let number = self.machines.len();
        let machine = Machine {
            instance: instance_of(number),
            node: node.clone(),
            state: InstanceState::Running,
            kubelet: true,
            cut: false,
            ends: None,
        };
        self.ec2.instances.insert(machine.instance.clone(), (InstanceState::Running, node));
        self.machines.push(machine);
        number
    }

    /// The Node, CSINode and Lease of a machine, as its kubelet registers them.
    pub(super) fn add_node(&mut self, machine: usize) {
        let Machine { instance, node, .. } = self.machines[machine].clone();
        self.apply_text(&format!(
            "
apiVersion: v1
kind: Node
metadata: {{name: {node}, uid: node-of-{instance}}}
spec: {{providerID: 'aws:///us-east-1a/{instance}'}}
status: {{conditions: [{{type: Ready, status: 'True'}}]}}
"
        ));
        self.add_csi_node(machine);
        self.renew(machine);
    }

    pub(super) fn add_csi_node(&mut self, machine: usize) {
        let Machine { instance, node, .. } = self.machines[machine].clone();
        self.apply_text(&format!(
            "
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{name: {node}}}
spec: {{drivers: [{{name: ebs.csi.aws.com, nodeID: {instance}, topologyKeys: []}}]}}
"
        ));
    }

    pub(super) fn renew(&mut self, machine: usize) {
        let node = self.machines[machine].node.clone();
        let now = self.calendar();
        self.apply_text(&format!(
            "
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {{name: {node}, namespace: kube-node-lease, uid: lease-{node}}}
spec: {{renewTime: '{now}', leaseDurationSeconds: 40}}
"
        ));
    }

    pub(super) fn add_pod(&mut self, number: usize, node: &str) {
        let uid = format!("pod-{number}-{}", self.version());
        let source = if self.inline.contains(&number) {
            format!("awsElasticBlockStore: {{volumeID: 'aws://us-east-1a/{}'}}", volume_of(number))
        } else {
            format!("persistentVolumeClaim: {{claimName: data-{number}}}")
        };
        self.apply_text(&format!(
            "
apiVersion: v1
kind: Pod
metadata: {{name: web-{number}, namespace: default, uid: {uid}}}
spec: {{nodeName: '{node}', volumes: [{{name: data, {source}}}]}}
status: {{phase: Pending}}
"
        ));
    }

    pub(super) fn node(&self, name: &str) -> Option<Node> {
        self.truth.node(name).cloned()
    }

    pub(super) fn pods(&self) -> Vec<Pod> {
        self.truth.pods().cloned().collect()
    }

    /// The machine whose kubelet has a Node's name now: the last one that was made with it.
    pub(super) fn machine_of(&self, node: &str) -> Option<usize> {
        self.machines.iter().rposition(|machine| machine.node == node)
    }

    /// The number of the pod, and of its volume, by the pod's name.
    pub(super) fn number_of(name: &ObjectName) -> usize {
        name.name.rsplit('-').next().and_then(|number| number.parse().ok()).expect("web-N or data-N")
    }

    /// The number of the volume that a VolumeAttachment is about, by its name.
    pub(super) fn attached_by(name: &ObjectName) -> usize {
        name.name.split('-').nth(1).and_then(|number| number.parse().ok()).expect("csi-N-node-M")
    }

    /// Whether a container of this pod runs on a machine that lives.
    pub(super) fn runs(&self, pod: &Pod) -> bool {
        self.started.get(&pod.identity.uid).is_some_and(|machine| self.machines[*machine].lives())
    }
}
