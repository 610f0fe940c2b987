//! What one sweep of one operation has learnt so far.

use jiff::Timestamp;

use super::describe::Describe;
use super::fault::{Fault, Rejection};
use super::ids::Ids;
use crate::verify::{Evidence, UnknownCause};

/// EC2 may name that many ids of a batch at once and be believed, whatever their share. Beyond it, and beyond half of the
/// batch, the fault is not with the ids.
const FEW: usize = 5;

/// Whether so many rejected ids out of so many that were asked say more about EC2 than about the ids: the wrong region or
/// account, or an error text that names everything.
pub(super) fn is_too_many(rejected: usize, asked: usize) -> bool {
    rejected > FEW.max(asked / 2)
}

/// What was said about one id, by each way of asking.
#[derive(Clone, Debug)]
pub(super) struct Said<R> {
    /// It was described, as of then.
    pub(super) found: Option<(Timestamp, R)>,
    /// It was rejected by id then.
    pub(super) rejected: Option<(Timestamp, Rejection)>,
    /// A read by filter that asked for it then did not list it.
    pub(super) absent: Option<Timestamp>,
    /// Nothing was said, and why.
    pub(super) unknown: Option<UnknownCause>,
}

/// What was said about each id, and how the sweep goes.
#[derive(Debug)]
pub(super) struct Learnt<R> {
    pub(super) said: Vec<Said<R>>,
    /// What went wrong, in order.
    pub(super) faults: Vec<Fault>,
    /// Why the rest was not asked, if it was not.
    pub(super) stopped: Option<UnknownCause>,
    /// Whether EC2 named one id after the other and described none so far: before more batches go the same way, the filter is
    /// asked whether anything at all is there.
    pub(super) is_doubtful: bool,
    /// Whether anything was described.
    pub(super) has_found: bool,
    outages_in_a_row: u32,
}

impl<R> Learnt<R> {
    pub(super) fn new(ids: usize) -> Self {
        let nothing = || Said { found: None, rejected: None, absent: None, unknown: None };
        Self {
            said: (0..ids).map(|_| nothing()).collect(),
            faults: vec![],
            stopped: None,
            is_doubtful: false,
            has_found: false,
            outages_in_a_row: 0,
        }
    }

    /// Takes records in; the later one of an id counts. One that nobody asked for is left.
    pub(super) fn take<D: Describe<Record = R>>(&mut self, ids: &Ids<'_>, records: Vec<(Timestamp, R)>) {
        for (sent_at, record) in records {
            if let Some(position) = ids.position(D::id(&record)) {
                self.said[position].found = Some((sent_at, record));
                self.has_found = true;
            }
        }
    }

    /// EC2 answered a question to the end.
    pub(super) fn answered(&mut self) {
        self.outages_in_a_row = 0;
    }

    /// A question about these ids failed. Decides whether to go on: never against a throttle or a denial, which hit
    /// everything, and not into an outage, where each further question would cost its full timeout.
    pub(super) fn failed(&mut self, positions: &[usize], fault: Fault) {
        self.not_asked(positions, fault.cause);
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
    pub(super) fn not_asked(&mut self, positions: &[usize], cause: UnknownCause) {
        for &position in positions {
            self.said[position].unknown = Some(cause);
        }
    }

    /// If EC2 rejected too many of these ids, none of the rejections is believed. Nor is it where nothing but rejections came,
    /// unless they are few and from a place that described something before: in the wrong region nothing ever is there.
    pub(super) fn disbelieve_if_too_many(&mut self, asked: &[usize], is_known_place: bool) {
        let is_rejected = |position: &usize| self.said[*position].rejected.is_some();
        let rejected: Vec<_> = asked.iter().copied().filter(is_rejected).collect();
        let is_nothing_there = !self.has_found && !rejected.is_empty() && (rejected.len() > FEW || !is_known_place);
        if !is_nothing_there && !is_too_many(rejected.len(), asked.len()) {
            return;
        }
        let detail = format!("{} of {} ids are rejected", rejected.len(), asked.len());
        self.faults.push(Fault::new(UnknownCause::ApiFault, detail));
        self.not_asked(&rejected, UnknownCause::ApiFault);
        for position in rejected {
            self.said[position].rejected = None;
        }
    }
}

impl<R> Said<R> {
    /// What is known in the end. `parked` is how EC2 rejected the id in an earlier sweep.
    pub(super) fn into_evidence(self, parked: Option<Rejection>) -> Evidence<R> {
        let Self { found, rejected, absent, unknown } = self;
        if let Some((observed_at, record)) = found {
            return Evidence::Found { observed_at, record };
        }
        match (rejected.map(|(_, rejection)| rejection).or(parked), rejected.map(|(at, _)| at).or(absent)) {
            (Some(Rejection::Malformed), _) => Evidence::Unknown(UnknownCause::Rejected),
            (Some(Rejection::NotFound), Some(observed_at)) => {
                Evidence::Missing { observed_at, absent_by_filter: absent.is_some() }
            }
            _ => Evidence::Unknown(unknown.unwrap_or(UnknownCause::NotListed)),
        }
    }
}
