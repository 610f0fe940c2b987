//! E3, E6, E7, D-10 to D-12, D-14, D-42.

use zonewarden_bindings::attachment::{AttachmentState, Drift, InstanceReport, InstanceState, Observation};

use super::super::fixture::{attachment, dead_and_node_gone, detached, instance, own, purged, volume};
use super::{check, in_progress, told, unknown};

/// The detach error has repeated for long enough, and the detach is not late.
fn failing(o: &mut Observation) {
    attachment(o).deleting_seconds = Some(100);
    attachment(o).detach_error = Some("rpc error: not found".to_owned());
    attachment(o).detach_error_seconds = 621;
}

fn in_state(o: &mut Observation, state: AttachmentState, seconds: u32) {
    instance(o).mapping = Some(state.clone());
    (own(o).state, own(o).seconds) = (state, seconds);
}

#[test]
fn e3_the_detach_fails_again_and_again() {
    let fails = told(Drift::DetachFailing, "detach-failing");

    check(&[
        (
            "E3 purged instance",
            |o| {
                dead_and_node_gone(o);
                purged(o);
                failing(o);
            },
            fails,
            &["for 621 s", "rpc error: not found", "1.29 to 1.54"],
        ),
        (
            "E3 terminated instance",
            |o| {
                dead_and_node_gone(o);
                failing(o);
            },
            fails,
            &["1.29 to 1.54"],
        ),
        (
            "E3 D-43 no PersistentVolume",
            |o| {
                dead_and_node_gone(o);
                failing(o);
                o.persistent_volume_missing = true;
            },
            fails,
            &["create the missing PersistentVolume"],
        ),
        ("E3 a living instance", failing, fails, &["log and permissions"]),
        (
            "E3 an instance that nothing is known of",
            |o| {
                failing(o);
                o.instance_report = InstanceReport::Unknown;
            },
            fails,
            &["log and permissions"],
        ),
        (
            "E3 not for long enough",
            |o| {
                failing(o);
                attachment(o).detach_error_seconds = 620;
            },
            in_progress("detach-asked-for"),
            &[],
        ),
        (
            "E3 no error",
            |o| {
                failing(o);
                attachment(o).detach_error = None;
            },
            in_progress("detach-asked-for"),
            &[],
        ),
    ]);
}

#[test]
fn e6_d_12_an_attach_that_does_not_end() {
    let stuck = told(Drift::StuckAttaching, "stuck-attaching").warning();
    check(&[
        ("E6", |o| in_state(o, AttachmentState::Attaching, 91), stuck, &["since 91 s", "1.55"]),
        (
            "E6 D-47 not negative, so young is no matter",
            |o| {
                in_state(o, AttachmentState::Attaching, 91);
                attachment(o).attached = false;
                attachment(o).age_seconds = 95;
            },
            stuck,
            &[],
        ),
        (
            "E6 two reads",
            |o| {
                in_state(o, AttachmentState::Attaching, 91);
                volume(o).reads = 2;
            },
            stuck,
            &[],
        ),
        (
            "E6 one read",
            |o| {
                in_state(o, AttachmentState::Attaching, 91);
                volume(o).reads = 1;
            },
            in_progress("attaching"),
            &[],
        ),
        ("D-12 attaching", |o| in_state(o, AttachmentState::Attaching, 90), in_progress("attaching"), &["since 90 s"]),
        (
            "D-12 the mapping does not show it yet",
            |o| {
                in_state(o, AttachmentState::Attaching, 90);
                instance(o).mapping = None;
            },
            in_progress("attaching"),
            &[],
        ),
        (
            "D-18 before E6",
            |o| {
                in_state(o, AttachmentState::Attaching, 91);
                instance(o).state = InstanceState::ShuttingDown;
            },
            in_progress("instance-shutting-down"),
            &[],
        ),
    ]);
}

#[test]
fn e7_d_10_d_11_a_detach_that_does_not_end() {
    let stuck = told(Drift::StuckDetaching, "stuck-detaching").warning();
    let busy = told(Drift::StuckDetaching, "detach-busy");
    check(&[
        ("E7", |o| in_state(o, AttachmentState::Detaching, 311), stuck, &["since 311 s", "reboot"]),
        (
            "D-10 detaching",
            |o| in_state(o, AttachmentState::Detaching, 310),
            in_progress("detaching"),
            &["since 310 s"],
        ),
        (
            "E7 D-11 busy",
            |o| in_state(o, AttachmentState::Busy, 311),
            busy,
            &["since 311 s", "still mounted", "unmount"],
        ),
        ("D-11 busy", |o| in_state(o, AttachmentState::Busy, 310), in_progress("busy"), &["since 310 s"]),
        (
            "E7 of a VolumeAttachment that is being deleted",
            |o| {
                in_state(o, AttachmentState::Detaching, 311);
                attachment(o).deleting_seconds = Some(400);
            },
            stuck,
            &[],
        ),
        (
            "D-11 of a VolumeAttachment that is being deleted",
            |o| {
                in_state(o, AttachmentState::Busy, 311);
                attachment(o).deleting_seconds = Some(1);
            },
            busy,
            &[],
        ),
        (
            "D-14 a state that is not known",
            |o| {
                in_state(o, AttachmentState::Other("parked".to_owned()), 1);
            },
            unknown("attachment-state-unknown"),
            &["\"parked\""],
        ),
        (
            "D-14 of a VolumeAttachment that is being deleted",
            |o| {
                in_state(o, AttachmentState::Other("parked".to_owned()), 1);
                attachment(o).deleting_seconds = Some(400);
            },
            unknown("attachment-state-unknown"),
            &["\"parked\""],
        ),
    ]);
}

#[test]
fn d_42_an_attachment_that_is_being_deleted_is_only_aged() {
    let late = told(Drift::StuckDetaching, "attachment-not-finalised").warning();
    let not_started = told(Drift::StuckDetaching, "detach-not-started").warning();
    check(&[
        ("D-42 EC2 still has it", |o| attachment(o).deleting_seconds = Some(310), in_progress("detach-asked-for"), &[]),
        (
            "D-42 EC2 still has it, late",
            |o| {
                attachment(o).deleting_seconds = Some(311);
            },
            not_started,
            &["since 311 s", "still has the volume attached"],
        ),
        (
            "D-42 EC2 still attaches it, late",
            |o| {
                in_state(o, AttachmentState::Attaching, 400);
                attachment(o).deleting_seconds = Some(311);
            },
            not_started,
            &[],
        ),
        (
            "D-42 detached",
            |o| {
                detached(o);
                attachment(o).deleting_seconds = Some(310);
            },
            in_progress("attachment-finalising"),
            &["external-attacher"],
        ),
        (
            "D-42 detached, late",
            |o| {
                detached(o);
                attachment(o).deleting_seconds = Some(311);
            },
            late,
            &["since 311 s", "finalizer"],
        ),
    ]);
}
