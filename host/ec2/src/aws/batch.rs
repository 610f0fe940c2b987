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
    groups: Vec<Vec<String>>,
    dropped: Vec<(String, (Timestamp, Rejection))>,
    rounds: u32,
    halvings: u32,
}

impl Batch {
    pub(super) fn new(ids: &[String]) -> Self {
        Self { size: ids.len(), is_recheck: false, groups: vec![ids.to_vec()], dropped: vec![], rounds: 0, halvings: 0 }
    }

    pub(super) fn recheck(ids: &[String]) -> Self {
        Self { is_recheck: true, ..Self::new(ids) }
    }

    /// Asks until nothing of the batch is left.
    pub(super) async fn ask<D: Describe>(mut self, asking: &Asking<'_, D>, learnt: &mut Learnt<D::Record>) {
        while let Some(group) = self.groups.pop() {
            let reading = asking.read(&Ask::Ids(&group)).await;
            learnt.take::<D>(reading.records);
            match reading.failure {
                None => learnt.answered(),
                Some(Failure::Ids { rejection, text }) => {
                    learnt.answered();
                    if let Err((ids, fault)) = self.rejected(group, (reading.asked_at, rejection), &text) {
                        learnt.failed(&ids, fault);
                        learnt.is_doubtful |= self.rounds == ROUNDS && learnt.found.is_empty();
                    }
                }
                Some(Failure::Fault(fault)) => {
                    self.groups.push(group);
                    learnt.failed(self.groups.iter().flatten(), fault);
                    break;
                }
            }
        }
        learnt.rejected.extend(self.dropped);
    }

    /// Drops what the error names, or halves the group. An error holds the ids that are given up.
    fn rejected(
        &mut self,
        group: Vec<String>,
        rejected: (Timestamp, Rejection),
        text: &str,
    ) -> Result<(), (Vec<String>, Fault)> {
        let mut positions = named(text, &group);
        if positions.is_empty() && group.len() == 1 {
            positions.push(0);
        }
        if !self.is_recheck && is_too_many(self.dropped.len() + positions.len(), self.size) {
            return Err((self.all(group), Fault::new(UnknownCause::ApiFault, shortened(text))));
        }
        let is_named = !positions.is_empty();
        let (count, limit, reason) =
            if is_named { (&mut self.rounds, ROUNDS, "named") } else { (&mut self.halvings, HALVINGS, "halved") };
        if *count == limit || (self.is_recheck && !is_named) {
            return Err((group, Fault::new(UnknownCause::Rejected, shortened(text))));
        }
        *count += 1;
        counter!("zonewarden_batch_splits_total", "reason" => reason).increment(1);
        if is_named {
            self.drop_named(group, &positions, rejected);
        } else {
            let half = group.len() / 2;
            self.groups.extend([group[half..].to_vec(), group[..half].to_vec()]);
        }
        Ok(())
    }

    /// What is left of the batch, with what was dropped from it: nothing of it is asked any more.
    fn all(&mut self, group: Vec<String>) -> Vec<String> {
        let dropped = self.dropped.drain(..).map(|(id, _)| id);
        group.into_iter().chain(self.groups.drain(..).flatten()).chain(dropped).collect()
    }

    fn drop_named(&mut self, group: Vec<String>, positions: &[usize], rejected: (Timestamp, Rejection)) {
        let mut rest = Vec::with_capacity(group.len());
        for (position, id) in group.into_iter().enumerate() {
            if positions.binary_search(&position).is_ok() {
                self.dropped.push((id, rejected));
            } else {
                rest.push(id);
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
