//! Which pairs are stuck, in which state, and for how long.

use zonewarden_contract::attachment::{
    AbsentNode, Ec2Attachment, Ec2Volume, Holder, InstanceReport, Judgement, NodeReport, Usage, VolumeAttachment,
};
use zonewarden_contract::types::{NodeName, Reason, Remedy, Severity, VolumeState};

use super::*;

fn pair(verdict: Verdict, report: VolumeReport, deleting_seconds: Option<u32>) -> JudgedAttachment<'static> {
    let observation = Observation {
        volume: AwsVolumeId { aws_volume_id: "vol-1".to_owned() },
        instance: Some(InstanceId { instance_id: "i-1".to_owned() }),
        persistent_volume: Some("data".to_owned()),
        persistent_volume_missing: false,
        attach_required: true,
        attachment: Some(VolumeAttachment {
            name: "csi-1".to_owned(),
            node: NodeName { node_name: "node-1".to_owned() },
            attached: true,
            age_seconds: 5_000,
            deleting_seconds,
            attach_error: None,
            detach_error: None,
            detach_error_seconds: 0,
            device: None,
        }),
        volume_report: report,
        instance_report: InstanceReport::Unknown,
        node: NodeReport::Absent(AbsentNode { name_taken: false, seconds: 0 }),
        usage: Usage { pods_on_node: 0, started_on_node: 0, pods_elsewhere: 0, unused_seconds: 0, bound_to_node: 0 },
        attributes: vec![],
    };
    let judgement = Judgement {
        verdict,
        remedy: Remedy::Event,
        escalation: None,
        severity: Severity::Warning,
        reason: Reason { code: String::new(), message: String::new() },
    };
    JudgedAttachment { attachment: None, node: None, observation, judgement }
}

/// EC2 has the volume on these instances, each in a state since 400 seconds.
fn found(held: &[(&str, AttachmentState)]) -> VolumeReport {
    let attachments = held.iter().map(|(instance, state)| Ec2Attachment {
        instance: Some(InstanceId { instance_id: (*instance).to_owned() }),
        holder: Holder::ForeignInstance,
        state: state.clone(),
        seconds: 400,
        device: None,
    });
    VolumeReport::Found(Ec2Volume {
        age_seconds: 1,
        state: VolumeState::InUse,
        multi_attach: false,
        attachments: attachments.collect(),
        reads: 2,
        consistent_seconds: 60,
    })
}

fn stuck(state: &'static str, seconds: u32) -> StuckVolume {
    StuckVolume {
        volume: AwsVolumeId { aws_volume_id: "vol-1".to_owned() },
        instance: Some(InstanceId { instance_id: "i-1".to_owned() }),
        persistent_volume: Some("data".to_owned()),
        state,
        seconds,
    }
}

const DETACHING: Verdict = Verdict::Drift(Drift::StuckDetaching);
const ATTACHING: Verdict = Verdict::Drift(Drift::StuckAttaching);

#[test]
fn what_ec2_moves_is_as_old_as_its_state_and_what_it_does_not_move_as_old_as_the_wish() {
    use AttachmentState as A;
    let other = || A::Other("lost".to_owned());
    for (verdict, report, deleting, expected) in [
        (ATTACHING, found(&[("i-1", A::Attaching)]), None, stuck("attaching", 400)),
        (DETACHING, found(&[("i-2", A::Attached), ("i-1", A::Detaching)]), Some(900), stuck("detaching", 400)),
        (DETACHING, found(&[("i-1", A::Busy)]), None, stuck("busy", 400)),
        (DETACHING, found(&[("i-1", other())]), None, stuck("other", 400)),
        // The detach was asked for and has not begun.
        (DETACHING, found(&[("i-1", A::Attached)]), Some(900), stuck("attached", 900)),
        // It is over at EC2, and the external-attacher does not finish.
        (DETACHING, found(&[("i-1", A::Detached)]), Some(900), stuck("none", 900)),
        (Verdict::Drift(Drift::DetachFailing), VolumeReport::Unknown, Some(900), stuck("unknown", 900)),
        // The attach has not begun.
        (ATTACHING, found(&[]), None, stuck("none", 5_000)),
    ] {
        let judged = pair(verdict, report, deleting);
        assert_eq!(of(&[judged]), [expected]);
    }
}

#[test]
fn only_what_a_policy_calls_stuck_is_named_once_and_the_longest_first() {
    use AttachmentState as A;
    let other = |seconds: u32| {
        let mut pair = pair(ATTACHING, found(&[]), None);
        pair.observation.volume.aws_volume_id = "vol-2".to_owned();
        pair.observation.instance = None;
        pair.observation.attachment.as_mut().expect("it has one").age_seconds = seconds;
        pair
    };
    let well = [Verdict::InSync, Verdict::InProgress, Verdict::Unknown, Verdict::Drift(Drift::VolumeDeleted)];
    let mut judged: Vec<_> = well.map(|verdict| pair(verdict, found(&[("i-1", A::Detaching)]), None)).into();
    judged.push(pair(DETACHING, found(&[("i-1", A::Detaching)]), None));
    judged.extend([other(800), other(900)]);
    let second =
        StuckVolume { volume: AwsVolumeId { aws_volume_id: "vol-2".to_owned() }, instance: None, ..stuck("none", 900) };
    assert_eq!(of(&judged), [second, stuck("detaching", 400)]);
}
