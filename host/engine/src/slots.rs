//! Who may call now: never more at once than the pool has room for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The free slots of an engine. A call holds one from before its store is made until after the store is gone.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<u32>,
    freed: Condvar,
}

/// One slot, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new(count: u32) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a free slot until `deadline`; `None` where there was none.
    pub(crate) fn take(&self, deadline: Instant) -> Option<Slot<'_>> {
        let mut free = self.lock();
        while *free == 0 {
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            (free, _) = self.freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Some(Slot(self))
    }

    /// A count is never half changed, so that a panic elsewhere while it was locked does no harm.
    fn lock(&self) -> MutexGuard<'_, u32> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    #[test]
    fn no_more_slots_are_given_than_there_are() {
        let slots = Slots::new(2);
        let first = slots.take(far());
        let second = slots.take(far());
        assert!(first.is_some() && second.is_some());
        assert!(slots.take(Instant::now()).is_none());
        drop(first);
        assert!(slots.take(Instant::now()).is_some());
    }

    #[test]
    fn a_slot_that_is_given_back_wakes_who_waits() {
        let slots = Slots::new(1);
        let slot = slots.take(far());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| slots.take(far()).is_some());
            drop(slot);
            assert!(waiting.join().expect("the thread that waits does not panic"));
        });
    }

    #[test]
    fn a_slot_comes_back_from_a_call_that_panics() {
        let slots = Slots::new(1);
        let panicked = std::panic::catch_unwind(|| {
            let _slot = slots.take(far());
            panic!("on purpose");
        });
        assert!(panicked.is_err());
        assert!(slots.take(Instant::now()).is_some());
    }
}
