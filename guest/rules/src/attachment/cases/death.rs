//! E1, E2: a proven death.

use zonewarden_bindings::attachment::{
    AbsentNode, AttachmentState, Drift, InstanceReport, MissingInstance, NodeReport, OutOfServiceTaint,
};
use zonewarden_bindings::types::{Remedy, VolumeState};

use super::super::fixture::{
    attachment, dead, dead_and_node_gone, instance, mk_cluster_node, mk_held, no_pods, node, purged, volume,
};
use super::{check, in_progress, told, unknown, unproven};

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
