//! The ids that EC2 rejected: they are kept out of the batches, which they would spoil, and watched by a filter instead.
//!
//! An id comes out when EC2 describes it. Until then one read by filter for all of them tells in each sweep whether it is
//! still absent, and they are asked by id together, and apart from the good ones, at growing intervals.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::fault::Rejection;

/// That many rejections by id, and that much time from the first to the last, and an id is taken to stay as it is.
const SETTLED_AFTER: (u32, Duration) = (3, Duration::from_secs(120));

/// How long an id that nobody asks about any more is remembered.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(2 * 3600);

/// When parked ids are asked by id again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rechecks {
    /// Until they are settled.
    pub(super) first: Duration,
    /// Afterwards.
    pub(super) later: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    rejection: Rejection,
    rejections: u32,
    first_rejected: Instant,
    last_rejected: Instant,
    asked_by_id: Instant,
    wanted: Instant,
}

/// The parked ids of one operation. Sweeps write, nobody else.
#[derive(Debug, Default)]
pub(super) struct Parked {
    ids: HashMap<String, Entry>,
}

impl Parked {
    /// How EC2 rejected an id, if it is parked.
    pub(super) fn rejection(&self, id: &str) -> Option<Rejection> {
        self.ids.get(id).map(|entry| entry.rejection)
    }

    /// Notes that a parked id is wanted in a sweep, and says whether it is time to ask it by id again.
    pub(super) fn is_due(&mut self, id: &str, rechecks: Rechecks, now: Instant) -> bool {
        let Some(entry) = self.ids.get_mut(id) else { return false };
        entry.wanted = now;
        let (rejections, time) = SETTLED_AFTER;
        let is_settled = entry.rejections >= rejections && entry.last_rejected - entry.first_rejected >= time;
        now - entry.asked_by_id >= if is_settled { rechecks.later } else { rechecks.first }
    }

    /// EC2 rejected an id.
    pub(super) fn park(&mut self, id: &str, rejection: Rejection, now: Instant) {
        let fresh =
            Entry { rejection, rejections: 0, first_rejected: now, last_rejected: now, asked_by_id: now, wanted: now };
        let entry = self.ids.entry(id.to_owned()).or_insert(fresh);
        *entry = Entry { rejection, rejections: entry.rejections + 1, last_rejected: now, asked_by_id: now, ..*entry };
    }

    /// A parked id was asked by id once more.
    pub(super) fn asked(&mut self, id: &str, now: Instant) {
        if let Some(entry) = self.ids.get_mut(id) {
            entry.asked_by_id = now;
        }
    }

    /// EC2 described an id.
    pub(super) fn release(&mut self, id: &str) {
        self.ids.remove(id);
    }

    /// Forgets what nobody asked about for a while.
    pub(super) fn forget(&mut self, now: Instant) {
        self.ids.retain(|_, entry| now - entry.wanted < FORGOTTEN_AFTER);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECHECKS: Rechecks = Rechecks { first: Duration::from_secs(30), later: Duration::from_secs(3600) };

    #[test]
    fn e_8_three_rejections_by_id_over_two_minutes_and_then_one_an_hour() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut parked = Parked::default();
        parked.park("vol-1", Rejection::NotFound, start);
        let due: Vec<u64> = (0..8000)
            .filter(|&second| {
                let is_due = parked.is_due("vol-1", RECHECKS, after(second));
                if is_due {
                    parked.park("vol-1", Rejection::NotFound, after(second));
                }
                is_due
            })
            .collect();
        assert_eq!(due, [30, 60, 90, 120, 3720, 7320]);
    }

    #[test]
    fn an_id_that_is_described_or_not_wanted_any_more_is_forgotten() {
        let start = Instant::now();
        let mut parked = Parked::default();
        parked.park("vol-1", Rejection::NotFound, start);
        parked.park("vol-2", Rejection::Malformed, start);
        parked.park("vol-3", Rejection::NotFound, start);
        parked.release("vol-1");
        assert_eq!([parked.rejection("vol-1"), parked.rejection("vol-2")], [None, Some(Rejection::Malformed)]);
        let later = start + Duration::from_secs(2 * 3600);
        assert!(parked.is_due("vol-3", RECHECKS, later - Duration::from_secs(1)));
        parked.forget(later);
        assert_eq!((parked.len(), parked.rejection("vol-3")), (1, Some(Rejection::NotFound)));
        assert!(!parked.is_due("vol-2", RECHECKS, later));
    }

    #[test]
    fn a_check_without_a_rejection_puts_the_next_one_off() {
        let start = Instant::now();
        let mut parked = Parked::default();
        parked.park("vol-1", Rejection::NotFound, start);
        parked.asked("vol-1", start + Duration::from_secs(30));
        assert!(!parked.is_due("vol-1", RECHECKS, start + Duration::from_secs(59)));
        assert!(parked.is_due("vol-1", RECHECKS, start + Duration::from_secs(60)));
    }
}
