//! One batch of ids, asked by id until each is answered, dropped or given up.
//!
//! One bad id fails the whole call, so the ids that the error names are dropped and the rest is asked again. Where it names
//! none that was asked, the batch is halved until the bad one stands alone. Both are bounded: a batch costs what its bad ids
//! cost, never a call for each id.

use jiff::Timestamp;
use metrics::counter;

use super::asking::Asking;
use super::describe::{Ask, Describe};
use super::fault::{Failure, Fault, Rejection};
use super::ids::Ids;
use super::learnt::{Learnt, is_too_many};
use super::named::named;
use crate::verify::UnknownCause;

/// How often a batch is asked again without the ids that were named, if EC2 names only one or a few at a time. The rest is
/// asked in the next sweep, without those.
const ROUNDS: u32 = 60;
/// How often the groups of a batch are halved. One bad id among 500 takes 9 halvings, with two calls each.
const HALVINGS: u32 = 10;

/// A batch while it is asked.
pub(super) struct Batch {
    size: usize,
    /// Whether every id of it was rejected before: then many rejections say nothing.
    is_recheck: bool,
    groups: Vec<Vec<usize>>,
    dropped: Vec<(usize, (Timestamp, Rejection))>,
    rounds: u32,
    halvings: u32,
}

impl Batch {
    pub(super) fn new(positions: &[usize]) -> Self {
        Self {
            size: positions.len(),
            is_recheck: false,
            groups: vec![positions.to_vec()],
            dropped: vec![],
            rounds: 0,
            halvings: 0,
        }
    }

    pub(super) fn recheck(positions: &[usize]) -> Self {
        Self { is_recheck: true, ..Self::new(positions) }
    }

    /// Asks until nothing of the batch is left.
    pub(super) async fn ask<D: Describe>(
        mut self,
        ids: &Ids<'_>,
        asking: &Asking<'_, D>,
        learnt: &mut Learnt<D::Record>,
    ) {
        while let Some(group) = self.groups.pop() {
            let texts = ids.texts(&group);
            let reading = asking.read(&Ask::Ids(&texts)).await;
            learnt.take::<D>(ids, reading.records);
            match reading.failure {
                None => learnt.answered(),
                Some(Failure::Ids { rejection, text }) => {
                    learnt.answered();
                    let named = named(&text, &texts);
                    if let Err((given_up, cause)) = self.rejected(group, named, (reading.asked_at, rejection)) {
                        learnt.failed(&given_up, Fault::new(cause, shortened(&text)));
                        learnt.is_doubtful |= self.rounds == ROUNDS && !learnt.has_found;
                    }
                }
                Some(Failure::Fault(fault)) => {
                    learnt.failed(&self.all_left(group), fault);
                    break;
                }
            }
        }
        for (position, rejected) in self.dropped {
            learnt.said[position].rejected = Some(rejected);
        }
    }

    /// Drops what the error names, given as places in the group, or halves the group. An error holds the ids that are given
    /// up.
    fn rejected(
        &mut self,
        group: Vec<usize>,
        mut named: Vec<usize>,
        rejected: (Timestamp, Rejection),
    ) -> Result<(), (Vec<usize>, UnknownCause)> {
        if named.is_empty() && group.len() == 1 {
            named.push(0);
        }
        if !self.is_recheck && is_too_many(self.dropped.len() + named.len(), self.size) {
            let mut given_up = self.all_left(group);
            given_up.extend(self.dropped.drain(..).map(|(position, _)| position));
            return Err((given_up, UnknownCause::ApiFault));
        }
        let is_named = !named.is_empty();
        let (count, limit, reason) =
            if is_named { (&mut self.rounds, ROUNDS, "named") } else { (&mut self.halvings, HALVINGS, "halved") };
        if *count == limit || (self.is_recheck && !is_named) {
            return Err((group, UnknownCause::Rejected));
        }
        *count += 1;
        counter!("zonewarden_batch_splits_total", "reason" => reason).increment(1);
        if is_named {
            self.drop_named(group, &named, rejected);
        } else {
            let half = group.len() / 2;
            self.groups.extend([group[half..].to_vec(), group[..half].to_vec()]);
        }
        Ok(())
    }

    /// This group and those that are still to come: nothing of them is asked any more.
    fn all_left(&mut self, mut group: Vec<usize>) -> Vec<usize> {
        group.extend(self.groups.drain(..).flatten());
        group
    }

    fn drop_named(&mut self, group: Vec<usize>, named: &[usize], rejected: (Timestamp, Rejection)) {
        let mut rest = Vec::with_capacity(group.len());
        for (place, position) in group.into_iter().enumerate() {
            if named.binary_search(&place).is_ok() {
                self.dropped.push((position, rejected));
            } else {
                rest.push(position);
            }
        }
        if !rest.is_empty() {
            self.groups.push(rest);
        }
    }
}

/// The beginning of EC2's words, which may name hundreds of ids.
fn shortened(text: &str) -> String {
    let text = text.trim_end_matches('.');
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
