//! The circuit breaker: where one look would turn too many volumes bad, something is wrong with the look and not with them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use zonewarden_contract::types::AwsVolumeId;

/// So many may turn bad at once in any cluster.
const LEAST: usize = 5;

/// Counts the volumes that turn bad in each look. A proven death does not count.
///
/// It opens when one look turns more than max(5, 10 %) of the known volumes bad, and stays open until so few of *those* are bad
/// any more: volumes that turned bad one after another over days never open it.
///
/// A host that begins has seen none of its volumes good, so it can't tell what turned bad from what was bad all along, nor a
/// cluster with many ailing volumes from an hour in which EC2 talks nonsense. What it finds bad and has not seen change counts as
/// one burst of its own, however late its patience lets it show, and is held back while there is too much of it: until EC2 has
/// said the same over all that time and in several reads ([`Standing::Settled`]). Nonsense passes, and what it made bad is then
/// seen to change; what stays is the base from which others turn, and counts no more. Held back too short, a host that crashes in
/// the middle of nonsense would come up and believe it; held back for good, every restart of a cluster with many bad volumes would
/// freeze it. Whatever has changed since the beginning turned bad before our eyes and is an ordinary burst.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// The bad volumes, and what each turned bad with.
    bad: HashMap<AwsVolumeId, Burst>,
    look: u64,
    open: bool,
}

/// What is known of a bad volume's past; the later, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It is as the host found it, and has been for long.
    Settled,
    /// It is as the host found it when it began, not long ago.
    Found,
    /// Something of it has changed since.
    Turned,
}

/// The volumes that count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Burst {
    /// They were bad before anybody looked, and are believed to be.
    Base,
    /// The host found them bad and does not believe it yet.
    Beginning,
    /// They turned bad in this look.
    Look(u64),
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
        bad: &BTreeMap<AwsVolumeId, Standing>,
        known: usize,
    ) -> Turn {
        self.look += 1;
        self.bad.retain(|volume, _| bad.contains_key(volume) || !looked_at.contains(volume));
        for (volume, standing) in bad {
            let burst = match (self.bad.get(volume), standing) {
                (Some(Burst::Look(look)), _) => Burst::Look(*look),
                (Some(Burst::Base), Standing::Settled | Standing::Found)
                | (Some(Burst::Beginning), Standing::Settled) => Burst::Base,
                (Some(Burst::Beginning) | None, Standing::Found) => Burst::Beginning,
                // What was settled and good until now turned bad by something else than EC2's word.
                (Some(Burst::Base | Burst::Beginning) | None, Standing::Turned) | (None, Standing::Settled) => {
                    Burst::Look(self.look)
                }
            };
            self.bad.insert(volume.clone(), burst);
        }
        let mut bursts: BTreeMap<Burst, usize> = BTreeMap::new();
        for burst in self.bad.values().filter(|burst| **burst != Burst::Base) {
            *bursts.entry(*burst).or_default() += 1;
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
    use super::Standing::{Found, Settled, Turned};
    use super::*;

    fn ids(range: std::ops::Range<usize>) -> Vec<AwsVolumeId> {
        range.map(|number| AwsVolumeId { aws_volume_id: format!("vol-{number}") }).collect()
    }

    fn look_at(breaker: &mut Breaker, all: &[AwsVolumeId], bad: &[AwsVolumeId], standing: Standing) -> Turn {
        let bad = bad.iter().map(|volume| (volume.clone(), standing)).collect();
        breaker.take(&all.iter().cloned().collect(), &bad, all.len())
    }

    fn look(breaker: &mut Breaker, all: &[AwsVolumeId], bad: &[AwsVolumeId]) -> Turn {
        look_at(breaker, all, bad, Turned)
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

    #[test]
    fn what_a_host_finds_bad_is_held_back_in_one_burst_until_it_has_stood_for_long() {
        let all = ids(0..20);
        let mut breaker = Breaker::default();
        assert_eq!(look_at(&mut breaker, &all, &all[..5], Found), Turn::Same);
        // However late it shows, it was there from the beginning.
        assert_eq!(look_at(&mut breaker, &all, &all[..12], Found), Turn::Opened(12));
        assert_eq!(look_at(&mut breaker, &all, &all[..12], Found), Turn::Same);
        assert_eq!(look_at(&mut breaker, &all, &all[..12], Settled), Turn::Closed);
        // From that base others turn bad, and nobody counts the base again.
        let mut bad: BTreeMap<_, _> = all[..12].iter().map(|volume| (volume.clone(), Settled)).collect();
        bad.extend(all[12..17].iter().map(|volume| (volume.clone(), Turned)));
        assert_eq!(breaker.take(&all.iter().cloned().collect(), &bad, all.len()), Turn::Same);
        bad.insert(all[17].clone(), Turned);
        assert_eq!(breaker.take(&all.iter().cloned().collect(), &bad, all.len()), Turn::Same);
    }

    #[test]
    fn what_changes_and_is_still_bad_has_turned_before_our_eyes() {
        let all = ids(0..20);
        for before in [Found, Settled] {
            let mut breaker = Breaker::default();
            look_at(&mut breaker, &all, &all[..6], Found);
            look_at(&mut breaker, &all, &all[..6], before);
            look_at(&mut breaker, &all, &all[..6], Turned);
            assert!(breaker.is_open(), "{before:?}");
            // That is no beginning any more, and no time heals it.
            look_at(&mut breaker, &all, &all[..6], Settled);
            assert!(breaker.is_open(), "{before:?}");
        }
    }

    #[test]
    fn what_was_good_for_long_and_turns_bad_without_a_word_of_ec2_is_an_ordinary_burst() {
        let all = ids(0..20);
        let mut breaker = Breaker::default();
        assert_eq!(look_at(&mut breaker, &all, &all[..6], Settled), Turn::Opened(6));
    }
}
