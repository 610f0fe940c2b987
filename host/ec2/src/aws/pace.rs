//! How fast EC2 is asked: one bucket of tokens for everything that asks it.
//!
//! The pace is halved when EC2 throttles, and grows back by a small step for each answer after that. It does not grow with
//! time alone: how much EC2 gives is known only from its answers. The CSI driver draws on the same allowance.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Below this share of the full pace no throttle slows any further. With it, an interval of half a minute or more is
/// stretched to [`INTERVAL_LIMIT`].
const SMALLEST_SHARE: f64 = 1.0 / 32.0;
/// What one answer gives back of the full pace.
const GROWTH_PER_ANSWER: f64 = 1.0 / 32.0;
/// A wait is lengthened by up to this share, so that replicas and clusters that were throttled together do not come back
/// together.
const JITTER: f64 = 0.25;
/// No interval is stretched beyond this.
const INTERVAL_LIMIT: Duration = Duration::from_secs(600);

/// How fast EC2 is asked at the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Calls per second, sustained.
    pub calls_per_second: f64,
    /// What it is while EC2 does not throttle.
    pub full_calls_per_second: f64,
}

impl Pace {
    /// Whether EC2 throttled and the pace has not recovered yet.
    pub fn is_reduced(&self) -> bool {
        self.calls_per_second < self.full_calls_per_second
    }

    /// An interval between sweeps, stretched as much as the pace is reduced: twice as long after a throttle, ten minutes at
    /// most (an interval that is longer stays as it is).
    pub fn stretch(&self, interval: Duration) -> Duration {
        let stretched = interval.mul_f64(self.full_calls_per_second / self.calls_per_second);
        stretched.min(INTERVAL_LIMIT).max(interval)
    }
}

/// The time was up before a token was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfTime;

/// The bucket, shared by sweeps and suspects, volumes and instances.
#[derive(Debug)]
pub(super) struct Limiter {
    bucket: Mutex<Bucket>,
}

impl Limiter {
    pub(super) fn new(calls_per_second: f64, burst: u32) -> Self {
        Self { bucket: Mutex::new(Bucket::new(calls_per_second, burst, Instant::now())) }
    }

    /// Waits for a token, if one comes before the deadline.
    pub(super) async fn take(&self, deadline: Instant) -> Result<(), OutOfTime> {
        let wait = self.bucket().take(Instant::now(), deadline, random())?;
        if !wait.is_zero() {
            sleep(wait).await;
        }
        Ok(())
    }

    /// A call that is made whatever the bucket holds, as the SDK's own retries are: what comes after it waits for it.
    pub(super) fn charge(&self) {
        self.bucket().fill(Instant::now()).tokens -= 1.0;
    }

    /// EC2 throttled an attempt that was sent then.
    pub(super) fn throttled(&self, sent_at: Instant) {
        self.bucket().throttled(sent_at, Instant::now());
    }

    /// EC2 answered.
    pub(super) fn answered(&self) {
        self.bucket().answered();
    }

