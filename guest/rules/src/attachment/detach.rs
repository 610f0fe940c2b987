//! Attaches and detaches that are on their way, and those that do not end (E3, E6, E7, D-10, D-11, D-12, D-42).

use zonewarden_bindings::attachment::{
    AttachmentState, Drift, Ec2Attachment, InstanceState, Judgement, VolumeAttachment,
};
use zonewarden_bindings::types::Severity;

use super::evidence::{Instance, Pair};
use super::verdict::{drift, in_progress, say, unknown};

/// A VolumeAttachment that is being deleted: never deleted a second time, only aged (D-42).
pub(super) fn deleting(pair: &Pair<'_>) -> Option<Judgement> {
    let attachment = pair.attachment?;
    let seconds = attachment.deleting_seconds?;
    if let Some(told) = failing(pair, attachment) {
        return Some(told);
    }
    let is_late = seconds > pair.settings.stuck_detaching_seconds;
    let Some(held) = pair.own() else {
        if is_late {
            let text = format!(
                "EC2 has detached the volume and the VolumeAttachment is being deleted since {seconds} s; look at \
                 the external-attacher, whose finalizer holds it"
            );
            return Some(drift(pair, Drift::StuckDetaching, Severity::Warning, &say("attachment-not-finalised", text)));
        }
        let text =
            "EC2 does not have the volume on the instance, and the external-attacher is finishing the VolumeAttachment";
        return Some(in_progress(pair, &say("attachment-finalising", text)));
    };
    match &held.state {
        AttachmentState::Detaching | AttachmentState::Busy | AttachmentState::Other(_) => moving(pair),
        AttachmentState::Attaching | AttachmentState::Attached | AttachmentState::Detached if is_late => {
            let text = format!(
                "the VolumeAttachment is being deleted since {seconds} s and EC2 still has the volume attached; \
                 look whether a pod still mounts it and at the EBS CSI controller's log"
            );
            Some(drift(pair, Drift::StuckDetaching, Severity::Warning, &say("detach-not-started", text)))
        }
        AttachmentState::Attaching | AttachmentState::Attached | AttachmentState::Detached => Some(in_progress(
            pair,
            &say("detach-asked-for", "the VolumeAttachment is being deleted, and the detach follows"),
        )),
    }
}

/// A detach error that repeats (E3), with the fix for what is behind it.
fn failing(pair: &Pair<'_>, attachment: &VolumeAttachment) -> Option<Judgement> {
    let error = attachment.detach_error.as_deref()?;
    let seconds = attachment.detach_error_seconds;
    if seconds <= pair.settings.detach_failing_seconds {
        return None;
    }
    let is_gone = match pair.instance {
        Instance::Missing(_) => true,
        Instance::Found(found) => matches!(found.state, InstanceState::Terminated),
        Instance::Unknown | Instance::Stale(_) => false,
    };
    let fix = if pair.observation.persistent_volume_missing {
        "create the missing PersistentVolume again, with its name and volume id, so that the external-attacher can \
         finish"
    } else if is_gone {
        "the instance is gone, which EBS CSI drivers from 1.29 to 1.54 take for an error: upgrade the driver"
    } else {
        "look at the EBS CSI controller's log and permissions"
    };
    let text = format!("the detach fails for {seconds} s with {error:?}; {fix}");
    Some(drift(pair, Drift::DetachFailing, Severity::Error, &say("detach-failing", text)))
}

/// What EC2 has on its way in or out for the pair, or in a state that is not known here (D-14).
pub(super) fn moving(pair: &Pair<'_>) -> Option<Judgement> {
    let held = pair.own()?;
    match &held.state {
        AttachmentState::Attached | AttachmentState::Detached => None,
        AttachmentState::Attaching => Some(attaching(pair, held)),
        AttachmentState::Detaching => Some(detaching(pair, held)),
        AttachmentState::Busy => Some(busy(pair, held)),
        AttachmentState::Other(state) => {
            let text = format!("EC2 reports the attachment in the state {state:?}, which is not known here");
            Some(unknown(pair, &say("attachment-state-unknown", text)))
        }
    }
}

fn attaching(pair: &Pair<'_>, held: &Ec2Attachment) -> Judgement {
    let seconds = held.seconds;
    let is_repeated = pair.found_volume().is_some_and(|found| found.reads >= 2);
    if seconds > pair.settings.stuck_attaching_seconds && is_repeated {
        let text = format!(
            "EC2 attaches the volume since {seconds} s; EBS CSI drivers from 1.55 give up and try again by \
             themselves, with an older one move the pod to another node"
        );
        return drift(pair, Drift::StuckAttaching, Severity::Warning, &say("stuck-attaching", text));
    }
    in_progress(pair, &say("attaching", format!("EC2 attaches the volume since {seconds} s")))
}

fn detaching(pair: &Pair<'_>, held: &Ec2Attachment) -> Judgement {
    let seconds = held.seconds;
    if seconds > pair.settings.stuck_detaching_seconds {
        let text = format!("EC2 detaches the volume since {seconds} s; unmount it on the node, or reboot the instance");
        return drift(pair, Drift::StuckDetaching, Severity::Warning, &say("stuck-detaching", text));
    }
    in_progress(pair, &say("detaching", format!("EC2 detaches the volume since {seconds} s")))
}

fn busy(pair: &Pair<'_>, held: &Ec2Attachment) -> Judgement {
    let seconds = held.seconds;
    if seconds > pair.settings.stuck_detaching_seconds {
        let text = format!(
            "the volume is still mounted on the node, and its detach waits since {seconds} s; unmount it there, or \
             reboot the instance"
        );
        return drift(pair, Drift::StuckDetaching, Severity::Error, &say("detach-busy", text));
    }
    in_progress(
        pair,
        &say("busy", format!("the volume is still mounted on the node, and its detach waits since {seconds} s")),
    )
}
