//! The host under test, and what it did.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::prelude::*;
use zonewarden_contract::types::Setting;
use zonewarden_ec2::Question;
use zonewarden_engine::{ConfiguredPolicy, Engine, Limits};

use super::weather::{Event, Sky, any_event};
use super::world::{Tally, World};
use super::writes::Shared;
use crate::clock::{Moment, Now};
use crate::options::{Intervals, Mode, Modes, Options};
use crate::rails::Patience;
use crate::rails::switch::{Rail, Rails};
use crate::reconciler::{Plan, Reconciler, Scope};
use crate::remedies::{Fence, Hand, Outcome, read_lease};

/// For so long a volume has to be unused before it counts as leaked here.
pub(super) const LEAKED: u64 = 40;

const INSTANCES_EVERY: u64 = 5;
const VOLUMES_EVERY: u64 = 10;

/// The simulated API server answers at once.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("nobody waits here"),
    }
}

/// Whether this replica leads.
struct Leader(bool);

impl Fence for Leader {
    fn holds(&self) -> bool {
        self.0
    }
}

/// A policy with the simulation's settings, compiled once for all tests.
pub(super) fn policy(component: &[u8]) -> ConfiguredPolicy {
    static LOADED: Mutex<BTreeMap<String, ConfiguredPolicy>> = Mutex::new(BTreeMap::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let load = || {
        let policy = engine(PATIENT).load(component).expect("a policy");
        policy.with_settings(settings()).expect("good settings")
    };
    loaded.entry(zonewarden_engine::digest(component)).or_insert_with(load).clone()
}

/// Long enough for any call on a busy machine: how long a policy may take is not what the simulation is about.
pub(super) const PATIENT: Duration = Duration::from_secs(60);

pub(super) fn engine(deadline: Duration) -> Engine {
    let limits = Limits { deadline, ..Limits::default() };
    Engine::new(&zonewarden_engine::Options { limits, cache: None }).expect("an engine")
}

pub(super) fn settings() -> Vec<Setting> {
    let settings = [("quiet-seconds", "30"), ("leaked-seconds", "40"), ("volume-ids", "lenient")];
    settings.iter().map(|(key, value)| Setting { key: (*key).to_owned(), value: (*value).to_owned() }).collect()
}

pub(super) fn options() -> Options {
    Options {
        modes: Modes { label: Mode::Observe, reconcile: Mode::Enforce, delete_pods: true, delete_leaked: true },
        intervals: Intervals {
            volumes: Duration::from_secs(VOLUMES_EVERY),
            instances: Duration::from_secs(INSTANCES_EVERY),
            suspects: Duration::from_secs(1),
        },
        patience: Patience { quiet_seconds: 30, consistent_seconds: 10, leaked_seconds: 40 },
    }
}

/// Where a run takes place.
#[derive(Clone, Copy)]
pub(super) struct Stage<'a> {
    pub(super) policy: &'a ConfiguredPolicy,
    pub(super) nodes: usize,
    pub(super) delete_pods: bool,
    pub(super) seconds: u64,
    pub(super) leads: bool,
}

/// Runs the host through a weather: what happens at which second, in order.
pub(super) fn run(stage: Stage<'_>, rails: &Rails, events: &[(u64, Event)]) -> Tally {
    let Stage { policy, nodes, delete_pods, seconds, leads: _ } = stage;
    let world = Shared(Arc::new(Mutex::new(World::new(nodes))));
    let mut options = options();
    options.modes.delete_pods = delete_pods;
    let begin = || {
        let mut reconciler = Reconciler::new(policy.clone(), options);
        reconciler.rails.clone_from(rails);
        reconciler
    };
    let mut reconciler = begin();
    let mut sky = Sky::default();
    for second in 1..=seconds {
        for (_, event) in events.iter().filter(|(at, _)| *at == second) {
            world.lock().happen(event, &mut sky);
        }
        if std::mem::take(&mut sky.restarts) {
            reconciler = begin();
        }
        world.lock().step();
        turn(&mut reconciler, &world, &sky, stage.leads);
    }
    let world = world.lock();
    world.tally.clone()
}

