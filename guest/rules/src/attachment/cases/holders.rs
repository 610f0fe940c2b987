//! E4, E5, D-13, D-15, D-16, D-53, D-54, D-55.

use zonewarden_bindings::attachment::{AttachmentState, Drift, Ec2Attachment, Holder};
use zonewarden_bindings::types::{Remedy, VolumeState};

use super::super::fixture::{
    attachment, dead, dead_and_node_gone, detached, held_by, mk_cluster_node, mk_held, no_pods, read_twice, volume,
};
use super::{check, in_progress, in_sync, told, unknown, unstable};

#[test]
fn e4_another_node_of_the_cluster_has_it() {
    let elsewhere = told(Drift::AttachedElsewhere, "attached-elsewhere");
    check(&[
        ("E4", |o| held_by(o, "i-0c", mk_cluster_node("node-c")), elsewhere, &["on Node node-c", "delete the pod"]),
        (
            "E4 with attached: false",
            |o| {
                held_by(o, "i-0c", mk_cluster_node("node-c"));
                attachment(o).attached = false;
            },
            elsewhere,
            &[],
        ),
        (
            "E4 just old enough",
            |o| {
                held_by(o, "i-0c", mk_cluster_node("node-c"));
                read_twice(o);
                attachment(o).age_seconds = 300;
            },
            elsewhere,
            &[],
        ),
        (
            "E4 D-47 young",
            |o| {
                held_by(o, "i-0c", mk_cluster_node("node-c"));
                attachment(o).age_seconds = 299;
            },
            in_progress("elsewhere-young"),
            &["node-c", "299 s old"],
        ),
        (
            "E4 one sweep",
            |o| {
                held_by(o, "i-0c", mk_cluster_node("node-c"));
                volume(o).reads = 1;
            },
            unstable("elsewhere-unconfirmed"),
            &["node-c"],
        ),
        (
            "E4 A is dead: E2",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0c", mk_cluster_node("node-c"))];
            },
            told(Drift::InstanceTerminated, "instance-dead-no-pods").remedy(Remedy::DeleteDeadAttachment),
            &[],
        ),
        (
            "E4 no VolumeAttachment, so no difference",
            |o| {
                held_by(o, "i-0c", mk_cluster_node("node-c"));
                o.attachment = None;
            },
            in_sync("nothing-attached"),
            &[],
        ),
        (
            "D-13 a detached entry counts for nothing",
            |o| {
                volume(o).attachments.insert(
                    0,
                    Ec2Attachment { state: AttachmentState::Detached, ..mk_held("i-0c", mk_cluster_node("node-c")) },
                );
            },
            in_sync("attached"),
            &[],
        ),
        (
            "D-55 Multi-Attach: each pair for itself",
            |o| {
                volume(o).multi_attach = true;
                volume(o).attachments.push(mk_held("i-0c", mk_cluster_node("node-c")));
            },
            in_sync("attached"),
            &[],
        ),
        (
            "D-55 Multi-Attach: the others are no reason",
            |o| {
                held_by(o, "i-0c", mk_cluster_node("node-c"));
                volume(o).multi_attach = true;
            },
            told(Drift::DetachedInUse, "detached-in-use"),
            &[],
        ),
    ]);
}

