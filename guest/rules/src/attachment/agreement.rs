//! Kubernetes' word held against that of both of EC2's APIs (E9, E10, E15, D-14, D-18 to D-20, D-40, D-47, D-52, D-57).

use zonewarden_bindings::attachment::{
    AttachmentState, Drift, Ec2Attachment, InstanceState, Judgement, VolumeAttachment,
};
use zonewarden_bindings::types::{Remedy, Severity};

use super::evidence::{Instance, Node, Pair, is_kubelet_alive};
use super::verdict::{Pods, drift, in_progress, in_sync, say, unknown, unstable};

/// How many reads in a row must show an attachment that Kubernetes does not know (E10).
const READS_OF_AN_ORPHAN: u32 = 3;

/// The driver asks for no VolumeAttachments, so that none is missing (D-57).
pub(super) fn not_needed(pair: &Pair<'_>) -> Option<Judgement> {
    let is_not_needed = !pair.observation.attach_required && pair.attachment.is_none();
    is_not_needed.then(|| in_sync(pair, &say("attach-not-required", "the CSI driver asks for no VolumeAttachment")))
}

/// An instance that nothing can be said of: unnamed (D-40, D-41), on its way down (D-18), in a state not known here (D-14).
pub(super) fn instance_not_told(pair: &Pair<'_>) -> Option<Judgement> {
    if pair.observation.instance.is_none() {
        let text = "nobody knows which instance the VolumeAttachment was made for, so nothing is compared";
        return Some(unknown(pair, &say("instance-unknown", text)));
    }
    match pair.instance_state()? {
        InstanceState::ShuttingDown => {
            let text = "the instance is shutting down, and its writes may still be on their way; it counts as dead \
                        when terminated";
            Some(in_progress(pair, &say("instance-shutting-down", text)))
        }
        InstanceState::Other(state) => {
            let text = format!("EC2 reports the instance in the state {state:?}, which is not known here");
            Some(unknown(pair, &say("instance-state-unknown", text)))
        }
        InstanceState::Pending
        | InstanceState::Running
        | InstanceState::Stopping
        | InstanceState::Stopped
        | InstanceState::Terminated => None,
    }
}

/// One of EC2's APIs has the volume on the instance, and the other has not.
pub(super) fn apis_disagree(pair: &Pair<'_>) -> Option<Judgement> {
    let is_listed = pair.own().is_some();
    let is_mapped = match (pair.mapping(), &pair.instance) {
        (Some(AttachmentState::Other(state)), _) => {
            let text = format!("EC2 reports the instance's mapping in the state {state:?}, which is not known here");
            return Some(unknown(pair, &say("mapping-state-unknown", text)));
        }
        (_, Instance::Unknown | Instance::Stale(_)) => return None,
        // The mappings of a terminated instance fade by themselves.
        (_, Instance::Found(found)) if matches!(found.state, InstanceState::Terminated) => false,
        (mapping, Instance::Found(_) | Instance::Missing(_)) => mapping.is_some(),
    };
    let says = |yes: bool| if yes { "has" } else { "does not have" };
    (is_listed != is_mapped).then(|| {
        let (volumes, instances) = (says(is_listed), says(is_mapped));
        let text = format!(
            "DescribeVolumes {volumes} the volume on the instance and DescribeInstances {instances}; both are asked \
             again"
        );
        unstable(pair, &say("apis-disagree", text))
    })
}

/// What is left: the attachment is settled, and both APIs agree on it as far as they were asked.
pub(super) fn compare(pair: &Pair<'_>) -> Judgement {
    match (pair.attachment, pair.own()) {
        (Some(attachment), Some(held)) => attached(pair, attachment, held),
        (Some(attachment), None) => not_attached(pair, attachment),
        (None, Some(held)) => orphan(pair, held),
        (None, None) => {
            in_sync(pair, &say("nothing-attached", "neither Kubernetes nor EC2 has the volume on the instance"))
        }
    }
}