    pub(super) fn pace(&self) -> Pace {
        self.bucket().pace()
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Bucket {
    full: f64,
    burst: f64,
    rate: f64,
    /// Below zero while callers wait: each has taken its token in advance, so they go in the order in which they came.
    tokens: f64,
    filled_at: Instant,
    halved_at: Option<Instant>,
}

impl Bucket {
    fn new(calls_per_second: f64, burst: u32, now: Instant) -> Self {
        let (full, burst) = (calls_per_second, f64::from(burst));
        Self { full, burst, rate: full, tokens: burst, filled_at: now, halved_at: None }
    }

    /// Adds the tokens of the time that went by. A reduced pace reduces the burst too.
    fn fill(&mut self, now: Instant) -> &mut Self {
        let since = now.saturating_duration_since(self.filled_at).as_secs_f64();
        let most = (self.burst * self.rate / self.full).max(1.0);
        self.tokens = (self.tokens + since * self.rate).min(most);
        self.filled_at = now;
        self
    }

    /// Takes a token and says how long to wait for it.
    fn take(&mut self, now: Instant, deadline: Instant, random: f64) -> Result<Duration, OutOfTime> {
        let missing = 1.0 - self.fill(now).tokens;
        let wait = Duration::from_secs_f64((missing / self.rate).max(0.0) * (1.0 + JITTER * random));
        if now + wait > deadline {
            return Err(OutOfTime);
        }
        self.tokens -= 1.0;
        Ok(wait)
    }

    /// Attempts that were under way when the pace was halved do not halve it once more.
    fn throttled(&mut self, sent_at: Instant, now: Instant) {
        if self.halved_at.is_some_and(|halved_at| sent_at <= halved_at) {
            return;
        }
        self.fill(now);
        self.halved_at = Some(now);
        self.rate = (self.rate / 2.0).max(self.full * SMALLEST_SHARE);
        self.tokens = self.tokens.min(0.0);
    }

    fn answered(&mut self) {
        self.rate = (self.rate + self.full * GROWTH_PER_ANSWER).min(self.full);
    }

    fn pace(&self) -> Pace {
        Pace { calls_per_second: self.rate, full_calls_per_second: self.full }
    }
}

/// From 0 to 1. The standard library's hasher keys are random enough to spread waits.
fn random() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;

    fn pace(calls_per_second: f64) -> Pace {
        Pace { calls_per_second, full_calls_per_second: 2.0 }
    }

    fn after(start: Instant, seconds: f64) -> Instant {
        start + Duration::from_secs_f64(seconds)
    }

    #[test]
    fn a_burst_is_free_and_then_two_a_second() {
        let start = Instant::now();
        let mut bucket = Bucket::new(2.0, 3, start);
        let waits: Vec<_> =
            (0..6).map(|_| bucket.take(start, after(start, 10.0), 0.0).unwrap().as_secs_f64()).collect();
        assert_eq!(waits, [0.0, 0.0, 0.0, 0.5, 1.0, 1.5]);
        assert_eq!(bucket.take(after(start, 60.0), after(start, 70.0), 0.0), Ok(Duration::ZERO));
    }

    #[test]
    fn a_wait_is_lengthened_by_a_quarter_at_most() {
        let start = Instant::now();
        let mut bucket = Bucket::new(2.0, 1, start);
        assert_eq!(bucket.take(start, after(start, 10.0), 1.0), Ok(Duration::ZERO));
        assert_eq!(bucket.take(start, after(start, 10.0), 1.0), Ok(Duration::from_millis(625)));
        let randoms: Vec<_> = (0..100).map(|_| random()).collect();
        assert!(randoms.iter().all(|random| (0.0..=1.0).contains(random)) && randoms[0] != randoms[1], "{randoms:?}");
    }

    #[test]
    fn a_token_that_would_come_too_late_is_left_for_others() {
        let start = Instant::now();
        let mut bucket = Bucket::new(2.0, 1, start);
        assert_eq!(bucket.take(start, start, 0.0), Ok(Duration::ZERO));
        assert_eq!(bucket.take(start, after(start, 0.4), 0.0), Err(OutOfTime));
        assert_eq!(bucket.take(start, after(start, 0.5), 0.0), Ok(Duration::from_millis(500)));
    }

    #[test]
    fn d_26_a_throttle_halves_the_pace_and_answers_give_it_back_in_small_steps() {
        let start = Instant::now();
        let mut bucket = Bucket::new(2.0, 20, start);
        bucket.throttled(start, start);
        assert_eq!(bucket.pace(), pace(1.0));
        assert_eq!(bucket.take(start, after(start, 10.0), 0.0), Ok(Duration::from_secs(1)), "the burst is gone");
        bucket.throttled(start, after(start, 1.0));
        assert_eq!(bucket.pace(), pace(1.0), "that attempt was sent before the pace was halved");
        bucket.throttled(after(start, 1.0), after(start, 2.0));
        assert_eq!(bucket.pace(), pace(0.5));
        bucket.answered();
        assert_eq!(bucket.pace(), pace(0.5625));
        (0..100).for_each(|_| bucket.answered());
        assert_eq!(bucket.pace(), pace(2.0));
        (3..23).for_each(|second| bucket.throttled(after(start, f64::from(second)), after(start, f64::from(second))));
        assert_eq!(bucket.pace(), pace(0.0625));
        bucket.fill(after(start, 3600.0));
        assert_eq!(bucket.pace(), pace(0.0625), "time alone proves nothing");
    }

    #[tokio::test]
    async fn retries_of_the_sdk_are_paid_by_what_comes_after() {
        let limiter = Limiter::new(2.0, 1);
        limiter.charge();
        limiter.charge();
        let now = Instant::now();
        assert_eq!(limiter.take(now + Duration::from_millis(900)).await, Err(OutOfTime));
    }

    #[test]
    fn d_26_an_interval_is_stretched_up_to_ten_minutes() {
        let seconds = Duration::from_secs;
        assert_eq!(pace(2.0).stretch(seconds(60)), seconds(60));
        assert!(!pace(2.0).is_reduced());
        assert_eq!(pace(1.0).stretch(seconds(60)), seconds(120));
        assert!(pace(1.0).is_reduced());
        assert_eq!(pace(0.0625).stretch(seconds(60)), seconds(600));
        assert_eq!(pace(1.0).stretch(seconds(900)), seconds(900));
    }
}
