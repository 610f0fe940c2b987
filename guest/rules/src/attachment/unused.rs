//! A VolumeAttachment that no pod needs (E12, D-43, D-56).

use zonewarden_bindings::attachment::{Drift, Judgement};
use zonewarden_bindings::types::{Remedy, Severity};

use super::evidence::{Node, Pair, is_kubelet_alive};
use super::verdict::{drift, say};

/// No pod of the claim anywhere for long, and neither of the Node's lists has the volume.
///
/// Deleting it is an ordinary detach of an unused volume, so it takes a kubelet that can be believed: a Node that is gone or
/// silent only gets people told.
pub(super) fn leaked(pair: &Pair<'_>) -> Option<Judgement> {
    pair.attachment?;
    let usage = &pair.observation.usage;
    let is_unused = pair.pods_on_node() == 0 && usage.pods_elsewhere == 0;
    if !is_unused
        || usage.unused_seconds < pair.settings.leaked_seconds
        || pair.is_young()
        || !pair.is_volume_confirmed()
    {
        return None;
    }
    let can_go = match pair.node() {
        Node::Own(node) | Node::Unidentified(node) | Node::Other(node)
            if node.volume_in_use || node.volume_attached =>
        {
            return None;
        }
        Node::Own(node) => is_kubelet_alive(node),
        Node::Unknown | Node::Absent { .. } | Node::Other(_) | Node::Unidentified(_) => false,
    };
    let gone = if pair.observation.persistent_volume_missing { ", and its PersistentVolume is gone" } else { "" };
    let text = format!("no pod has used the volume for {} s{gone}; delete the VolumeAttachment", usage.unused_seconds);
    let told = drift(pair, Drift::LeakedAttachment, Severity::Warning, &say("leaked-attachment", text));
    Some(Judgement { escalation: can_go.then_some(Remedy::DeleteLeakedAttachment), ..told })
}
