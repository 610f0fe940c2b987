//! What belongs together.

use super::groups::{Group, Groups};
use super::{Index, Record};
use crate::records::{
    AttachedSource, ClaimRef, CsiDriver, CsiNode, Identity, Lease, Node, ObjectName, PersistentVolume,
    PersistentVolumeClaim, Pod, PodVolume, StorageClass, VolumeAttachment,
};

/// The secondary indices.
#[derive(Clone, Debug)]
pub(super) struct Joins {
    /// Pods by the Node that they are bound to.
    pods_by_node: Groups<Pod>,
    /// Pods by the claims that they use.
    pods_by_claim: Groups<Pod>,
    /// VolumeAttachments by Node.
    attachments_by_node: Groups<VolumeAttachment>,
    /// VolumeAttachments by PersistentVolume.
    attachments_by_volume: Groups<VolumeAttachment>,
    /// PersistentVolumes that nobody has claimed, by class.
    free_by_class: Groups<PersistentVolume>,
    /// PersistentVolumes by the claim that they name.
    volumes_by_claim: Groups<PersistentVolume>,
}

impl Default for Joins {
    fn default() -> Self {
        Self {
            pods_by_node: Groups::by(|pod, number| pod.node.iter().map(|node| of_cluster(&node.node_name)).nth(number)),
            pods_by_claim: Groups::by(|pod, number| {
                let claims = pod.volumes.iter().filter_map(PodVolume::claim);
                claims.map(|claim| (&*pod.identity.name.namespace, claim)).nth(number)
            }),
            attachments_by_node: Groups::by(|attachment, number| {
                (number == 0).then(|| of_cluster(&attachment.node.node_name))
            }),
            attachments_by_volume: Groups::by(|attachment, number| match &attachment.source {
                AttachedSource::PersistentVolume(volume) => (number == 0).then(|| of_cluster(volume)),
                AttachedSource::Inline(_) => None,
            }),
            free_by_class: Groups::by(|volume, number| {
                (number == 0 && volume.claim.is_none()).then(|| of_cluster(&volume.storage_class))
            }),
            volumes_by_claim: Groups::by(|volume, number| {
                volume.claim.iter().map(|claim| group(&claim.name)).nth(number)
            }),
        }
    }
}

fn group(name: &ObjectName) -> Group<'_> {
    (&name.namespace, &name.name)
}

/// What is in no namespace.
fn of_cluster(name: &str) -> Group<'_> {
    ("", name)
}

impl Record for Pod {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn groups(joins: &mut Joins) -> impl Iterator<Item = &mut Groups<Self>> {
        [&mut joins.pods_by_node, &mut joins.pods_by_claim].into_iter()
    }
}

impl Record for VolumeAttachment {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn groups(joins: &mut Joins) -> impl Iterator<Item = &mut Groups<Self>> {
        [&mut joins.attachments_by_node, &mut joins.attachments_by_volume].into_iter()
    }
}

impl Record for PersistentVolume {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn groups(joins: &mut Joins) -> impl Iterator<Item = &mut Groups<Self>> {
        [&mut joins.free_by_class, &mut joins.volumes_by_claim].into_iter()
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
        let free = self.joins.free_by_class.of(of_cluster(class));
        let named = self.joins.volumes_by_claim.of(group(&claim.identity.name));
        free.chain(named).filter_map(move |volume| {
            let is_reserved = volume.claim.as_ref().is_some_and(|reference| is_for(reference, claim));
            let is_candidate = *volume.storage_class == *class && (is_reserved || volume.claim.is_none());
            is_candidate.then(|| Candidate {
                volume,
                available: is_reserved || &*volume.phase == "Available",
                selected: claim.selector.as_ref().is_none_or(|selector| selector.matches(&volume.labels)),
            })
        })
    }

    /// The VolumeAttachments of a Node.
    pub fn attachments_of_node(&self, node: &str) -> impl Iterator<Item = &VolumeAttachment> {
        self.joins.attachments_by_node.of(of_cluster(node))
    }

    /// The VolumeAttachments of a PersistentVolume.
    pub fn attachments_of_volume(&self, volume: &str) -> impl Iterator<Item = &VolumeAttachment> {
        self.joins.attachments_by_volume.of(of_cluster(volume))
    }

    /// The pods that are bound to a Node's name, whether there is such a Node or not.
    pub fn pods_on_node(&self, node: &str) -> impl Iterator<Item = &Pod> {
        self.joins.pods_by_node.of(of_cluster(node))
    }

    /// The pods that use a claim.
    pub fn pods_of_claim(&self, claim: &ObjectName) -> impl Iterator<Item = &Pod> {
        self.joins.pods_by_claim.of(group(claim))
    }
}

/// A reservation by name only fits every claim of the name; one with a uid fits the claim of that uid.
fn is_for(reference: &ClaimRef, claim: &PersistentVolumeClaim) -> bool {
    reference.name == claim.identity.name && (reference.uid.is_empty() || reference.uid == claim.identity.uid)
}
