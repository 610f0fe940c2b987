//! PersistentVolumes and PersistentVolumeClaims.

use std::sync::Arc;

use serde::Serialize;
use zonewarden_contract::types::{Label, NodeName, VolumeAffinity, VolumeSource};

use super::{Identity, ObjectName};
use crate::selector::LabelSelector;

/// A PersistentVolume.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PersistentVolume {
    /// Who it is. The namespace is empty.
    pub identity: Identity,
    /// `metadata.labels`.
    pub labels: Arc<[Label]>,
    /// The keys among the labels that the field manager `zonewarden` owns by `metadata.managedFields`.
    pub owned_labels: Arc<[String]>,
    /// `metadata.annotations`, without `kubectl.kubernetes.io/last-applied-configuration`.
    pub annotations: Arc<[Label]>,
    /// The volume's source.
    pub source: VolumeSource,
    /// `spec.nodeAffinity`.
    pub affinity: VolumeAffinity,
    /// `status.phase`; empty where there is none.
    pub phase: Arc<str>,
    /// `spec.claimRef`.
    pub claim: Option<ClaimRef>,
    /// `spec.capacity.storage` in bytes; `None` where it can't be read.
    pub capacity_bytes: Option<u64>,
    /// `spec.accessModes`.
    pub access_modes: Arc<[String]>,
    /// `spec.volumeMode`; `Filesystem` where the object has none.
    pub volume_mode: Arc<str>,
    /// The class: by the beta annotation where the volume has it, else by `spec.storageClassName`; empty: none.
    pub storage_class: Arc<str>,
}

/// The claim that a PersistentVolume is reserved for or bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimRef {
    /// The claim.
    pub name: ObjectName,
    /// The claim's uid; empty for a volume that is reserved by name only.
    pub uid: String,
}

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PersistentVolumeClaim {
    /// Who it is.
    pub identity: Identity,
    /// `spec.volumeName`; `None` where it is empty too.
    pub volume_name: Option<String>,
    /// Whether the annotation `pv.kubernetes.io/bind-completed` is there.
    pub bind_completed: bool,
    /// The class: by the beta annotation where the claim has it, even an empty one, else by `spec.storageClassName`. `None`
    /// where neither is there.
    pub storage_class: Option<Arc<str>>,
    /// The annotation `volume.kubernetes.io/selected-node`.
    pub selected_node: Option<NodeName>,
    /// The uids of `metadata.ownerReferences`.
    pub owner_uids: Vec<String>,
    /// `status.phase`; empty where there is none.
    pub phase: Arc<str>,
    /// `spec.resources.requests.storage` in bytes; `None` where it can't be read.
    pub requested_bytes: Option<u64>,
    /// `spec.accessModes`.
    pub access_modes: Arc<[String]>,
    /// `spec.volumeMode`; `Filesystem` where the object has none.
    pub volume_mode: Arc<str>,
    /// `spec.selector`; `None` where the claim has none, and any volume will do.
    pub selector: Option<Box<LabelSelector>>,
}

impl PersistentVolumeClaim {
    /// Whether the pod of this uid owns the claim, as the claim of a generic ephemeral volume must be.
    pub fn is_owned_by(&self, uid: &str) -> bool {
        !uid.is_empty() && self.owner_uids.iter().any(|owner| owner == uid)
    }
}
