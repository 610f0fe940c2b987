//! All objects, and the joins that the questions to a policy need.
//!
//! One writer feeds it by [`Index::apply`], [`Index::delete`] and [`Index::reset`]; everybody else reads. The secondary
//! indices hold the same objects once more, in another order, and move with them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::objects::{Kind, Object};
use crate::records::{
    CsiDriver, CsiNode, Identity, Lease, Node, ObjectName, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass,
    VolumeAttachment,
};

mod groups;
mod joins;
mod ordered;

use groups::Groups;
pub use joins::Candidate;
use joins::Joins;
use ordered::Ordered;

/// Where kubelets keep their Leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";

/// Objects of one kind in the order of their names.
type Objects<T> = Ordered<Arc<T>>;
/// What was and what is.
type Difference<T> = (Option<T>, Option<T>);

/// A record as the index keeps it.
trait Record: Clone + PartialEq + 'static {
    fn identity(&self) -> &Identity;

    /// Where the objects of its kind stand by what they belong to.
    fn groups(_: &mut Joins) -> impl Iterator<Item = &mut Groups<Self>> {
        [].into_iter()
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
    joins: Joins,
}

/// What is the same for the objects of every kind.
macro_rules! kinds {
    ($($kind:ident, $all:ident;)*) => {
        impl Index {
            /// Takes an object in, in the place of the one of its kind and name, which it returns.
            pub fn apply(&mut self, object: Object) -> Option<Object> {
                match object {
                    $(Object::$kind(object) => {
                        let before = put(&mut self.$all, &mut self.joins, &Arc::new(compact(object)));
                        before.map(|before| Object::$kind(Arc::unwrap_or_clone(before)))
                    })*
                }
            }

            /// Takes an object out; `None` where it is not there.
            pub fn delete(&mut self, kind: Kind, name: &ObjectName) -> Option<Object> {
                match kind {
                    $(Kind::$kind => {
                        let before = cut(&mut self.$all, &mut self.joins, name);
                        before.map(|before| Object::$kind(Arc::unwrap_or_clone(before)))
                    })*
                }
            }

            /// Takes in all objects of a kind that another index holds; returns the names of those that were here already.
            pub(crate) fn absorb(&mut self, kind: Kind, other: &Self) -> Vec<ObjectName> {
                match kind {
                    $(Kind::$kind => {
                        let objects = other.$all.iter();
                        let before = objects.filter_map(|object| put(&mut self.$all, &mut self.joins, object));
                        before.map(|before| before.identity.name.clone()).collect()
                    })*
                }
            }

            /// Puts all objects of a kind of another index in the place of this one's, but for those of the kept names.
            /// Returns what differs, where that is wanted: what was and what is.
            pub(crate) fn adopt(
                &mut self,
                kind: Kind,
                other: &Self,
                kept: &BTreeSet<ObjectName>,
                wanted: bool,
            ) -> Vec<Difference<Object>> {
                match kind {
                    $(Kind::$kind => {
                        let owned = |object: Option<Arc<$kind>>| object.map(Arc::unwrap_or_clone).map(Object::$kind);
                        let differences = adopt(&mut self.$all, &mut self.joins, &other.$all, kept);
                        let differences = differences.into_iter().filter(|_| wanted);
                        differences.map(|(before, after)| (owned(before), owned(after))).collect()
                    })*
                }
            }

            /// A copy of the object of this kind and name.
            pub fn object(&self, kind: Kind, name: &ObjectName) -> Option<Object> {
                match kind {
                    $(Kind::$kind => find(&self.$all, &name.namespace, &name.name).cloned().map(Object::$kind),)*
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
}

/// A clone has no room to spare, where what was just read has: lists that come element by element grow by doubling.
#[allow(clippy::needless_pass_by_value, reason = "the roomy one goes")]
fn compact<T: Clone>(object: T) -> T {
    object.clone()
}

fn put<T: Record>(objects: &mut Objects<T>, joins: &mut Joins, object: &Arc<T>) -> Option<Arc<T>> {
    let name = &object.identity().name;
    let before = objects.insert(Arc::clone(object), |other| other.identity().name.cmp(name));
    for groups in T::groups(joins) {
        if let Some(before) = &before {
            groups.remove(before);
        }
        groups.insert(object);
    }
    before
}

fn cut<T: Record>(objects: &mut Objects<T>, joins: &mut Joins, name: &ObjectName) -> Option<Arc<T>> {
    let before = objects.remove(|object| object.identity().name.cmp(name))?;
    T::groups(joins).for_each(|groups| groups.remove(&before));
    Some(before)
}

/// Puts `others` in the place of what is there, and returns what differs: what came or changed, then what went.
fn adopt<T: Record>(
    objects: &mut Objects<T>,
    joins: &mut Joins,
    others: &Objects<T>,
    kept: &BTreeSet<ObjectName>,
) -> Vec<Difference<Arc<T>>> {
    let stays = |name: &ObjectName| kept.contains(name) || named(others, name).is_some();
    let gone: Vec<_> = objects.iter().filter(|object| !stays(&object.identity().name)).cloned().collect();
    let mut differences = Vec::new();
    for object in others.iter() {
        if named(objects, &object.identity().name).is_none_or(|known| known != object) {
            let before = put(objects, joins, object);
            differences.push((before, Some(Arc::clone(object))));
        }
    }
    for object in gone {
        cut(objects, joins, &object.identity().name);
        differences.push((Some(object), None));
    }
    differences
}

fn named<'a, T: Record>(objects: &'a Objects<T>, name: &ObjectName) -> Option<&'a Arc<T>> {
    objects.get(|object| object.identity().name.cmp(name))
}

fn find<'a, T: Record>(objects: &'a Objects<T>, namespace: &str, name: &str) -> Option<&'a T> {
    let found = objects.get(|object| {
        let found = &object.identity().name;
        (&*found.namespace, &*found.name).cmp(&(namespace, name))
    });
    found.map(|object| &**object)
}
