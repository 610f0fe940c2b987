//! The host's own clock.

use std::ops::Sub;
use std::time::Duration;

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

impl Now {
    /// What the calendar showed at an earlier moment, had it gone evenly.
    #[must_use]
    pub fn calendar_at(&self, earlier: Moment) -> Timestamp {
        self.calendar.checked_sub(self.moment - earlier).unwrap_or(Timestamp::MIN)
    }
}
