//! What one call may cost, and the guard in each store that holds a guest to it.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use wasmtime::ResourceLimiter;

/// What a policy may cost. No policy can raise a limit, and each one that is exceeded has an error kind of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time that a call may take, from the wait for a free slot to the guest's clean-up.
    pub deadline: Duration,
    /// Bytes that all linear memories of one instance may have together.
    pub memory_bytes: usize,
    /// Bytes that the host may spend on an answer while it reads it: texts, and the records that hold them. A text that an
    /// answer names twice counts twice.
    pub answer_bytes: usize,
    /// Bytes that a component's file may have.
    pub component_bytes: usize,
    /// Calls that may run at the same moment. Further calls wait.
    pub concurrency: u32,
}

impl Default for Limits {
    /// - `deadline` 1 s: a scheduler gives an extender 5 s and an API server a webhook 10 s by default, so that a stuck policy
    ///   leaves time to answer without it. An ordinary call takes microseconds.
    /// - `memory_bytes` 32 MiB: the largest question that Kubernetes allows is an AdmissionReview with an old and a new object
    ///   of 1.5 MiB each, and a batch of a thousand volumes is about as big; tenfold for its parsed form.
    /// - `answer_bytes` 16 MiB: ten times a batch of a thousand volumes with a few findings each.
    /// - `component_bytes` 16 MiB: a policy in Rust has a few hundred KiB, one that brings an interpreter along about ten MiB.
    /// - `concurrency` 16: calls only compute, so more than a few for each core gain nothing, and each may hold `memory_bytes`.
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(1),
            memory_bytes: 32 << 20,
            answer_bytes: 16 << 20,
            component_bytes: 16 << 20,
            concurrency: 16,
        }
    }
}

/// How an engine is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// What a policy may cost.
    pub limits: Limits,
    /// The directory that keeps compiled code, so that the next start needs no compiler; `None`: nothing is kept. What it
    /// holds is run as native code: whoever can write there can run anything as this user.
    pub cache: Option<PathBuf>,
}

/// Core instances that one component may hold. A component that an adapter or an interpreter belongs to has three or four.
pub(crate) const MAX_CORE_INSTANCES: u32 = 8;
/// Linear memories that one component may hold. Components have one.
pub(crate) const MAX_MEMORIES: u32 = 2;
/// Tables that one component may hold: its own, and one of the shim that `wit-component` puts beside it.
pub(crate) const MAX_TABLES: u32 = 4;
/// Elements that one table may hold. Tables hold one element a function whose address is taken; interpreters have ten
/// thousand.
pub(crate) const MAX_TABLE_ELEMENTS: usize = 20_000;

/// Lives in a call's store and answers when wasmtime asks whether the guest may go on.
#[derive(Debug)]
pub(crate) struct Guard {
    deadline: Instant,
    memory_bytes: usize,
    memory_limit: usize,
}

impl Guard {
    /// Guards one call that has to end at `deadline`.
    pub(crate) fn new(deadline: Instant, memory_limit: usize) -> Self {
        Self { deadline, memory_bytes: 0, memory_limit }
    }

    /// Asked at every tick of the engine's clock. The time is read here, not counted in ticks: a tick that comes late on a
    /// busy machine makes nothing longer.
    pub(crate) fn check_deadline(&self) -> Result<(), OutOfTime> {
        if Instant::now() < self.deadline { Ok(()) } else { Err(OutOfTime) }
    }
}

impl ResourceLimiter for Guard {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        // All memories of the instance count together, or a guest with many would get many times the limit.
        let total = self.memory_bytes.saturating_sub(current).saturating_add(desired);
        if total > self.memory_limit || maximum.is_some_and(|maximum| desired > maximum) {
            return Err(OutOfMemory { what: "memory", desired }.into());
        }
        self.memory_bytes = total;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(error.context(OutOfMemory { what: "memory", desired: self.memory_bytes }))
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > MAX_TABLE_ELEMENTS || maximum.is_some_and(|maximum| desired > maximum) {
            return Err(OutOfMemory { what: "table", desired }.into());
        }
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(error.context(OutOfMemory { what: "table", desired: 0 }))
    }

    fn instances(&self) -> usize {
        MAX_CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }
}

/// Why a guest was stopped: its time is up. A type of its own, so that the cause is found by type and not by text.
#[derive(Debug)]
pub(crate) struct OutOfTime;

impl fmt::Display for OutOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time of this call is up")
    }
}

impl std::error::Error for OutOfTime {}

/// Why a guest was stopped: it asked for more memory than it may have. A guest that is told "no" instead mostly goes on to a
/// trap that says nothing about memory.
#[derive(Debug)]
pub(crate) struct OutOfMemory {
    what: &'static str,
    desired: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} was to grow to {}", self.what, self.desired)
    }
}

impl std::error::Error for OutOfMemory {}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 65_536;

    fn guard(pages: usize) -> Guard {
        Guard::new(Instant::now() + Duration::from_secs(3600), pages * PAGE)
    }

    #[test]
    fn memory_may_grow_to_the_limit_and_no_further() {
        let mut guard = guard(2);
        assert!(guard.memory_growing(0, PAGE, None).expect("it is within the limits"));
        assert!(guard.memory_growing(PAGE, 2 * PAGE, None).expect("it is within the limits"));
        let error = guard.memory_growing(2 * PAGE, 3 * PAGE, None).expect_err("it asks for too much");
        assert!(error.is::<OutOfMemory>());
    }

    #[test]
    fn all_memories_count_together() {
        let mut guard = guard(3);
        assert!(guard.memory_growing(0, 2 * PAGE, None).expect("it is within the limits"));
        assert!(guard.memory_growing(0, PAGE, None).expect("it is within the limits"));
        assert!(guard.memory_growing(PAGE, 2 * PAGE, None).is_err());
    }

    #[test]
    fn the_own_maximum_of_a_memory_or_table_ends_a_guest_too() {
        assert!(
            guard(9).memory_growing(PAGE, 2 * PAGE, Some(PAGE)).expect_err("it asks for too much").is::<OutOfMemory>()
        );
        assert!(guard(9).table_growing(1, 3, Some(2)).expect_err("it asks for too much").is::<OutOfMemory>());
        assert!(
            guard(9)
                .table_growing(1, MAX_TABLE_ELEMENTS + 1, None)
                .expect_err("it asks for too much")
                .is::<OutOfMemory>()
        );
        assert!(guard(9).table_growing(1, MAX_TABLE_ELEMENTS, None).expect("it is within the limits"));
    }

    #[test]
    fn a_growth_that_the_system_refuses_ends_a_guest() {
        let error =
            guard(9).memory_grow_failed(wasmtime::Error::msg("no address space")).expect_err("it asks for too much");
        assert!(error.is::<OutOfMemory>());
        assert!(
            guard(9)
                .table_grow_failed(wasmtime::Error::msg("no room"))
                .expect_err("it asks for too much")
                .is::<OutOfMemory>()
        );
    }

    #[test]
    fn time_is_up_at_the_deadline() {
        assert!(guard(1).check_deadline().is_ok());
        assert!(Guard::new(Instant::now(), PAGE).check_deadline().is_err());
    }
}
