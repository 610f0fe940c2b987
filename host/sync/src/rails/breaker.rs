//! The circuit breaker: where one look would turn too many volumes bad, something is wrong with the look and not with them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use zonewarden_contract::types::AwsVolumeId;

/// So many may turn bad at once in any cluster.
const LEAST: usize = 5;

/// Counts the volumes that turn bad in each look. A proven death does not count.
///
/// It opens when one look turns more than max(5, 10 %) of the known volumes bad, and stays open until so few of *those* are bad
/// any more: volumes that turned bad one after another over days never open it.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// The bad volumes, and the look that each turned bad in.
    bad: HashMap<AwsVolumeId, u64>,
    look: u64,
    open: bool,
}

/// What a look did to the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing.
    Same,
    /// It opened, over so many volumes.
    Opened(usize),
    /// It closed.
    Closed,
}

impl Breaker {
    /// Takes in one look: the volumes that are bad now, among those that were looked at.
    pub(crate) fn take(
        &mut self,
        looked_at: &BTreeSet<AwsVolumeId>,
        bad: &BTreeSet<AwsVolumeId>,
        known: usize,
    ) -> Turn {
        self.look += 1;
        self.bad.retain(|volume, _| bad.contains(volume) || !looked_at.contains(volume));
        for volume in bad {
            if !self.bad.contains_key(volume) {
                self.bad.insert(volume.clone(), self.look);
            }
        }
        let mut bursts: BTreeMap<u64, usize> = BTreeMap::new();
        for look in self.bad.values() {
            *bursts.entry(*look).or_default() += 1;
        }
        let worst = bursts.into_values().max().unwrap_or_default();
        let was_open = self.open;
        self.open = worst > LEAST.max(known / 10);
        match (was_open, self.open) {
            (false, true) => Turn::Opened(worst),
            (true, false) => Turn::Closed,
            (true, true) | (false, false) => Turn::Same,
        }
    }

    /// Whether no remedy may be carried out.
    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(range: std::ops::Range<usize>) -> Vec<AwsVolumeId> {
        range.map(|number| AwsVolumeId { aws_volume_id: format!("vol-{number}") }).collect()
    }

    fn look(breaker: &mut Breaker, all: &[AwsVolumeId], bad: &[AwsVolumeId]) -> Turn {
        breaker.take(&all.iter().cloned().collect(), &bad.iter().cloned().collect(), all.len())
    }

    #[test]
    fn d_29_more_than_five_and_more_than_a_tenth_at_once_open_it() {
        let all = ids(0..100);
        let mut breaker = Breaker::default();
        assert_eq!(look(&mut breaker, &all, &all[..10]), Turn::Same);
        assert!(!breaker.is_open());
        assert_eq!(look(&mut breaker, &all, &all[..21]), Turn::Opened(11));
        assert!(breaker.is_open());
        // It stays open, and tells so once, until so few of that look are bad.
        assert_eq!(look(&mut breaker, &all, &all[..21]), Turn::Same);
        assert!(breaker.is_open());
        assert_eq!(look(&mut breaker, &all, &all[..20]), Turn::Closed);
    }

    #[test]
    fn in_a_small_cluster_five_may_turn_bad_at_once_and_in_the_long_run_any_number() {
        let all = ids(0..20);
        let mut breaker = Breaker::default();
        for count in (5..=20).step_by(5) {
            assert_eq!(look(&mut breaker, &all, &all[..count]), Turn::Same);
        }
        let mut breaker = Breaker::default();
        assert_eq!(look(&mut breaker, &all, &all[..6]), Turn::Opened(6));
    }

    #[test]
    fn what_was_not_looked_at_stays_as_it_was() {
        let all = ids(0..20);
        let mut breaker = Breaker::default();
        look(&mut breaker, &all, &all[..6]);
        assert_eq!(look(&mut breaker, &all[10..], &[]), Turn::Same);
        assert!(breaker.is_open());
        assert_eq!(look(&mut breaker, &all, &[]), Turn::Closed);
    }
}
