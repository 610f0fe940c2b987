//! Arbitrary observations, and observations that are a known one but for some fields.
//!
//! The strategies are boxed: nested by value they are too large for the stack of a test's thread.

use proptest::prelude::*;
use zonewarden_bindings::attachment::{
    AbsentNode, AttachmentState, Ec2Attachment, Ec2Instance, Ec2Volume, Holder, InstanceReport, InstanceState, Lease,
    MissingInstance, MissingVolume, NodeReport, Observation, OutOfServiceTaint, PresentNode, Usage, VolumeAttachment,
    VolumeReport,
};
use zonewarden_bindings::types::{AwsVolumeId, InstanceId, Label, NodeName, VolumeState};

use super::fixture::{mk_cluster_node, mk_instance_id};

/// Seconds, mostly near a limit.
fn seconds() -> impl Strategy<Value = u32> {
    prop_oneof![0..20_u32, 85..125_u32, 295..315_u32, 610..650_u32, 3_000..4_000_u32, any::<u32>()]
}

fn few() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(0_u32), 2 => 1..5_u32, 1 => any::<u32>()]
}

fn text(choices: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    proptest::option::of(proptest::sample::select(choices).prop_map(str::to_owned))
}

fn instance_id() -> impl Strategy<Value = Option<InstanceId>> {
    proptest::option::weighted(0.9, proptest::sample::select(&["i-0a", "i-0b", "i-0c"][..]).prop_map(mk_instance_id))
}

fn attachment_state() -> impl Strategy<Value = AttachmentState> {
    prop_oneof![
        Just(AttachmentState::Attaching),
        Just(AttachmentState::Attached),
        Just(AttachmentState::Detaching),
        Just(AttachmentState::Detached),
        Just(AttachmentState::Busy),
        Just(AttachmentState::Other("parked".to_owned())),
    ]
}

fn holder() -> impl Strategy<Value = Holder> {
    prop_oneof![
        Just(Holder::ThisInstance),
        Just(mk_cluster_node("node-c")),
        Just(Holder::OtherCluster("blue".to_owned())),
        Just(Holder::ForeignInstance),
        Just(Holder::Service("sagemaker".to_owned())),
    ]
}

fn held() -> BoxedStrategy<Ec2Attachment> {
    (instance_id(), holder(), attachment_state(), seconds(), text(&["/dev/xvdba", "/dev/xvdbb"]))
        .prop_map(|(instance, holder, state, seconds, device)| Ec2Attachment {
            instance,
            holder,
            state,
            seconds,
            device,
        })
        .boxed()
}

fn volume_state() -> impl Strategy<Value = VolumeState> {
    prop_oneof![
        4 => Just(VolumeState::Available),
        4 => Just(VolumeState::InUse),
        1 => Just(VolumeState::Creating),
        1 => Just(VolumeState::Deleting),
        1 => Just(VolumeState::Deleted),
        1 => Just(VolumeState::Error),
        1 => Just(VolumeState::Other("frozen".to_owned())),
    ]
}

fn volume_report() -> BoxedStrategy<VolumeReport> {
    let found = (seconds(), volume_state(), any::<bool>(), prop::collection::vec(held(), 0..3), 0..5_u32, seconds())
        .prop_map(|(age_seconds, state, multi_attach, attachments, reads, consistent_seconds)| {
            VolumeReport::Found(Ec2Volume { age_seconds, state, multi_attach, attachments, reads, consistent_seconds })
        });
    let missing = (seconds(), 0..5_u32, seconds(), any::<bool>()).prop_map(
        |(age_seconds, reads, consistent_seconds, absent_by_filter)| {
            VolumeReport::Missing(MissingVolume { age_seconds, reads, consistent_seconds, absent_by_filter })
        },
    );
    prop_oneof![1 => Just(VolumeReport::Unknown), 1 => missing, 6 => found].boxed()
}

