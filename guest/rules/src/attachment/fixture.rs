//! Observations to start from: a healthy pair, and the changes that the cases are made of.

use zonewarden_bindings::attachment::{
    AbsentNode, AttachmentState, Ec2Attachment, Ec2Instance, Ec2Volume, Holder, InstanceReport, InstanceState, Lease,
    MissingInstance, MissingVolume, NodeReport, Observation, OutOfServiceTaint, PresentNode, Usage, VolumeAttachment,
    VolumeReport,
};
use zonewarden_bindings::types::{AwsVolumeId, InstanceId, NodeName, VolumeState};

use crate::settings::Settings;

/// Settings whose limits all differ, so that no limit can stand in for another.
pub(super) fn mk_settings() -> Settings {
    Settings {
        quiet_seconds: 300,
        stuck_attaching_seconds: 90,
        stuck_detaching_seconds: 310,
        detach_failing_seconds: 620,
        orphan_seconds: 630,
        leaked_seconds: 640,
        deleted_seconds: 120,
        consistent_seconds: 10,
        lease_silent_seconds: 15,
        ..Settings::default()
    }
}

pub(super) fn mk_instance_id(id: &str) -> InstanceId {
    InstanceId { instance_id: id.to_owned() }
}

pub(super) fn mk_held(id: &str, holder: Holder) -> Ec2Attachment {
    let device = Some("/dev/xvdba".to_owned());
    Ec2Attachment {
        instance: Some(mk_instance_id(id)),
        holder,
        state: AttachmentState::Attached,
        seconds: 3_000,
        device,
    }
}

pub(super) fn mk_cluster_node(name: &str) -> Holder {
    Holder::ClusterNode(NodeName { node_name: name.to_owned() })
}

/// A volume that is attached where Kubernetes believes it, used by one running pod.
pub(super) fn mk_observation() -> Observation {
    Observation {
        volume: AwsVolumeId { aws_volume_id: "vol-0a".to_owned() },
        instance: Some(mk_instance_id("i-0a")),
        persistent_volume: Some("pv-a".to_owned()),
        persistent_volume_missing: false,
        attach_required: true,
        attachment: Some(VolumeAttachment {
            name: "csi-0a".to_owned(),
            node: NodeName { node_name: "node-a".to_owned() },
            attached: true,
            age_seconds: 3_600,
            deleting_seconds: None,
            attach_error: None,
            detach_error: None,
            detach_error_seconds: 0,
            device: Some("/dev/xvdba".to_owned()),
        }),
        volume_report: VolumeReport::Found(Ec2Volume {
            age_seconds: 5,
            state: VolumeState::InUse,
            multi_attach: false,
            attachments: vec![mk_held("i-0a", Holder::ThisInstance)],
            reads: 3,
            consistent_seconds: 120,
        }),
        instance_report: InstanceReport::Found(Ec2Instance {
            age_seconds: 5,
            state: InstanceState::Running,
            mapping: Some(AttachmentState::Attached),
            reads: 3,
            consistent_seconds: 45,
        }),
        node: NodeReport::Present(PresentNode {
            age_seconds: 7_200,
            instance: Some(mk_instance_id("i-0a")),
            ready: true,
            lease: Lease::Unknown,
            taint: OutOfServiceTaint::Absent,
            volume_in_use: true,
            volume_attached: true,
        }),
        usage: Usage { pods_on_node: 1, started_on_node: 1, pods_elsewhere: 0, unused_seconds: 0, bound_to_node: 4 },
        attributes: Vec::new(),
    }
}

/// The VolumeAttachment.
pub(super) fn attachment(o: &mut Observation) -> &mut VolumeAttachment {
    o.attachment.as_mut().expect("the fixture has a VolumeAttachment")
}

/// The volume that EC2 describes.
pub(super) fn volume(o: &mut Observation) -> &mut Ec2Volume {
    match &mut o.volume_report {
        VolumeReport::Found(found) => found,
        VolumeReport::Unknown | VolumeReport::Missing(_) => panic!("the fixture's volume is found"),
    }
}

/// The pair's own attachment at EC2.
pub(super) fn own(o: &mut Observation) -> &mut Ec2Attachment {
    &mut volume(o).attachments[0]
}

