//! What changes, told in order to everybody who listens.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

use serde::Serialize;

use crate::objects::{Kind, Object};
use crate::records::ObjectName;

/// A listener that leaves more than this many changes lying has missed them, and looks at everything anew: that is less work
/// than so many changes one by one, as after an outage in which every pod of a large cluster changed.
const BACKLOG_LIMIT: usize = 25_000;

/// One object that came, changed or went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace and name.
    pub name: ObjectName,
    /// What it was; `None` where it is new. Of one that went, the last state that was seen.
    pub before: Option<Object>,
    /// What it is; `None` where it went. One of the same name and another uid is another object.
    pub after: Option<Object>,
}

/// The changes that a listener has yet to see. Dropping it ends the listening.
#[derive(Debug)]
pub struct Changes {
    backlog: Arc<Backlog>,
}

#[derive(Debug, Default)]
struct Backlog(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    changes: VecDeque<Change>,
    missed: bool,
    ended: bool,
    waker: Option<Waker>,
}

impl Changes {
    /// The next change, once there is one; `None` when the store is gone.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|context| {
            let mut state = self.backlog.state();
            if let Some(change) = state.changes.pop_front() {
                return Poll::Ready(Some(change));
            }
            if state.ended {
                return Poll::Ready(None);
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// The next change, if there is one already.
    pub fn try_next(&mut self) -> Option<Change> {
        self.backlog.state().changes.pop_front()
    }

    /// Whether changes were lost since this was asked last, because too many were left lying. To be asked after each change:
    /// whoever missed some looks at everything anew.
    pub fn missed(&mut self) -> bool {
        std::mem::take(&mut self.backlog.state().missed)
    }
}

impl Backlog {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, change: Change) {
        let mut state = self.state();
        if state.changes.len() >= BACKLOG_LIMIT {
            state.changes = VecDeque::new();
            state.missed = true;
        }
        state.changes.push_back(change);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Everybody who listens.
#[derive(Debug, Default)]
pub(super) struct Listeners(Vec<Weak<Backlog>>);

impl Listeners {
    pub(super) fn listen(&mut self) -> Changes {
        let backlog = Arc::default();
        self.0.push(Arc::downgrade(&backlog));
        Changes { backlog }
    }

    pub(super) fn any(&self) -> bool {
        self.0.iter().any(|listener| listener.strong_count() > 0)
    }

    /// The change is made up only where somebody listens.
    pub(super) fn tell(&mut self, change: impl FnOnce() -> Change) {
        let mut listeners: Vec<_> = self.0.iter().filter_map(Weak::upgrade).collect();
        if listeners.len() < self.0.len() {
            self.0.retain(|listener| listener.strong_count() > 0);
        }
        let Some(last) = listeners.pop() else { return };
        let change = change();
        listeners.iter().for_each(|listener| listener.push(change.clone()));
        last.push(change);
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        for listener in self.0.iter().filter_map(Weak::upgrade) {
            let waker = {
                let mut state = listener.state();
                state.ended = true;
                state.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}
