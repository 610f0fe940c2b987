//! E11, D-39, and the out-of-service taint of E1 where the kubelet lives: a Node that is alive under the pair's name.

use zonewarden_bindings::attachment::{
    Drift, Holder, InstanceState, Lease, Observation, OutOfServiceTaint, VolumeReport,
};
use zonewarden_bindings::types::{Remedy, VolumeState};

use super::super::fixture::{
    attachment, dead, dead_and_node_reborn, free, held_by, instance, mk_cluster_node, mk_held, node, own, reborn,
    volume, volume_missing,
};
use super::{check, in_progress, in_sync, told};

const DEAD: Drift = Drift::InstanceTerminated;
const OTHER: Drift = Drift::SameNameNode;

#[test]
fn e11_d_39_a_node_of_the_same_name_is_another_machine() {
    let delete = told(DEAD, "same-name-instance-dead").remedy(Remedy::DeleteDeadAttachment);
    let in_use = told(DEAD, "same-name-node-in-use");
    let hold = told(OTHER, "same-name-node").warning();
    check(&[
        ("E11 the old one is dead", dead_and_node_reborn, delete, &["instance i-0b now"]),
        (
            "E11 volumesInUse lists it",
            |o| {
                dead_and_node_reborn(o);
                node(o).volume_in_use = true;
            },
            in_use,
            &["volumesInUse", "i-0b"],
        ),
        (
            "E11 EC2 has it attached again",
            |o| {
                dead_and_node_reborn(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0b", mk_cluster_node("node-a"))];
            },
            in_use,
            &["attached again"],
        ),
        (
            "E11 pods are bound",
            |o| {
                dead_and_node_reborn(o);
                o.usage.bound_to_node = 1;
            },
            in_use,
            &["1 pod bound to it"],
        ),
        ("E11 the old one lives", reborn, hold, &["instance i-0b now", "terminated"]),
        (
            "E11 the old one is shutting down",
            |o| {
                dead_and_node_reborn(o);
                instance(o).state = InstanceState::ShuttingDown;
            },
            hold,
            &[],
        ),
        (
            "E11 one read",
            |o| {
                dead_and_node_reborn(o);
                volume(o).reads = 1;
            },
            hold,
            &["twice, 10 s apart"],
        ),
        (
            "E11 the volume is still on the old one",
            |o| {
                reborn(o);
                instance(o).state = InstanceState::Terminated;
            },
            hold,
            &["no longer attached"],
        ),
        (
            "E11 the old one lives and EC2 lost the volume",
            |o| {
                free(o);
                reborn(o);
            },
            hold,
            &[],
        ),
        (
            "E11 nothing is known of the volume",
            |o| {
                reborn(o);
                o.volume_report = VolumeReport::Unknown;
            },
            hold,
            &[],
        ),
        (
            "E11 nothing is known of the volume of a dead one",
            |o| {
                dead_and_node_reborn(o);
                o.volume_report = VolumeReport::Unknown;
            },
            hold,
            &["no longer attached"],
        ),
        (
            "E11 before E8",
            |o| {
                volume_missing(o);
                reborn(o);
            },
            hold,
            &[],
        ),
        (
            "E5 before E11",
            |o| {
                held_by(o, "i-0f", Holder::ForeignInstance);
                reborn(o);
            },
            told(Drift::AttachedToForeignInstance, "attached-to-foreign-instance"),
            &["i-0f"],
        ),
        (
            "E11 D-42 it is being deleted",
            |o| {
                dead_and_node_reborn(o);
                attachment(o).deleting_seconds = Some(5);
            },
            in_progress("attachment-finalising"),
            &[],
        ),
        (
            "E11 D-42 it is being deleted while the old one lives",
            |o| {
                reborn(o);
                attachment(o).deleting_seconds = Some(5);
            },
            told(OTHER, "same-name-detach").warning(),
            &["may reach that one", "i-0b"],
        ),
        (
            "E11 without a VolumeAttachment",
            |o| {
                reborn(o);
                o.attachment = None;
                own(o).seconds = 1;
            },
            in_progress("no-attachment-yet"),
            &[],
        ),
    ]);
}

/// The pods of the claim wait on the new instance for what the old VolumeAttachment holds up.
fn awaited(o: &mut Observation) {
    dead_and_node_reborn(o);
    node(o).volume_in_use = true;
    o.usage.pods_on_node = 1;
    o.usage.started_on_node = 0;
    o.usage.bound_to_node = 1;
}

#[test]
fn e11_e9_b_pods_that_wait_on_the_new_instance_get_the_volume() {
    let heal = told(Drift::DetachedWaiting, "same-name-detached-waiting").remedy(Remedy::DeleteDetachedAttachment);
    let in_use = told(DEAD, "same-name-node-in-use");
    check(&[
        ("E9 (b) they wait", awaited, heal, &["attached nowhere", "1 pod on instance i-0b", "attach it there"]),
        (
            "E9 (a) one has started",
            |o| {
                awaited(o);
                o.usage.started_on_node = 1;
            },
            in_use,
            &["volumesInUse"],
        ),
        (
            "the kubelet is silent",
            |o| {
                awaited(o);
                node(o).lease = Lease::Silent(20);
            },
            in_use,
            &["volumesInUse"],
        ),
        (
            "D-47 the VolumeAttachment is young",
            |o| {
                awaited(o);
                attachment(o).age_seconds = 299;
            },
            in_use,
            &["volumesInUse"],
        ),
        (
            "Kubernetes does not believe it attached",
            |o| {
                awaited(o);
                attachment(o).attached = false;
            },
            in_use,
            &["volumesInUse"],
        ),
        (
            "EC2 has it attached again",
            |o| {
                awaited(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0b", mk_cluster_node("node-a"))];
            },
            in_use,
            &["volumesInUse"],
        ),
    ]);
}

#[test]
fn e1_our_taint_goes_when_the_kubelet_lives() {
    let outdated = told(Drift::TaintOutdated, "taint-outdated").remedy(Remedy::RemoveOutOfServiceTaint);
    check(&[
        (
            "ours",
            |o| {
                node(o).lease = Lease::Renewed;
                node(o).taint = OutOfServiceTaint::Ours;
            },
            outdated,
            &["out-of-service taint", "Lease"],
        ),
        (
            "ours, and EC2 calls the instance dead",
            |o| {
                dead(o);
                node(o).lease = Lease::Renewed;
                node(o).taint = OutOfServiceTaint::Ours;
            },
            outdated,
            &[],
        ),
        (
            "ours, on a Node that is another instance now",
            |o| {
                reborn(o);
                node(o).taint = OutOfServiceTaint::Ours;
            },
            outdated,
            &[],
        ),
        (
            "of others",
            |o| {
                node(o).lease = Lease::Renewed;
                node(o).taint = OutOfServiceTaint::Other;
            },
            in_sync("attached"),
            &[],
        ),
        ("none", |o| node(o).lease = Lease::Renewed, in_sync("attached"), &[]),
        ("ours, and nobody read the Lease", |o| node(o).taint = OutOfServiceTaint::Ours, in_sync("attached"), &[]),
        (
            "ours, and the kubelet is silent",
            |o| {
                node(o).lease = Lease::Silent(1);
                node(o).taint = OutOfServiceTaint::Ours;
            },
            in_sync("attached"),
            &[],
        ),
    ]);
}