/// The instance that EC2 describes.
pub(super) fn instance(o: &mut Observation) -> &mut Ec2Instance {
    match &mut o.instance_report {
        InstanceReport::Found(found) => found,
        InstanceReport::Unknown | InstanceReport::Missing(_) => panic!("the fixture's instance is found"),
    }
}

/// The Node that is there.
pub(super) fn node(o: &mut Observation) -> &mut PresentNode {
    match &mut o.node {
        NodeReport::Present(present) => present,
        NodeReport::Unknown | NodeReport::Absent(_) => panic!("the fixture's Node is present"),
    }
}

/// EC2 has the volume attached nowhere, by DescribeVolumes.
pub(super) fn free(o: &mut Observation) {
    volume(o).state = VolumeState::Available;
    volume(o).attachments.clear();
}

/// EC2 has the volume attached nowhere, by both APIs.
pub(super) fn detached(o: &mut Observation) {
    free(o);
    instance(o).mapping = None;
}

/// EC2 has the volume on one other holder.
pub(super) fn held_by(o: &mut Observation, id: &str, holder: Holder) {
    instance(o).mapping = None;
    volume(o).attachments = vec![mk_held(id, holder)];
}

/// The instance's death is proven, by one read of each API and the silence of the kubelet; its Node is still there.
pub(super) fn dead(o: &mut Observation) {
    detached(o);
    (volume(o).reads, volume(o).consistent_seconds) = (1, 0);
    (instance(o).reads, instance(o).consistent_seconds) = (1, 0);
    instance(o).state = InstanceState::Terminated;
    node(o).ready = false;
    node(o).lease = Lease::Silent(15);
}

/// Both of EC2's APIs said so twice, just far enough apart.
pub(super) fn read_twice(o: &mut Observation) {
    (volume(o).reads, volume(o).consistent_seconds) = (2, 10);
    (instance(o).reads, instance(o).consistent_seconds) = (2, 10);
}

/// The instance's death is proven without a Lease: its Node is gone.
pub(super) fn dead_and_node_gone(o: &mut Observation) {
    dead(o);
    read_twice(o);
    o.node = NodeReport::Absent(AbsentNode { name_taken: false, seconds: 30 });
}

/// The old instance is dead, and a living new one bears the Node's name; nothing of the volume is in use there.
pub(super) fn dead_and_node_reborn(o: &mut Observation) {
    dead(o);
    read_twice(o);
    reborn(o);
    (node(o).volume_in_use, node(o).volume_attached) = (false, false);
    no_pods(o);
}

/// The Node is another instance.
pub(super) fn reborn(o: &mut Observation) {
    node(o).instance = Some(mk_instance_id("i-0b"));
    node(o).lease = Lease::Renewed;
}

/// EC2 does not know an instance that it showed before.
pub(super) fn purged(o: &mut Observation) {
    o.instance_report =
        InstanceReport::Missing(MissingInstance { known_before: true, reads: 2, consistent_seconds: 10 });
}

/// EC2 says that there is no such volume, with all the proof that is asked for.
pub(super) fn volume_missing(o: &mut Observation) {
    instance(o).mapping = None;
    let missing = MissingVolume { age_seconds: 5, reads: 3, consistent_seconds: 120, absent_by_filter: true };
    o.volume_report = VolumeReport::Missing(missing);
}

/// The missing volume.
pub(super) fn missing(o: &mut Observation) -> &mut MissingVolume {
    match &mut o.volume_report {
        VolumeReport::Missing(missing) => missing,
        VolumeReport::Unknown | VolumeReport::Found(_) => panic!("the volume is missing"),
    }
}

/// No pod is bound to the Node's name, and none uses the claim.
pub(super) fn no_pods(o: &mut Observation) {
    o.usage = Usage { pods_on_node: 0, started_on_node: 0, pods_elsewhere: 0, unused_seconds: 1, bound_to_node: 0 };
}

/// The pods of the claim on the Node wait for their containers.
pub(super) fn waiting(o: &mut Observation) {
    detached(o);
    read_twice(o);
    o.usage.started_on_node = 0;
}

/// No pod used the claim for long, and the Node lists the volume nowhere.
pub(super) fn unused(o: &mut Observation) {
    no_pods(o);
    o.usage.unused_seconds = 640;
    o.usage.bound_to_node = 4;
    (node(o).volume_in_use, node(o).volume_attached) = (false, false);
}
