//! E8, D-8, D-9, D-14, D-21, D-30, D-46.

use zonewarden_bindings::attachment::{AttachmentState, Drift, VolumeReport};
use zonewarden_bindings::types::{Label, VolumeState};

use super::super::fixture::{attachment, dead, detached, instance, missing, mk_observation, volume, volume_missing};
use super::{check, in_progress, told, unknown, unstable};

#[test]
fn d_8_d_9_a_state_that_does_not_go_with_the_list() {
    let inconsistent = unstable("volume-inconsistent");
    check(&[
        (
            "D-8 in-use and attached nowhere",
            |o| {
                detached(o);
                volume(o).state = VolumeState::InUse;
            },
            inconsistent,
            &["in-use", "0 attachments"],
        ),
        (
            "D-8 in-use with nothing but a detached entry",
            |o| {
                detached(o);
                *volume(o) = volume(&mut mk_observation()).clone();
                volume(o).attachments[0].state = AttachmentState::Detached;
            },
            inconsistent,
            &[],
        ),
        (
            "D-8 and the instance is dead",
            |o| {
                dead(o);
                volume(o).state = VolumeState::InUse;
            },
            inconsistent,
            &[],
        ),
        (
            "D-9 available and attached",
            |o| volume(o).state = VolumeState::Available,
            inconsistent,
            &["available", "1 attachments"],
        ),
        ("creating and attached", |o| volume(o).state = VolumeState::Creating, inconsistent, &["creating"]),
        ("deleting and attached", |o| volume(o).state = VolumeState::Deleting, inconsistent, &["deleting"]),
        ("deleted and attached", |o| volume(o).state = VolumeState::Deleted, inconsistent, &["deleted"]),
    ]);
}

#[test]
fn d_21_states_of_the_volume() {
    let error = told(Drift::VolumeError, "volume-error");
    let deleted = told(Drift::VolumeDeleted, "volume-deleted");
    check(&[
        (
            "D-21 creating",
            |o| {
                detached(o);
                volume(o).state = VolumeState::Creating;
            },
            in_progress("volume-creating"),
            &["still making"],
        ),
        (
            "D-21 error",
            |o| {
                detached(o);
                volume(o).state = VolumeState::Error;
            },
            error,
            &["state error", "snapshot"],
        ),
        ("D-21 error and attached", |o| volume(o).state = VolumeState::Error, error, &[]),
        (
            "D-21 deleting",
            |o| {
                detached(o);
                volume(o).state = VolumeState::Deleting;
            },
            deleted,
            &["deleted at EC2"],
        ),
        (
            "D-21 deleted",
            |o| {
                detached(o);
                volume(o).state = VolumeState::Deleted;
            },
            deleted,
            &[],
        ),
        (
            "D-21 deleting, two reads",
            |o| {
                detached(o);
                volume(o).state = VolumeState::Deleting;
                volume(o).reads = 2;
            },
            unknown("volume-deletion-unconfirmed"),
            &["2 reads over 120 s"],
        ),
        (
            "D-14 a state that is not known",
            |o| {
                detached(o);
                volume(o).state = VolumeState::Other("frozen".to_owned());
            },
            unknown("volume-state-unknown"),
            &["\"frozen\""],
        ),
        (
            "D-14 even when the instance is dead",
            |o| {
                dead(o);
                volume(o).state = VolumeState::Other("frozen".to_owned());
            },
            unknown("volume-state-unknown"),
            &[],
        ),
    ]);
}

#[test]
fn e8_the_volume_is_deleted() {
    let deleted = told(Drift::VolumeDeleted, "volume-deleted");
    let unconfirmed = unknown("volume-deletion-unconfirmed");
    check(&[
        ("E8", volume_missing, deleted, &["deleted at EC2", "snapshot"]),
        (
            "E8 without a VolumeAttachment",
            |o| {
                volume_missing(o);
                o.attachment = None;
            },
            deleted,
            &[],
        ),
        (
            "E8 before E1",
            |o| {
                dead(o);
                volume_missing(o);
            },
            deleted,
            &[],
        ),
        (
            "E8 just old enough",
            |o| {
                volume_missing(o);
                attachment(o).age_seconds = 300;
            },
            deleted,
            &[],
        ),
        (
            "E8 D-47 young",
            |o| {
                volume_missing(o);
                attachment(o).age_seconds = 299;
            },
            unconfirmed,
            &["older than 300 s"],
        ),
        (
            "E8 listed by filter",
            |o| {
                volume_missing(o);
                missing(o).absent_by_filter = false;
            },
            unconfirmed,
            &["by filter"],
        ),
        (
            "E8 two reads",
            |o| {
                volume_missing(o);
                missing(o).reads = 2;
            },
            unconfirmed,
            &["2 reads over 120 s", "3 reads over 120 s"],
        ),
        (
            "E8 too short",
            |o| {
                volume_missing(o);
                missing(o).consistent_seconds = 119;
            },
            unconfirmed,
            &["3 reads over 119 s"],
        ),
        (
            "E8 the instance lists it",
            |o| {
                volume_missing(o);
                instance(o).mapping = Some(AttachmentState::Attached);
            },
            unstable("volume-missing-but-mapped"),
            &["the instance lists it"],
        ),
        (
            "E8 the instance lists it as detached",
            |o| {
                volume_missing(o);
                instance(o).mapping = Some(AttachmentState::Detached);
            },
            deleted,
            &[],
        ),
        (
            "D-30 managed by an operator",
            |o| {
                volume_missing(o);
                o.attributes = vec![Label { key: "operator".to_owned(), value: "eks.example".to_owned() }];
            },
            unknown("volume-managed"),
            &["\"eks.example\"", "missing is not deleted"],
        ),
        (
            "D-30 managed by nobody",
            |o| {
                volume_missing(o);
                o.attributes = vec![Label { key: "operator".to_owned(), value: String::new() }];
            },
            deleted,
            &[],
        ),
        (
            "D-30 another attribute",
            |o| {
                volume_missing(o);
                o.attributes = vec![Label { key: "volume-type".to_owned(), value: "gp3".to_owned() }];
            },
            deleted,
            &[],
        ),
    ]);
}

#[test]
fn d_46_evidence_that_is_not_there_or_older_than_the_attachment() {
    let stale = unknown("evidence-older-than-attachment");
    check(&[
        ("nothing fresh", |o| o.volume_report = VolumeReport::Unknown, unknown("volume-unknown"), &["nothing fresh"]),
        (
            "nothing fresh of a dead instance's volume",
            |o| {
                dead(o);
                o.volume_report = VolumeReport::Unknown;
            },
            unknown("volume-unknown"),
            &[],
        ),
        (
            "D-46 found",
            |o| {
                volume(o).age_seconds = 301;
                attachment(o).age_seconds = 300;
            },
            stale,
            &["301 s old"],
        ),
        (
            "D-46 missing",
            |o| {
                volume_missing(o);
                missing(o).age_seconds = 301;
                attachment(o).age_seconds = 300;
            },
            stale,
            &["301 s old"],
        ),
        (
            "D-46 missing, as old as the VolumeAttachment",
            |o| {
                volume_missing(o);
                missing(o).age_seconds = 300;
                attachment(o).age_seconds = 300;
            },
            told(Drift::VolumeDeleted, "volume-deleted"),
            &[],
        ),
    ]);
}
