//! How one thing looked at any time: reads that lag, or that go back in time, look here.

use jiff::Timestamp;

/// The versions of one thing, oldest first. `None` means that it is not there.
#[derive(Debug)]
pub(super) struct History<T> {
    versions: Vec<(Timestamp, Option<T>)>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self { versions: Vec::new() }
    }
}

impl<T: Clone> History<T> {
    /// Something that has been there always.
    pub(super) fn since_ever(thing: T) -> Self {
        Self { versions: vec![(Timestamp::MIN, Some(thing))] }
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.versions.last()?.1.as_ref()
    }

    /// The version that was the last one at `time`.
    pub(super) fn at(&self, time: Timestamp) -> Option<&T> {
        self.versions.iter().rev().find(|(since, _)| *since <= time)?.1.as_ref()
    }

    /// A new version. One of the same moment is replaced: nobody can have seen it between two clock ticks.
    pub(super) fn put(&mut self, now: Timestamp, version: Option<T>) {
        match self.versions.last_mut() {
            Some((since, last)) if *since == now => *last = version,
            _ => self.versions.push((now, version)),
        }
    }

    /// False where the thing is not there.
    pub(super) fn edit(&mut self, now: Timestamp, edit: impl FnOnce(&mut T)) -> bool {
        let Some(mut version) = self.last().cloned() else { return false };
        edit(&mut version);
        self.put(now, Some(version));
        true
    }

    /// False where the thing is not there.
    pub(super) fn end(&mut self, now: Timestamp) -> bool {
        let is_there = self.last().is_some();
        if is_there {
            self.put(now, None);
        }
        is_there
    }
}
