//! What kubelets' Leases tell about their silence.
//!
//! A Lease's `renewTime` is the kubelet's clock, so only its *change* counts, on our own clock. A Lease that does not change
//! means nothing while the API server takes no writes, so silence is counted only while some other Node's Lease, the witness,
//! goes on changing, and from the last read that failed.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use zonewarden_contract::attachment;
use zonewarden_contract::types::NodeName;

use crate::clock::Moment;

/// The duration of a kubelet's Lease where it names none.
const DURATION_SECONDS: u32 = 40;
/// The least time without a change that counts as silence.
const LEAST_SILENCE_SECONDS: u32 = 15;
/// Without a change of a witness for so long nobody knows whether the API server takes renewals at all.
const WITNESS_GAP: Duration = Duration::from_secs(LEAST_SILENCE_SECONDS as u64);

/// How long a Lease of this duration has to be unchanged to count as silent: a kubelet renews every quarter of it, and three of
/// eight parts without a renewal are silence.
pub(crate) fn silence_of(duration_seconds: Option<u32>) -> u32 {
    (duration_seconds.unwrap_or(DURATION_SECONDS).saturating_mul(3) / 8).max(LEAST_SILENCE_SECONDS)
}

/// What one Lease said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRead {
    /// The Lease's uid: one that was made anew is a change.
    pub uid: String,
    /// `spec.renewTime`.
    pub renewed: Option<Timestamp>,
    /// `spec.leaseDurationSeconds`.
    pub duration_seconds: Option<u32>,
}

/// What was read of some Leases at one moment: `None` for a Node that has no Lease.
pub type LeaseReads = BTreeMap<NodeName, Option<LeaseRead>>;

/// Everything that Leases told.
#[derive(Debug, Default)]
pub(crate) struct LeaseBook {
    entries: BTreeMap<NodeName, Entry>,
    /// When a Lease of any Node was last seen to change; at first when reading began.
    last_change: Option<Moment>,
    /// Since when witnesses change without a gap and no read failed; `None` where they do not.
    vouched_since: Option<Moment>,
    /// What that will be once the first witness changes.
    reading_since: Option<Moment>,
}

#[derive(Debug)]
struct Entry {
    read: LeaseRead,
    /// When the value was first seen.
    since: Moment,
    /// When it was last seen to change, which proves a living kubelet; `None` where it never was.
    changed: Option<Moment>,
}

impl LeaseBook {
    /// Takes in what was read. A Node that is read no more is forgotten: its silence would be counted from a read long past.
    pub(crate) fn take(&mut self, reads: &LeaseReads, now: Moment) {
        self.entries.retain(|node, _| reads.contains_key(node));
        if reads.is_empty() {
            // Whoever reads next begins anew.
            return self.interrupt();
        }
        let mut changed = false;
        for (node, read) in reads {
            let Some(read) = read else {
                self.entries.remove(node);
                continue;
            };
            match self.entries.get_mut(node) {
                Some(entry) if entry.read == *read => {}
                Some(entry) => {
                    *entry = Entry { read: read.clone(), since: now, changed: Some(now) };
                    changed = true;
                }
                None => {
                    let entry = Entry { read: read.clone(), since: now, changed: None };
                    self.entries.insert(node.clone(), entry);
                }
            }
        }
        self.vouch(changed, now);
    }

    fn vouch(&mut self, changed: bool, now: Moment) {
        let Some(last) = self.last_change else {
            (self.last_change, self.reading_since) = (Some(now), Some(now));
            return;
        };
        let gap = now - last > WITNESS_GAP;
        if gap {
            (self.vouched_since, self.reading_since) = (None, None);
        }
        if changed {
            self.vouched_since = self.vouched_since.or(self.reading_since).or(Some(now));
            self.last_change = Some(now);
        }
    }

    /// Takes in one Lease that was read by itself: it can only show that its kubelet lives. A Lease that is gone is a change
    /// too.
    pub(crate) fn note(&mut self, node: &NodeName, read: Option<&LeaseRead>, now: Moment) {
        let Some(entry) = self.entries.get_mut(node) else { return };
        match read {
            Some(read) if *read == entry.read => {}
            Some(read) => *entry = Entry { read: read.clone(), since: now, changed: Some(now) },
            None => drop(self.entries.remove(node)),
        }
    }

    /// A read failed: what happened in the meantime is unknown, so silence begins anew.
    pub(crate) fn interrupt(&mut self) {
        (self.last_change, self.vouched_since, self.reading_since) = (None, None, None);
    }

    /// What the Lease of a Node tells.
    pub(crate) fn lease(&self, node: &NodeName, now: Moment) -> attachment::Lease {
        let Some(entry) = self.entries.get(node) else { return attachment::Lease::Unknown };
        let wanted = silence_of(entry.read.duration_seconds);
        if entry.changed.is_some_and(|changed| now.seconds_since(changed) < wanted) {
            return attachment::Lease::Renewed;
        }
        match self.vouched_since {
            Some(vouched) => attachment::Lease::Silent(now.seconds_since(vouched.max(entry.since))),
            None => attachment::Lease::Unknown,
        }
    }

