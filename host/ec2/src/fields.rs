//! What EC2's texts mean, whichever way they arrive: printed by `aws`, or read by the SDK.

use zonewarden_contract::attachment::{AttachmentState, InstanceState};
use zonewarden_contract::types::{Label, VolumeState};

/// A text, unless it is empty: EC2 writes what it does not know as an empty element.
pub(crate) fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

pub(crate) fn volume_state(text: &str) -> VolumeState {
    match text {
        "creating" => VolumeState::Creating,
        "available" => VolumeState::Available,
        "in-use" => VolumeState::InUse,
        "deleting" => VolumeState::Deleting,
        "deleted" => VolumeState::Deleted,
        "error" => VolumeState::Error,
        other => VolumeState::Other(other.to_owned()),
    }
}

pub(crate) fn attachment_state(text: &str) -> AttachmentState {
    match text {
        "attaching" => AttachmentState::Attaching,
        "attached" => AttachmentState::Attached,
        "detaching" => AttachmentState::Detaching,
        "detached" => AttachmentState::Detached,
        "busy" => AttachmentState::Busy,
        other => AttachmentState::Other(other.to_owned()),
    }
}

pub(crate) fn instance_state(text: &str) -> InstanceState {
    match text {
        "pending" => InstanceState::Pending,
        "running" => InstanceState::Running,
        "shutting-down" => InstanceState::ShuttingDown,
        "terminated" => InstanceState::Terminated,
        "stopping" => InstanceState::Stopping,
        "stopped" => InstanceState::Stopped,
        other => InstanceState::Other(other.to_owned()),
    }
}

/// Tags in ascending order of their keys.
pub(crate) fn tags(tags: impl Iterator<Item = (String, Option<String>)>) -> Vec<Label> {
    let mut tags: Vec<_> = tags.map(|(key, value)| Label { key, value: value.unwrap_or_default() }).collect();
    tags.sort_by(|left, right| left.key.cmp(&right.key));
    tags
}

/// What a volume's attributes are made from.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) availability_zone_id: Option<String>,
    /// The principal of the service that manages the volume; `Some` and empty where EC2 does not name it.
    pub(crate) operator: Option<String>,
    pub(crate) outpost_arn: Option<String>,
    pub(crate) volume_type: Option<String>,
}

impl Attributes {
    /// As the contract has them, in ascending order of the keys. What EC2 does not say is missing.
    pub(crate) fn into_labels(self) -> Vec<Label> {
        let attributes = [
            ("availability-zone-id", present(self.availability_zone_id)),
            ("operator", self.operator),
            ("outpost-arn", present(self.outpost_arn)),
            ("volume-type", present(self.volume_type)),
        ];
        let present = attributes.into_iter().filter_map(|(key, value)| Some((key, value?)));
        present.map(|(key, value)| Label { key: key.to_owned(), value }).collect()
    }
}
