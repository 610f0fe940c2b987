//! What a call is made of, on wasmtime itself: the instance, the check of the function's types, the call, and what memory that
//! is kept resident changes.
//!
//! `cargo bench -p zonewarden-benches --bench anatomy -- FILE` looks at another component than the shipped one.

use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker, TypedFunc};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};
use zonewarden_benches::timing::{Subject, micros, side_by_side};
use zonewarden_benches::{questions, tell};
use zonewarden_contract::placement::{NodeClasses, PodQuestion, Verdicts};
use zonewarden_contract::types::{Error, Setting};

const CALLS: usize = 10_000;
/// KiB of a slot's memory that are kept resident, and whether the system is asked which pages were written, so that only
/// those are cleared (Linux 6.7; without effect before that).
const POOLS: [(usize, bool); 8] =
    [(0, false), (128, false), (192, false), (256, false), (320, false), (1024, false), (256, true), (1024, true)];

type Params<'a> = (&'a [Setting], &'a PodQuestion, &'a NodeClasses);
type Answer = (Result<Verdicts, Error>,);

/// The question, and the policy on an engine of its own.
struct Bench {
    engine: Engine,
    instance: InstancePre<()>,
    export: ComponentExportIndex,
    settings: Vec<Setting>,
    pod: PodQuestion,
    nodes: NodeClasses,
}

impl Bench {
    /// `kept` is `None` for instances whose memory comes from the system each time.
    fn new(component: &[u8], kept: Option<usize>, scan: bool) -> Self {
        let mut config = Config::new();
        config.epoch_interruption(true);
        if let Some(kept) = kept {
            let mut pool = PoolingAllocationConfig::new();
            pool.total_component_instances(16).total_core_instances(16).total_memories(16).total_tables(16);
            pool.linear_memory_keep_resident(kept << 10).table_keep_resident(16 << 10);
            if scan {
                pool.pagemap_scan(Enabled::Auto);
            }
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        }
        let engine = Engine::new(&config).expect("the engine starts");
        let component = Component::new(&engine, component).expect("the component compiles");
        let interface =
            component.get_export_index(None, "zonewarden:policy/placement@0.1.0").expect("placement is there");
        let export = component.get_export_index(Some(&interface), "filter").expect("filter is there");
        let instance = Linker::new(&engine).instantiate_pre(&component).expect("the component imports nothing");
        Self {
            engine,
            instance,
            export,
            settings: questions::read(questions::settings()),
            pod: questions::read(questions::pod(3)),
            nodes: questions::read(questions::nodes(10)),
        }
    }

    fn instantiate(&self) -> (Store<()>, wasmtime::component::Instance) {
        let mut store = Store::new(&self.engine, ());
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = self.instance.instantiate(&mut store).expect("there is room for an instance");
        (store, instance)
    }

    fn fresh(&self) -> Answer {
        let (mut store, instance) = self.instantiate();
        let filter: TypedFunc<Params<'_>, Answer> =
            instance.get_typed_func(&mut store, self.export).expect("filter is a function");
        filter.call(&mut store, (&self.settings, &self.pod, &self.nodes)).expect("the policy answers")
    }
}

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let read = |file: &String| std::fs::read(file).expect("the component can be read");
    let component = file.as_ref().map_or_else(|| zonewarden_artifacts::EBS_COMPONENT.to_vec(), read);
    let on_demand = Bench::new(&component, None, false);
    let pooled = |(kept, scan): &(usize, bool)| {
        let how = if *scan { ", cleared by what was written" } else { "" };
        (format!("pool, {kept} KiB kept{how}"), Bench::new(&component, Some(*kept), *scan))
    };
    let benches: Vec<(String, Bench)> = POOLS.iter().map(pooled).collect();
    let mut subjects = vec![Subject::new("memory from the system: instantiate alone", || on_demand.instantiate())];
    subjects.push(Subject::new("memory from the system: fresh instance and call", || on_demand.fresh()));
    for (name, bench) in &benches {
        subjects.push(Subject::new(&format!("{name}: instantiate alone"), || bench.instantiate()));
        subjects.push(Subject::new(&format!("{name}: fresh instance and call"), || bench.fresh()));
    }
    let (mut looking, looked_at) = on_demand.instantiate();
    subjects.push(Subject::new("look the function up and check its types", move || {
        looked_at.get_typed_func::<Params<'_>, Answer>(&mut looking, on_demand.export).expect("a function")
    }));
    // An instance can't be used again for this: its allocator gives nothing back, so that it would grow with each call.
    let (name, last) = benches.last().expect("there are pools");
    let begin = || {
        let (mut store, instance) = last.instantiate();
        let filter = instance.get_typed_func::<Params<'_>, Answer>(&mut store, last.export).expect("a function");
        (store, filter)
    };
    let call = |(mut store, filter): (Store<()>, TypedFunc<Params<'_>, Answer>)| {
        let answer = filter.call(&mut store, (&last.settings, &last.pod, &last.nodes)).expect("the policy answers");
        (store, answer)
    };
    subjects.push(Subject::prepared(&format!("{name}: the call, and the instance's end"), begin, call));
    tell(&format!("{:<70} {:>9} {:>9}", "placement.filter, 10 classes, 3 volumes", "p50 us", "p99 us"));
    for measured in side_by_side(subjects, CALLS) {
        tell(&format!("{:<70} {:>9} {:>9}", measured.name, micros(measured.p50), micros(measured.p99)));
    }
}
