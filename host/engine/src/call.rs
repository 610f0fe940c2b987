//! One call: a slot, a store with every limit on, a fresh instance, the function, the answer. Nothing outlives it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{ComponentExportIndex, InstancePre};
use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::error::Error;
use crate::functions::Function;
use crate::limits::{Guard, Limits, OutOfMemory, OutOfTime};
use crate::runtime::Runtime;

/// A component that was checked, ready to be instantiated.
pub(crate) struct Loaded {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) instance: InstancePre<Guard>,
    /// Where each function is, by its position.
    pub(crate) exports: Vec<ComponentExportIndex>,
    pub(crate) digest: String,
}

impl Loaded {
    /// Calls a function on an instance of its own.
    pub(crate) fn call<F: Function>(&self, params: F::Params<'_>) -> Result<F::Answer, Error> {
        let limits = &self.runtime.limits;
        let deadline = deadline(limits.deadline);
        let _slot = self.runtime.enter(F::FULL_NAME, deadline)?;
        // Dropped before the slot: the next call finds its place in the pool free.
        let mut store = self.runtime.store(deadline);
        let called = (|| {
            let instance = self.instance.instantiate(&mut store)?;
            let export = &self.exports[F::POSITION];
            let function = instance.get_typed_func::<F::Params<'_>, (F::Answer,)>(&mut store, export)?;
            function.call(&mut store, params)
        })();
        called.map(|(answer,)| answer).map_err(|error| classify(error, F::FULL_NAME, limits))
    }
}

/// The moment at which a call has to end; a duration without end is a year.
fn deadline(after: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    let now = Instant::now();
    now + after.min(YEAR)
}

/// Says what ended a call, by the type of the error wherever it has one of its own.
fn classify(error: wasmtime::Error, function: &'static str, limits: &Limits) -> Error {
    let trap = error.downcast_ref::<Trap>().copied();
    if error.is::<OutOfTime>() || trap == Some(Trap::Interrupt) {
        return Error::Deadline { function, limit: limits.deadline, started: true };
    }
    if error.is::<OutOfMemory>() {
        return Error::Memory { function, limit: limits.memory_bytes, source: error.into() };
    }
    if trap.is_some() {
        return Error::Trap { function, source: error.into() };
    }
    if error.is::<PoolConcurrencyLimitError>() || error.is::<wasmtime::OutOfMemory>() {
        return Error::Engine { what: "get memory for an instance", source: error.into() };
    }
    if is_answer_too_large(&error) {
        return Error::OversizedAnswer { function, limit: limits.answer_bytes, source: Some(error.into()) };
    }
    Error::Contract { what: format!("what it hands over in {function} can't be read"), source: Some(error.into()) }
}

/// Whether reading the answer used up what it may cost. wasmtime keeps the type of this one error to itself, so that its text
/// is all there is; a test with an answer that is too large holds it to that.
fn is_answer_too_large(error: &wasmtime::Error) -> bool {
    error.root_cause().to_string().contains("fuel allocated for hostcalls has been exhausted")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(error: wasmtime::Error) -> &'static str {
        classify(error, "json.evaluate", &Limits::default()).kind()
    }

    #[test]
    fn what_ended_a_call_is_told_by_type() {
        assert_eq!(kind(Trap::Interrupt.into()), "deadline");
        assert_eq!(kind(OutOfTime.into()), "deadline");
        assert_eq!(kind(wasmtime::Error::from(OutOfTime).context("in a frame")), "deadline");
        assert_eq!(kind(Trap::UnreachableCodeReached.into()), "trap");
        assert_eq!(kind(wasmtime::Error::from(Trap::StackOverflow).context("in a frame")), "trap");
        assert_eq!(kind(wasmtime::Error::msg("invalid utf-8")), "contract");
    }

    #[test]
    fn a_text_that_only_sounds_like_a_limit_is_not_one() {
        assert_eq!(kind(wasmtime::Error::msg("interrupt: the time of this call is up")), "contract");
        assert_eq!(kind(wasmtime::Error::msg("a memory was to grow to 1")), "contract");
    }

    #[test]
    fn a_deadline_without_end_does_not_overflow() {
        assert!(deadline(Duration::MAX) > Instant::now() + Duration::from_secs(1000));
        assert!(deadline(Duration::ZERO) <= Instant::now());
    }
}
