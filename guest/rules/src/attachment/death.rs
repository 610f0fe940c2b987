//! The proof of a death: EC2 and the kubelet must agree on it.
//!
//! EC2 alone proves nothing here. It says `terminated` for exactly the pair's instance (`shutting-down` never counts, D-18; an
//! instance that EC2 does not know counts only if it was shown before, D-20), DescribeVolumes does not have the volume on it any
//! more, and its kubelet is silent. Where the kubelet has no Lease to be silent on, both answers must have come twice.

use zonewarden_bindings::attachment::{InstanceState, Lease};

use super::evidence::{Instance, Node, Pair, Volume};

/// How far the proof has come.
pub(super) enum Death {
    /// EC2 does not call the instance dead.
    NotClaimed,
    /// EC2 calls it dead, and its kubelet renews its Lease.
    Contradicted,
    /// EC2 calls it dead, and this part of the proof is missing.
    Awaits(Missing),
    /// It is dead.
    Proven,
}

/// A part of the proof that is missing.
pub(super) enum Missing {
    /// DescribeVolumes still has the volume on the instance, or said nothing of it (D-17).
    Release,
    /// Nobody could read the Lease.
    Lease,
    /// The Lease is silent, for this many seconds only.
    Silence(u32),
    /// There is no Lease, and EC2's answers have not come twice.
    SecondReads,
    /// A pending or running instance bears the Node's name.
    FreeName,
    /// Nobody knows which instance the Node is.
    NodeInstance,
    /// Nothing is known of the Node.
    Node,
}

/// Holds the observations against the proof.
pub(super) fn prove(pair: &Pair<'_>) -> Death {
    if !is_claimed(pair) {
        return Death::NotClaimed;
    }
    let node = pair.node();
    if let Node::Own(present) | Node::Unidentified(present) = &node
        && matches!(present.lease, Lease::Renewed)
    {
        return Death::Contradicted;
    }
    if !matches!(pair.volume, Volume::Found(_)) || pair.own().is_some() {
        return Death::Awaits(Missing::Release);
    }
    match node {
        Node::Own(present) => match present.lease {
            Lease::Silent(seconds) if seconds >= pair.settings.lease_silent_seconds => Death::Proven,
            Lease::Silent(seconds) => Death::Awaits(Missing::Silence(seconds)),
            Lease::Unknown | Lease::Renewed => Death::Awaits(Missing::Lease),
        },
        Node::Unidentified(_) => Death::Awaits(Missing::NodeInstance),
        Node::Absent { name_taken: true } => Death::Awaits(Missing::FreeName),
        // The Lease of a Node that is another instance by now is not this instance's.
        Node::Absent { name_taken: false } | Node::Other(_) => {
            if pair.is_volume_confirmed() && pair.is_instance_confirmed() {
                Death::Proven
            } else {
                Death::Awaits(Missing::SecondReads)
            }
        }
        Node::Unknown => Death::Awaits(Missing::Node),
    }
}

/// Whether EC2 calls the pair's instance dead.
fn is_claimed(pair: &Pair<'_>) -> bool {
    pair.observation.instance.is_some()
        && match pair.instance {
            Instance::Found(found) => matches!(found.state, InstanceState::Terminated),
            Instance::Missing(missing) => missing.known_before,
            Instance::Unknown | Instance::Stale(_) => false,
        }
}
