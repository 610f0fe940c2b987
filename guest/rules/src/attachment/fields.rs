//! Observations that are a known one but for some fields.

use zonewarden_bindings::attachment::{
    Ec2Instance, Ec2Volume, InstanceReport, NodeReport, Observation, PresentNode, VolumeAttachment, VolumeReport,
};

/// A field of an observation: how to carry it from one to another.
type Field = fn(&mut Observation, &Observation);

/// What belongs to the VolumeAttachment and to no proof.
pub(super) const ATTACHMENT_FIELDS: &[Field] = &[
    |to, from| on_attachment(to, from, |to, from| to.attach_error.clone_from(&from.attach_error)),
    |to, from| on_attachment(to, from, |to, from| to.detach_error.clone_from(&from.detach_error)),
    |to, from| on_attachment(to, from, |to, from| to.detach_error_seconds = from.detach_error_seconds),
    |to, from| on_attachment(to, from, |to, from| to.device.clone_from(&from.device)),
    |to, from| to.persistent_volume.clone_from(&from.persistent_volume),
    |to, from| to.persistent_volume_missing = from.persistent_volume_missing,
    |to, from| to.attach_required = from.attach_required,
    |to, from| to.attributes.clone_from(&from.attributes),
];

/// Which of the volume's reads agree, and for how long.
pub(super) const READ_FIELDS: &[Field] = &[
    |to, from| on_volume(to, from, |to, from| to.reads = from.reads),
    |to, from| on_volume(to, from, |to, from| to.consistent_seconds = from.consistent_seconds),
    |to, from| on_instance(to, from, |to, from| to.reads = from.reads),
    |to, from| on_instance(to, from, |to, from| to.consistent_seconds = from.consistent_seconds),
];

/// What the kubelet said last, and who uses the claim.
pub(super) const USE_FIELDS: &[Field] = &[
    |to, from| on_node(to, from, |to, from| to.ready = from.ready),
    |to, from| on_node(to, from, |to, from| to.volume_in_use = from.volume_in_use),
    |to, from| on_node(to, from, |to, from| to.volume_attached = from.volume_attached),
    |to, from| to.usage.pods_elsewhere = from.usage.pods_elsewhere,
    |to, from| to.usage.unused_seconds = from.usage.unused_seconds,
];

/// What every proof hangs on.
pub(super) const PROOF_FIELDS: &[Field] = &[
    |to, from| to.instance.clone_from(&from.instance),
    |to, from| to.attachment.clone_from(&from.attachment),
    |to, from| on_attachment(to, from, |to, from| to.attached = from.attached),
    |to, from| on_attachment(to, from, |to, from| to.age_seconds = from.age_seconds),
    |to, from| on_attachment(to, from, |to, from| to.deleting_seconds = from.deleting_seconds),
    |to, from| to.volume_report.clone_from(&from.volume_report),
    |to, from| on_volume(to, from, |to, from| to.state.clone_from(&from.state)),
    |to, from| on_volume(to, from, |to, from| to.attachments.clone_from(&from.attachments)),
    |to, from| on_volume(to, from, |to, from| to.multi_attach = from.multi_attach),
    |to, from| on_volume(to, from, |to, from| to.age_seconds = from.age_seconds),
    |to, from| to.instance_report.clone_from(&from.instance_report),
    |to, from| on_instance(to, from, |to, from| to.state.clone_from(&from.state)),
    |to, from| on_instance(to, from, |to, from| to.mapping.clone_from(&from.mapping)),
    |to, from| on_instance(to, from, |to, from| to.age_seconds = from.age_seconds),
    |to, from| to.node.clone_from(&from.node),
    |to, from| on_node(to, from, |to, from| to.instance.clone_from(&from.instance)),
    |to, from| on_node(to, from, |to, from| to.lease = from.lease),
    |to, from| on_node(to, from, |to, from| to.taint = from.taint),
    |to, from| to.usage = from.usage,
    |to, from| to.usage.pods_on_node = from.usage.pods_on_node,
    |to, from| to.usage.started_on_node = from.usage.started_on_node,
    |to, from| to.usage.bound_to_node = from.usage.bound_to_node,
];

/// Carries the fields whose bits are set.
pub(super) fn carry(to: &mut Observation, from: &Observation, fields: &[Field], mask: u32) {
    for (position, field) in fields.iter().enumerate() {
        if mask >> position & 1 == 1 {
            field(to, from);
        }
    }
}

fn on_attachment(to: &mut Observation, from: &Observation, field: fn(&mut VolumeAttachment, &VolumeAttachment)) {
    if let (Some(to), Some(from)) = (&mut to.attachment, &from.attachment) {
        field(to, from);
    }
}

fn on_volume(to: &mut Observation, from: &Observation, field: fn(&mut Ec2Volume, &Ec2Volume)) {
    if let (VolumeReport::Found(to), VolumeReport::Found(from)) = (&mut to.volume_report, &from.volume_report) {
        field(to, from);
    }
}

fn on_instance(to: &mut Observation, from: &Observation, field: fn(&mut Ec2Instance, &Ec2Instance)) {
    if let (InstanceReport::Found(to), InstanceReport::Found(from)) = (&mut to.instance_report, &from.instance_report) {
        field(to, from);
    }
}

fn on_node(to: &mut Observation, from: &Observation, field: fn(&mut PresentNode, &PresentNode)) {
    if let (NodeReport::Present(to), NodeReport::Present(from)) = (&mut to.node, &from.node) {
        field(to, from);
    }
}
