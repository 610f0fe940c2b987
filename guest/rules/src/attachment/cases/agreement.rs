//! E10, E15, D-46, D-57, C-7, and what `status.attached: false` means.

use zonewarden_bindings::attachment::{Drift, InstanceReport, InstanceState, NodeReport};

use super::super::fixture::{attachment, detached, free, instance, no_pods, own, purged, volume};
use super::{check, in_progress, in_sync, told, unstable};

#[test]
fn finding_4_attached_false_is_no_detach() {
    let recorded = in_progress("attach-being-recorded");
    let not_recorded = told(Drift::StuckAttaching, "attach-not-recorded").warning();
    let not_started = told(Drift::StuckAttaching, "attach-not-started").warning();
    check(&[
        (
            "EC2 has it, young",
            |o| {
                attachment(o).attached = false;
                attachment(o).age_seconds = 299;
            },
            recorded,
            &["has not written it down"],
        ),
        (
            "EC2 has it, not for long",
            |o| {
                attachment(o).attached = false;
                own(o).seconds = 90;
            },
            recorded,
            &[],
        ),
        (
            "EC2 has it, for long",
            |o| {
                attachment(o).attached = false;
                attachment(o).age_seconds = 300;
                own(o).seconds = 91;
            },
            not_recorded,
            &["since 91 s", "\"none\""],
        ),
        (
            "EC2 has it, for long, with an error",
            |o| {
                attachment(o).attached = false;
                attachment(o).attach_error = Some("timed out".to_owned());
            },
            not_recorded,
            &["\"timed out\""],
        ),
        (
            "EC2 does not have it, young",
            |o| {
                detached(o);
                attachment(o).attached = false;
                attachment(o).age_seconds = 299;
            },
            in_progress("attach-awaited"),
            &["waits for its attach"],
        ),
        (
            "EC2 does not have it, for long",
            |o| {
                detached(o);
                attachment(o).attached = false;
                attachment(o).age_seconds = 300;
            },
            not_started,
            &["since 300 s", "\"none\""],
        ),
        (
            "EC2 does not have it, for long, with an error",
            |o| {
                detached(o);
                attachment(o).attached = false;
                attachment(o).attach_error = Some("AttachmentLimitExceeded".to_owned());
            },
            not_started,
            &["\"AttachmentLimitExceeded\""],
        ),
    ]);
}

#[test]
fn e10_d_57_an_attachment_that_kubernetes_does_not_know() {
    let orphan = told(Drift::OrphanAttachment, "orphan-attachment").warning();
    let in_use = told(Drift::OrphanAttachment, "orphan-attachment-in-use");
    let maybe = in_progress("no-attachment-yet");
    check(&[
        (
            "E10",
            |o| {
                o.attachment = None;
                no_pods(o);
                own(o).seconds = 631;
            },
            orphan,
            &["since 631 s", "without a VolumeAttachment and a pod"],
        ),
        (
            "E10 nothing is known of the Node and the instance",
            |o| {
                o.attachment = None;
                no_pods(o);
                o.node = NodeReport::Unknown;
                o.instance_report = InstanceReport::Unknown;
            },
            orphan,
            &[],
        ),
        ("E10 with a pod there", |o| o.attachment = None, in_use, &["in use by 1 pod;", "delete each such pod"]),
        (
            "E10 not for long enough",
            |o| {
                o.attachment = None;
                own(o).seconds = 630;
            },
            maybe,
            &["since 630 s"],
        ),
        (
            "E10 two reads",
            |o| {
                o.attachment = None;
                volume(o).reads = 2;
            },
            maybe,
            &[],
        ),
        (
            "E10 on an instance that is purged",
            |o| {
                o.attachment = None;
                purged(o);
            },
            unstable("apis-disagree"),
            &[],
        ),
        (
            "D-57 the driver asks for no VolumeAttachment",
            |o| {
                o.attachment = None;
                o.attach_required = false;
            },
            in_sync("attach-not-required"),
            &["asks for no VolumeAttachment"],
        ),
        ("D-57 there is one all the same", |o| o.attach_required = false, in_sync("attached"), &[]),
        (
            "neither has it",
            |o| {
                o.attachment = None;
                detached(o);
            },
            in_sync("nothing-attached"),
            &["neither Kubernetes nor EC2"],
        ),
        (
            "neither has it, and the instance is dead",
            |o| {
                o.attachment = None;
                free(o);
                instance(o).state = InstanceState::Terminated;
            },
            in_sync("nothing-attached"),
            &[],
        ),
        (
            "no PersistentVolume",
            |o| {
                o.attachment = None;
                o.persistent_volume = None;
                no_pods(o);
            },
            orphan,
            &[],
        ),
    ]);
}

#[test]
fn e15_kubernetes_and_ec2_name_different_devices() {
    let mismatch = told(Drift::DeviceMismatch, "device-mismatch");
    let unconfirmed = unstable("device-unconfirmed");
    check(&[
        (
            "E15",
            |o| own(o).device = Some("/dev/xvdbb".to_owned()),
            mismatch,
            &["/dev/xvdba", "/dev/xvdbb", "serial number"],
        ),
        (
            "E15 just old enough",
            |o| {
                own(o).device = Some("/dev/xvdbb".to_owned());
                attachment(o).age_seconds = 300;
            },
            mismatch,
            &[],
        ),
        (
            "E15 young",
            |o| {
                own(o).device = Some("/dev/xvdbb".to_owned());
                attachment(o).age_seconds = 299;
            },
            unconfirmed,
            &["/dev/xvdba", "/dev/xvdbb"],
        ),
        (
            "E15 one sweep",
            |o| {
                own(o).device = Some("/dev/xvdbb".to_owned());
                volume(o).reads = 1;
            },
            unconfirmed,
            &[],
        ),
        ("E15 EC2 names none", |o| own(o).device = None, in_sync("attached"), &["both have the volume attached"]),
        ("E15 Kubernetes names none", |o| attachment(o).device = None, in_sync("attached"), &[]),
        (
            "D-46 the instance's evidence is old and does not matter",
            |o| {
                attachment(o).age_seconds = 10;
                instance(o).age_seconds = 11;
            },
            in_sync("attached"),
            &[],
        ),
    ]);
}
