//! One sweep of one operation: batches by id, the rejected ids by filter, and what is remembered from sweep to sweep.
//!
//! ```text
//! ids ─ asked before and rejected? ─ no ── batches of 500 by id ── rejected ─┐
//!                                  └ yes ─ now and then by id ───────────────┴─ one read by filter ─ evidence for each id
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};

use metrics::gauge;
use tokio::time::Instant;

use super::asking::Asking;
use super::batch::Batch;
use super::describe::{Ask, Describe};
use super::fault::{Failure, Fault};
use super::ids::Ids;
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
pub(super) struct Asked<'q, R> {
    ids: Ids<'q>,
    sorted: Sorted,
    learnt: Learnt<R>,
}

impl<R> Asked<'_, R> {
    /// Whether anything was described.
    pub(super) fn has_found(&self) -> bool {
        self.learnt.has_found
    }

    /// Whether the sweep ended early.
    pub(super) fn has_stopped(&self) -> bool {
        self.learnt.stopped.is_some()
    }
}

/// What a sweep gave.
#[derive(Debug)]
pub(super) struct Swept<'q, R> {
    pub(super) ids: Ids<'q>,
    /// For each id.
    pub(super) evidence: Vec<Evidence<R>>,
    pub(super) faults: Vec<Fault>,
}

/// How the ids of a sweep are asked.
struct Sorted {
    /// In batches.
    fresh: Vec<usize>,
    /// Parked, and looked for by filter.
    parked: Vec<usize>,
    /// Those of the parked ones that are asked by id once more.
    due: Vec<usize>,
}

impl<D: Describe> Bulk<D> {
    pub(super) fn new(describe: D, rechecks: Rechecks) -> Self {
        Self { describe, rechecks, memory: Mutex::default() }
    }

    /// Learns what EC2 says of these ids.
    pub(super) async fn ask<'q>(
        &self,
        ids: impl Iterator<Item = &'q str>,
        limiter: &Limiter,
        deadline: Instant,
    ) -> Asked<'q, D::Record> {
        let ids = Ids::new(ids);
        let sorted = self.sort(&ids);
        let asking = Asking { describe: &self.describe, limiter, deadline };
        let mut learnt = Learnt::new(ids.len());
        for batch in sorted.fresh.chunks(IDS_PER_CALL) {
            match learnt.stopped {
                Some(cause) => learnt.not_asked(batch, cause),
                None if learnt.is_doubtful => learnt.not_asked(batch, UnknownCause::ApiFault),
                None => Batch::new(batch).ask(&ids, &asking, &mut learnt).await,
            }
        }
        for batch in sorted.due.chunks(IDS_PER_CALL) {
            if learnt.stopped.is_none() {
                Batch::recheck(batch).ask(&ids, &asking, &mut learnt).await;
            }
        }
        for wanted in candidates::<D>(&sorted, &learnt).chunks(FILTER_VALUES_PER_CALL) {
            match learnt.stopped {
                None => look_for(wanted, &ids, &asking, &mut learnt).await,
                Some(cause) => learnt.not_asked(wanted, cause),
            }
        }
        Asked { ids, sorted, learnt }
    }

    fn sort(&self, ids: &Ids<'_>) -> Sorted {
        let mut memory = self.memory();
        let now = Instant::now();
        let mut sorted = Sorted { fresh: vec![], parked: vec![], due: vec![] };
        for position in 0..ids.len() {
            match memory.parked.is_due(ids.text(position), self.rechecks, now) {
                None => sorted.fresh.push(position),
                Some(is_due) => {
                    sorted.parked.push(position);
                    sorted.due.extend(is_due.then_some(position));
                }
            }
        }
        let resume_at = memory.resume_at.as_deref().and_then(|id| ids.position(id));
        if let Some(start) = resume_at.and_then(|first| sorted.fresh.iter().position(|&position| position == first)) {
            sorted.fresh.rotate_left(start);
            memory.resume_at = None;
        }
        sorted
    }

    /// Makes the evidence, and remembers what the next sweep needs. `is_known_place` says whether this region and account ever
    /// described anything that was asked.
    pub(super) fn conclude<'q>(&self, asked: Asked<'q, D::Record>, is_known_place: bool) -> Swept<'q, D::Record> {
        let Asked { ids, sorted, mut learnt } = asked;
        learnt.disbelieve_if_too_many(&sorted.fresh, is_known_place);
        let mut memory = self.memory();
        let now = Instant::now();
        if let Some(cause) = learnt.stopped {
            let is_left = |position: &&usize| learnt.said[**position].unknown == Some(cause);
            memory.resume_at = sorted.fresh.iter().find(is_left).map(|&position| ids.text(position).to_owned());
        }
        for &position in sorted.due.iter().filter(|&&position| learnt.said[position].unknown.is_none()) {
            memory.parked.asked(ids.text(position), now);
        }
        let evidence = learnt.said.into_iter().enumerate().map(|(position, said)| {
            let id = ids.text(position);
            match (&said.found, said.rejected) {
                (Some(_), _) => memory.parked.release(id),
                (None, Some((_, rejection))) => memory.parked.park(id, rejection, now),
                (None, None) => {}
            }
            said.into_evidence(memory.parked.rejection(id))
        });
        let evidence = evidence.collect();
        memory.parked.forget(now);
        gauge!("zonewarden_parked_ids", "operation" => D::OPERATION).set(memory.parked.len() as f64);
        Swept { ids, evidence, faults: learnt.faults }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is looked for by filter: the ids that were rejected now or before, unless they were described since. What is left of
/// the last call is filled with ids that were given up because of others in their batch.
fn candidates<D: Describe>(sorted: &Sorted, learnt: &Learnt<D::Record>) -> Vec<usize> {
    let said = |position: &usize| &learnt.said[*position];
    let fresh = sorted.fresh.iter().copied();
    let rejected = fresh.clone().filter(|position| D::CONFIRMS_AT_ONCE && said(position).rejected.is_some());
    let parked = sorted.parked.iter().copied().filter(|position| said(position).found.is_none());
    let mut candidates: Vec<_> = rejected.chain(parked).collect();
    let room = candidates.len().next_multiple_of(FILTER_VALUES_PER_CALL) - candidates.len();
    candidates.extend(fresh.filter(|position| said(position).unknown == Some(UnknownCause::Rejected)).take(room));
    candidates
}

/// Reads by filter. What a whole answer does not list is absent.
async fn look_for<D: Describe>(
    wanted: &[usize],
    ids: &Ids<'_>,
    asking: &Asking<'_, D>,
    learnt: &mut Learnt<D::Record>,
) {
    let reading = asking.read(&Ask::any_of::<D>(&ids.texts(wanted))).await;
    learnt.take::<D>(ids, reading.records);
    match reading.failure {
        None => {
            learnt.answered();
            for &position in wanted {
                learnt.said[position].absent = Some(reading.asked_at);
            }
        }
        Some(Failure::Fault(fault)) => learnt.failed(wanted, fault),
        Some(Failure::Ids { text, .. }) => learnt.failed(wanted, Fault::new(UnknownCause::ApiFault, text)),
    }
}

#[cfg(test)]
mod tests;
