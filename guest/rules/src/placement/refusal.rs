//! One thing that refuses a class.

use crate::answer::reason;
use zonewarden_bindings::types::Reason;

/// Who refuses, in the order in which Kubernetes would come to it (F-51, F-59); we come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// VolumeBinding before any node: claims that can't be used at all.
    Claims,
    /// VolumeBinding before any node: claims that are not bound and will not be by this pod.
    Unbound,
    /// VolumeZone before any node: bound claims whose PersistentVolume is gone.
    Gone,
    /// VolumeBinding on a node.
    Binding,
    /// VolumeZone on a node.
    Labels,
    /// NodeVolumeLimits on a node. It stands last, since only its refusals can pass.
    Limits,
    /// The policy, knowing more.
    Ours,
}

/// A refusal.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) stage: Stage,
    /// The position of the pod's volume.
    pub(super) position: usize,
    /// Whether no other pod's end and no later event on the node changes it.
    pub(super) is_final: bool,
    pub(super) reason: Reason,
}

impl Refusal {
    /// A refusal that stays.
    pub(super) fn lasting(stage: Stage, position: usize, code: &str, message: String) -> Self {
        Self { stage, position, is_final: true, reason: reason(code, message) }
    }

    /// A refusal that can pass.
    pub(super) fn passing(stage: Stage, position: usize, code: &str, message: String) -> Self {
        Self { stage, position, is_final: false, reason: reason(code, message) }
    }
}
