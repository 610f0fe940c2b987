//! What a decision costs: natively, through the engine with every limit on, and the least that the engine can be asked.
//!
//! `cargo bench -p zonewarden-benches --bench decisions -- FILE…` measures further components beside the shipped one, in turns
//! with it, so that a change to a policy or to how it is built can be told from the machine's moods.

use std::time::Duration;

use zonewarden_benches::memory::minor_faults;
use zonewarden_benches::timing::{Measured, Subject, micros, ratio, side_by_side};
use zonewarden_benches::{questions, tell};
use zonewarden_contract as host;
use zonewarden_engine::{ConfiguredPolicy, Engine, Options};
use zonewarden_policy_ebs::Ebs;
use zonewarden_sdk::Component;
use zonewarden_sdk::contract::{self as guest, attachment, identity, labelling, placement};

/// Calls of each thing whose percentiles are told.
const CALLS: usize = 20_000;
/// The bar: the median of a filter question through the engine.
const BAR: Duration = Duration::from_micros(25);
/// Sizes of the batches.
const BATCHES: [usize; 4] = [1, 10, 100, 1_000];

type Native = Component<Ebs>;

fn main() {
    let engine = Engine::new(&Options::default()).expect("the engine starts");
    let load = |bytes: &[u8], settings| {
        engine.load(bytes).expect("the policy loads").with_settings(settings).expect("the policy accepts its settings")
    };
    let settings = || questions::read(questions::settings());
    let policy = load(zonewarden_artifacts::EBS_COMPONENT, settings());
    let bare = load(zonewarden_artifacts::EBS_COMPONENT, Vec::new());
    // cargo itself adds `--bench`.
    let others: Vec<(String, ConfiguredPolicy)> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .map(|file| (file.clone(), load(&std::fs::read(&file).expect("the component can be read"), settings())))
        .collect();
    filter(&policy, &bare, &others);
    parts(&policy);
    batches(&policy);
}

/// The question of the bar.
fn filter(policy: &ConfiguredPolicy, bare: &ConfiguredPolicy, others: &[(String, ConfiguredPolicy)]) {
    tell("placement.filter, 10 node classes of 3 labels, 3 bound CSI volumes, 5 settings");
    let mut subjects = vec![
        native_filter(3, 10),
        Subject::new("engine", || bare.identify_volumes(&[]).expect("the policy answers")),
        engine_filter("engine", policy, 3, 10),
    ];
    subjects.extend(others.iter().map(|(name, policy)| engine_filter(name, policy, 3, 10)));
    let measured = side_by_side(subjects, CALLS);
    tell(&format!("{:<52} {:>9} {:>9} {:>9}", "", "p50 us", "p99 us", "x native"));
    let names = ["natively", "the floor: an empty question without settings", "through the engine"];
    for (position, measured_one) in measured.iter().enumerate() {
        let name = names.get(position).copied().unwrap_or(&measured_one.name);
        tell(&row(name, measured_one, measured[0].p50));
    }
    let met = if measured[2].p50 <= BAR { "met" } else { "missed" };
    tell(&format!("bar of {} us at the median: {met}", micros(BAR)));
    let pod = questions::read(questions::pod(3));
    let nodes: host::placement::NodeClasses = questions::read(questions::nodes(10));
    let before = minor_faults();
    for _ in 0..1_000 {
        policy.filter(&pod, &nodes).expect("the policy answers");
    }
    if let (Some(before), Some(after)) = (before, minor_faults()) {
        tell(&format!("page faults in 1,000 calls: {}", after - before));
    }
}

fn row(name: &str, measured: &Measured, native: Duration) -> String {
    let (p50, p99) = (micros(measured.p50), micros(measured.p99));
    format!("{name:<52} {p50:>9} {p99:>9} {:>9}", ratio(measured.p50, native))
}

fn native_filter(volumes: usize, classes: usize) -> Subject<'static> {
    let settings: Vec<guest::types::Setting> = questions::read(questions::settings());
    let pod: placement::PodQuestion = questions::read(questions::pod(volumes));
    let nodes: placement::NodeClasses = questions::read(questions::nodes(classes));
    Subject::prepared(
        "natively",
        move || (settings.clone(), pod.clone(), nodes.clone()),
        |(settings, pod, nodes)| <Native as placement::Guest>::filter(settings, pod, nodes).expect("an answer"),
    )
}

fn engine_filter<'a>(name: &str, policy: &'a ConfiguredPolicy, volumes: usize, classes: usize) -> Subject<'a> {
    let pod: host::placement::PodQuestion = questions::read(questions::pod(volumes));
    let nodes: host::placement::NodeClasses = questions::read(questions::nodes(classes));
    Subject::new(name, move || policy.filter(&pod, &nodes).expect("the policy answers"))
}

