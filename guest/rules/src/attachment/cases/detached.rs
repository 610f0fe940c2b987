//! E9: detached under a living instance, with D-13, D-14, D-20, D-40, D-47, D-52.

use zonewarden_bindings::attachment::{
    AbsentNode, AttachmentState, Drift, InstanceReport, InstanceState, Lease, MissingInstance, NodeReport,
};
use zonewarden_bindings::types::Remedy;

use super::super::fixture::{
    attachment, detached, free, held_by, instance, mk_cluster_node, no_pods, node, read_twice, volume, waiting,
};
use super::{check, in_progress, told, unknown, unstable};

#[test]
fn e9_detached_under_a_living_instance() {
    let in_use = told(Drift::DetachedInUse, "detached-in-use");
    let cured = told(Drift::DetachedWaiting, "detached-waiting").remedy(Remedy::DeleteDetachedAttachment);
    let unclear = told(Drift::DetachedWaiting, "detached-waiting-unclear");
    check(&[
        (
            "E9 a D-52",
            |o| {
                detached(o);
                read_twice(o);
            },
            in_use,
            &["from under 1 pod with", "delete each such pod"],
        ),
        (
            "E9 a just old enough",
            |o| {
                detached(o);
                attachment(o).age_seconds = 300;
            },
            in_use,
            &[],
        ),
        (
            "E9 a D-13 both say detached",
            |o| {
                detached(o);
                instance(o).mapping = Some(AttachmentState::Detached);
            },
            in_use,
            &[],
        ),
        (
            "E9 a one of two pods started",
            |o| {
                detached(o);
                (o.usage.pods_on_node, o.usage.started_on_node) = (2, 1);
            },
            in_use,
            &[],
        ),
        ("E9 b", waiting, cured, &["1 pod in wait", "attached nowhere"]),
        (
            "E9 b the kubelet renews its Lease",
            |o| {
                waiting(o);
                node(o).lease = Lease::Renewed;
                node(o).ready = false;
            },
            cured,
            &[],
        ),
        (
            "E9 b the kubelet is silent",
            |o| {
                waiting(o);
                node(o).lease = Lease::Silent(1);
            },
            unclear,
            &["1 pod in wait", "look at the Node"],
        ),
        (
            "E9 b the Node is not ready",
            |o| {
                waiting(o);
                node(o).ready = false;
            },
            unclear,
            &[],
        ),
        (
            "E9 b the Node is not identified",
            |o| {
                waiting(o);
                node(o).instance = None;
            },
            unclear,
            &[],
        ),
        (
            "E9 b the Node is gone",
            |o| {
                waiting(o);
                o.node = NodeReport::Absent(AbsentNode { name_taken: false, seconds: 30 });
            },
            unclear,
            &[],
        ),
        (
            "E9 b another Node has the Multi-Attach volume",
            |o| {
                held_by(o, "i-0c", mk_cluster_node("node-c"));
                volume(o).multi_attach = true;
                o.usage.started_on_node = 0;
            },
            unclear,
            &[],
        ),
        (
            "E9 pods elsewhere",
            |o| {
                detached(o);
                no_pods(o);
                (o.usage.pods_elsewhere, o.usage.unused_seconds) = (3, 0);
            },
            told(Drift::DetachedWaiting, "detached-pods-elsewhere").warning(),
            &["needed by 3 pods elsewhere"],
        ),
        (
            "E9 no pod",
            |o| {
                detached(o);
                no_pods(o);
            },
            told(Drift::LeakedAttachment, "detached-unused").warning(),
            &["no pod uses it"],
        ),
    ]);
}

#[test]
fn e9_what_is_not_known_for_certain_is_no_detach() {
    let unconfirmed = unstable("detach-unconfirmed");
    let stopped = unknown("detached-not-running");
    check(&[
        (
            "D-47 young",
            |o| {
                waiting(o);
                attachment(o).age_seconds = 299;
            },
            in_progress("attachment-young"),
            &["299 s old"],
        ),
        (
            "one read of the volume",
            |o| {
                waiting(o);
                volume(o).reads = 1;
            },
            unconfirmed,
            &["twice, 10 s apart"],
        ),
        (
            "one read of the instance",
            |o| {
                waiting(o);
                instance(o).reads = 1;
            },
            unconfirmed,
            &[],
        ),
        (
            "reads of the volume too near",
            |o| {
                waiting(o);
                volume(o).consistent_seconds = 9;
            },
            unconfirmed,
            &[],
        ),
        (
            "reads of the instance too near",
            |o| {
                waiting(o);
                instance(o).consistent_seconds = 9;
            },
            unconfirmed,
            &[],
        ),
        (
            "one API only",
            |o| {
                waiting(o);
                o.instance_report = InstanceReport::Unknown;
            },
            unknown("second-api-unknown"),
            &["DescribeInstances"],
        ),
        (
            "D-20 an instance that was never seen",
            |o| {
                waiting(o);
                o.instance_report =
                    InstanceReport::Missing(MissingInstance { known_before: false, reads: 9, consistent_seconds: 99 });
            },
            unknown("instance-never-seen"),
            &["account or region"],
        ),
        (
            "C-7 stopped",
            |o| {
                waiting(o);
                instance(o).state = InstanceState::Stopped;
            },
            stopped,
            &["not running"],
        ),
        (
            "C-7 stopping",
            |o| {
                waiting(o);
                instance(o).state = InstanceState::Stopping;
            },
            stopped,
            &[],
        ),
        (
            "C-7 pending",
            |o| {
                waiting(o);
                instance(o).state = InstanceState::Pending;
            },
            stopped,
            &[],
        ),
        (
            "the instance lists it",
            free,
            unstable("apis-disagree"),
            &["DescribeVolumes does not have", "DescribeInstances has"],
        ),
        (
            "the instance does not list it",
            |o| {
                instance(o).mapping = None;
            },
            unstable("apis-disagree"),
            &["DescribeVolumes has", "DescribeInstances does not have"],
        ),
        (
            "D-13 the instance lists it as detached",
            |o| {
                instance(o).mapping = Some(AttachmentState::Detached);
            },
            unstable("apis-disagree"),
            &[],
        ),
        (
            "D-20 EC2 does not know the instance that has the volume",
            |o| {
                o.instance_report =
                    InstanceReport::Missing(MissingInstance { known_before: false, reads: 9, consistent_seconds: 99 });
            },
            unstable("apis-disagree"),
            &[],
        ),
        (
            "D-14 a mapping in a state that is not known",
            |o| {
                instance(o).mapping = Some(AttachmentState::Other("parked".to_owned()));
            },
            unknown("mapping-state-unknown"),
            &["\"parked\""],
        ),
    ]);
}
