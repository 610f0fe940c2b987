//! The requests of one watch, as they go out: timed, paced, and their state told.
//!
//! kube's watcher recovers by itself from a watch that ends, and says nothing of it. What it leaves open is done here: a watch
//! that ends at once again and again is not begun more than once a second, an answer that never comes is given up, and a watch
//! that stands again is told to the store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Request, Response};
use kube::client::Body;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout};

use super::restarts;
use crate::objects::Kind;
use crate::store::Cluster;

/// A watch that was begun is not begun again sooner, but for the longest pause that is wanted at all.
const PACE: Duration = Duration::from_secs(1);

/// The API server says at once whether it takes a watch. For a page of a list it may have to work.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// A page of 250 pods is 5 MB at most: this is a line of 0.7 Mbit/s.
const PAGE_TIMEOUT: Duration = Duration::from_secs(60);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The requests of one kind's watch.
pub(super) struct Connection {
    kind: Kind,
    cluster: Arc<Cluster>,
    pace: Duration,
    /// What the watches of all kinds share, so that few pages are in memory at once.
    pages: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the last watch was begun.
    begun: Option<Instant>,
    /// Whether the end of that watch was told already, as a failure.
    failed: bool,
}

impl Connection {
    pub(super) fn new(
        kind: Kind,
        cluster: &Arc<Cluster>,
        pages: &Arc<Semaphore>,
        longest_pause: Duration,
    ) -> Arc<Self> {
        let pace = PACE.min(longest_pause);
        Arc::new(Self { kind, cluster: Arc::clone(cluster), pace, pages: Arc::clone(pages), state: Mutex::default() })
    }

    /// A client whose requests are this watch's.
    pub(super) fn client(self: &Arc<Self>, client: &kube::Client) -> kube::Client {
        let namespace = client.default_namespace().to_owned();
        let (client, connection) = (client.clone(), Arc::clone(self));
        let service = tower::service_fn(move |request| {
            let (client, connection) = (client.clone(), Arc::clone(&connection));
            async move {
                if is_watch(&request) {
                    connection.watch(&client, request).await
                } else {
                    connection.page(&client, request).await
                }
            }
        });
        kube::Client::new(service, namespace)
    }

    /// Notes that the watch failed: why is counted by whoever saw it.
    pub(super) fn fail(&self) {
        self.state().failed = true;
    }

    async fn watch(&self, client: &kube::Client, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let (last, failed) = {
            let mut state = self.state();
            (state.begun, std::mem::take(&mut state.failed))
        };
        if let Some(last) = last {
            if !failed {
                restarts::count(self.kind, restarts::CLOSED);
            }
            sleep_until(last + self.pace).await;
        }
        self.state().begun = Some(Instant::now());
        let response = timeout(ANSWER_TIMEOUT, client.send(request)).await.map_err(silence)??;
        if response.status().is_success() {
            self.cluster.interrupt(self.kind, None);
        }
        Ok(response)
    }

    /// A page of a list, complete.
    async fn page(&self, client: &kube::Client, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let _permit = self.pages.acquire().await?;
        let (head, body) = timeout(ANSWER_TIMEOUT, client.send(request)).await.map_err(silence)??.into_parts();
        let body = timeout(PAGE_TIMEOUT, body.collect_bytes()).await.map_err(silence)??;
        Ok(Response::from_parts(head, Body::from(body)))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn silence(_: tokio::time::error::Elapsed) -> BoxError {
    std::io::Error::new(std::io::ErrorKind::TimedOut, "no answer in time").into()
}

fn is_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1"))
}