#[test]
fn e5_an_instance_that_is_no_node_of_the_cluster_has_it() {
    let foreign = told(Drift::AttachedToForeignInstance, "attached-to-foreign-instance");
    let cluster = told(Drift::AttachedToForeignInstance, "attached-to-other-cluster");
    check(&[
        ("E5 D-53", |o| held_by(o, "i-0f", Holder::ForeignInstance), foreign, &["i-0f", "no Node of this cluster"]),
        (
            "E5 D-54 another cluster",
            |o| held_by(o, "i-0f", Holder::OtherCluster("blue".to_owned())),
            cluster,
            &["i-0f", "\"blue\""],
        ),
        (
            "E5 without an instance",
            |o| {
                held_by(o, "", Holder::ForeignInstance);
                volume(o).attachments[0].instance = None;
            },
            foreign,
            &["an unnamed instance"],
        ),
        (
            "E5 D-54 without an instance",
            |o| {
                held_by(o, "", Holder::OtherCluster("blue".to_owned()));
                volume(o).attachments[0].instance = None;
            },
            cluster,
            &["on blue, which"],
        ),
        (
            "E5 before the death of the pair's instance",
            |o| {
                dead(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0f", Holder::ForeignInstance)];
            },
            foreign,
            &[],
        ),
        (
            "D-54 before D-53 and before D-16",
            |o| {
                volume(o).attachments.push(mk_held("i-0f", Holder::ForeignInstance));
                volume(o).attachments.push(mk_held("i-0e", Holder::OtherCluster("blue".to_owned())));
            },
            cluster,
            &["i-0e"],
        ),
        (
            "E5 beside the pair's own, with Multi-Attach",
            |o| {
                volume(o).multi_attach = true;
                volume(o).attachments.push(mk_held("i-0f", Holder::ForeignInstance));
            },
            foreign,
            &[],
        ),
        (
            "the pair's own id is never foreign",
            |o| volume(o).attachments[0].holder = Holder::ForeignInstance,
            in_sync("attached"),
            &[],
        ),
        (
            "the pair's own id is never another cluster's",
            |o| {
                volume(o).attachments[0].holder = Holder::OtherCluster("blue".to_owned());
            },
            in_sync("attached"),
            &[],
        ),
        (
            "D-13 a foreign holder that is detached",
            |o| {
                detached(o);
                volume(o).attachments = vec![Ec2Attachment {
                    state: AttachmentState::Detached,
                    ..mk_held("i-0f", Holder::ForeignInstance)
                }];
            },
            told(Drift::DetachedInUse, "detached-in-use"),
            &[],
        ),
    ]);
}

#[test]
fn d_15_a_service_has_it() {
    let service = unknown("held-by-service");
    check(&[
        (
            "D-15",
            |o| {
                held_by(o, "", Holder::Service("sagemaker.example".to_owned()));
                volume(o).attachments[0].instance = None;
            },
            service,
            &["\"sagemaker.example\""],
        ),
        (
            "D-15 even when the pair's instance is dead",
            |o| {
                dead(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0s", Holder::Service("sagemaker.example".to_owned()))];
            },
            service,
            &[],
        ),
    ]);
}

#[test]
fn d_16_more_holders_than_a_volume_can_have() {
    let too_many = told(Drift::TooManyHolders, "too-many-holders");
    check(&[
        (
            "D-16",
            |o| volume(o).attachments.push(mk_held("i-0c", mk_cluster_node("node-c"))),
            too_many,
            &["i-0a, i-0c", "Multi-Attach"],
        ),
        (
            "D-16 holders without an instance",
            |o| {
                volume(o).attachments[0].instance = None;
                volume(o).attachments.push(mk_held("", mk_cluster_node("node-c")));
                volume(o).attachments[1].instance = None;
            },
            too_many,
            &["this instance, node-c"],
        ),
        (
            "D-16 one sweep",
            |o| {
                volume(o).attachments.push(mk_held("i-0c", mk_cluster_node("node-c")));
                volume(o).reads = 1;
            },
            unstable("holders-unconfirmed"),
            &["i-0a, i-0c"],
        ),
        (
            "D-16 two sweeps too near",
            |o| {
                volume(o).attachments.push(mk_held("i-0c", mk_cluster_node("node-c")));
                volume(o).consistent_seconds = 9;
            },
            unstable("holders-unconfirmed"),
            &[],
        ),
        (
            "D-16 before the death of the pair's instance",
            |o| {
                dead(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments =
                    vec![mk_held("i-0b", mk_cluster_node("node-b")), mk_held("i-0c", mk_cluster_node("node-c"))];
                read_twice(o);
            },
            too_many,
            &[],
        ),
        (
            "D-16 an entry that is detached is no holder",
            |o| {
                volume(o).attachments.push(Ec2Attachment {
                    state: AttachmentState::Detached,
                    ..mk_held("i-0c", mk_cluster_node("node-c"))
                });
            },
            in_sync("attached"),
            &[],
        ),
    ]);
}