/// What the host does in one second.
fn turn(reconciler: &mut Reconciler, world: &Shared, sky: &Sky, leads: bool) {
    let clock = {
        let world = world.clone();
        move || {
            let world = world.lock();
            Now { moment: Moment(Duration::from_secs(world.second)), calendar: world.calendar() }
        }
    };
    let now = clock();
    let cached = {
        let world = world.lock();
        Arc::clone(&world.past[world.past.len().saturating_sub(1 + sky.lag)])
    };
    // What is known of the cluster is a little older than what EC2 is asked.
    let asked = Moment(now.moment.0 + Duration::from_millis(1));
    let before = Now { moment: Moment(now.moment.0), calendar: now.calendar };
    let plan = reconciler.look(&cached, before).expect("the policy answers");
    leases(reconciler, world, &plan, now.moment);
    let second = now.moment.0.as_secs();
    let mut questions: Vec<(Question, Scope)> = Vec::new();
    if second % VOLUMES_EVERY == 0 {
        questions.push((Question { volumes: plan.all.volumes.clone(), ..Question::default() }, Scope::All));
    }
    if second % INSTANCES_EVERY == 0 {
        let (instances, names) = (plan.all.instances.clone(), plan.all.names.clone());
        questions.push((Question { instances, names, ..Question::default() }, Scope::All));
    }
    questions.push((plan.suspects.clone(), Scope::Suspects));
    for (question, scope) in questions {
        let lens = sky.lens(&world.lock());
        let sweep = world.lock().sweep(&question, &lens);
        reconciler.take(&question, sweep, asked);
        let later = Now { moment: Moment(now.moment.0 + Duration::from_millis(2)), calendar: now.calendar };
        let judged = reconciler.judge(&cached, later, scope).expect("the policy answers");
        for finding in &judged.findings {
            for act in &finding.acts {
                if reconciler.allow(act, finding.death, now.moment).is_ok() {
                    let hand = Hand { api: world, fence: &Leader(leads), clock: &clock, cached: &cached };
                    if matches!(block_on(hand.carry_out(reconciler, act)), Outcome::Withheld(_)) {
                        reconciler.refund(act, finding.death);
                    }
                }
            }
        }
    }
}

fn leases(reconciler: &mut Reconciler, world: &Shared, plan: &Plan, now: Moment) {
    let read = |node| Ok((Clone::clone(node), block_on(read_lease(world, node))?));
    let reads: Result<_, zonewarden_cluster::ApiError> = plan.leases.iter().map(read).collect();
    reconciler.take_leases(reads.ok().as_ref(), now);
}

/// Few enough that a policy to which everything is bad does not open the breaker.
pub(super) const FEW: usize = 4;

/// A weather that breaks the property where one rail is off, and only there.
pub(super) fn needs(rail: Rail, component: &[u8], events: &[(u64, Event)]) {
    needs_where(rail, component, true, events);
}

pub(super) fn needs_where(rail: Rail, component: &[u8], delete_pods: bool, events: &[(u64, Event)]) {
    let policy = policy(component);
    let stage = Stage { policy: &policy, nodes: FEW, delete_pods, seconds: 140, leads: true };
    let with = run(stage, &Rails::default(), events);
    assert_eq!(with.violations, Vec::<String>::new(), "with all rails");
    let without = run(stage, &Rails::without(rail), events);
    assert_ne!(without.violations, Vec::<String>::new(), "without the rail {rail:?}: {without:?}");
}

pub(super) const EBS: &[u8] = zonewarden_artifacts::EBS_COMPONENT;
pub(super) const WORST: &[u8] = zonewarden_artifacts::WORST_COMPONENT;
pub(super) const LIAR: &[u8] = zonewarden_artifacts::LIAR_COMPONENT;

