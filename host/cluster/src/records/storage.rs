//! The kinds of `storage.k8s.io` but for CSINode.

use jiff::Timestamp;
use serde::Serialize;
use zonewarden_contract::placement::{BindingMode, TopologyTerm};
use zonewarden_contract::types::{Label, NodeName, VolumeSource};

use super::Identity;

/// A VolumeAttachment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VolumeAttachment {
    /// Who it is. The namespace is empty.
    pub identity: Identity,
    /// `spec.attacher`: the CSI driver's name.
    pub attacher: String,
    /// `spec.nodeName`.
    pub node: NodeName,
    /// `spec.source`.
    pub source: AttachedSource,
    /// `status.attached`. False is not a proof of a detach.
    pub attached: bool,
    /// The annotation `csi.alpha.kubernetes.io/node-id`, byte for byte.
    pub node_id: Option<String>,
    /// `status.attachError`.
    pub attach_error: Option<AttachmentError>,
    /// `status.detachError`.
    pub detach_error: Option<AttachmentError>,
    /// `status.attachmentMetadata.devicePath`.
    pub device: Option<String>,
}

/// What a VolumeAttachment attaches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum AttachedSource {
    /// The PersistentVolume of this name.
    PersistentVolume(String),
    /// A volume that a pod names directly, migrated to CSI.
    Inline(VolumeSource),
}

/// An error of an attach or a detach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttachmentError {
    /// The message; empty where there is none.
    pub message: String,
    /// When it was seen last.
    pub time: Option<Timestamp>,
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
    /// `parameters`.
    pub parameters: Vec<Label>,
}
