//! wasmtime as this crate sets it up: what a guest may use, where instances live, and the clock that stops them.

use std::time::{Duration, Instant};

use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig, Store, UpdateDeadline, WasmBacktraceDetails,
};

use crate::cache::Cache;
use crate::error::Error;
use crate::limits::{Guard, Limits, MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_TABLE_ELEMENTS, MAX_TABLES, Options};
use crate::slots::{Slot, Slots};

/// How often a running guest is asked whether its time is up: the most that a call outlives its deadline by, on a machine that
/// is not too busy to tick. A tick costs the host a wake-up and a guest nothing but a glance at a counter.
const TICK: Duration = Duration::from_millis(10);

/// The guest's stack. Rules do not recurse; what needs the most is a JSON parser, whose own limit of 128 levels fits in many
/// times. The threads that call must have more than this: Rust's have two MiB.
const STACK_BYTES: usize = 512 << 10;

/// Memory of a slot that is cleared by hand after a call and kept, and not given back to the system. Taking a page back costs
/// the next call a fault, clearing one that was never touched costs time for nothing: a policy touches about this much.
const KEPT_RESIDENT_BYTES: usize = 256 << 10;
/// The same for a slot's tables; a policy's table has a few hundred elements.
const KEPT_RESIDENT_TABLE_BYTES: usize = 16 << 10;

/// Beyond this a pool's reservation would no longer fit the addresses that a process has.
const MAX_CONCURRENCY: u32 = 1_000;

/// What every policy of one engine shares.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) engine: wasmtime::Engine,
    pub(crate) limits: Limits,
    pub(crate) slots: Slots,
    pub(crate) cache: Option<Cache>,
}

impl Runtime {
    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        let cache = options.cache.as_deref().and_then(Cache::open);
        let config = config(cache.as_ref());
        let limits = options.limits.clone();
        let concurrency = limits.concurrency.clamp(1, MAX_CONCURRENCY);
        let mut pooled = config.clone();
        pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(concurrency)));
        // The pool reserves four GiB of addresses for each memory. Where the system has no such room (a limit on virtual
        // memory, an emulator), each call gets its memory from the system instead: slower, and all the same otherwise.
        let engine = wasmtime::Engine::new(&pooled)
            .or_else(|_| wasmtime::Engine::new(&config))
            .map_err(|error| Error::Engine { what: "set up the compiler and the instances", source: error.into() })?;
        start_clock(&engine)?;
        Ok(Self { engine, limits, slots: Slots::new(concurrency), cache })
    }

    /// Waits for a free slot. The wait counts: who called gets an answer or an error when the time of the call is up.
    pub(crate) fn enter(&self, function: &'static str, deadline: Instant) -> Result<Slot<'_>, Error> {
        let limit = self.limits.deadline;
        self.slots.take(deadline).ok_or(Error::Deadline { function, limit, started: false })
    }

    /// A store for one call, with every limit on.
    pub(crate) fn store(&self, deadline: Instant) -> Store<Guard> {
        let mut store = Store::new(&self.engine, Guard::new(deadline, self.limits.memory_bytes));
        store.limiter(|guard| guard);
        store.set_hostcall_fuel(self.limits.answer_bytes);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            store.data().check_deadline()?;
            Ok(UpdateDeadline::Continue(1))
        });
        store
    }
}

/// What a guest may use: WebAssembly and components as policies need them, and nothing that could make the same question get
/// another answer on another machine.
fn config(cache: Option<&Cache>) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.max_wasm_stack(STACK_BYTES);
    config.cache(cache.map(Cache::wasmtime));
    config.wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config.wasm_memory64(false);
    config.wasm_relaxed_simd(false);
    config.cranelift_nan_canonicalization(true);
    config
}

/// A pool with room for as many instances as may run at once, each with the most that a component may hold.
fn pool(concurrency: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(concurrency)
        .total_core_instances(concurrency.saturating_mul(MAX_CORE_INSTANCES))
        .total_memories(concurrency.saturating_mul(MAX_MEMORIES))
        .total_tables(concurrency.saturating_mul(MAX_TABLES))
        .max_core_instances_per_component(MAX_CORE_INSTANCES)
        .max_memories_per_component(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_memories_per_module(MAX_MEMORIES)
        .max_tables_per_module(MAX_TABLES)
        .table_elements(MAX_TABLE_ELEMENTS)
        .linear_memory_keep_resident(KEPT_RESIDENT_BYTES)
        // Where the kernel can tell which pages were touched (Linux 6.7), only those are cleared.
        .pagemap_scan(Enabled::Auto)
        .table_keep_resident(KEPT_RESIDENT_TABLE_BYTES);
    pool
}

/// Starts the clock: a thread of the system, so that no busy runtime can hold it up. It does not keep the engine alive, and
/// ends by itself once the last user of the engine is gone.
fn start_clock(engine: &wasmtime::Engine) -> Result<(), Error> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    };
    std::thread::Builder::new()
        .name("zonewarden-clock".to_owned())
        .spawn(tick)
        .map_err(|error| Error::Engine { what: "start the clock that ends calls", source: error.into() })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Blame;

    #[test]
    fn an_engine_without_any_slot_still_has_one() {
        let options = Options { limits: Limits { concurrency: 0, ..Limits::default() }, cache: None };
        let runtime = Runtime::new(&options).expect("the engine starts");
        assert!(runtime.enter("json.evaluate", Instant::now()).is_ok());
    }

    #[test]
    fn a_call_that_never_gets_a_slot_says_so_and_blames_the_host() {
        let options = Options { limits: Limits { concurrency: 1, ..Limits::default() }, cache: None };
        let runtime = Runtime::new(&options).expect("the engine starts");
        let held = runtime.enter("json.evaluate", Instant::now());
        assert!(held.is_ok());
        let error = runtime.enter("json.evaluate", Instant::now()).expect_err("the only slot is held");
        assert_eq!(error.to_string(), "json.evaluate did not end within 1s, and never got a free slot");
        assert_eq!(error.blame(), Blame::Host);
    }

    #[test]
    fn an_engine_with_more_slots_than_there_is_room_for_starts_with_fewer() {
        let options = Options { limits: Limits { concurrency: u32::MAX, ..Limits::default() }, cache: None };
        assert!(Runtime::new(&options).is_ok());
    }

    #[test]
    fn the_clock_ends_with_the_engine() {
        let runtime = Runtime::new(&Options::default()).expect("the engine starts");
        let weak = runtime.engine.weak();
        drop(runtime);
        // The clock itself holds the engine for the moment of a tick.
        let gone = std::iter::repeat_with(|| weak.upgrade().is_none()).take(1_000_000).any(|gone| gone);
        assert!(gone);
    }
}