#[test]
fn our_taint_goes_when_a_new_kubelet_adopts_the_node_whatever_the_policy() {
    for component in [EBS, WORST, LIAR] {
        let policy = policy(component);
        let stage = Stage { policy: &policy, nodes: FEW, delete_pods: true, seconds: 110, leads: true };
        let tally = run(stage, &Rails::default(), &[(30, Event::Kill(1, 2)), (70, Event::Replace(1))]);
        assert_eq!(tally.violations, Vec::<String>::new());
        assert_eq!((tally.right.get("taint on"), tally.right.get("taint off")), (Some(&1), Some(&1)), "{tally:?}");
    }
}

#[test]
fn d_50_whoever_does_not_lead_writes_nothing() {
    let policy = policy(EBS);
    let stage = |leads| Stage { policy: &policy, nodes: FEW, delete_pods: true, seconds: 80, leads };
    let events = [(30, Event::Kill(1, 2))];
    assert_eq!(run(stage(true), &Rails::default(), &events).right.get("taint on"), Some(&1));
    assert_eq!(run(stage(false), &Rails::default(), &events).right.len(), 0);
}

#[test]
fn a_burst_opens_the_breaker_and_nothing_is_done() {
    let burst: Vec<(u64, Event)> =
        (0..8).flat_map(|number| [(60, Event::Detach(number)), (60, Event::RestartPod(number))]).collect();
    let policy = policy(EBS);
    let stage = Stage { policy: &policy, nodes: 8, delete_pods: true, seconds: 130, leads: true };
    let with = run(stage, &Rails::default(), &burst);
    assert_eq!((with.violations, with.right.get("detached healed")), (vec![], None));
    let without = run(stage, &Rails::without(Rail::Breaker), &burst);
    assert!(without.right.get("detached healed").is_some_and(|healed| *healed > 0), "{without:?}");
}

#[test]
fn no_more_than_five_are_healed_in_a_minute() {
    let healed = |number, second| [(second, Event::Detach(number)), (second, Event::RestartPod(number))];
    let events: Vec<(u64, Event)> = (0..8).flat_map(|number| healed(number, 60 + number as u64 / 4 * 15)).collect();
    let policy = policy(EBS);
    let stage = |seconds| Stage { policy: &policy, nodes: 8, delete_pods: true, seconds, leads: true };
    let count = |tally: &Tally| tally.right.get("detached healed").copied().unwrap_or_default();
    assert_eq!(count(&run(stage(120), &Rails::default(), &events)), 5);
    assert_eq!(count(&run(stage(120), &Rails::without(Rail::Budget), &events)), 8);
    assert_eq!(count(&run(stage(170), &Rails::default(), &events)), 8);
}

fn check_all(component: &[u8], cases: u32, least: &[(&str, usize)]) {
    let policy = policy(component);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let total = std::cell::RefCell::new(Tally::default());
    let weather = prop::collection::vec((20_u64..120, any_event(FEW)), 1..14);
    let stage = Stage { policy: &policy, nodes: FEW, delete_pods: true, seconds: 160, leads: true };
    runner
        .run(&weather, |events| {
            let tally = run(stage, &Rails::default(), &events);
            for (what, count) in tally.right {
                *total.borrow_mut().right.entry(what).or_default() += count;
            }
            prop_assert_eq!(tally.violations, Vec::<String>::new());
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let total = total.into_inner().right;
    for (what, count) in least {
        assert!(total.get(what).is_some_and(|done| done >= count), "{what}: {total:?}");
    }
}

/// How many weathers each policy goes through; `PROPTEST_CASES` is for those who have time.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

#[test]
fn whatever_the_weather_the_standard_policy_does_right_and_nothing_wrong() {
    check_all(EBS, cases(24), &[("taint on", 5), ("pod deleted", 5), ("dead deleted", 5)]);
}

#[test]
fn whatever_the_weather_the_worst_policy_does_nothing_wrong() {
    check_all(WORST, cases(12), &[]);
}

#[test]
fn whatever_the_weather_a_lying_policy_does_nothing_wrong() {
    check_all(LIAR, cases(12), &[]);
}
