//! The cluster as it is known now: one index that is written in one place and read everywhere.
//!
//! ```text
//! watches, files, tests -> apply, delete, reset -> Cluster -> read (a snapshot), changes (in order), synced, problems
//! ```
//!
//! Readers take a snapshot, which is whole and stays as it is: it shares its objects with the store and costs next to nothing,
//! may be kept over an await, and holds up nobody. Whoever feeds a kind is its only writer; the store puts the writers of all
//! kinds into one order, and a change is told after the snapshot that has it is there to be read.
//!
//! What is here is what was read last. A watch that fails, or a file that vanishes, leaves it as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::{Poll, Waker};

use zonewarden_documents::Problem;

use crate::index::Index;
use crate::objects::{Kind, Object};
use crate::reading::Reading;
use crate::records::ObjectName;
use crate::sharing::Common;

mod changes;
mod complaints;
mod listing;

use changes::Listeners;
pub use changes::{Change, Changes};
use complaints::Complaints;
pub use listing::Listing;

/// The store.
#[derive(Debug, Default)]
pub struct Cluster {
    writer: Mutex<Writer>,
    /// What readers take.
    published: RwLock<Arc<Index>>,
}

#[derive(Debug, Default)]
struct Writer {
    index: Index,
    common: Common,
    listeners: Listeners,
    /// The kinds of which all objects were here once.
    filled: BTreeSet<Kind>,
    complaints: Complaints,
    /// Why a kind is not followed at the moment.
    interruptions: BTreeMap<Kind, String>,
    /// Those who wait until all kinds are filled.
    waiting: Vec<Waker>,
}

impl Cluster {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The cluster as it is now. It does not change any more.
    pub fn read(&self) -> Arc<Index> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What changes from now on, in order. Each caller gets all of it.
    pub fn changes(&self) -> Changes {
        self.writer().listeners.listen()
    }

    /// Takes an object in, in the place of the one of its kind and name.
    pub fn apply(&self, object: Object) {
        self.take(Reading::from(object));
    }

    /// Takes an object out; its last state is returned, and `None` where it is not there.
    pub fn delete(&self, kind: Kind, name: &ObjectName) -> Option<Object> {
        let mut writer = self.writer();
        writer.complaints.withdraw(kind, name);
        let before = writer.index.delete(kind, name)?;
        self.publish(&writer);
        writer.listeners.tell(|| Change { kind, name: name.clone(), before: Some(before.clone()), after: None });
        Some(before)
    }

    /// Replaces all objects of a kind as one step. Only those that differ are told as changes, and none where this fills the
    /// kind for the first time: whoever waits for [`Cluster::filled`] has yet to look at everything.
    pub fn reset(&self, kind: Kind, objects: impl IntoIterator<Item = Object>) {
        let mut listing = Listing::new(kind);
        objects.into_iter().for_each(|object| listing.take(Reading::from(object)));
        self.refill(listing);
    }

    /// Takes in what was read of one object. Of one that can't be read, the last state that could stays; it is counted and
    /// told.
    pub fn take(&self, reading: Reading) {
        let mut writer = self.writer();
        let Reading { kind, name, object, problems, .. } = reading;
        writer.complaints.replace(kind, &name, object.is_none(), problems);
        let Some(mut object) = object else { return };
        writer.common.share(&mut object);
        let after = writer.listeners.any().then(|| object.clone());
        let before = writer.index.apply(object);
        self.publish(&writer);
        writer.listeners.tell(|| Change { kind, name, before, after });
    }

    /// Takes out an object of which the last state was read, if it can be: it is told in the place of the older one that was
    /// here.
    pub fn remove(&self, reading: Reading) {
        let mut writer = self.writer();
        let Reading { kind, name, object, .. } = reading;
        writer.complaints.withdraw(kind, &name);
        let Some(known) = writer.index.delete(kind, &name) else { return };
        self.publish(&writer);
        writer.listeners.tell(|| Change { kind, name, before: object.or(Some(known)), after: None });
    }

    /// Replaces all objects of a kind by a list, as [`Cluster::reset`] does. One that is there and can't be read keeps its
    /// last state.
    pub fn refill(&self, listing: Listing) {
        let Listing { kind, index, unreadable, complaints, .. } = listing;
        let mut writer = self.writer();
        let is_told = writer.filled.contains(&kind) && writer.listeners.any();
        let differences = writer.index.adopt(kind, &index, &unreadable, is_told);
        drop(index);
        writer.complaints.reset(kind, complaints);
        writer.filled.insert(kind);
        self.publish(&writer);
        for (before, after) in differences {
            let Some(name) = after.as_ref().or(before.as_ref()).map(|object| object.name().clone()) else { continue };
            writer.listeners.tell(|| Change { kind, name, before, after });
        }
        if writer.is_filled() {
            writer.waiting.drain(..).for_each(Waker::wake);
        }
    }

    /// Replaces the problems that are not about an object of their own: those of files.
    pub fn complain(&self, problems: Vec<Problem>) {
        self.writer().complaints.set_others(problems);
    }

    /// Notes why a kind is not followed at the moment, or that it is again. What is known of it stays.
    pub fn interrupt(&self, kind: Kind, why: Option<String>) {
        let mut writer = self.writer();
        match why {
            Some(why) => drop(writer.interruptions.insert(kind, why)),
            None => drop(writer.interruptions.remove(&kind)),
        }
    }

    /// Why kinds are not followed at the moment.
    pub fn interruptions(&self) -> BTreeMap<Kind, String> {
        self.writer().interruptions.clone()
    }

    /// Whether all objects of a kind were here once.
    pub fn synced(&self, kind: Kind) -> bool {
        self.writer().filled.contains(&kind)
    }

    /// Whether all objects of every kind that is watched were here once.
    pub fn all_synced(&self) -> bool {
        self.writer().is_filled()
    }

    /// The kinds that still fill.
    pub fn filling(&self) -> Vec<Kind> {
        let writer = self.writer();
        Kind::WATCHED.into_iter().filter(|kind| !writer.filled.contains(kind)).collect()
    }

    /// Waits until all objects of every kind that is watched were here.
    pub async fn filled(&self) {
        poll_fn(|context| {
            let mut writer = self.writer();
            if writer.is_filled() {
                return Poll::Ready(());
            }
            writer.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// How many times an object of each kind could not be read, from the start.
    pub fn skipped(&self) -> BTreeMap<Kind, u64> {
        self.writer().complaints.skipped().clone()
    }

    /// What can't be read at the moment: at most a hundred problems, and how many more there are.
    pub fn problems(&self) -> (Vec<Problem>, usize) {
        self.writer().complaints.list()
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, writer: &Writer) {
        let index = Arc::new(writer.index.clone());
        let before = std::mem::replace(&mut *self.published.write().unwrap_or_else(PoisonError::into_inner), index);
        // Whoever takes a snapshot need not wait while the old one is cleared away.
        drop(before);
    }
}

impl Writer {
    fn is_filled(&self) -> bool {
        Kind::WATCHED.iter().all(|kind| self.filled.contains(kind))
    }
}
