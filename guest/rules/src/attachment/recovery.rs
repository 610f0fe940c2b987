//! What a dead instance leaves behind, and how it is cleared away (E1, E2, E11, D-17, D-39).

use zonewarden_bindings::attachment::{Drift, Judgement, OutOfServiceTaint, PresentNode};
use zonewarden_bindings::types::{Remedy, Severity};

use super::death::{Death, Missing, prove};
use super::evidence::{Node, Pair, is_kubelet_alive};
use super::verdict::{Pods, drift, in_progress, say, unknown, unstable};

/// Another instance bears the Node's name (E11). A detach would reach the new instance, so nothing is deleted before the old
/// one is proven dead and nothing of the volume is in use under that name.
pub(super) fn same_name(pair: &Pair<'_>) -> Option<Judgement> {
    let attachment = pair.attachment?;
    let Node::Other(node) = pair.node() else { return None };
    let new = node.instance.as_ref().map_or("another instance", |instance| &instance.instance_id);
    let death = prove(pair);
    if attachment.deleting_seconds.is_some() && !matches!(death, Death::Proven) {
        let text = format!(
            "the Node is instance {new} now, and the detach that was asked for may reach that one; look in EC2 that \
             the volume leaves the old instance"
        );
        return Some(drift(pair, Drift::SameNameNode, Severity::Warning, &say("same-name-detach", text)));
    }
    if !matches!(death, Death::Proven) {
        let text = format!(
            "the Node is instance {new} now; the VolumeAttachment stays until {}",
            match &death {
                Death::Awaits(missing) => awaited(pair, missing),
                Death::NotClaimed | Death::Contradicted | Death::Proven =>
                    "EC2 reports the old instance terminated".to_owned(),
            }
        );
        return Some(drift(pair, Drift::SameNameNode, Severity::Warning, &say("same-name-node", text)));
    }
    if attachment.deleting_seconds.is_some() {
        return None;
    }
    let Some(obstacle) = obstacle(pair, node) else {
        let text = format!("the old instance is dead and the Node is instance {new} now; the VolumeAttachment can go");
        return Some(propose(dead(pair, "same-name-instance-dead", text), Remedy::DeleteDeadAttachment, None));
    };
    if awaited_on_new(pair, node) {
        let text = format!(
            "the old instance is dead, EC2 has the volume attached nowhere, and {} on instance {new}, which has the \
             Node's name now, wait for it; deleting the VolumeAttachment lets Kubernetes attach it there",
            Pods(pair.pods_on_node())
        );
        let told = drift(pair, Drift::DetachedWaiting, Severity::Error, &say("same-name-detached-waiting", text));
        return Some(propose(told, Remedy::DeleteDetachedAttachment, None));
    }
    let text = format!(
        "the old instance is dead and the Node is instance {new} now, but {obstacle}; free the volume and the Node \
         of pods first"
    );
    Some(dead(pair, "same-name-node-in-use", text))
}

/// Whether pods that wait on the new instance hold the VolumeAttachment of the old one up: none of their containers was ever
/// started, so they use nothing, and wait for an attachment that Kubernetes believes to be there (E9 b under E11).
fn awaited_on_new(pair: &Pair<'_>, node: &PresentNode) -> bool {
    let waits = pair.pods_on_node() > 0 && pair.observation.usage.started_on_node == 0;
    waits
        && pair.attachment.is_some_and(|attachment| attachment.attached)
        && pair.held().next().is_none()
        && pair.is_volume_confirmed()
        && !pair.is_young()
        && is_kubelet_alive(node)
}

/// What forbids to delete the VolumeAttachment of a dead instance whose name a new one bears.
fn obstacle(pair: &Pair<'_>, node: &PresentNode) -> Option<String> {
    if node.volume_in_use {
        return Some("its volumesInUse lists the volume".to_owned());
    }
    if pair.held().next().is_some() {
        return Some("EC2 has the volume attached again".to_owned());
    }
    let bound = pair.bound_to_node();
    (bound > 0).then(|| format!("its name has {} bound to it", Pods(bound)))
}