fn instance_report() -> BoxedStrategy<InstanceReport> {
    let state = prop_oneof![
        Just(InstanceState::Pending),
        Just(InstanceState::Running),
        Just(InstanceState::ShuttingDown),
        Just(InstanceState::Terminated),
        Just(InstanceState::Stopping),
        Just(InstanceState::Stopped),
        Just(InstanceState::Other("hibernated".to_owned())),
    ];
    let found = (seconds(), state, proptest::option::of(attachment_state()), 0..5_u32, seconds()).prop_map(
        |(age_seconds, state, mapping, reads, consistent_seconds)| {
            InstanceReport::Found(Ec2Instance { age_seconds, state, mapping, reads, consistent_seconds })
        },
    );
    let missing = (any::<bool>(), 0..5_u32, seconds()).prop_map(|(known_before, reads, consistent_seconds)| {
        InstanceReport::Missing(MissingInstance { known_before, reads, consistent_seconds })
    });
    prop_oneof![1 => Just(InstanceReport::Unknown), 1 => missing, 6 => found].boxed()
}

fn node_report() -> BoxedStrategy<NodeReport> {
    let lease = prop_oneof![Just(Lease::Unknown), Just(Lease::Renewed), seconds().prop_map(Lease::Silent)];
    let taint =
        prop_oneof![Just(OutOfServiceTaint::Absent), Just(OutOfServiceTaint::Ours), Just(OutOfServiceTaint::Other)];
    let flags = any::<(bool, bool, bool)>();
    let present = (seconds(), instance_id(), lease, taint, flags).prop_map(
        |(age_seconds, instance, lease, taint, (ready, volume_in_use, volume_attached))| {
            NodeReport::Present(PresentNode {
                age_seconds,
                instance,
                ready,
                lease,
                taint,
                volume_in_use,
                volume_attached,
            })
        },
    );
    let absent = (any::<bool>(), seconds())
        .prop_map(|(name_taken, seconds)| NodeReport::Absent(AbsentNode { name_taken, seconds }));
    prop_oneof![1 => Just(NodeReport::Unknown), 2 => absent, 5 => present].boxed()
}

fn attachment() -> BoxedStrategy<VolumeAttachment> {
    let errors = (text(&["limit exceeded"]), text(&["not found"]), seconds());
    (any::<bool>(), seconds(), proptest::option::weighted(0.2, seconds()), errors, text(&["/dev/xvdba"]))
        .prop_map(
            |(attached, age_seconds, deleting_seconds, (attach_error, detach_error, detach_error_seconds), device)| {
                let (name, node) = ("csi-0a".to_owned(), NodeName { node_name: "node-a".to_owned() });
                VolumeAttachment {
                    name,
                    node,
                    attached,
                    age_seconds,
                    deleting_seconds,
                    attach_error,
                    detach_error,
                    detach_error_seconds,
                    device,
                }
            },
        )
        .boxed()
}

fn usage() -> BoxedStrategy<Usage> {
    (few(), few(), few(), seconds(), few())
        .prop_map(|(pods_on_node, started_on_node, pods_elsewhere, unused_seconds, bound_to_node)| Usage {
            pods_on_node,
            started_on_node,
            pods_elsewhere,
            unused_seconds,
            bound_to_node,
        })
        .boxed()
}

/// Any observation, contradictory ones too.
pub(super) fn observation() -> BoxedStrategy<Observation> {
    let names = (instance_id(), text(&["pv-a"]), any::<bool>(), any::<bool>(), text(&["eks.example", ""]));
    let reports = (volume_report(), instance_report(), node_report());
    (names, proptest::option::weighted(0.9, attachment()), reports, usage())
        .prop_map(
            |(
                (instance, persistent_volume, persistent_volume_missing, attach_required, operator),
                attachment,
                reports,
                usage,
            )| {
                let (volume_report, instance_report, node) = reports;
                Observation {
                    volume: AwsVolumeId { aws_volume_id: "vol-0a".to_owned() },
                    instance,
                    persistent_volume,
                    persistent_volume_missing,
                    attach_required,
                    attachment,
                    volume_report,
                    instance_report,
                    node,
                    usage,
                    attributes: operator.into_iter().map(|value| Label { key: "operator".to_owned(), value }).collect(),
                }
            },
        )
        .boxed()
}

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
