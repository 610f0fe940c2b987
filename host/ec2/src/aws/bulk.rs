//! One sweep of one operation: batches by id, the rejected ids by filter, and what is remembered from sweep to sweep.
//!
//! ```text
//! ids ─ asked before and rejected? ─ no ── batches of 500 by id ── rejected ─┐
//!                                  └ yes ─ now and then by id ───────────────┴─ one read by filter ─ evidence for each id
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use metrics::gauge;
use tokio::time::Instant;

use super::asking::Asking;
use super::batch::Batch;
use super::describe::{Ask, Describe};
use super::fault::{Failure, Fault};
use super::learnt::Learnt;
use super::pace::Limiter;
use super::parked::{Parked, Rechecks};
use crate::verify::{Evidence, UnknownCause};

/// Ids in one call. EC2 takes 1,000; half of it is the EBS CSI driver's number, and one bad id spoils half as many.
const IDS_PER_CALL: usize = 500;
/// Values of a filter in one call: EC2's limit.
const FILTER_VALUES_PER_CALL: usize = 200;

/// An operation with what is remembered about its ids.
#[derive(Debug)]
pub(super) struct Bulk<D> {
    pub(super) describe: D,
    rechecks: Rechecks,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    parked: Parked,
    /// The first id that the last sweep did not come to: the next one begins with it, so that whatever ends sweeps early does
    /// not always cost the same ids.
    resume_at: Option<String>,
}

/// What was asked and learnt in a sweep, before it is judged as a whole.
pub(super) struct Asked<R> {
    ids: Sorted,
    learnt: Learnt<R>,
}

impl<R> Asked<R> {
    /// Whether anything was described.
    pub(super) fn has_found(&self) -> bool {
        !self.learnt.found.is_empty()
    }

    /// Whether the sweep ended early.
    pub(super) fn has_stopped(&self) -> bool {
        self.learnt.stopped.is_some()
    }
}

/// What a sweep gave.
#[derive(Debug)]
pub(super) struct Swept<R> {
    /// For each id that was asked.
    pub(super) evidence: HashMap<String, Evidence<R>>,
    pub(super) faults: Vec<Fault>,
}

/// The ids of a sweep, each once.
struct Sorted {
    /// Asked in batches.
    fresh: Vec<String>,
    /// Parked, and looked for by filter.
    parked: Vec<String>,
    /// Those of the parked ones that are asked by id once more.
    due: Vec<String>,
}

impl<D: Describe> Bulk<D> {
    pub(super) fn new(describe: D, rechecks: Rechecks) -> Self {
        Self { describe, rechecks, memory: Mutex::default() }
    }

    /// Learns what EC2 says of these ids.
    pub(super) async fn ask(
        &self,
        ids: impl Iterator<Item = &str>,
        limiter: &Limiter,
        deadline: Instant,
    ) -> Asked<D::Record> {
        let ids = self.sort(ids);
        let asking = Asking { describe: &self.describe, limiter, deadline };
        let mut learnt = Learnt::new();
        for batch in ids.fresh.chunks(IDS_PER_CALL) {
            match learnt.stopped {
                Some(cause) => learnt.not_asked(batch, cause),
                None if learnt.is_doubtful => learnt.not_asked(batch, UnknownCause::ApiFault),
                None => Batch::new(batch).ask(&asking, &mut learnt).await,
            }
        }
        for batch in ids.due.chunks(IDS_PER_CALL) {
            if learnt.stopped.is_none() {
                Batch::recheck(batch).ask(&asking, &mut learnt).await;
            }
        }
        for ids in candidates::<D>(&ids, &learnt).chunks(FILTER_VALUES_PER_CALL) {
            match learnt.stopped {
                None => look_for(ids, &asking, &mut learnt).await,
                Some(cause) => learnt.not_asked(ids, cause),
            }
        }
        Asked { ids, learnt }
    }

