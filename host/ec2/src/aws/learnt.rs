//! What one sweep of one operation has learnt so far.

use std::collections::HashMap;

use jiff::Timestamp;

use super::describe::Describe;
use super::fault::{Fault, Rejection};
use crate::verify::{Evidence, UnknownCause};

/// EC2 may name that many ids of a batch at once and be believed, whatever their share. Beyond it, and beyond half of the
/// batch, the fault is not with the ids.
const FEW: usize = 5;

/// Whether so many rejected ids out of so many that were asked say more about EC2 than about the ids: the wrong region or
/// account, or an error text that names everything.
pub(super) fn is_too_many(rejected: usize, asked: usize) -> bool {
    rejected > FEW.max(asked / 2)
}

/// What is known of each id, by how it was learnt.
#[derive(Debug)]
pub(super) struct Learnt<R> {
    pub(super) found: HashMap<String, (Timestamp, R)>,
    /// By id, and when.
    pub(super) rejected: HashMap<String, (Timestamp, Rejection)>,
    /// Not listed by a filter that asked for it, and when that was asked.
    pub(super) absent: HashMap<String, Timestamp>,
    pub(super) unknown: HashMap<String, UnknownCause>,
    /// What went wrong, in order.
    pub(super) faults: Vec<Fault>,
    /// Why the rest was not asked, if it was not.
    pub(super) stopped: Option<UnknownCause>,
    /// Whether EC2 named one id after the other and described none so far: before more batches go the same way, the filter is
    /// asked whether anything at all is there.
    pub(super) is_doubtful: bool,
    outages_in_a_row: u32,
}

impl<R> Learnt<R> {
    pub(super) fn new() -> Self {
        Self {
            found: HashMap::new(),
            rejected: HashMap::new(),
            absent: HashMap::new(),
            unknown: HashMap::new(),
            faults: vec![],
            stopped: None,
            is_doubtful: false,
            outages_in_a_row: 0,
        }
    }

    /// Takes records in; the later one of an id counts. They may be about ids that nobody asked for, which nobody will look
    /// up either.
    pub(super) fn take<D: Describe<Record = R>>(&mut self, records: Vec<(Timestamp, R)>) {
        for (sent_at, record) in records {
            self.found.insert(D::id(&record).to_owned(), (sent_at, record));
        }
    }

    /// EC2 answered a question to the end.
    pub(super) fn answered(&mut self) {
        self.outages_in_a_row = 0;
    }

    /// A question about these ids failed. Decides whether to go on: never against a throttle or a denial, which hit
    /// everything, and not into an outage, where each further question would cost its full timeout.
    pub(super) fn failed<'a>(&mut self, ids: impl IntoIterator<Item = &'a String>, fault: Fault) {
        self.not_asked(ids, fault.cause);
        if fault.cause == UnknownCause::Unavailable {
            self.outages_in_a_row += 1;
        }
        let is_over = matches!(fault.cause, UnknownCause::Throttled | UnknownCause::Denied | UnknownCause::OutOfTime);
        if is_over || self.outages_in_a_row >= 2 {
            self.stopped = Some(fault.cause);
        }
        self.faults.push(fault);
    }

    /// These ids were not asked, or not to the end.
    pub(super) fn not_asked<'a>(&mut self, ids: impl IntoIterator<Item = &'a String>, cause: UnknownCause) {
        self.unknown.extend(ids.into_iter().map(|id| (id.clone(), cause)));
    }

    /// If EC2 rejected too many of these ids, none of the rejections is believed. Nor is it where nothing but rejections came,
    /// unless they are few and from a place that described something before: in the wrong region nothing ever is there.
    pub(super) fn disbelieve_if_too_many(&mut self, asked: &[String], is_known_place: bool) {
        let rejected: Vec<_> = asked.iter().filter(|id| self.rejected.contains_key(*id)).cloned().collect();
        let is_nothing_there =
            self.found.is_empty() && !rejected.is_empty() && (rejected.len() > FEW || !is_known_place);
        if !is_nothing_there && !is_too_many(rejected.len(), asked.len()) {
            return;
        }
        let detail = format!("{} of {} ids are rejected", rejected.len(), asked.len());
        self.faults.push(Fault::new(UnknownCause::ApiFault, detail));
        for id in rejected {
            self.rejected.remove(&id);
            self.unknown.insert(id, UnknownCause::ApiFault);
        }
    }

    /// Gives out what is known of an id in the end. `parked` is how EC2 rejected it in an earlier sweep.
    pub(super) fn evidence(&mut self, id: &str, parked: Option<Rejection>) -> Evidence<R> {
        if let Some((observed_at, record)) = self.found.remove(id) {
            return Evidence::Found { observed_at, record };
        }
        let (rejected, absent) = (self.rejected.get(id), self.absent.get(id));
        match (rejected.map(|(_, rejection)| *rejection).or(parked), rejected.map(|(at, _)| *at).or(absent.copied())) {
            (Some(Rejection::Malformed), _) => Evidence::Unknown(UnknownCause::Rejected),
            (Some(Rejection::NotFound), Some(observed_at)) => {
                Evidence::Missing { observed_at, absent_by_filter: absent.is_some() }
            }
            _ => Evidence::Unknown(self.unknown.get(id).copied().unwrap_or(UnknownCause::NotListed)),
        }
    }
}