/// The pair's instance is dead by EC2's word, or proven dead.
pub(super) fn terminated(pair: &Pair<'_>) -> Option<Judgement> {
    pair.attachment?;
    match prove(pair) {
        Death::NotClaimed => None,
        Death::Contradicted => {
            let text = "EC2 calls the instance dead and the kubelet renews its Lease, so nothing is done; look \
                        whether another instance has adopted the Node";
            let told = unstable(pair, &say("dead-but-lease-renewed", text));
            Some(Judgement { remedy: Remedy::Event, severity: Severity::Warning, ..told })
        }
        Death::Awaits(missing) => Some(not_proven(pair, &missing)),
        Death::Proven => Some(proven(pair)),
    }
}

fn not_proven(pair: &Pair<'_>, missing: &Missing) -> Judgement {
    let text = format!("EC2 calls the instance dead; nothing is done until {}", awaited(pair, missing));
    match missing {
        Missing::Release => in_progress(pair, &say("dead-awaiting-release", text)),
        Missing::Silence(_) => in_progress(pair, &say("dead-awaiting-silence", text)),
        Missing::SecondReads => in_progress(pair, &say("dead-awaiting-second-reads", text)),
        Missing::Lease => unproven(unknown(pair, &say("dead-lease-unknown", text))),
        Missing::FreeName => unproven(unknown(pair, &say("dead-name-taken", text))),
        Missing::NodeInstance => unproven(unknown(pair, &say("dead-node-instance-unknown", text))),
        Missing::Node => unproven(unknown(pair, &say("dead-node-unknown", text))),
    }
}

/// Nobody can prove it as things stand, so people are told: EC2 calls the instance dead all the same.
fn unproven(judgement: Judgement) -> Judgement {
    Judgement { remedy: Remedy::Event, severity: Severity::Warning, ..judgement }
}

/// What has to be seen, as the end of a sentence that says "until".
fn awaited(pair: &Pair<'_>, missing: &Missing) -> String {
    match missing {
        Missing::Release => "EC2 shows the volume no longer attached to it".to_owned(),
        Missing::Lease => "its kubelet's Lease can be read".to_owned(),
        Missing::Silence(seconds) => {
            let wanted = pair.settings.lease_silent_seconds;
            format!("its kubelet's Lease is silent for {wanted} s, {seconds} s by now")
        }
        Missing::SecondReads => {
            format!(
                "DescribeInstances and DescribeVolumes both say so twice, {} s apart",
                pair.settings.consistent_seconds
            )
        }
        Missing::FreeName => "the instance that bears the Node's name has registered its Node, or is gone".to_owned(),
        Missing::NodeInstance => "the Node's provider id tells which instance it is".to_owned(),
        Missing::Node => "something is known of the Node".to_owned(),
    }
}

/// The ladder: taint, pods gone, VolumeAttachment gone.
fn proven(pair: &Pair<'_>) -> Judgement {
    let bound = pair.bound_to_node();
    let pods = Pods(bound);
    let node = match pair.node() {
        Node::Own(node) => Some(node),
        Node::Unknown | Node::Absent { .. } | Node::Other(_) | Node::Unidentified(_) => None,
    };
    if node.is_some_and(|node| matches!(node.taint, OutOfServiceTaint::Absent)) {
        let text = format!(
            "the instance is dead and its Node is still there with {pods}; the taint \
             node.kubernetes.io/out-of-service frees the volume, and deleting the pods by force after that hurries \
             it up"
        );
        let escalation = (bound > 0).then_some(Remedy::ForceDeletePods);
        return propose(dead(pair, "instance-dead", text), Remedy::AddOutOfServiceTaint, escalation);
    }
    if bound == 0 {
        let text = "the instance is dead and no pod is bound to its Node's name; the VolumeAttachment can go";
        return propose(dead(pair, "instance-dead-no-pods", text), Remedy::DeleteDeadAttachment, None);
    }
    let told = if node.is_some() {
        let text =
            format!("the instance is dead and its Node tainted; delete its {pods} by force, or wait for Kubernetes");
        in_progress(pair, &say("instance-dead-tainted", text))
    } else {
        let text = format!("the instance and its Node are gone; delete the {pods} by force, or wait for pod GC");
        in_progress(pair, &say("instance-dead-pods-bound", text))
    };
    Judgement { severity: Severity::Warning, escalation: Some(Remedy::ForceDeletePods), ..told }
}

fn dead(pair: &Pair<'_>, code: &'static str, text: impl std::fmt::Display) -> Judgement {
    drift(pair, Drift::InstanceTerminated, Severity::Error, &say(code, text))
}

fn propose(told: Judgement, remedy: Remedy, escalation: Option<Remedy>) -> Judgement {
    Judgement { remedy, escalation, ..told }
}
