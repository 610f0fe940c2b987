//! E1 and D-17 to D-20, D-40, D-42, D-46, D-47: a death that is not proven.

use zonewarden_bindings::attachment::{Holder, InstanceReport, InstanceState, Lease, MissingInstance, NodeReport};
use zonewarden_bindings::types::{Remedy, VolumeState};

use super::super::fixture::{attachment, dead, instance, mk_cluster_node, mk_held, node, purged, volume};
use super::{check, in_progress, in_sync, unknown, unproven, unstable};

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
