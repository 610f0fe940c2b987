//! What reads say although it is not so, about single volumes and instances.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::later;
use crate::records::{Instance, Volume};

/// For how long something untrue is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// In that many answers that concern it.
    Calls(u32),
    /// For that long by the double's clock.
    For(Duration),
    /// Until [`crate::Double::stop_lying`].
    Always,
}

/// Alters what is said of a thing; false leaves it out.
type Alter<T> = Box<dyn Fn(&mut T) -> bool + Send>;

struct Lie<T> {
    id: String,
    left: Left,
    alter: Alter<T>,
}

#[derive(Clone, Copy, Debug)]
enum Left {
    Calls(u32),
    Until(Timestamp),
}

impl Left {
    fn is_over(self, now: Timestamp) -> bool {
        match self {
            Self::Calls(calls) => calls == 0,
            Self::Until(end) => end <= now,
        }
    }
}

/// The lies about one kind of thing.
pub(crate) struct Lies<T>(Vec<Lie<T>>);

/// The lies about both kinds.
#[derive(Debug, Default)]
pub(crate) struct AllLies {
    pub(crate) volumes: Lies<Volume>,
    pub(crate) instances: Lies<Instance>,
}

impl<T> Default for Lies<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> fmt::Debug for Lies<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.0.iter().map(|lie| (&lie.id, lie.left))).finish()
    }
}

impl<T: Clone> Lies<T> {
    pub(crate) fn add(&mut self, id: &str, span: Span, now: Timestamp, alter: Alter<T>) {
        let left = match span {
            Span::Calls(calls) => Left::Calls(calls),
            Span::For(duration) => Left::Until(later(now, duration)),
            Span::Always => Left::Until(Timestamp::MAX),
        };
        self.0.push(Lie { id: id.to_owned(), left, alter });
    }

    /// Whether there is any about this thing.
    pub(crate) fn concern(&self, id: &str) -> bool {
        self.0.iter().any(|lie| lie.id == id)
    }

    /// What is said of a thing: `None` where it is left out.
    pub(crate) fn told(&self, id: &str, truth: &T, now: Timestamp) -> Option<T> {
        let mut told = truth.clone();
        let alters = self.0.iter().filter(|lie| lie.id == id && !lie.left.is_over(now));
        let mut is_there = true;
        for lie in alters {
            is_there &= (lie.alter)(&mut told);
        }
        is_there.then_some(told)
    }

    /// An answer concerned this thing.
    pub(crate) fn count(&mut self, id: &str) {
        for lie in self.0.iter_mut().filter(|lie| lie.id == id) {
            if let Left::Calls(calls) = &mut lie.left {
                *calls = calls.saturating_sub(1);
            }
        }
    }
}
