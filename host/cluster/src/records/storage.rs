//! The kinds of `storage.k8s.io` but for CSINode.

use std::sync::Arc;

use serde::Serialize;
use zonewarden_contract::placement::{BindingMode, TopologyTerm};
use zonewarden_contract::types::{NodeName, VolumeSource};

use super::Identity;

/// A VolumeAttachment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VolumeAttachment {
    /// Who it is. The namespace is empty.
    pub identity: Identity,
    /// `spec.attacher`: the CSI driver's name.
    pub attacher: Arc<str>,
    /// `spec.nodeName`.
    pub node: NodeName,
    /// `spec.source`.
    pub source: AttachedSource,
    /// `status.attached`. False is not a proof of a detach.
    pub attached: bool,
    /// The annotation `csi.alpha.kubernetes.io/node-id`, byte for byte.
    pub node_id: Option<String>,
    /// The message of `status.attachError`; `None` where there is no error, empty where it has no message.
    pub attach_error: Option<Box<str>>,
    /// The message of `status.detachError`, likewise.
    pub detach_error: Option<Box<str>>,
    /// `status.attachmentMetadata.devicePath`.
    pub device: Option<Arc<str>>,
}

/// What a VolumeAttachment attaches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum AttachedSource {
    /// The PersistentVolume of this name.
    PersistentVolume(String),
    /// A volume that a pod names directly, migrated to CSI.
    Inline(VolumeSource),
}

/// A CSIDriver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CsiDriver {
    /// Who it is.
    pub identity: Identity,
    /// `spec.attachRequired`; true where the object has none.
    pub attach_required: bool,
    /// `spec.preventPodSchedulingIfMissing`.
    pub prevent_pod_scheduling_if_missing: bool,
}

/// A StorageClass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StorageClass {
    /// Who it is.
    pub identity: Identity,
    /// `provisioner`.
    pub provisioner: String,
    /// `volumeBindingMode`; `None` where the object has none.
    pub binding_mode: Option<BindingMode>,
    /// `allowedTopologies`.
    pub allowed_topologies: Vec<TopologyTerm>,
}
