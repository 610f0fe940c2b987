//! What belongs together.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use super::ordered::{Element, Ordered};
use super::{Index, Record};
use crate::records::{
    AttachedSource, ClaimRef, CsiDriver, CsiNode, Identity, Lease, Node, ObjectName, PersistentVolume,
    PersistentVolumeClaim, Pod, PodVolume, StorageClass, VolumeAttachment,
};

/// The names of the objects that have something in common, as pairs of that and a name.
type Groups<K> = Ordered<(K, ObjectName)>;

impl<K: Ord + Clone> Element for (K, ObjectName) {
    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
}

/// The secondary indices: names, never objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Joins {
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

impl Record for Pod {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn link(&self, joins: &mut Joins) {
        if let Some(node) = &self.node {
            insert(&mut joins.pods_by_node, Arc::from(&*node.node_name), &self.identity.name);
        }
        for claim in self.volumes.iter().filter_map(|volume| self.claim_of(volume)) {
            insert(&mut joins.pods_by_claim, claim, &self.identity.name);
        }
    }

    fn unlink(&self, joins: &mut Joins) {
        if let Some(node) = &self.node {
            remove(&mut joins.pods_by_node, &*node.node_name, &self.identity.name);
        }
        for claim in self.volumes.iter().filter_map(|volume| self.claim_of(volume)) {
            remove(&mut joins.pods_by_claim, &claim, &self.identity.name);
        }
    }
}

impl Record for VolumeAttachment {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn link(&self, joins: &mut Joins) {
        insert(&mut joins.attachments_by_node, Arc::from(&*self.node.node_name), &self.identity.name);
        if let AttachedSource::PersistentVolume(volume) = &self.source {
            insert(&mut joins.attachments_by_volume, Arc::from(&**volume), &self.identity.name);
        }
    }

    fn unlink(&self, joins: &mut Joins) {
        remove(&mut joins.attachments_by_node, &*self.node.node_name, &self.identity.name);
        if let AttachedSource::PersistentVolume(volume) = &self.source {
            remove(&mut joins.attachments_by_volume, &**volume, &self.identity.name);
        }
    }
}

impl Record for PersistentVolume {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn link(&self, joins: &mut Joins) {
        match &self.claim {
            Some(claim) => insert(&mut joins.volumes_by_claim, claim.name.clone(), &self.identity.name),
            None => insert(&mut joins.free_by_class, Arc::from(&*self.storage_class), &self.identity.name),
        }
    }

    fn unlink(&self, joins: &mut Joins) {
        match &self.claim {
            Some(claim) => remove(&mut joins.volumes_by_claim, &claim.name, &self.identity.name),
            None => remove(&mut joins.free_by_class, &*self.storage_class, &self.identity.name),
        }
    }
}

macro_rules! found_by_name_only {
    ($($kind:ident),*) => {$(
        impl Record for $kind {
            fn identity(&self) -> &Identity {
                &self.identity
            }
        }
    )*};
}

found_by_name_only! { PersistentVolumeClaim, Node, CsiNode, CsiDriver, StorageClass, Lease }

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

fn remove<K, Q>(groups: &mut Groups<K>, key: &Q, name: &ObjectName)
where
    K: Borrow<Q> + Ord + Clone,
    Q: Ord + ?Sized,
{
    groups.remove(|(other, found)| (other.borrow(), found).cmp(&(key, name)));
}

/// A PersistentVolume that an unbound claim might be bound to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<'a> {
    /// The volume.
    pub volume: &'a PersistentVolume,
    /// Whether `status.phase` is `Available`, or the volume is reserved for this very claim.
    pub available: bool,
    /// Whether the claim's selector matches the volume's labels, or the claim has none.
    pub selected: bool,
}

impl Index {
    /// The claim of one of a pod's volumes: its name and, where it exists, the claim. `None` for a volume without one.
    pub fn claim_of<'a>(
        &'a self,
        pod: &Pod,
        volume: &PodVolume,
    ) -> Option<(ObjectName, Option<&'a PersistentVolumeClaim>)> {
        let name = pod.claim_of(volume)?;
        let claim = self.claim(&name);
        Some((name, claim))
    }

    /// The PersistentVolume that a claim names; `None` where it names none, or there is none of that name.
    pub fn volume_of(&self, claim: &PersistentVolumeClaim) -> Option<&PersistentVolume> {
        self.volume(claim.volume_name.as_deref()?)
    }

    /// The StorageClass that a claim names; `None` where it names none, or there is none of that name.
    pub fn class_of(&self, claim: &PersistentVolumeClaim) -> Option<&StorageClass> {
        self.storage_class(claim.storage_class.as_deref()?)
    }

    /// The PersistentVolumes of the claim's class that are claimed by nobody, or by this very claim.
    pub fn candidates<'a>(&'a self, claim: &'a PersistentVolumeClaim) -> impl Iterator<Item = Candidate<'a>> {
        let class = claim.storage_class.as_deref().unwrap_or_default();
        let free = group(&self.joins.free_by_class, class);
        let named = group(&self.joins.volumes_by_claim, &claim.identity.name);
        free.chain(named).filter_map(|name| self.volume(&name.name)).filter_map(move |volume| {
            let is_reserved = volume.claim.as_ref().is_some_and(|reference| is_for(reference, claim));
            let is_candidate = volume.storage_class == class && (is_reserved || volume.claim.is_none());
            is_candidate.then(|| Candidate {
                volume,
                available: is_reserved || volume.phase == "Available",
                selected: claim.selector.as_ref().is_none_or(|selector| selector.matches(&volume.labels)),
            })
        })
    }

    /// The VolumeAttachments of a Node.
    pub fn attachments_of_node(&self, node: &str) -> impl Iterator<Item = &VolumeAttachment> {
        group(&self.joins.attachments_by_node, node).filter_map(|name| self.attachment(&name.name))
    }

    /// The VolumeAttachments of a PersistentVolume.
    pub fn attachments_of_volume(&self, volume: &str) -> impl Iterator<Item = &VolumeAttachment> {
        group(&self.joins.attachments_by_volume, volume).filter_map(|name| self.attachment(&name.name))
    }

    /// The pods that are bound to a Node's name, whether there is such a Node or not.
    pub fn pods_on_node(&self, node: &str) -> impl Iterator<Item = &Pod> {
        group(&self.joins.pods_by_node, node).filter_map(|name| self.pod(name))
    }

    /// The pods that use a claim.
    pub fn pods_of_claim(&self, claim: &ObjectName) -> impl Iterator<Item = &Pod> {
        group(&self.joins.pods_by_claim, claim).filter_map(|name| self.pod(name))
    }
}

/// A reservation by name only fits every claim of the name; one with a uid fits the claim of that uid.
fn is_for(reference: &ClaimRef, claim: &PersistentVolumeClaim) -> bool {
    reference.name == claim.identity.name && (reference.uid.is_empty() || reference.uid == claim.identity.uid)
}
