//! The rails by name.

use super::Withheld;

/// One rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Rail {
    /// EC2 says `terminated`, or does not know an instance that it showed before.
    Terminated,
    /// EC2 said so more than once.
    ReadAgain,
    /// DescribeVolumes shows the volume no longer on the instance.
    Released,
    /// The kubelet is silent.
    Silence,
    /// Two sweeps apart said the same.
    TwoSweeps,
    /// No pending or running instance bears the name of a Node that is gone.
    FreeName,
    /// The objects' own texts name the instance.
    Named,
    /// The Node is the pair's instance by all its texts.
    SameInstance,
    /// No pod is bound to the name.
    NoPodBound,
    /// The Node does not list the volume as in use.
    NotInUse,
    /// The taint is there before pods are deleted.
    TaintFirst,
    /// A Node that has the taint does not get it again.
    TaintOnce,
    /// Only our own taint is taken off.
    OurTaint,
    /// It is taken off only where the Lease is renewed.
    Renewed,
    /// The attachment is old enough.
    Quiet,
    /// EC2 has the volume attached nowhere.
    AttachedNowhere,
    /// Both APIs say so.
    BothApis,
    /// The kubelet is there to be believed.
    KubeletAlive,
    /// Every pod of the claim on the Node still waits for its containers.
    PodsWait,
    /// No pod used the volume for long.
    Unused,
    /// Everything is read afresh before a write.
    FreshRead,
    /// The breaker.
    Breaker,
    /// The budget.
    Budget,
    /// Remedies that the policy did not announce are not carried out.
    Announced,
}

/// All rails. Nothing but a test can make one without all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rails {
    #[cfg(test)]
    off: Option<Rail>,
}

impl Rails {
    /// Goes on only where a rail holds.
    pub(crate) fn demand(&self, rail: Rail, holds: bool, code: &'static str) -> Result<(), Withheld> {
        if holds || !self.holds(rail) { Ok(()) } else { Err(Withheld(code)) }
    }

    /// All but one, to see that a test notices it.
    #[cfg(test)]
    pub(crate) fn without(rail: Rail) -> Self {
        Self { off: Some(rail) }
    }

    #[cfg(test)]
    pub(crate) fn holds(&self, rail: Rail) -> bool {
        self.off != Some(rail)
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "a test's rails can be switched off one by one")]
    pub(crate) const fn holds(&self, _: Rail) -> bool {
        true
    }
}
