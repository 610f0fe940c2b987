//! What a claim says before any node is looked at (F-31 to F-38, F-50, F-51, F-62).

use super::refusal::{Refusal, Stage};
use crate::settings::Settings;
use zonewarden_bindings::placement::{
    BindingMode, Claim, ClaimFacts, ClaimState, ClaimedClass, ClaimedVolume, PersistentVolume, StorageClass,
    UnboundClaim,
};

/// A claim as the pod names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedClaim<'a> {
    /// The position of the pod's volume.
    pub(super) position: usize,
    /// The name of the pod's volume.
    pub(super) volume: &'a str,
    pub(super) claim: &'a Claim,
}

/// A claim that the pod can be placed with.
#[derive(Debug, Clone, Copy)]
pub(super) enum UsableClaim<'a> {
    /// Bound to this volume.
    Bound(&'a PersistentVolume),
    /// Waiting for its pod to be placed.
    Delayed(&'a UnboundClaim, &'a StorageClass),
}

impl<'a> NamedClaim<'a> {
    /// Reads the claim; a refusal holds for every node.
    pub(super) fn read(self, settings: &Settings) -> Result<UsableClaim<'a>, Refusal> {
        if self.claim.name.is_empty() {
            return self.refuse(Stage::Claims, "claim-without-name", "names a claim without a name");
        }
        let ClaimState::Found(facts) = &self.claim.state else { return self.missing() };
        self.usable(facts)?;
        match &facts.volume {
            ClaimedVolume::None(unbound) => self.unbound(unbound),
            // VolumeBinding takes a claim that names a volume for bound only once the binding is complete, and for one that
            // can't wait otherwise, whatever its class says.
            ClaimedVolume::Missing(_) | ClaimedVolume::Found(_) if !(facts.bind_completed || settings.assume_bound) => {
                self.refuse(
                    Stage::Unbound,
                    "claim-not-bind-completed",
                    "names a PersistentVolume, but lacks the annotation pv.kubernetes.io/bind-completed, so that Kubernetes takes it for unbound; where the annotation was only left out of a hand-written object, set assume-bound to true",
                )
            }
            ClaimedVolume::Missing(name) => {
                let what = ["is bound to PersistentVolume ", name, ", which does not exist"].concat();
                self.refuse(Stage::Gone, "persistent-volume-missing", &what)
            }
            ClaimedVolume::Found(volume) => Ok(UsableClaim::Bound(volume)),
        }
    }

    fn missing(self) -> Result<UsableClaim<'a>, Refusal> {
        if self.claim.ephemeral {
            let what = "does not exist yet: its ephemeral volume waits for the controller that makes the claim";
            return self.refuse(Stage::Claims, "claim-missing", what);
        }
        self.refuse(Stage::Claims, "claim-missing", "does not exist")
    }

    fn usable(self, facts: &ClaimFacts) -> Result<(), Refusal> {
        if facts.lost {
            return self.refuse(Stage::Claims, "claim-lost", "is lost: the PersistentVolume it was bound to is gone");
        }
        if facts.deleting {
            return self.refuse(Stage::Claims, "claim-deleting", "is being deleted");
        }
        if self.claim.ephemeral && !facts.owned_by_pod {
            let what = "is not owned by the pod, as the claim of an ephemeral volume must be";
            return self.refuse(Stage::Claims, "claim-not-owned", what);
        }
        Ok(())
    }

    fn unbound(self, unbound: &'a UnboundClaim) -> Result<UsableClaim<'a>, Refusal> {
        let refuse = |code: &str, what: &[&str]| self.refuse(Stage::Unbound, code, &what.concat());
        let class = match &unbound.class {
            ClaimedClass::None => {
                return refuse("claim-without-class", &["is not bound and names no StorageClass"]);
            }
            ClaimedClass::Missing(name) => {
                let what = ["is not bound and names StorageClass ", name, ", which does not exist"];
                return refuse("storage-class-missing", &what);
            }
            ClaimedClass::Found(class) => class,
        };
        match &class.binding_mode {
            Some(BindingMode::WaitForFirstConsumer) => Ok(UsableClaim::Delayed(unbound, class)),
            Some(BindingMode::Immediate | BindingMode::Other(_)) => {
                let what = ["is not bound yet, and StorageClass ", &class.name, " does not wait for the pod"];
                refuse("claim-unbound", &what)
            }
            None => {
                let what = ["is not bound, and StorageClass ", &class.name, " has no volumeBindingMode"];
                refuse("class-without-binding-mode", &what)
            }
        }
    }

    fn refuse<T>(self, stage: Stage, code: &str, what: &str) -> Result<T, Refusal> {
        let message = if self.claim.name.is_empty() {
            ["volume ", self.volume, " ", what].concat()
        } else {
            ["claim ", &self.claim.name, " of volume ", self.volume, " ", what].concat()
        };
        Err(Refusal::lasting(stage, self.position, code, message))
    }
}
