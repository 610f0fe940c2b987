//! The watches that keep a store up to date.
//!
//! One for each kind, on kube's watcher: list, then watch. Its backoff is applied here and not by its stream, where the mere
//! beginning of a list would count as a success and start it anew. A list is gathered and put in as one step when it
//! is complete, so that nobody sees half a world; whatever fails, what is known stays.

use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt, join_all};
use kube::runtime::watcher::{self, DefaultBackoff, Event, watcher};
use tokio::sync::Semaphore;
use tracing::{debug, info, warn};

use super::client::Client;
use super::connection::Connection;
use super::decode::Decoded;
use super::resources::{self, Resourceful};
use super::restarts;
use crate::objects::Kind;
use crate::reading::Reading;
use crate::store::{Cluster, Listing};

/// So many objects are listed at once. client-go asks for 500; but what a page takes while it is decoded stays with the
/// allocator, and half of it is several megabytes less.
const PAGE_SIZE: u32 = 250;
/// A Node with the names of all its images is several times as long as any other object.
const PAGE_SIZE_OF_NODES: u32 = 50;

/// A page is several megabytes, three times over while it is decoded. Two, so that a kind that hangs holds up no other.
const PAGES_AT_ONCE: usize = 2;

impl Client {
    /// Keeps a store up to date, for as long as this is polled. It never ends.
    pub fn watch(&self, cluster: &Arc<Cluster>) -> impl Future<Output = ()> + Send + use<> {
        let pages = Arc::new(Semaphore::new(PAGES_AT_ONCE));
        let watches: [BoxFuture<'static, ()>; 8] = [
            self.follow::<resources::PersistentVolume>(cluster, &pages),
            self.follow::<resources::PersistentVolumeClaim>(cluster, &pages),
            self.follow::<resources::Pod>(cluster, &pages),
            self.follow::<resources::Node>(cluster, &pages),
            self.follow::<resources::VolumeAttachment>(cluster, &pages),
            self.follow::<resources::CsiNode>(cluster, &pages),
            self.follow::<resources::CsiDriver>(cluster, &pages),
            self.follow::<resources::StorageClass>(cluster, &pages),
        ];
        join_all(watches).map(drop)
    }

    fn follow<K: Resourceful>(&self, cluster: &Arc<Cluster>, pages: &Arc<Semaphore>) -> BoxFuture<'static, ()> {
        let longest_pause = self.longest_pause();
        let connection = Connection::new(K::KIND, cluster, pages, longest_pause);
        let api = kube::Api::<Decoded<K>>::all(connection.client(self.kube()));
        let mut feed = Feed { kind: K::KIND, cluster: Arc::clone(cluster), listing: Listing::new(K::KIND), skipped: 0 };
        let page_size = if K::KIND == Kind::Node { PAGE_SIZE_OF_NODES } else { PAGE_SIZE };
        let config = watcher::Config::default().page_size(page_size);
        async move {
            let mut pauses = DefaultBackoff::default();
            loop {
                let mut events = pin!(watcher(api.clone(), config.clone()));
                while let Some(event) = events.next().await {
                    let has_failed = event.is_err();
                    let next = feed.take(event);
                    if has_failed {
                        connection.fail();
                        let pause = pauses.next().unwrap_or(longest_pause);
                        tokio::time::sleep(pause.min(longest_pause)).await;
                    }
                    if next.is_break() {
                        break;
                    }
                }
            }
        }
        .boxed()
    }
}

/// What one watch puts into the store.
struct Feed {
    kind: Kind,
    cluster: Arc<Cluster>,
    /// A list that is not complete yet.
    listing: Listing,
    /// How many of its objects can't be read.
    skipped: u64,
}

impl Feed {
    /// Takes an event; a break says that the watch has to be begun from nothing.
    fn take<K>(&mut self, event: watcher::Result<Event<Decoded<K>>>) -> std::ops::ControlFlow<()> {
        match event {
            Ok(Event::Init) => (self.listing, self.skipped) = (Listing::new(self.kind), 0),
            Ok(Event::InitApply(decoded)) => {
                self.tell_skipped(&decoded.reading);
                self.listing.take(decoded.reading);
            }
            Ok(Event::InitDone) => self.refill(),
            Ok(Event::Apply(decoded)) => {
                self.skipped = 0;
                self.tell_skipped(&decoded.reading);
                self.cluster.take(decoded.reading);
            }
            Ok(Event::Delete(decoded)) => self.cluster.remove(decoded.reading),
            Err(error) => {
                let reason = restarts::reason(&error);
                let why = restarts::describe(&error);
                warn!(kind = %self.kind, reason, error = why, "a watch is interrupted");
                restarts::count(self.kind, reason);
                self.cluster.interrupt(self.kind, Some(why));
                if restarts::is_lost(&error) {
                    return std::ops::ControlFlow::Break(());
                }
            }
        }
        std::ops::ControlFlow::Continue(())
    }

    fn refill(&mut self) {
        let listing = std::mem::replace(&mut self.listing, Listing::new(self.kind));
        info!(kind = %self.kind, objects = listing.len(), skipped = self.skipped, "listed");
        self.cluster.refill(listing);
        self.cluster.interrupt(self.kind, None);
    }

    /// The store keeps what is wrong with each; the log names the first of a list.
    fn tell_skipped(&mut self, reading: &Reading) {
        if reading.object.is_some() {
            return;
        }
        self.skipped += 1;
        metrics::counter!("zonewarden_objects_skipped_total", "kind" => self.kind.as_str()).increment(1);
        let problem = reading.problems.first().map(ToString::to_string).unwrap_or_default();
        if self.skipped == 1 {
            warn!(kind = %self.kind, problem, "an object can't be read");
        } else {
            debug!(kind = %self.kind, problem, "an object can't be read");
        }
    }
}
