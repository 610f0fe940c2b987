//! Whether the program lives, and whether it is ready, part by part.
//!
//! Whoever owns a part says how it is; whoever runs a loop says that it turns. The server reads both. A part that was named and
//! never said anything is not ready, and a loop that ended without being asked to is as stuck as one that hangs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::output::one_line;

/// The health of the program. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Health(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    parts: BTreeMap<&'static str, Readiness>,
    loops: BTreeMap<&'static str, Turn>,
}

#[derive(Debug)]
enum Readiness {
    /// With what is worth knowing all the same.
    Ready(Option<String>),
    NotReady(String),
}

/// When a loop turned last, and how long a turn may take.
#[derive(Debug)]
struct Turn {
    last: Instant,
    within: Duration,
}

/// What is answered to who asks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Whether all is well.
    pub(crate) is_good: bool,
    /// One line for each part or loop: `[+]name ok`, `[-]name: why`.
    pub(crate) text: String,
}

impl Health {
    /// A part that has to be ready. It is not, until it says so.
    pub(crate) fn part(&self, name: &'static str) -> Part {
        self.lock().parts.entry(name).or_insert_with(|| Readiness::NotReady("not started yet".to_owned()));
        Part { health: self.clone(), name }
    }

    /// A loop that has to turn, and how long a turn of it may take at most. The first one begins now.
    pub(crate) fn heartbeat(&self, name: &'static str, within: Duration) -> Heartbeat {
        self.lock().loops.insert(name, Turn { last: Instant::now(), within });
        Heartbeat { health: self.clone(), name }
    }

    /// Whether every loop turns.
    pub(crate) fn live(&self, now: Instant) -> Answer {
        let state = self.lock();
        Answer::of(state.loops.iter().map(|(name, turn)| {
            let since = now.saturating_duration_since(turn.last);
            let stuck = (since > turn.within)
                .then(|| format!("did not turn for {} s, and may take {} s", since.as_secs(), turn.within.as_secs()));
            (*name, stuck, None)
        }))
    }

    /// Whether every part is ready.
    pub(crate) fn ready(&self) -> Answer {
        let state = self.lock();
        Answer::of(state.parts.iter().map(|(name, readiness)| match readiness {
            Readiness::Ready(detail) => (*name, None, detail.clone()),
            Readiness::NotReady(why) => (*name, Some(why.clone()), None),
        }))
    }

    /// What is set is set at once, so that a panic elsewhere while it was locked does no harm.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    /// Of names, each with what is wrong, and else what is worth knowing.
    fn of<'a>(lines: impl Iterator<Item = (&'a str, Option<String>, Option<String>)>) -> Self {
        let mut answer = Self { is_good: true, text: String::new() };
        for (name, wrong, detail) in lines {
            answer.is_good &= wrong.is_none();
            let _ = match (wrong, detail) {
                (Some(why), _) => writeln!(answer.text, "[-]{name}: {}", one_line(&why)),
                (None, Some(detail)) => writeln!(answer.text, "[+]{name} ok: {}", one_line(&detail)),
                (None, None) => writeln!(answer.text, "[+]{name} ok"),
            };
        }
        answer
    }
}

/// Says how one part is.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    health: Health,
    name: &'static str,
}

impl Part {
    /// It is ready.
    pub(crate) fn ready(&self) {
        self.set(Readiness::Ready(None));
    }

    /// It is ready, and this is worth knowing.
    pub(crate) fn ready_but(&self, detail: impl Into<String>) {
        self.set(Readiness::Ready(Some(detail.into())));
    }

    /// It is not ready, and this is why.
    pub(crate) fn not_ready(&self, why: impl Into<String>) {
        self.set(Readiness::NotReady(why.into()));
    }

    fn set(&self, readiness: Readiness) {
        self.health.lock().parts.insert(self.name, readiness);
    }
}

/// Says that one loop turns.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    health: Health,
    name: &'static str,
}

impl Heartbeat {
    /// A turn is done, and the next one begins.
    pub(crate) fn beat(&self) {
        if let Some(turn) = self.health.lock().loops.get_mut(self.name) {
            turn.last = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(is_good: bool, text: &str) -> Answer {
        Answer { is_good, text: text.to_owned() }
    }

    #[test]
    fn a_part_is_ready_once_it_says_so_and_until_it_says_otherwise() {
        let health = Health::default();
        assert_eq!(health.ready(), answer(true, ""));
        let (caches, evidence) = (health.part("caches"), health.part("evidence"));
        assert_eq!(health.ready(), answer(false, "[-]caches: not started yet\n[-]evidence: not started yet\n"));
        caches.ready();
        evidence.not_ready("volumes were last read 200 s ago\nand 180 s are allowed");
        let text = "[+]caches ok\n[-]evidence: volumes were last read 200 s ago\\nand 180 s are allowed\n";
        assert_eq!(health.ready(), answer(false, text));
        evidence.ready_but("EC2 throttles");
        assert_eq!(health.ready(), answer(true, "[+]caches ok\n[+]evidence ok: EC2 throttles\n"));
        // Naming a part again does not set it back.
        health.part("caches");
        evidence.ready();
        assert_eq!(health.ready(), answer(true, "[+]caches ok\n[+]evidence ok\n"));
    }

    #[test]
    fn a_loop_lives_while_it_turns_in_time() {
        let health = Health::default();
        let beat = health.heartbeat("reconcile", Duration::from_secs(30));
        let sweep = health.heartbeat("sweep", Duration::from_secs(300));
        let later = |seconds| Instant::now() + Duration::from_secs(seconds);
        assert_eq!(health.live(later(29)), answer(true, "[+]reconcile ok\n[+]sweep ok\n"));
        let stuck = "[-]reconcile: did not turn for 31 s, and may take 30 s\n[+]sweep ok\n";
        // Half a second more, so that the time the test itself takes does not change the text.
        assert_eq!(health.live(later(31) + Duration::from_millis(500)), answer(false, stuck));
        beat.beat();
        assert!(health.live(Instant::now()).is_good);
        drop((beat, sweep));
        assert!(!health.live(later(301)).is_good, "a loop that is gone does not turn");
    }
}
