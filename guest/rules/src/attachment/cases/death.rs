//! E1, E2, D-17 to D-20, D-40, D-42, D-46, D-47.

use zonewarden_bindings::attachment::{
    AbsentNode, AttachmentState, Drift, Holder, InstanceReport, InstanceState, Lease, MissingInstance, NodeReport,
    OutOfServiceTaint,
};
use zonewarden_bindings::types::{Remedy, VolumeState};

use super::super::fixture::{
    attachment, dead, dead_and_node_gone, instance, mk_cluster_node, mk_held, no_pods, node, purged, volume,
};
use super::{check, in_progress, in_sync, told, unknown, unproven, unstable};

const DEAD: Drift = Drift::InstanceTerminated;

#[test]
fn e1_the_node_of_a_dead_instance_is_tainted_and_its_pods_go() {
    let taint = told(DEAD, "instance-dead").remedy(Remedy::AddOutOfServiceTaint);
    let delete = told(DEAD, "instance-dead-no-pods").remedy(Remedy::DeleteDeadAttachment);
    let tainted = in_progress("instance-dead-tainted").warning().escalation(Remedy::ForceDeletePods);
    check(&[
        ("E1 proven", dead, taint.escalation(Remedy::ForceDeletePods), &["with 4 pods;", "out-of-service"]),
        (
            "E1 nothing to force",
            |o| {
                dead(o);
                no_pods(o);
            },
            taint,
            &["with 0 pods"],
        ),
        (
            "E1 pods counted once only",
            |o| {
                dead(o);
                o.usage.bound_to_node = 0;
            },
            taint.escalation(Remedy::ForceDeletePods),
            &["with 1 pod;"],
        ),
        (
            "E1 started pods counted once only",
            |o| {
                dead(o);
                (o.usage.bound_to_node, o.usage.pods_on_node, o.usage.started_on_node) = (0, 0, 2);
            },
            taint.escalation(Remedy::ForceDeletePods),
            &["with 2 pods"],
        ),
        (
            "E1 our taint, pods bound",
            |o| {
                dead(o);
                node(o).taint = OutOfServiceTaint::Ours;
            },
            tainted,
            &["its 4 pods by force"],
        ),
        (
            "E1 a taint of others, pods bound",
            |o| {
                dead(o);
                node(o).taint = OutOfServiceTaint::Other;
            },
            tainted,
            &[],
        ),
        (
            "E1 our taint, no pods",
            |o| {
                dead(o);
                no_pods(o);
                node(o).taint = OutOfServiceTaint::Ours;
            },
            delete,
            &["no pod is bound"],
        ),
        (
            "E1 a taint of others, no pods",
            |o| {
                dead(o);
                no_pods(o);
                node(o).taint = OutOfServiceTaint::Other;
            },
            delete,
            &[],
        ),
        (
            "E1 D-47 the quiet period is waived",
            |o| {
                dead(o);
                attachment(o).age_seconds = 5;
            },
            taint.escalation(Remedy::ForceDeletePods),
            &[],
        ),
        (
            "E1 A-26 the mapping of a dead instance counts for nothing",
            |o| {
                dead(o);
                instance(o).mapping = Some(AttachmentState::Attached);
            },
            taint.escalation(Remedy::ForceDeletePods),
            &[],
        ),
        (
            "E1 D-20 purged, and known before",
            |o| {
                dead(o);
                purged(o);
            },
            taint.escalation(Remedy::ForceDeletePods),
            &[],
        ),
        (
            "E1 finding 4, attached: false changes nothing",
            |o| {
                dead(o);
                attachment(o).attached = false;
            },
            taint.escalation(Remedy::ForceDeletePods),
            &[],
        ),
        (
            "E1 E4 the volume has moved on to another Node",
            |o| {
                dead(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0c", mk_cluster_node("node-c"))];
            },
            taint.escalation(Remedy::ForceDeletePods),
            &[],
        ),
    ]);
}

#[test]
fn e1_without_the_whole_proof_nothing_is_done() {
    let contradiction = unstable("dead-but-lease-renewed").warning().remedy(Remedy::Event);
    check(&[
        (
            "the kubelet lives",
            |o| {
                dead(o);
                node(o).lease = Lease::Renewed;
            },
            contradiction,
            &["renews its Lease"],
        ),
        (
            "the kubelet of an unnamed Node lives",
            |o| {
                dead(o);
                node(o).lease = Lease::Renewed;
                node(o).instance = None;
            },
            contradiction,
            &[],
        ),
        (
            "the kubelet lives and the volume is there",
            |o| {
                instance(o).state = InstanceState::Terminated;
                node(o).lease = Lease::Renewed;
            },
            contradiction,
            &[],
        ),
        (
            "the Lease is unknown",
            |o| {
                dead(o);
                node(o).lease = Lease::Unknown;
            },
            unproven("dead-lease-unknown"),
            &["until its kubelet's Lease can be read"],
        ),
        (
            "the Lease is silent too shortly",
            |o| {
                dead(o);
                node(o).lease = Lease::Silent(14);
            },
            in_progress("dead-awaiting-silence"),
            &["silent for 15 s, 14 s by now"],
        ),
        (
            "D-17 the volume is still on it",
            |o| {
                dead(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0a", Holder::ThisInstance)];
            },
            in_progress("dead-awaiting-release"),
            &["no longer attached"],
        ),
        (
            "D-17 by its id, whoever it is called",
            |o| {
                dead(o);
                volume(o).state = VolumeState::InUse;
                volume(o).attachments = vec![mk_held("i-0a", mk_cluster_node("node-a"))];
            },
            in_progress("dead-awaiting-release"),
            &[],
        ),
        (
            "D-17 purged, and the volume is still on it",
            |o| {
                purged(o);
                node(o).lease = Lease::Silent(15);
            },
            in_progress("dead-awaiting-release"),
            &[],
        ),
        (
            "the Node's instance is unknown",
            |o| {
                dead(o);
                node(o).instance = None;
            },
            unproven("dead-node-instance-unknown"),
            &["provider id"],
        ),
        (
            "nothing is known of the Node",
            |o| {
                dead(o);
                o.node = NodeReport::Unknown;
            },
            unproven("dead-node-unknown"),
            &["known of the Node"],
        ),
        (
            "D-18 shutting down",
            |o| {
                dead(o);
                instance(o).state = InstanceState::ShuttingDown;
            },
            in_progress("instance-shutting-down"),
            &["when terminated"],
        ),
        (
            "D-18 shutting down and still attached",
            |o| {
                instance(o).state = InstanceState::ShuttingDown;
            },
            in_progress("instance-shutting-down"),
            &[],
        ),
        (
            "D-19 stopped",
            |o| {
                instance(o).state = InstanceState::Stopped;
            },
            in_sync("attached-while-stopped"),
            &["keeps the volume"],
        ),
        (
            "D-19 stopping",
            |o| {
                instance(o).state = InstanceState::Stopping;
            },
            in_sync("attached-while-stopped"),
            &[],
        ),
        (
            "C-7 pending",
            |o| {
                instance(o).state = InstanceState::Pending;
            },
            in_sync("attached"),
            &[],
        ),
        (
            "D-20 never seen before",
            |o| {
                dead(o);
                o.instance_report =
                    InstanceReport::Missing(MissingInstance { known_before: false, reads: 9, consistent_seconds: 99 });
            },
            unknown("instance-never-seen"),
            &["too new"],
        ),
        (
            "D-14 a state that is not known",
            |o| {
                dead(o);
                instance(o).state = InstanceState::Other("hibernated".to_owned());
            },
            unknown("instance-state-unknown"),
            &["\"hibernated\""],
        ),
        (
            "D-40 nobody knows the instance",
            |o| {
                dead(o);
                o.instance = None;
            },
            unknown("instance-unknown"),
            &["nobody knows which instance"],
        ),
        (
            "D-46 the instance's evidence is older than the VolumeAttachment",
            |o| {
                dead(o);
                attachment(o).age_seconds = 300;
                instance(o).age_seconds = 301;
            },
            unknown("instance-evidence-older-than-attachment"),
            &["301 s old"],
        ),
        (
            "D-46 the volume's evidence is older than the VolumeAttachment",
            |o| {
                dead(o);
                attachment(o).age_seconds = 4;
            },
            unknown("evidence-older-than-attachment"),
            &["5 s old"],
        ),
    ]);
}

#[test]
fn e2_without_its_node_the_attachment_of_a_dead_instance_goes_once_its_pods_are_gone() {
    let delete = told(DEAD, "instance-dead-no-pods").remedy(Remedy::DeleteDeadAttachment);
    let bound = in_progress("instance-dead-pods-bound").warning().escalation(Remedy::ForceDeletePods);
    check(&[
        (
            "E2 proven",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
            },
            delete,
            &["the VolumeAttachment can go"],
        ),
        (
            "E2 young",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                attachment(o).age_seconds = 5;
            },
            delete,
            &[],
        ),
        (
            "E2 purged",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                purged(o);
            },
            delete,
            &[],
        ),
        ("E2 pods are bound", dead_and_node_gone, bound, &["the 4 pods by force", "pod GC"]),
        (
            "E2 the name is taken",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                o.node = NodeReport::Absent(AbsentNode { name_taken: true, seconds: 30 });
            },
            unproven("dead-name-taken"),
            &["bears the Node's name"],
        ),
        (
            "E2 one read of the volume",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                volume(o).reads = 1;
            },
            in_progress("dead-awaiting-second-reads"),
            &["twice, 10 s apart"],
        ),
        (
            "E2 two reads of the volume too near",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                volume(o).consistent_seconds = 9;
            },
            in_progress("dead-awaiting-second-reads"),
            &[],
        ),
        (
            "E2 one read of the instance",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                instance(o).reads = 1;
            },
            in_progress("dead-awaiting-second-reads"),
            &[],
        ),
        (
            "E2 two reads of the instance too near",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                instance(o).consistent_seconds = 9;
            },
            in_progress("dead-awaiting-second-reads"),
            &[],
        ),
        (
            "E2 one read of the purged instance",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                o.instance_report =
                    InstanceReport::Missing(MissingInstance { known_before: true, reads: 1, consistent_seconds: 10 });
            },
            in_progress("dead-awaiting-second-reads"),
            &[],
        ),
        (
            "E2 D-42 it is being deleted",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                attachment(o).deleting_seconds = Some(5);
            },
            in_progress("attachment-finalising"),
            &[],
        ),
        (
            "E1 D-42 it is being deleted",
            |o| {
                dead(o);
                attachment(o).deleting_seconds = Some(5);
            },
            in_progress("attachment-finalising"),
            &[],
        ),
        (
            "D-20 never seen before",
            |o| {
                dead_and_node_gone(o);
                no_pods(o);
                o.instance_report =
                    InstanceReport::Missing(MissingInstance { known_before: false, reads: 9, consistent_seconds: 99 });
            },
            unknown("instance-never-seen"),
            &[],
        ),
    ]);
}
