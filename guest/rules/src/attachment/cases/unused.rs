//! E12, D-43, D-56.

use zonewarden_bindings::attachment::{AbsentNode, Drift, Lease, NodeReport};
use zonewarden_bindings::types::Remedy;

use super::super::fixture::{attachment, detached, node, read_twice, unused, volume};
use super::{check, in_sync, told};

#[test]
fn e12_an_attachment_that_no_pod_needs() {
    let told_only = told(Drift::LeakedAttachment, "leaked-attachment").warning();
    let leaked = told_only.escalation(Remedy::DeleteLeakedAttachment);
    let fine = in_sync("attached");
    check(&[
        ("E12 attached", unused, leaked, &["for 640 s"]),
        (
            "E12 the kubelet renews its Lease",
            |o| {
                unused(o);
                node(o).ready = false;
                node(o).lease = Lease::Renewed;
            },
            leaked,
            &[],
        ),
        (
            "E12 detached",
            |o| {
                detached(o);
                unused(o);
            },
            leaked,
            &[],
        ),
        (
            "E12 never attached",
            |o| {
                detached(o);
                unused(o);
                attachment(o).attached = false;
            },
            leaked,
            &[],
        ),
        (
            "E12 by just two sweeps, just old enough",
            |o| {
                unused(o);
                read_twice(o);
                attachment(o).age_seconds = 300;
            },
            leaked,
            &[],
        ),
        (
            "E12 D-43 the PersistentVolume is gone",
            |o| {
                unused(o);
                o.persistent_volume_missing = true;
            },
            leaked,
            &["PersistentVolume is gone"],
        ),
        (
            "E12 D-56 not for long enough",
            |o| {
                unused(o);
                o.usage.unused_seconds = 639;
            },
            fine,
            &[],
        ),
        (
            "E12 a pod there",
            |o| {
                unused(o);
                o.usage.pods_on_node = 1;
            },
            fine,
            &[],
        ),
        (
            "E12 a started pod there",
            |o| {
                unused(o);
                o.usage.started_on_node = 1;
            },
            fine,
            &[],
        ),
        (
            "E12 a pod elsewhere",
            |o| {
                unused(o);
                o.usage.pods_elsewhere = 1;
            },
            fine,
            &[],
        ),
        (
            "E12 volumesInUse lists it",
            |o| {
                unused(o);
                node(o).volume_in_use = true;
            },
            fine,
            &[],
        ),
        (
            "E12 volumesAttached lists it",
            |o| {
                unused(o);
                node(o).volume_attached = true;
            },
            fine,
            &[],
        ),
        (
            "E12 the Node is not identified, and lists it",
            |o| {
                unused(o);
                node(o).instance = None;
                node(o).volume_in_use = true;
            },
            fine,
            &[],
        ),
        (
            "E12 young",
            |o| {
                unused(o);
                attachment(o).age_seconds = 299;
            },
            fine,
            &[],
        ),
        (
            "E12 one sweep",
            |o| {
                unused(o);
                volume(o).reads = 1;
            },
            fine,
            &[],
        ),
        (
            "E12 the kubelet is silent",
            |o| {
                unused(o);
                node(o).lease = Lease::Silent(1);
            },
            told_only,
            &[],
        ),
        (
            "E12 the Node is not ready",
            |o| {
                unused(o);
                node(o).ready = false;
            },
            told_only,
            &[],
        ),
        (
            "E12 the Node is not identified",
            |o| {
                unused(o);
                node(o).instance = None;
            },
            told_only,
            &[],
        ),
        (
            "E12 the Node is gone",
            |o| {
                unused(o);
                o.node = NodeReport::Absent(AbsentNode { name_taken: false, seconds: 900 });
            },
            told_only,
            &[],
        ),
        (
            "E12 nothing is known of the Node",
            |o| {
                unused(o);
                o.node = NodeReport::Unknown;
            },
            told_only,
            &[],
        ),
    ]);
}
