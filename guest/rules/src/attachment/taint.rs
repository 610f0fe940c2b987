//! Our out-of-service taint on a Node whose kubelet lives (E1).

use zonewarden_bindings::attachment::{Drift, Judgement, Lease, NodeReport, OutOfServiceTaint};
use zonewarden_bindings::types::{Remedy, Severity};

use super::evidence::Pair;
use super::verdict::{drift, say};

/// Takes our taint off once the Lease is renewed, whatever EC2 says: a new kubelet may have adopted the Node with its old
/// provider id. The taint of somebody else is theirs to remove.
pub(super) fn outdated(pair: &Pair<'_>) -> Option<Judgement> {
    let NodeReport::Present(node) = &pair.observation.node else { return None };
    let is_outdated = matches!(node.taint, OutOfServiceTaint::Ours) && matches!(node.lease, Lease::Renewed);
    is_outdated.then(|| {
        let say = say(
            "taint-outdated",
            "the kubelet renews its Lease, so the out-of-service taint that Zonewarden set has to go",
        );
        let told = drift(pair, Drift::TaintOutdated, Severity::Error, &say);
        Judgement { remedy: Remedy::RemoveOutOfServiceTaint, ..told }
    })
}
