//! Volumes and instances as EC2 describes them, in the contract's own types.

use jiff::Timestamp;
use serde::Serialize;
use zonewarden_contract::attachment::{AttachmentState, InstanceState};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, Label, NodeName, VolumeState, Zone};

/// A volume that DescribeVolumes described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Volume {
    /// `VolumeId`.
    pub id: AwsVolumeId,
    /// `AvailabilityZone`; `None` where EC2 gave none, or an empty one.
    pub zone: Option<Zone>,
    /// `State`.
    pub state: VolumeState,
    /// `MultiAttachEnabled`.
    pub multi_attach: bool,
    /// `Attachments`, in EC2's order, those that are `detached` too.
    pub attachments: Vec<Attachment>,
    /// What the contract calls the volume's attributes (`availability-zone-id`, `operator`, `outpost-arn`, `volume-type`),
    /// in ascending order of the keys. What EC2 does not say is missing.
    pub attributes: Vec<Label>,
    /// `Tags`, in ascending order of the keys.
    pub tags: Vec<Label>,
}

impl Volume {
    /// The attachments that hold the volume: all but those that are `detached`, which EC2 may show for a while.
    pub fn holders(&self) -> impl Iterator<Item = &Attachment> {
        self.attachments.iter().filter(|attachment| attachment.state != AttachmentState::Detached)
    }
}

/// One of a volume's attachments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attachment {
    /// `InstanceId`; `None` for an attachment that a service holds.
    pub instance: Option<InstanceId>,
    /// `State`.
    pub state: AttachmentState,
    /// `Device`.
    pub device: Option<String>,
    /// `AttachTime`.
    pub attached: Option<Timestamp>,
    /// `AssociatedResource`: what holds the volume where it is no instance of the account.
    pub associated_resource: Option<String>,
    /// `InstanceOwningService`: the service that owns the instance.
    pub owning_service: Option<String>,
}

/// An instance that DescribeInstances described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instance {
    /// `InstanceId`.
    pub id: InstanceId,
    /// `State.Name`.
    pub state: InstanceState,
    /// `Placement.AvailabilityZone`; `None` where EC2 gave none, or an empty one.
    pub zone: Option<Zone>,
    /// `PrivateDnsName`; `None` where EC2 gave none, or an empty one (a terminated instance has none).
    pub private_dns_name: Option<String>,
    /// `Tags`, in ascending order of the keys.
    pub tags: Vec<Label>,
    /// `BlockDeviceMappings` that are EBS volumes.
    pub block_devices: Vec<BlockDevice>,
}

/// What the name of a cluster follows in the key of the tag by which clusters own their instances.
const OWNERSHIP_TAG: &str = "kubernetes.io/cluster/";

impl Instance {
    /// The names of the clusters that own it, by its tags.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().filter_map(|tag| tag.key.strip_prefix(OWNERSHIP_TAG)).filter(|name| !name.is_empty())
    }

    /// The state of a volume in the instance's block device mappings; `None` where they do not list it.
    pub fn mapping(&self, volume: &AwsVolumeId) -> Option<&AttachmentState> {
        self.block_devices.iter().find(|device| device.volume == *volume).map(|device| &device.state)
    }

    /// Whether it is pending or running and bears a Node's name.
    pub fn bears(&self, name: &NodeName) -> bool {
        matches!(self.state, InstanceState::Pending | InstanceState::Running)
            && self.private_dns_name.as_deref() == Some(name.node_name.as_str())
    }
}

/// One of an instance's block device mappings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockDevice {
    /// `DeviceName`.
    pub device: Option<String>,
    /// `Ebs.VolumeId`.
    pub volume: AwsVolumeId,
    /// `Ebs.Status`.
    pub state: AttachmentState,
}
