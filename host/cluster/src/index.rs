//! All objects, and the joins that the questions to a policy need.
//!
//! One writer feeds it by [`Index::apply`], [`Index::delete`] and [`Index::reset`]; everybody else reads. The secondary
//! indices hold names, never objects, and move with the objects.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::objects::{Kind, Object};
use crate::records::{
    AttachedSource, CsiDriver, CsiNode, Identity, Lease, Node, ObjectName, PersistentVolume, PersistentVolumeClaim,
    Pod, StorageClass, VolumeAttachment,
};

mod joins;
mod ordered;

pub use joins::Candidate;
use ordered::{Element, Ordered};

/// Where kubelets keep their Leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";

/// Objects of one kind in the order of their names.
type Objects<T> = Ordered<Arc<T>>;
/// The names of the objects that have something in common, as pairs of that and a name.
type Groups<K> = Ordered<(K, ObjectName)>;

/// A record that bears its name.
trait Named {
    fn identity(&self) -> &Identity;
}

impl<T: Named> Element for Arc<T> {
    fn order(&self, other: &Self) -> Ordering {
        self.identity().name.cmp(&other.identity().name)
    }
}

impl<K: Ord + Clone> Element for (K, ObjectName) {
    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
}

/// The objects of a cluster. A clone shares all objects with its original, and costs next to nothing.
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

/// What is the same for the objects of every kind.
macro_rules! kinds {
    ($($kind:ident, $all:ident;)*) => {
        $(impl Named for $kind {
            fn identity(&self) -> &Identity {
                &self.identity
            }
        })*

        impl Index {
            /// Takes an object in, in the place of the one of its kind and name, which it returns.
            pub fn apply(&mut self, object: Object) -> Option<Object> {
                let before = self.delete(object.kind(), object.name());
                self.link(&object);
                match object {
                    $(Object::$kind(object) => drop(self.$all.insert(Arc::new(object))),)*
                }
                before
            }

            /// Takes an object out; `None` where it is not there.
            pub fn delete(&mut self, kind: Kind, name: &ObjectName) -> Option<Object> {
                let object = match kind {
                    $(Kind::$kind => {
                        let object = self.$all.remove(|object| object.identity.name.cmp(name))?;
                        Object::$kind(Arc::unwrap_or_clone(object))
                    })*
                };
                self.unlink(&object);
                Some(object)
            }

            /// A copy of the object of this kind and name.
            pub fn object(&self, kind: Kind, name: &ObjectName) -> Option<Object> {
                match kind {
                    $(Kind::$kind => find(&self.$all, &name.namespace, &name.name).cloned().map(Object::$kind),)*
                }
            }

            /// Whether this very object is there, equal in everything that is read.
            pub fn holds(&self, object: &Object) -> bool {
                let ObjectName { namespace, name } = object.name();
                match object {
                    $(Object::$kind(object) => find(&self.$all, namespace, name) == Some(object),)*
                }
            }

            /// How many objects of a kind there are.
            pub fn count(&self, kind: Kind) -> usize {
                match kind {
                    $(Kind::$kind => self.$all.len(),)*
                }
            }

            /// The names of all objects of a kind, in their order.
            pub fn names(&self, kind: Kind) -> Vec<ObjectName> {
                match kind {
                    $(Kind::$kind => self.$all.iter().map(|object| object.identity.name.clone()).collect(),)*
                }
            }
        }
    };
}

kinds! {
    PersistentVolume, volumes;
    PersistentVolumeClaim, claims;
    Pod, pods;
    Node, nodes;
    VolumeAttachment, attachments;
    CsiNode, csi_nodes;
    CsiDriver, csi_drivers;
    StorageClass, storage_classes;
    Lease, leases;
}

macro_rules! getters {
    ($($one:ident, $all:ident, $record:ty, $what:literal;)*) => {$(
        #[doc = concat!("The ", $what, " of this name.")]
        pub fn $one(&self, name: &str) -> Option<&$record> {
            find(&self.$all, "", name)
        }

        #[doc = concat!("Every ", $what, ", in the order of their names.")]
        pub fn $all(&self) -> impl ExactSizeIterator<Item = &$record> {
            self.$all.iter().map(|object| &**object)
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
        find(&self.claims, &name.namespace, &name.name)
    }

    /// Every claim, in the order of namespaces and names.
    pub fn claims(&self) -> impl ExactSizeIterator<Item = &PersistentVolumeClaim> {
        self.claims.iter().map(|claim| &**claim)
    }

    /// The pod of this name.
    pub fn pod(&self, name: &ObjectName) -> Option<&Pod> {
        find(&self.pods, &name.namespace, &name.name)
    }

    /// Every pod, in the order of namespaces and names.
    pub fn pods(&self) -> impl ExactSizeIterator<Item = &Pod> {
        self.pods.iter().map(|pod| &**pod)
    }

    /// The Lease of a Node's kubelet.
    pub fn lease(&self, node: &str) -> Option<&Lease> {
        find(&self.leases, LEASE_NAMESPACE, node)
    }

    /// The Leases of kubelets, in the order of their Nodes' names.
    pub fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.leases.all(|lease| (*lease.identity.name.namespace).cmp(LEASE_NAMESPACE)).map(|lease| &**lease)
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

fn find<'a, T: Named>(objects: &'a Objects<T>, namespace: &str, name: &str) -> Option<&'a T> {
    let found = objects.get(|object| {
        let found = &object.identity().name;
        (&*found.namespace, &*found.name).cmp(&(namespace, name))
    });
    found.map(|object| &**object)
}

/// The names that go with a key, in their order.
fn group<'a, K, Q>(groups: &'a Groups<K>, key: &Q) -> impl Iterator<Item = &'a ObjectName>
where
    K: Borrow<Q>,
    Q: Ord + ?Sized,
{
    groups.all(move |(other, _)| other.borrow().cmp(key)).map(|(_, name)| name)
}

/// Adds a name to a key's. The key is shared with those that are there.
fn insert<K: Ord + Clone>(groups: &mut Groups<K>, key: K, name: &ObjectName) {
    let known = groups.get(|(other, _)| other.cmp(&key)).map(|(known, _)| known.clone());
    groups.insert((known.unwrap_or(key), name.clone()));
}

fn remove<K: Ord + Clone>(groups: &mut Groups<K>, key: &K, name: &ObjectName) {
    groups.remove(|(other, found)| (other, found).cmp(&(key, name)));
}
