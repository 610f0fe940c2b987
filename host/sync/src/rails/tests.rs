//! Names, and what is no remedy about a pair.

use zonewarden_contract::attachment::{AbsentNode, Usage};
use zonewarden_contract::types::{AwsVolumeId, InstanceId};

use super::*;

#[test]
fn an_id_is_named_as_a_whole_word_only() {
    assert!(names("aws:///us-east-1a/i-0123456789abcdef0", "i-0123456789abcdef0"));
    assert!(names("i-01234567", "i-01234567"));
    assert!(!names("aws:///us-east-1a/i-0123456789abcdef0", "i-01234567"));
    assert!(!names("xi-01234567", "i-01234567"));
    assert!(!names("anything", ""));
}

/// Everything that a remedy about a dead instance needs, but for what a test takes away.
fn mk_dead() -> Observation {
    Observation {
        volume: AwsVolumeId { aws_volume_id: "vol-1".to_owned() },
        instance: Some(InstanceId { instance_id: "i-1".to_owned() }),
        persistent_volume: None,
        persistent_volume_missing: false,
        attach_required: true,
        attachment: Some(zonewarden_contract::attachment::VolumeAttachment {
            name: "csi-1".to_owned(),
            node: zonewarden_contract::types::NodeName { node_name: "node-1".to_owned() },
            attached: true,
            age_seconds: 1_000,
            deleting_seconds: None,
            attach_error: None,
            detach_error: None,
            detach_error_seconds: 0,
            device: None,
        }),
        volume_report: VolumeReport::Found(zonewarden_contract::attachment::Ec2Volume {
            age_seconds: 1,
            state: VolumeState::Available,
            multi_attach: false,
            attachments: vec![],
            reads: 2,
            consistent_seconds: 10,
        }),
        instance_report: InstanceReport::Found(zonewarden_contract::attachment::Ec2Instance {
            age_seconds: 1,
            state: InstanceState::Terminated,
            mapping: None,
            reads: 2,
            consistent_seconds: 10,
        }),
        node: NodeReport::Absent(AbsentNode { name_taken: false, seconds: 60 }),
        usage: Usage { pods_on_node: 0, started_on_node: 0, pods_elsewhere: 0, unused_seconds: 0, bound_to_node: 0 },
        attributes: vec![],
    }
}

fn permitted(observation: &Observation, node_id: &str, remedy: Remedy) -> Result<(), Withheld> {
    let case = Case {
        observation,
        texts: Texts { node_id: Some(node_id), ..Texts::default() },
        settled_seconds: 1_000,
        silent: false,
        renewed_since: false,
        node_has_volume: None,
        patience: Patience::default(),
        rails: &Rails::default(),
    };
    permit(&case, remedy)
}

#[test]
fn d_60_a_judgement_about_a_pair_can_write_nothing_else() {
    let dead = mk_dead();
    assert_eq!(permitted(&dead, "i-1", Remedy::DeleteDeadAttachment), Ok(()));
    for remedy in [Remedy::None, Remedy::Event, Remedy::SetLabels, Remedy::SetNodeAffinity] {
        assert_eq!(permitted(&dead, "i-1", remedy), Err(Withheld("not-about-a-pair")), "{remedy:?}");
    }
}

#[test]
fn an_instance_that_the_objects_do_not_name_is_nobody_s_death() {
    let dead = mk_dead();
    for node_id in ["i-2", "i-12", "", "aws:///us-east-1a/i-11"] {
        let withheld = permitted(&dead, node_id, Remedy::DeleteDeadAttachment);
        assert_eq!(withheld, Err(Withheld("not-named-by-the-objects")), "{node_id}");
    }
}

#[test]
fn d_51_d_42_pods_that_are_bound_and_a_deletion_that_goes_on_hold_it_up() {
    let mut bound = mk_dead();
    bound.usage.bound_to_node = 1;
    assert_eq!(permitted(&bound, "i-1", Remedy::DeleteDeadAttachment), Err(Withheld("pods-bound-to-the-name")));
    assert_eq!(permitted(&bound, "i-1", Remedy::ForceDeletePods), Ok(()));
    let mut deleting = mk_dead();
    if let Some(attachment) = &mut deleting.attachment {
        attachment.deleting_seconds = Some(5);
    }
    assert_eq!(permitted(&deleting, "i-1", Remedy::DeleteDeadAttachment), Err(Withheld("deleting-already")));
}

/// A dead instance's volume that somebody else holds by now.
fn mk_held(holder: Holder, state: AttachmentState) -> Observation {
    let mut observation = mk_dead();
    if let VolumeReport::Found(volume) = &mut observation.volume_report {
        volume.state = VolumeState::InUse;
        volume.attachments = vec![Ec2Attachment {
            instance: Some(InstanceId { instance_id: "i-9".to_owned() }),
            holder,
            state,
            seconds: 600,
            device: None,
        }];
    }
    observation
}

#[test]
fn d_53_d_54_a_volume_that_is_held_outside_the_cluster_is_left_alone() {
    let blue = || Holder::OtherCluster("blue".to_owned());
    let node = || Holder::ClusterNode(zonewarden_contract::types::NodeName { node_name: "node-9".to_owned() });
    for (holder, state, expected) in [
        (blue(), AttachmentState::Attached, Err(Withheld("held-by-another-cluster"))),
        (blue(), AttachmentState::Detaching, Err(Withheld("held-by-another-cluster"))),
        (blue(), AttachmentState::Detached, Ok(())),
        (Holder::ForeignInstance, AttachmentState::Attached, Err(Withheld("held-outside-the-cluster"))),
        (Holder::ForeignInstance, AttachmentState::Detached, Ok(())),
        (node(), AttachmentState::Attached, Ok(())),
    ] {
        let observation = mk_held(holder, state);
        for remedy in [Remedy::DeleteDeadAttachment, Remedy::ForceDeletePods] {
            assert_eq!(permitted(&observation, "i-1", remedy), expected, "{remedy:?} {:?}", observation.volume_report);
        }
    }
    let held = mk_held(blue(), AttachmentState::Attached);
    for remedy in [Remedy::AddOutOfServiceTaint, Remedy::DeleteDetachedAttachment, Remedy::DeleteLeakedAttachment] {
        assert_eq!(permitted(&held, "i-1", remedy), Err(Withheld("held-by-another-cluster")), "{remedy:?}");
    }
    // Our taint is taken off a Node whoever holds the volume; here there is no Node.
    assert_eq!(permitted(&held, "i-1", Remedy::RemoveOutOfServiceTaint), Err(Withheld("node-absent")));
}
