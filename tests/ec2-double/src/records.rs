//! Volumes, attachments and instances as the double keeps them.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::states::{AttachmentState, InstanceState, VolumeState};

/// The tags of a volume or an instance.
pub type Tags = BTreeMap<String, String>;

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// `VolumeId`.
    pub id: String,
    /// `AvailabilityZone`.
    pub zone: String,
    /// `AvailabilityZoneId`; left out where it is `None`.
    pub zone_id: Option<String>,
    /// `State`.
    pub state: VolumeState,
    /// `MultiAttachEnabled`.
    pub multi_attach: bool,
    /// `VolumeType`.
    pub volume_type: String,
    /// `Size` in GiB.
    pub size: u32,
    /// `CreateTime`.
    pub created: Timestamp,
    /// `OutpostArn`; left out where it is `None`.
    pub outpost_arn: Option<String>,
    /// `Operator`: the service that manages the volume.
    pub operator: Option<Operator>,
    /// `Attachments`.
    pub attachments: Vec<Attachment>,
    /// `Tags`.
    pub tags: Tags,
}

impl Volume {
    /// A gp3 volume that is attached nowhere.
    pub fn new(id: impl Into<String>, zone: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            zone: zone.into(),
            zone_id: None,
            state: VolumeState::Available,
            multi_attach: false,
            volume_type: "gp3".to_owned(),
            size: 20,
            created: Timestamp::UNIX_EPOCH,
            outpost_arn: None,
            operator: None,
            attachments: Vec::new(),
            tags: Tags::new(),
        }
    }

    /// The attachment to an instance, unless it is `detached`.
    pub fn attachment_to(&self, instance: &str) -> Option<&Attachment> {
        self.holders().find(|attachment| attachment.instance.as_deref() == Some(instance))
    }

    /// The attachments that hold the volume: all but those that are `detached`.
    pub fn holders(&self) -> impl Iterator<Item = &Attachment> {
        self.attachments.iter().filter(|attachment| attachment.state != AttachmentState::Detached)
    }
}

/// Who manages a resource that the account's owner did not make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// `Principal`, such as `eks.amazonaws.com`.
    pub principal: String,
    /// Whether reads leave the resource out unless `IncludeManagedResources` is set.
    pub hidden: bool,
}

/// A volume's attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// `InstanceId`; `None` for an attachment that a service holds.
    pub instance: Option<String>,
    /// `State`.
    pub state: AttachmentState,
    /// `Device`.
    pub device: String,
    /// `AttachTime`.
    pub attached: Timestamp,
    /// `DeleteOnTermination`.
    pub delete_on_termination: bool,
    /// `AssociatedResource`: what holds the volume where it is no instance of the account.
    pub associated_resource: Option<String>,
    /// `InstanceOwningService`.
    pub owning_service: Option<String>,
    /// Whether the machine has the device mounted: then a detach ends in `busy`. Not on the wire.
    pub mounted: bool,
}

impl Attachment {
    /// An attachment to an instance that is complete.
    pub fn new(instance: impl Into<String>, device: impl Into<String>, attached: Timestamp) -> Self {
        Self {
            instance: Some(instance.into()),
            state: AttachmentState::Attached,
            device: device.into(),
            attached,
            delete_on_termination: false,
            associated_resource: None,
            owning_service: None,
            mounted: false,
        }
    }
}

/// An instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// `InstanceId`.
    pub id: String,
    /// `Placement.AvailabilityZone`.
    pub zone: String,
    /// `State`.
    pub state: InstanceState,
    /// `PrivateDnsName`; empty once the instance is terminated.
    pub private_dns_name: String,
    /// `InstanceType`.
    pub instance_type: String,
    /// `LaunchTime`.
    pub launched: Timestamp,
    /// `Operator`: the service that manages the instance.
    pub operator: Option<Operator>,
    /// `Tags`.
    pub tags: Tags,
    /// How many volumes fit; `None` for no limit. Not on the wire.
    pub attach_limit: Option<usize>,
    /// `BlockDeviceMappings`. `None` shows what the volumes' attachments say, which is right but where the two APIs shall
    /// disagree. A lie about an instance ([`crate::Double::lie_about_instance`]) finds the real ones here.
    pub block_devices: Option<Vec<BlockDevice>>,
}

impl Instance {
    /// A running instance.
    pub fn new(id: impl Into<String>, zone: impl Into<String>, private_dns_name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            zone: zone.into(),
            state: InstanceState::Running,
            private_dns_name: private_dns_name.into(),
            instance_type: "m6i.large".to_owned(),
            launched: Timestamp::UNIX_EPOCH,
            operator: None,
            tags: Tags::new(),
            attach_limit: None,
            block_devices: None,
        }
    }
}

/// A line of an instance's block device mappings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// `DeviceName`.
    pub device: String,
    /// `Ebs.VolumeId`.
    pub volume: String,
    /// `Ebs.Status`.
    pub state: AttachmentState,
    /// `Ebs.AttachTime`.
    pub attached: Timestamp,
    /// `Ebs.DeleteOnTermination`.
    pub delete_on_termination: bool,
}
