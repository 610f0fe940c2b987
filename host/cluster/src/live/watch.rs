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
use tracing::{debug, info, warn};

use super::client::Client;
use super::connection::Connection;
use super::decode::Decoded;
use super::resources::{self, Resourceful};
use super::restarts;
use crate::objects::Kind;
use crate::reading::Reading;
use crate::store::Cluster;

impl Client {
    /// Keeps a store up to date, for as long as this is polled. It never ends.
    pub fn watch(&self, cluster: &Arc<Cluster>) -> impl Future<Output = ()> + Send + use<> {
        let watches: [BoxFuture<'static, ()>; 8] = [
            self.follow::<resources::PersistentVolume>(cluster),
            self.follow::<resources::PersistentVolumeClaim>(cluster),
            self.follow::<resources::Pod>(cluster),
            self.follow::<resources::Node>(cluster),
            self.follow::<resources::VolumeAttachment>(cluster),
            self.follow::<resources::CsiNode>(cluster),
            self.follow::<resources::CsiDriver>(cluster),
            self.follow::<resources::StorageClass>(cluster),
        ];
        join_all(watches).map(drop)
    }

    fn follow<K: Resourceful>(&self, cluster: &Arc<Cluster>) -> BoxFuture<'static, ()> {
        let longest_pause = self.longest_pause();
        let connection = Connection::new(K::KIND, cluster, longest_pause);
        let api = kube::Api::<Decoded<K>>::all(connection.client(self.kube()));
        let mut feed = Feed { kind: K::KIND, cluster: Arc::clone(cluster), listed: Vec::new() };
        async move {
            let mut pauses = DefaultBackoff::default();
            loop {
                let mut events = pin!(watcher(api.clone(), watcher::Config::default()));
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
    listed: Vec<Reading>,
}

impl Feed {
    /// Takes an event; a break says that the watch has to be begun from nothing.
    fn take<K>(&mut self, event: watcher::Result<Event<Decoded<K>>>) -> std::ops::ControlFlow<()> {
        match event {
            Ok(Event::Init) => self.listed = Vec::new(),
            Ok(Event::InitApply(decoded)) => self.listed.push(decoded.reading),
            Ok(Event::InitDone) => self.refill(),
            Ok(Event::Apply(decoded)) => {
                self.tell_skipped(std::slice::from_ref(&decoded.reading));
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
        let listed = std::mem::take(&mut self.listed);
        self.tell_skipped(&listed);
        info!(kind = %self.kind, objects = listed.len(), "listed");
        self.cluster.refill(self.kind, listed);
        self.cluster.interrupt(self.kind, None);
    }

    /// The store keeps what is wrong with each; the log names the first of a list.
    fn tell_skipped(&self, readings: &[Reading]) {
        let skipped: Vec<_> = readings.iter().filter(|reading| reading.object.is_none()).collect();
        for (number, reading) in skipped.iter().enumerate() {
            let problem = reading.problems.first().map(ToString::to_string).unwrap_or_default();
            if number == 0 {
                warn!(kind = %self.kind, skipped = skipped.len(), problem, "an object can't be read");
            } else {
                debug!(kind = %self.kind, problem, "an object can't be read");
            }
        }
        let count = skipped.len() as u64;
        if count > 0 {
            metrics::counter!("zonewarden_objects_skipped_total", "kind" => self.kind.as_str()).increment(count);
        }
    }
}
