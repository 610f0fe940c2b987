//! What belongs together.

use super::{Index, group};
use crate::records::{
    ClaimRef, ObjectName, PersistentVolume, PersistentVolumeClaim, Pod, PodVolume, StorageClass, VolumeAttachment,
};

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
        let free = group(&self.free_by_class, class);
        let named = group(&self.volumes_by_claim, &claim.identity.name);
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
        group(&self.attachments_by_node, node).filter_map(|name| self.attachment(&name.name))
    }

    /// The VolumeAttachments of a PersistentVolume.
    pub fn attachments_of_volume(&self, volume: &str) -> impl Iterator<Item = &VolumeAttachment> {
        group(&self.attachments_by_volume, volume).filter_map(|name| self.attachment(&name.name))
    }

    /// The pods that are bound to a Node's name, whether there is such a Node or not.
    pub fn pods_on_node(&self, node: &str) -> impl Iterator<Item = &Pod> {
        group(&self.pods_by_node, node).filter_map(|name| self.pod(name))
    }

    /// The pods that use a claim.
    pub fn pods_of_claim(&self, claim: &ObjectName) -> impl Iterator<Item = &Pod> {
        group(&self.pods_by_claim, claim).filter_map(|name| self.pod(name))
    }
}

/// A reservation by name only fits every claim of the name; one with a uid fits the claim of that uid.
fn is_for(reference: &ClaimRef, claim: &PersistentVolumeClaim) -> bool {
    reference.name == claim.identity.name && (reference.uid.is_empty() || reference.uid == claim.identity.uid)
}