/// How the cost grows with the parts of the question.
fn parts(policy: &ConfiguredPolicy) {
    tell("");
    tell("placement.filter by the size of the question, medians");
    tell(&format!("{:>8} {:>8} {:>10} {:>10} {:>9}", "volumes", "classes", "native us", "engine us", "ratio"));
    for (volumes, classes) in [(0, 0), (0, 10), (1, 1), (1, 10), (3, 1), (3, 3), (3, 10), (3, 30), (10, 10)] {
        let subjects = vec![native_filter(volumes, classes), engine_filter("engine", policy, volumes, classes)];
        let measured = side_by_side(subjects, 4_000);
        let (native, engine) = (measured[0].p50, measured[1].p50);
        tell(&format!(
            "{volumes:>8} {classes:>8} {:>10} {:>10} {:>9}",
            micros(native),
            micros(engine),
            ratio(engine, native)
        ));
    }
}

/// Many elements in one call.
fn batches(policy: &ConfiguredPolicy) {
    tell("");
    tell("batches, medians");
    tell(&format!(
        "{:<26} {:>6} {:>11} {:>11} {:>11} {:>11} {:>6}",
        "", "batch", "native us", "engine us", "native each", "engine each", "ratio"
    ));
    for count in BATCHES {
        batch("identify_volumes", count, identify(policy, count));
    }
    for count in BATCHES {
        batch("label_volumes", count, label(policy, count));
    }
    for count in BATCHES {
        batch("judge", count, judge(policy, count));
    }
}

fn batch(name: &str, count: usize, subjects: Vec<Subject<'_>>) {
    let calls = (CALLS / count).max(200);
    let measured = side_by_side(subjects, calls);
    let (native, engine) = (measured[0].p50, measured[1].p50);
    let each = u32::try_from(count).expect("a batch has less than four billion elements");
    tell(&format!(
        "{name:<26} {count:>6} {:>11} {:>11} {:>11} {:>11} {:>6}",
        micros(native),
        micros(engine),
        micros(native / each),
        micros(engine / each),
        ratio(engine, native)
    ));
}

fn given() -> Vec<guest::types::Setting> {
    questions::read(questions::settings())
}

fn identify(policy: &ConfiguredPolicy, count: usize) -> Vec<Subject<'_>> {
    let (settings, volumes) = (given(), questions::read::<Vec<identity::VolumeQuestion>>(questions::volumes(count)));
    let asked: Vec<host::identity::VolumeQuestion> = questions::read(questions::volumes(count));
    vec![
        Subject::prepared(
            "natively",
            move || (settings.clone(), volumes.clone()),
            |(settings, volumes)| <Native as identity::Guest>::identify_volumes(settings, volumes).expect("an answer"),
        ),
        Subject::new("engine", move || policy.identify_volumes(&asked).expect("the policy answers")),
    ]
}

fn label(policy: &ConfiguredPolicy, count: usize) -> Vec<Subject<'_>> {
    let (settings, topologies) = (given(), questions::read::<Vec<guest::types::Topology>>(questions::topologies()));
    let volumes: Vec<labelling::LabellingQuestion> = questions::read(questions::persistent_volumes(count));
    let shown: Vec<host::types::Topology> = questions::read(questions::topologies());
    let asked: Vec<host::labelling::LabellingQuestion> = questions::read(questions::persistent_volumes(count));
    vec![
        Subject::prepared(
            "natively",
            move || (settings.clone(), topologies.clone(), volumes.clone()),
            |(settings, topologies, volumes)| {
                <Native as labelling::Guest>::label_volumes(settings, topologies, volumes).expect("an answer")
            },
        ),
        Subject::new("engine", move || policy.label_volumes(&shown, &asked).expect("the policy answers")),
    ]
}

fn judge(policy: &ConfiguredPolicy, count: usize) -> Vec<Subject<'_>> {
    let (settings, pairs) = (given(), questions::read::<Vec<attachment::Observation>>(questions::observations(count)));
    let asked: Vec<host::attachment::Observation> = questions::read(questions::observations(count));
    vec![
        Subject::prepared(
            "natively",
            move || (settings.clone(), pairs.clone()),
            |(settings, pairs)| <Native as attachment::Guest>::judge(settings, pairs).expect("an answer"),
        ),
        Subject::new("engine", move || policy.judge(&asked).expect("the policy answers")),
    ]
}