    fn sort<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Sorted {
        let mut memory = self.memory();
        let now = Instant::now();
        let mut sorted = Sorted { fresh: vec![], parked: vec![], due: vec![] };
        let mut seen = HashSet::new();
        for id in ids.filter(|id| !id.is_empty() && seen.insert(*id)) {
            let is_due = memory.parked.is_due(id, self.rechecks, now);
            if memory.parked.rejection(id).is_none() {
                sorted.fresh.push(id.to_owned());
                continue;
            }
            sorted.parked.push(id.to_owned());
            if is_due {
                sorted.due.push(id.to_owned());
            }
        }
        let resume_at = memory.resume_at.as_deref();
        if let Some(start) = resume_at.and_then(|first| sorted.fresh.iter().position(|id| id == first)) {
            sorted.fresh.rotate_left(start);
            memory.resume_at = None;
        }
        sorted
    }

    /// Makes the evidence, and remembers what the next sweep needs. `is_known_place` says whether this region and account ever
    /// described anything that was asked.
    pub(super) fn conclude(&self, asked: Asked<D::Record>, is_known_place: bool) -> Swept<D::Record> {
        let Asked { ids, mut learnt } = asked;
        learnt.disbelieve_if_too_many(&ids.fresh, is_known_place);
        let mut memory = self.memory();
        let now = Instant::now();
        if let Some(cause) = learnt.stopped {
            memory.resume_at = ids.fresh.iter().find(|id| learnt.unknown.get(*id) == Some(&cause)).cloned();
        }
        for id in ids.due.iter().filter(|id| !learnt.unknown.contains_key(*id)) {
            memory.parked.asked(id, now);
        }
        for (id, (_, rejection)) in &learnt.rejected {
            memory.parked.park(id, *rejection, now);
        }
        for id in ids.fresh.iter().chain(&ids.parked).filter(|id| learnt.found.contains_key(*id)) {
            memory.parked.release(id);
        }
        memory.parked.forget(now);
        gauge!("zonewarden_parked_ids", "operation" => D::OPERATION).set(memory.parked.len() as f64);
        let evidence = ids.fresh.iter().chain(&ids.parked).map(|id| {
            let evidence = learnt.evidence(id, memory.parked.rejection(id));
            (id.clone(), evidence)
        });
        let evidence = evidence.collect();
        Swept { evidence, faults: learnt.faults }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is looked for by filter: the ids that were rejected now or before, unless they were described since. What is left of
/// the last call is filled with ids that were given up because of others in their batch.
fn candidates<D: Describe>(ids: &Sorted, learnt: &Learnt<D::Record>) -> Vec<String> {
    let is_rejected = |id: &&String| D::CONFIRMS_AT_ONCE && learnt.rejected.contains_key(*id);
    let rejected = ids.fresh.iter().filter(is_rejected);
    let parked = ids.parked.iter().filter(|id| !learnt.found.contains_key(*id));
    let mut candidates: Vec<_> = rejected.chain(parked).cloned().collect();
    let is_given_up = |id: &&String| learnt.unknown.get(*id) == Some(&UnknownCause::Rejected);
    let room = candidates.len().next_multiple_of(FILTER_VALUES_PER_CALL) - candidates.len();
    candidates.extend(ids.fresh.iter().filter(is_given_up).take(room).cloned());
    candidates
}

/// Reads by filter. What a whole answer does not list is absent.
async fn look_for<D: Describe>(ids: &[String], asking: &Asking<'_, D>, learnt: &mut Learnt<D::Record>) {
    let reading = asking.read(&Ask::any_of::<D>(ids)).await;
    learnt.take::<D>(reading.records);
    match reading.failure {
        None => {
            learnt.answered();
            for id in ids.iter().filter(|id| !learnt.found.contains_key(*id)) {
                learnt.absent.insert(id.clone(), reading.asked_at);
            }
        }
        Some(Failure::Fault(fault)) => learnt.failed(ids, fault),
        Some(Failure::Ids { text, .. }) => learnt.failed(ids, Fault::new(UnknownCause::ApiFault, text)),
    }
}

#[cfg(test)]
mod tests;
