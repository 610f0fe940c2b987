//! The host's own clock.

use std::ops::Sub;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A moment on the host's monotonic clock: the time since the program began. Every age that a remedy rests on is measured on
/// it, since the clocks of EC2, of kubelets and of the API server are not ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Duration);

impl Moment {
    /// The whole seconds since an earlier moment; 0 where it lies ahead.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> u32 {
        u32::try_from((self - earlier).as_secs()).unwrap_or(u32::MAX)
    }
}

impl Sub for Moment {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// Now, on both clocks: the host's own, and the calendar's, which is for people and for the ages of Kubernetes' objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Now {
    /// On the host's own clock.
    pub moment: Moment,
    /// By the calendar.
    pub calendar: Timestamp,
}

/// What tells the moment; a test's own where time must not pass by itself.
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> Now + Send + Sync>);

impl Clock {
    /// One that starts now.
    pub(crate) fn start() -> Self {
        let started = Instant::now();
        Self::of(move || Now { moment: Moment(started.elapsed()), calendar: Timestamp::now() })
    }

    /// One that is told the moment.
    pub(crate) fn of(now: impl Fn() -> Now + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Now.
    pub(crate) fn now(&self) -> Now {
        (self.0)()
    }

    /// The time since it started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.now().moment.0
    }
}

impl Now {
    /// What the calendar showed at an earlier moment, had it gone evenly.
    #[must_use]
    pub fn calendar_at(&self, earlier: Moment) -> Timestamp {
        self.calendar.checked_sub(self.moment - earlier).unwrap_or(Timestamp::MIN)
    }
}
