//! The policy that decides now, and its exchange for another one while questions are being answered.
//!
//! A new component is read, checked, compiled and tried before anybody is asked anything by it; then one pointer changes. A
//! call in flight ends on the policy that it was started on, whose code stays until its last user is done. Whatever is wrong
//! with the new one, the old one goes on deciding.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use zonewarden_contract::types::Setting;

use crate::engine::Engine;
use crate::error::Error;
use crate::load;
use crate::policy::{ConfiguredPolicy, fingerprint};
use crate::trial;

/// Is told of every swap.
type Subscriber = Box<dyn Fn(&ConfiguredPolicy) + Send + Sync>;

/// Holds the policy that decides. Share it in an [`Arc`]; every method takes a shared reference.
pub struct PolicySlot {
    held: ArcSwap<Held>,
    /// Locked for as long as a swap takes, so that swaps come one after the other and subscribers hear of them in order.
    subscribers: Mutex<Vec<Subscriber>>,
}

/// What changes at once.
struct Held {
    policy: ConfiguredPolicy,
    generation: u64,
}

/// What came of a swap that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swapped {
    /// The new policy decides; the generation that began with it.
    Replaced(u64),
    /// Component and settings are those that decide already.
    Unchanged,
}

/// Why the old policy still decides.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwapError {
    /// The component is not loaded, or does not accept its settings.
    #[error(transparent)]
    Refused(#[from] Error),
    /// It is a policy, but does not answer what it is tried on.
    #[error("the policy fails its trial")]
    Trial(#[source] Error),
}

impl SwapError {
    /// A stable name of what went wrong, for metrics and for programs: the kind of the [`Error`], or `smoke` for one that came
    /// up on trial.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refused(error) => error.kind(),
            Self::Trial(_) => "smoke",
        }
    }

    /// Whether the machine is to blame and not the policy, so that the same bytes may do on another try.
    pub fn is_transient(&self) -> bool {
        let (Self::Refused(error) | Self::Trial(error)) = self;
        matches!(error, Error::Engine { .. } | Error::Deadline { started: false, .. })
    }
}

impl PolicySlot {
    /// A slot with the policy that decides first. It is not tried: there is none that could decide in its place.
    pub fn new(policy: ConfiguredPolicy) -> Self {
        Self { held: ArcSwap::from_pointee(Held { policy, generation: 0 }), subscribers: Mutex::default() }
    }

    /// The policy that decides now. The answer is a handle of its own, which stays what it is whatever is swapped in later:
    /// take one for each decision, and ask it everything that belongs together.
    pub fn current(&self) -> ConfiguredPolicy {
        self.held.load().policy.clone()
    }

    /// How often the policy was replaced.
    pub fn generation(&self) -> u64 {
        self.held.load().generation
    }

    /// Has a function called with every policy that is swapped in from now on: after it began to decide, in the order of the
    /// swaps, on the thread that swaps. It should only pass the news on, and must not swap or subscribe itself.
    pub fn subscribe(&self, told: impl Fn(&ConfiguredPolicy) + Send + Sync + 'static) {
        self.lock().push(Box::new(told));
    }

    /// Loads a component, has it accept its settings, tries it with one question of each kind, and lets it decide. This
    /// compiles, which takes a while: call it where blocking is allowed. Meanwhile, and for good where this fails, the policy
    /// that was there decides.
    ///
    /// # Errors
    /// [`SwapError::Refused`] where the component can't be loaded or does not accept its settings, [`SwapError::Trial`] where
    /// it does not answer.
    pub fn try_swap(&self, engine: &Engine, bytes: &[u8], settings: Vec<Setting>) -> Result<Swapped, SwapError> {
        let subscribers = self.lock();
        if fingerprint(&load::digest(bytes), &settings) == self.current().fingerprint() {
            return Ok(Swapped::Unchanged);
        }
        let policy = engine.load(bytes)?.with_settings(settings)?;
        trial::of(&policy).map_err(SwapError::Trial)?;
        let generation = self.generation() + 1;
        self.held.store(Arc::new(Held { policy: policy.clone(), generation }));
        for told in subscribers.iter() {
            told(&policy);
        }
        Ok(Swapped::Replaced(generation))
    }

    /// A list of subscribers is never half changed, so that a panic of one of them does no harm.
    fn lock(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PolicySlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held.load();
        f.debug_struct("PolicySlot")
            .field("generation", &held.generation)
            .field("policy", &held.policy)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_a_machine_that_is_too_busy_is_worth_another_try_with_the_same_bytes() {
        let deadline = |started| Error::Deadline { function: "info.describe", limit: Duration::from_secs(1), started };
        let engine = || Error::Engine { what: "get memory for an instance", source: "none left".into() };
        let load = || Error::Load { what: "it is empty".to_owned(), source: None };
        for (error, kind, is_transient) in [
            (SwapError::Refused(deadline(false)), "deadline", true),
            (SwapError::Refused(deadline(true)), "deadline", false),
            (SwapError::Refused(engine()), "engine", true),
            (SwapError::Refused(load()), "load", false),
            (SwapError::Trial(deadline(false)), "smoke", true),
            (SwapError::Trial(deadline(true)), "smoke", false),
        ] {
            assert_eq!((error.kind(), error.is_transient()), (kind, is_transient), "{error:?}");
        }
    }
}
