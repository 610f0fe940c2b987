//! The double's time: the machine's own, or one that only a test moves.

use std::time::Duration;

use jiff::Timestamp;

/// A clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// `None` for the machine's own time.
    standing_at: Option<Timestamp>,
    ahead: Duration,
}

impl Clock {
    /// The machine's time. [`Clock::advance`] puts it ahead.
    pub fn real() -> Self {
        Self { standing_at: None, ahead: Duration::ZERO }
    }

    /// A clock that stands still at `start` until it is advanced.
    pub fn manual(start: Timestamp) -> Self {
        Self { standing_at: Some(start), ahead: Duration::ZERO }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        later(self.standing_at.unwrap_or_else(Timestamp::now), self.ahead)
    }

    /// Puts the clock forward.
    pub fn advance(&mut self, by: Duration) {
        self.ahead += by;
    }
}

/// `time` and some more; the end of time where there is no later.
pub(crate) fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// `time` less some; the beginning of time where there is no earlier.
pub(crate) fn earlier(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_sub(by).unwrap_or(Timestamp::MIN)
}
