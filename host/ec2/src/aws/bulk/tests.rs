//! Sweeps of an operation that is made up: whatever ids there are, however the errors name the bad ones, whatever fails.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::aws::describe::Page;
use crate::aws::fault::Rejection;

/// How an error names the ids that are not there.
#[derive(Clone, Copy, Debug)]
enum Naming {
    First,
    Some(usize),
    All,
    Everything,
    Nothing,
}

/// An operation over ids that are or are not there; a call of a number in `faults` fails.
#[derive(Debug)]
struct Fake {
    there: HashSet<String>,
    naming: Naming,
    faults: Vec<(usize, UnknownCause)>,
    calls: AtomicUsize,
}

impl Describe for Fake {
    type Record = String;
    const OPERATION: &'static str = "DescribeFakes";
    const RECORDS: &'static str = "fakes";
    const ID_FILTER: &'static str = "fake-id";
    const CONFIRMS_AT_ONCE: bool = true;

    fn id(record: &String) -> &str {
        record
    }

    async fn page(&self, ask: &Ask<'_>, _token: Option<String>) -> Result<Page<String>, Failure> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some((_, cause)) = self.faults.iter().find(|(at, _)| *at == number) {
            return Err(Failure::Fault(Fault::new(*cause, "scripted")));
        }
        let is_there = |id: &&String| self.there.contains(*id);
        let records = match ask {
            Ask::Filters(filters) => filters[0].1.iter().filter(is_there).cloned().collect(),
            Ask::Ids(ids) => {
                let missing: Vec<_> = ids.iter().filter(|id| !is_there(id)).map(|id| &**id).collect();
                if !missing.is_empty() {
                    let named = match self.naming {
                        Naming::First => vec![missing[0]],
                        Naming::Some(count) => missing.into_iter().take(count).collect(),
                        Naming::All => missing,
                        Naming::Everything => ids.iter().map(|id| &**id).collect(),
                        Naming::Nothing => vec![],
                    };
                    let text = format!("'{}' do not exist", named.join(", "));
                    return Err(Failure::Ids { rejection: Rejection::NotFound, text });
                }
                ids.to_vec()
            }
        };
        Ok(Page { records: Some(records), next: None })
    }
}

fn ids(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("fake-{number:04}")).collect()
}

fn fake(all: &[String], bad: &HashSet<usize>, naming: Naming, faults: Vec<(usize, UnknownCause)>) -> Bulk<Fake> {
    let there = all.iter().enumerate().filter(|(number, _)| !bad.contains(number)).map(|(_, id)| id.clone());
    let rechecks = Rechecks { first: Duration::ZERO, later: Duration::ZERO };
    Bulk::new(Fake { there: there.collect(), naming, faults, calls: AtomicUsize::new(0) }, rechecks)
}

/// One sweep; its evidence, and the calls that it took.
fn sweep(bulk: &Bulk<Fake>, all: &[String]) -> (HashMap<String, Evidence<String>>, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let before = bulk.describe.calls.load(Ordering::Relaxed);
    let limiter = Limiter::new(1e9, u32::MAX);
    let deadline = Instant::now() + Duration::from_secs(60);
    let asked = runtime.block_on(bulk.ask(all.iter().map(|id| &**id), &limiter, deadline));
    let swept = bulk.conclude(asked, true);
    (swept.evidence, bulk.describe.calls.load(Ordering::Relaxed) - before)
}

fn naming() -> impl Strategy<Value = Naming> {
    prop_oneof![
        Just(Naming::First),
        (2..9_usize).prop_map(Naming::Some),
        Just(Naming::All),
        Just(Naming::Everything),
        Just(Naming::Nothing),
    ]
}

fn faults() -> impl Strategy<Value = Vec<(usize, UnknownCause)>> {
    let cause = prop_oneof![
        Just(UnknownCause::Throttled),
        Just(UnknownCause::Denied),
        Just(UnknownCause::Unavailable),
        Just(UnknownCause::ApiFault),
        Just(UnknownCause::Incomplete),
    ];
    prop::collection::vec((0..40_usize, cause), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_there_is_never_missing_and_what_is_not_is_never_found(
        count in 1..1600_usize,
        bad in prop::collection::hash_set(0..1600_usize, 0..40),
        naming in naming(),
        faults in faults(),
    ) {
        let all = ids(count);
        let bulk = fake(&all, &bad, naming, faults);
        for _ in 0..4 {
            let (evidence, _) = sweep(&bulk, &all);
            prop_assert_eq!(evidence.len(), count);
            for (number, id) in all.iter().enumerate() {
                match &evidence[id] {
                    Evidence::Found { .. } => prop_assert!(!bad.contains(&number), "{} was found", id),
                    Evidence::Missing { absent_by_filter, .. } => {
                        let is_confirmed = bad.contains(&number) || !absent_by_filter;
                        prop_assert!(is_confirmed, "{} is there, and the filter lists it", id);
                        let may_err = matches!(naming, Naming::Everything);
                        prop_assert!(bad.contains(&number) || may_err, "{} is missing", id);
                    }
                    Evidence::Unknown(_) => {}
                }
            }
        }
    }

    #[test]
    fn a_few_bad_ids_cost_a_few_calls_and_nobody_else_his_answer(
        count in 120..1600_usize,
        bad in prop::collection::hash_set(0..120_usize, 0..50),
        naming in prop_oneof![Just(Naming::First), (2..9_usize).prop_map(Naming::Some), Just(Naming::All)],
    ) {
        let all = ids(count);
        let bulk = fake(&all, &bad, naming, vec![]);
        for _ in 0..2 {
            let (evidence, calls) = sweep(&bulk, &all);
            let found = evidence.values().filter(|evidence| matches!(evidence, Evidence::Found { .. })).count();
            let missing = evidence.values().filter(|evidence| matches!(evidence, Evidence::Missing { .. })).count();
            prop_assert_eq!((found, missing), (count - bad.len(), bad.len()));
            prop_assert!(calls <= count.div_ceil(500) + bad.len() + 1, "{} calls", calls);
        }
    }

    #[test]
    fn ids_that_nobody_names_cost_no_call_for_each_id(
        count in 1..1600_usize,
        bad in prop::collection::hash_set(0..1600_usize, 0..200),
        naming in prop_oneof![Just(Naming::Nothing), Just(Naming::Everything)],
    ) {
        let all = ids(count);
        let bulk = fake(&all, &bad, naming, vec![]);
        for _ in 0..3 {
            let (_, calls) = sweep(&bulk, &all);
            prop_assert!(calls <= count.div_ceil(500) * 24 + 2, "{} calls for {} ids", calls, count);
        }
    }
}

#[test]
fn sweep_after_sweep_the_bad_ones_come_to_light() {
    let (all, bad) = (ids(1000), (0..20).map(|number| number * 50).collect());
    let bulk = fake(&all, &bad, Naming::Nothing, vec![]);
    let mut found = 0;
    for _ in 0..20 {
        let (evidence, _) = sweep(&bulk, &all);
        found = evidence.values().filter(|evidence| evidence.record().is_some()).count();
    }
    assert_eq!(found, 980);
}