fn attached(pair: &Pair<'_>, attachment: &VolumeAttachment, held: &Ec2Attachment) -> Judgement {
    if !attachment.attached {
        if held.seconds > pair.settings.stuck_attaching_seconds && !pair.is_young() {
            let error = attachment.attach_error.as_deref().unwrap_or("none");
            let text = format!(
                "EC2 has the volume attached since {} s and the VolumeAttachment does not say so, its attach error \
                 is {error:?}; look at the external-attacher and the EBS CSI controller",
                held.seconds
            );
            return drift(pair, Drift::StuckAttaching, Severity::Warning, &say("attach-not-recorded", text));
        }
        let text = "EC2 has the volume attached, and the external-attacher has not written it down yet";
        return in_progress(pair, &say("attach-being-recorded", text));
    }
    if let (Some(ours), Some(theirs)) = (&attachment.device, &held.device)
        && ours != theirs
    {
        return device(pair, ours, theirs);
    }
    match pair.instance_state() {
        Some(InstanceState::Stopping | InstanceState::Stopped) => {
            in_sync(pair, &say("attached-while-stopped", "the instance is stopped, and keeps the volume attached"))
        }
        _ => in_sync(pair, &say("attached", "Kubernetes and EC2 both have the volume attached")),
    }
}

/// Two names for the device (E15).
fn device(pair: &Pair<'_>, ours: &str, theirs: &str) -> Judgement {
    if pair.is_young() || !pair.is_volume_confirmed() {
        let text = format!("the VolumeAttachment names the device {ours} and EC2 {theirs}; it is looked at again");
        return unstable(pair, &say("device-unconfirmed", text));
    }
    let text = format!(
        "the VolumeAttachment names the device {ours} and EC2 {theirs}; check on the node by the volume's serial \
         number that the pod has the right disk"
    );
    drift(pair, Drift::DeviceMismatch, Severity::Error, &say("device-mismatch", text))
}

/// EC2 has an attachment that Kubernetes does not know (E10).
fn orphan(pair: &Pair<'_>, held: &Ec2Attachment) -> Judgement {
    let reads = pair.found_volume().map_or(0, |found| found.reads);
    let seconds = held.seconds;
    if reads < READS_OF_AN_ORPHAN || seconds <= pair.settings.orphan_seconds {
        let text =
            format!("EC2 has the volume attached since {seconds} s without a VolumeAttachment; one may still be made");
        return in_progress(pair, &say("no-attachment-yet", text));
    }
    let pods = pair.pods_on_node();
    if pods > 0 {
        let text = format!(
            "EC2 has the volume attached since {seconds} s without a VolumeAttachment, in use by {}; delete each \
             such pod, so that it is made again with one",
            Pods(pods)
        );
        return drift(pair, Drift::OrphanAttachment, Severity::Error, &say("orphan-attachment-in-use", text));
    }
    let text = format!(
        "EC2 has the volume attached since {seconds} s, without a VolumeAttachment and a pod; detach it in EC2 if \
         nobody needs it there"
    );
    drift(pair, Drift::OrphanAttachment, Severity::Warning, &say("orphan-attachment", text))
}

/// A VolumeAttachment, and DescribeVolumes does not have the volume on the instance.
fn not_attached(pair: &Pair<'_>, attachment: &VolumeAttachment) -> Judgement {
    if !attachment.attached {
        return attach_awaited(pair, attachment);
    }
    if pair.is_young() {
        let age = attachment.age_seconds;
        let text =
            format!("EC2 does not have the volume attached; the VolumeAttachment is {age} s old, too young to judge");
        return in_progress(pair, &say("attachment-young", text));
    }
    let found = match pair.instance {
        Instance::Found(found) => found,
        Instance::Unknown => {
            let text =
                "DescribeVolumes does not have the volume attached; DescribeInstances' second opinion is awaited";
            return unknown(pair, &say("second-api-unknown", text));
        }
        Instance::Stale(age) => {
            let text = format!(
                "DescribeInstances' answer is {age} s old, older than the VolumeAttachment, and proves nothing"
            );
            return unknown(pair, &say("instance-evidence-older-than-attachment", text));
        }
        Instance::Missing(_) => {
            let text = "EC2 does not know the instance and never showed it here; it may be too new, or in another \
                        account or region";
            return unknown(pair, &say("instance-never-seen", text));
        }
    };
    if !matches!(found.state, InstanceState::Running) {
        let text = "EC2 does not have the volume attached, and the instance is not running; it is judged when it runs";
        return unknown(pair, &say("detached-not-running", text));
    }
    if !pair.is_volume_confirmed() || !pair.is_instance_confirmed() {
        let text = format!(
            "EC2 does not have the volume attached; both APIs have to say so twice, {} s apart",
            pair.settings.consistent_seconds
        );
        return unstable(pair, &say("detach-unconfirmed", text));
    }
    detached(pair)
}

