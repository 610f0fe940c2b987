//! All objects, and the joins that the questions to a policy need.
//!
//! One writer feeds it by [`Index::apply`], [`Index::delete`] and [`Index::reset`]; everybody else reads. The secondary
//! indices hold names, never objects, and move with the objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::objects::{Kind, Object};
use crate::records::{
    AttachedSource, CsiDriver, CsiNode, Lease, Node, ObjectName, PersistentVolume, PersistentVolumeClaim, Pod,
    StorageClass, VolumeAttachment,
};

mod joins;

pub use joins::Candidate;

/// Where kubelets keep their Leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";

type Objects<T> = BTreeMap<ObjectName, T>;
/// The names of the objects that have something in common.
type Groups<K> = BTreeMap<K, BTreeSet<ObjectName>>;

/// The objects of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Index {
    volumes: Objects<PersistentVolume>,
    claims: Objects<PersistentVolumeClaim>,
    pods: Objects<Pod>,
    nodes: Objects<Node>,
    attachments: Objects<VolumeAttachment>,
    csi_nodes: Objects<CsiNode>,
    csi_drivers: Objects<CsiDriver>,
    storage_classes: Objects<StorageClass>,
    leases: Objects<Lease>,

    /// Pods by the Node that they are bound to.
    pods_by_node: Groups<Arc<str>>,
    /// Pods by the claims that they use.
    pods_by_claim: Groups<ObjectName>,
    /// VolumeAttachments by Node.
    attachments_by_node: Groups<Arc<str>>,
    /// VolumeAttachments by PersistentVolume.
    attachments_by_volume: Groups<Arc<str>>,
    /// PersistentVolumes that nobody has claimed, by class.
    free_by_class: Groups<Arc<str>>,
    /// PersistentVolumes by the claim that they name.
    volumes_by_claim: Groups<ObjectName>,
}

macro_rules! getters {
    ($($one:ident, $all:ident, $record:ty, $what:literal;)*) => {$(
        #[doc = concat!("The ", $what, " of this name.")]
        pub fn $one(&self, name: &str) -> Option<&$record> {
            self.$all.get(&ObjectName::new("", name))
        }

        #[doc = concat!("Every ", $what, ", in the order of their names.")]
        pub fn $all(&self) -> impl ExactSizeIterator<Item = &$record> {
            self.$all.values()
        }
    )*};
}

impl Index {
    getters! {
        volume, volumes, PersistentVolume, "PersistentVolume";
        node, nodes, Node, "Node";
        attachment, attachments, VolumeAttachment, "VolumeAttachment";
        csi_node, csi_nodes, CsiNode, "CSINode";
        csi_driver, csi_drivers, CsiDriver, "CSIDriver";
        storage_class, storage_classes, StorageClass, "StorageClass";
    }

    /// The claim of this name.
    pub fn claim(&self, name: &ObjectName) -> Option<&PersistentVolumeClaim> {
        self.claims.get(name)
    }

    /// Every claim, in the order of namespaces and names.
    pub fn claims(&self) -> impl ExactSizeIterator<Item = &PersistentVolumeClaim> {
        self.claims.values()
    }

    /// The pod of this name.
    pub fn pod(&self, name: &ObjectName) -> Option<&Pod> {
        self.pods.get(name)
    }

    /// The Lease of a Node's kubelet.
    pub fn lease(&self, node: &str) -> Option<&Lease> {
        self.leases.get(&ObjectName::new(LEASE_NAMESPACE, node))
    }

