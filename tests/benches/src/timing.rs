//! Medians of things that are to be compared, measured side by side.
//!
//! A machine has moods: another program runs, the clock of a core falls. So things that are compared take turns, a block of
//! calls each, and a ratio is only ever taken within one run.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Calls that one thing gets before the next has its turn: few enough that a mood hits all, enough that caches are warm.
const BLOCK: usize = 50;

/// One thing that is measured: a name, and a call that is prepared outside the clock and done inside it.
pub struct Subject<'a> {
    name: String,
    call: Box<dyn FnMut() -> Duration + 'a>,
}

/// What a subject took.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The subject's name.
    pub name: String,
    /// Half of the calls took no longer.
    pub p50: Duration,
    /// 99 of 100 calls took no longer.
    pub p99: Duration,
}

impl<'a> Subject<'a> {
    /// A call without anything to prepare.
    pub fn new<T>(name: &str, mut call: impl FnMut() -> T + 'a) -> Self {
        Self::prepared(name, || (), move |()| call())
    }

    /// A call that takes something which has to be made anew for each, outside the clock.
    pub fn prepared<P, T>(name: &str, mut prepare: impl FnMut() -> P + 'a, mut call: impl FnMut(P) -> T + 'a) -> Self {
        let call = move || {
            let prepared = black_box(prepare());
            let start = Instant::now();
            // The answer is dropped within: who asks has to do that too.
            drop(black_box(call(prepared)));
            start.elapsed()
        };
        Self { name: name.to_owned(), call: Box::new(call) }
    }
}

/// Calls every subject `calls` times in turns.
#[must_use]
pub fn side_by_side(mut subjects: Vec<Subject<'_>>, calls: usize) -> Vec<Measured> {
    let mut times: Vec<Vec<Duration>> = subjects.iter().map(|_| Vec::with_capacity(calls + BLOCK)).collect();
    for subject in &mut subjects {
        for _ in 0..BLOCK.min(calls) {
            (subject.call)();
        }
    }
    while times.first().is_some_and(|times| times.len() < calls) {
        for (subject, times) in subjects.iter_mut().zip(&mut times) {
            times.extend((0..BLOCK.min(calls)).map(|_| (subject.call)()));
        }
    }
    subjects.into_iter().zip(times).map(|(subject, times)| Measured::of(subject.name, times)).collect()
}

impl Measured {
    fn of(name: String, mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        Self { name, p50: at(50), p99: at(99) }
    }
}

/// A duration in microseconds, for a table.
#[must_use]
pub fn micros(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e6)
}

/// How many times as long.
#[must_use]
pub fn ratio(time: Duration, than: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() / than.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let times = (1..=101).rev().map(Duration::from_micros).collect();
        let measured = Measured::of("x".to_owned(), times);
        assert_eq!((measured.p50, measured.p99), (Duration::from_micros(51), Duration::from_micros(100)));
        assert_eq!((micros(measured.p50), ratio(measured.p99, measured.p50)), ("51.00".to_owned(), "2.0".to_owned()));
    }

    #[test]
    fn subjects_take_turns_and_get_the_same_number_of_calls() {
        let log = std::cell::RefCell::new(String::new());
        let subject = |name: &'static str| Subject::new(name, || log.borrow_mut().push_str(name));
        let measured = side_by_side(vec![subject("a"), subject("b")], 2 * BLOCK);
        let turns = "a".repeat(BLOCK) + &"b".repeat(BLOCK);
        assert_eq!(*log.borrow(), turns.repeat(3), "one turn warms up");
        assert_eq!(measured.iter().map(|measured| measured.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