    /// Whether the Lease was silent for as long as its own duration asks.
    pub(crate) fn is_silent(&self, node: &NodeName, now: Moment) -> bool {
        let wanted = self.entries.get(node).map_or(u32::MAX, |entry| silence_of(entry.read.duration_seconds));
        matches!(self.lease(node, now), attachment::Lease::Silent(seconds) if seconds >= wanted)
    }

    /// Whether the Lease was seen to change after a moment.
    pub(crate) fn changed_after(&self, node: &NodeName, moment: Moment) -> bool {
        self.entries.get(node).and_then(|entry| entry.changed).is_some_and(|changed| changed > moment)
    }
}

#[cfg(test)]
mod tests {
    use attachment::Lease::{Renewed, Silent, Unknown};

    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment(Duration::from_secs(seconds))
    }

    fn name(node: &str) -> NodeName {
        NodeName { node_name: node.to_owned() }
    }

    fn read(renewed: i64) -> Option<LeaseRead> {
        let renewed = Timestamp::from_second(renewed).ok();
        Some(LeaseRead { uid: "u".to_owned(), renewed, duration_seconds: Some(40) })
    }

    /// Reads "node" and "witness" each second; each is renewed at the seconds that its rule says.
    fn book(until: u64, node: impl Fn(u64) -> i64, witness: impl Fn(u64) -> i64) -> LeaseBook {
        let mut book = LeaseBook::default();
        for second in 0..=until {
            let reads = [(name("node"), read(node(second))), (name("witness"), read(witness(second)))];
            book.take(&reads.into_iter().collect(), at(second));
        }
        book
    }

    fn every_ten(second: u64) -> i64 {
        i64::try_from(second / 10).unwrap_or(0)
    }

    #[test]
    fn a_lease_that_does_not_change_while_others_do_is_silent() {
        // The witness changes at 10, 20 and so on: before the first change nobody vouches for the API server.
        assert_eq!(book(9, |_| 0, every_ten).lease(&name("node"), at(9)), Unknown);
        let book = book(14, |_| 0, every_ten);
        assert_eq!(book.lease(&name("node"), at(14)), Silent(14));
        assert!(!book.is_silent(&name("node"), at(14)));
        assert_eq!(book.lease(&name("node"), at(15)), Silent(15));
        assert!(book.is_silent(&name("node"), at(15)));
    }

    #[test]
    fn a_change_is_life_and_the_silence_begins_anew() {
        let book = book(40, |second| i64::from(second >= 22), every_ten);
        assert_eq!(book.lease(&name("node"), at(30)), Renewed);
        assert_eq!(book.lease(&name("node"), at(40)), Silent(18));
        assert!(book.changed_after(&name("node"), at(21)));
        assert!(!book.changed_after(&name("node"), at(22)));
    }

    #[test]
    fn an_api_server_that_takes_no_writes_silences_all_and_proves_nothing() {
        let away = |second: u64| if (20..60).contains(&second) { 1 } else { every_ten(second) };
        let gone = book(50, |_| 0, away);
        assert_eq!(gone.lease(&name("node"), at(50)), Unknown);
        // It is back at 60: the silence counts from there.
        let back = book(62, |_| 0, away);
        assert_eq!(back.lease(&name("node"), at(62)), Silent(2));
    }

    #[test]
    fn a_failed_read_begins_the_silence_anew() {
        let mut book = book(40, |_| 0, every_ten);
        assert!(book.is_silent(&name("node"), at(40)));
        book.interrupt();
        assert_eq!(book.lease(&name("node"), at(40)), Unknown);
    }

    #[test]
    fn after_a_while_without_suspects_the_silence_counts_from_the_first_read_again() {
        let mut book = book(30, every_ten, every_ten);
        for second in 31..100 {
            book.take(&LeaseReads::new(), at(second));
        }
        for second in 100..=115 {
            let reads = [(name("node"), read(0)), (name("witness"), read(every_ten(second)))];
            book.take(&reads.into_iter().collect(), at(second));
        }
        assert_eq!(book.lease(&name("node"), at(115)), Silent(15));
    }

    #[test]
    fn without_another_node_nothing_can_be_told() {
        let mut book = LeaseBook::default();
        for second in 0..100 {
            book.take(&[(name("node"), read(0))].into_iter().collect(), at(second));
        }
        assert_eq!(book.lease(&name("node"), at(100)), Unknown);
        assert!(!book.is_silent(&name("node"), at(100)));
    }

    #[test]
    fn no_lease_is_unknown_and_a_longer_lease_has_to_be_silent_for_longer() {
        let mut book = book(40, |_| 0, every_ten);
        book.take(&[(name("node"), None), (name("witness"), read(9))].into_iter().collect(), at(41));
        assert_eq!(book.lease(&name("node"), at(41)), Unknown);
        assert_eq!(silence_of(None), 15);
        assert_eq!(silence_of(Some(20)), 15);
        assert_eq!(silence_of(Some(120)), 45);
    }
}