    /// The Leases of kubelets, in the order of their Nodes' names.
    pub fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.leases.values().filter(|lease| &*lease.identity.name.namespace == LEASE_NAMESPACE)
    }

    /// Every pod, in the order of namespaces and names.
    pub fn pods(&self) -> impl ExactSizeIterator<Item = &Pod> {
        self.pods.values()
    }

    /// Takes an object in, in the place of the one of its kind and name.
    pub fn apply(&mut self, object: Object) {
        self.delete(object.kind(), object.name());
        let name = object.name().clone();
        self.link(&object);
        match object {
            Object::PersistentVolume(object) => drop(self.volumes.insert(name, object)),
            Object::PersistentVolumeClaim(object) => drop(self.claims.insert(name, object)),
            Object::Pod(object) => drop(self.pods.insert(name, object)),
            Object::Node(object) => drop(self.nodes.insert(name, object)),
            Object::VolumeAttachment(object) => drop(self.attachments.insert(name, object)),
            Object::CsiNode(object) => drop(self.csi_nodes.insert(name, object)),
            Object::CsiDriver(object) => drop(self.csi_drivers.insert(name, object)),
            Object::StorageClass(object) => drop(self.storage_classes.insert(name, object)),
            Object::Lease(object) => drop(self.leases.insert(name, object)),
        }
    }

    /// Takes an object out; `None` where it is not there.
    pub fn delete(&mut self, kind: Kind, name: &ObjectName) -> Option<Object> {
        let object = match kind {
            Kind::PersistentVolume => self.volumes.remove(name).map(Object::PersistentVolume),
            Kind::PersistentVolumeClaim => self.claims.remove(name).map(Object::PersistentVolumeClaim),
            Kind::Pod => self.pods.remove(name).map(Object::Pod),
            Kind::Node => self.nodes.remove(name).map(Object::Node),
            Kind::VolumeAttachment => self.attachments.remove(name).map(Object::VolumeAttachment),
            Kind::CsiNode => self.csi_nodes.remove(name).map(Object::CsiNode),
            Kind::CsiDriver => self.csi_drivers.remove(name).map(Object::CsiDriver),
            Kind::StorageClass => self.storage_classes.remove(name).map(Object::StorageClass),
            Kind::Lease => self.leases.remove(name).map(Object::Lease),
        }?;
        self.unlink(&object);
        Some(object)
    }

    /// Replaces all objects of a kind, as a watch does that starts anew. Objects of other kinds among `objects` are left out.
    pub fn reset(&mut self, kind: Kind, objects: impl IntoIterator<Item = Object>) {
        for name in self.names(kind) {
            self.delete(kind, &name);
        }
        for object in objects.into_iter().filter(|object| object.kind() == kind) {
            self.apply(object);
        }
    }

    fn names(&self, kind: Kind) -> Vec<ObjectName> {
        match kind {
            Kind::PersistentVolume => self.volumes.keys().cloned().collect(),
            Kind::PersistentVolumeClaim => self.claims.keys().cloned().collect(),
            Kind::Pod => self.pods.keys().cloned().collect(),
            Kind::Node => self.nodes.keys().cloned().collect(),
            Kind::VolumeAttachment => self.attachments.keys().cloned().collect(),
            Kind::CsiNode => self.csi_nodes.keys().cloned().collect(),
            Kind::CsiDriver => self.csi_drivers.keys().cloned().collect(),
            Kind::StorageClass => self.storage_classes.keys().cloned().collect(),
            Kind::Lease => self.leases.keys().cloned().collect(),
        }
    }

    fn link(&mut self, object: &Object) {
        let name = object.name();
        match object {
            Object::Pod(pod) => {
                if let Some(node) = &pod.node {
                    insert(&mut self.pods_by_node, Arc::from(&*node.node_name), name);
                }
                for claim in pod.volumes.iter().filter_map(|volume| pod.claim_of(volume)) {
                    insert(&mut self.pods_by_claim, claim, name);
                }
            }
            Object::VolumeAttachment(attachment) => {
                insert(&mut self.attachments_by_node, Arc::from(&*attachment.node.node_name), name);
                if let AttachedSource::PersistentVolume(volume) = &attachment.source {
                    insert(&mut self.attachments_by_volume, Arc::from(&**volume), name);
                }
            }
            Object::PersistentVolume(volume) => match &volume.claim {
                Some(claim) => insert(&mut self.volumes_by_claim, claim.name.clone(), name),
                None => insert(&mut self.free_by_class, Arc::from(&*volume.storage_class), name),
            },
            Object::PersistentVolumeClaim(_)
            | Object::Node(_)
            | Object::CsiNode(_)
            | Object::CsiDriver(_)
            | Object::StorageClass(_)
            | Object::Lease(_) => {}
        }
    }

    fn unlink(&mut self, object: &Object) {
        let name = object.name();
        match object {
            Object::Pod(pod) => {
                if let Some(node) = &pod.node {
                    remove(&mut self.pods_by_node, &Arc::from(&*node.node_name), name);
                }
                for claim in pod.volumes.iter().filter_map(|volume| pod.claim_of(volume)) {
                    remove(&mut self.pods_by_claim, &claim, name);
                }
            }
            Object::VolumeAttachment(attachment) => {
                remove(&mut self.attachments_by_node, &Arc::from(&*attachment.node.node_name), name);
                if let AttachedSource::PersistentVolume(volume) = &attachment.source {
                    remove(&mut self.attachments_by_volume, &Arc::from(&**volume), name);
                }
            }
            Object::PersistentVolume(volume) => match &volume.claim {
                Some(claim) => remove(&mut self.volumes_by_claim, &claim.name, name),
                None => remove(&mut self.free_by_class, &Arc::from(&*volume.storage_class), name),
            },
            Object::PersistentVolumeClaim(_)
            | Object::Node(_)
            | Object::CsiNode(_)
            | Object::CsiDriver(_)
            | Object::StorageClass(_)
            | Object::Lease(_) => {}
        }
    }
}

fn insert<K: Ord>(groups: &mut Groups<K>, key: K, name: &ObjectName) {
    groups.entry(key).or_default().insert(name.clone());
}

/// A group that becomes empty goes, or a long run would leave one for every pod that ever was.
fn remove<K: Ord>(groups: &mut Groups<K>, key: &K, name: &ObjectName) {
    if let Some(group) = groups.get_mut(key) {
        group.remove(name);
        if group.is_empty() {
            groups.remove(key);
        }
    }
}