/// An attach that is still to come. `attached: false` says nothing about EC2, and never that the volume is free.
fn attach_awaited(pair: &Pair<'_>, attachment: &VolumeAttachment) -> Judgement {
    if pair.is_young() {
        return in_progress(pair, &say("attach-awaited", "the VolumeAttachment waits for its attach"));
    }
    let age = attachment.age_seconds;
    let error = attachment.attach_error.as_deref().unwrap_or("none");
    let text = format!(
        "the VolumeAttachment waits for its attach since {age} s, its attach error is {error:?}; look at the EBS \
         CSI controller"
    );
    drift(pair, Drift::StuckAttaching, Severity::Warning, &say("attach-not-started", text))
}

/// Detached under a living instance (E9).
fn detached(pair: &Pair<'_>) -> Judgement {
    let usage = &pair.observation.usage;
    let (started, pods) = (usage.started_on_node, pair.pods_on_node());
    if started > 0 {
        let text = format!(
            "EC2 has detached the volume from under {} with started containers, where its mount is dead; delete \
             each such pod, so that it is made again",
            Pods(started)
        );
        return drift(pair, Drift::DetachedInUse, Severity::Error, &say("detached-in-use", text));
    }
    if pods > 0 {
        return waiting(pair, pods);
    }
    if usage.pods_elsewhere > 0 {
        let text = format!(
            "EC2 has detached the volume, which is needed by {} elsewhere; if Kubernetes does not delete the \
             VolumeAttachment by itself, delete it",
            Pods(usage.pods_elsewhere)
        );
        return drift(pair, Drift::DetachedWaiting, Severity::Warning, &say("detached-pods-elsewhere", text));
    }
    let text = "EC2 has detached the volume and no pod uses it; delete the VolumeAttachment if Kubernetes does not";
    drift(pair, Drift::LeakedAttachment, Severity::Warning, &say("detached-unused", text))
}

/// Every pod of the claim on the Node waits for its containers, in vain until the VolumeAttachment is made again (E9 b).
fn waiting(pair: &Pair<'_>, pods: u32) -> Judgement {
    // A waiting pod's volume is in volumesInUse already, so that list is no objection here. A silent kubelet is one.
    let agrees = match pair.node() {
        Node::Own(node) => is_kubelet_alive(node),
        Node::Unknown | Node::Absent { .. } | Node::Other(_) | Node::Unidentified(_) => false,
    };
    if agrees && pair.held().next().is_none() {
        let text = format!(
            "EC2 has the volume attached nowhere, with {} in wait for it; deleting the VolumeAttachment lets \
             Kubernetes attach it again",
            Pods(pods)
        );
        let told = drift(pair, Drift::DetachedWaiting, Severity::Error, &say("detached-waiting", text));
        return Judgement { remedy: Remedy::DeleteDetachedAttachment, ..told };
    }
    let text = format!(
        "EC2 has detached the volume, with {} in wait for it, but the kubelet does not confirm that no container \
         uses it, or another instance has it; look at the Node, then delete the VolumeAttachment",
        Pods(pods)
    );
    drift(pair, Drift::DetachedWaiting, Severity::Error, &say("detached-waiting-unclear", text))
}
