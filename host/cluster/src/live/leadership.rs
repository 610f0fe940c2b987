//! Which of several replicas writes: the one that holds a Lease.
//!
//! The Lease alone does not keep a replica from writing that was stopped for a minute and goes on where it was. So whoever
//! writes asks [`Leadership::fence`] before each write: it holds only while the last renewal that the API server confirmed was
//! sent less than the renew deadline ago, and nobody takes the Lease over before its longer duration.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, info, warn};

use super::client::{Client, Refusal};
use super::{errors, requests, resources};
use crate::api::ApiError;
use crate::objects::Kind;
use crate::records::ObjectName;

mod election;

pub use election::Terms;
use election::{Election, Record, Step};

/// We do not lead, or can't be sure of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLeader;

impl std::fmt::Display for NotLeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this replica does not hold the Lease, or could not renew it in time")
    }
}

impl std::error::Error for NotLeader {}

/// A name that no other process bears: the host's or the pod's, and something random.
pub fn unique_identity(host: &str) -> String {
    format!("{host}_{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Our part in the election. Clones are the same candidate.
#[derive(Clone, Debug)]
pub struct Leadership {
    held: Arc<Mutex<Held>>,
    renew_deadline: Duration,
}

#[derive(Debug, Default)]
struct Held {
    /// When the last renewal was sent that the API server confirmed; `None` while we do not lead.
    renewed: Option<Instant>,
    holder: String,
}

/// The candidate that runs for office.
pub struct Candidate {
    client: Client,
    lease: ObjectName,
    election: Election,
    leadership: Leadership,
    /// Whether the Lease is as it was observed, as far as we know: then it need not be read before it is renewed.
    is_fresh: bool,
    was_leader: bool,
    /// Why the last try failed, where it did.
    trouble: Option<String>,
}

impl Leadership {
    /// A candidate for a Lease, and what others see of it. [`Candidate::run`] has to be polled.
    pub fn candidate(client: &Client, lease: ObjectName, terms: Terms) -> (Candidate, Self) {
        let leadership = Self { held: Arc::default(), renew_deadline: terms.renew_deadline };
        let candidate = Candidate {
            client: client.clone(),
            lease,
            election: Election::new(terms),
            leadership: leadership.clone(),
            is_fresh: false,
            was_leader: false,
            trouble: None,
        };
        (candidate, leadership)
    }

    /// Whether we lead, for certain.
    pub fn is_leader(&self) -> bool {
        self.fence().is_ok()
    }

    /// To be asked right before each write.
    ///
    /// # Errors
    /// Where our last renewal that the API server confirmed is as old as the renew deadline, or there is none.
    pub fn fence(&self) -> Result<(), NotLeader> {
        let renewed = self.held().renewed.ok_or(NotLeader)?;
        if renewed.elapsed() < self.renew_deadline { Ok(()) } else { Err(NotLeader) }
    }

    /// Who holds the Lease, by what it said last; empty where nobody does.
    pub fn holder(&self) -> String {
        self.held().holder.clone()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Candidate {
    /// Runs for office, and keeps it, until `shutdown` is there; then gives the Lease back, so that another replica need not
    /// wait for it.
    pub async fn run(mut self, shutdown: impl Future<Output = ()> + Send) {
        let mut shutdown = std::pin::pin!(shutdown);
        self.tell();
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                () = self.try_once() => {}
            }
            let pause = self.election.terms().retry_period;
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                () = sleep(pause) => {}
            }
        }
        self.resign().await;
    }

    /// One try to take or to renew the Lease. A try that hangs is given up in time for another one before the deadline.
    async fn try_once(&mut self) {
        let budget = self.leadership.renew_deadline / 2;
        let trouble = match timeout(budget, self.campaign()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("no answer in time".to_owned()),
        };
        self.tell_trouble(trouble);
        self.tell();
    }

    /// Tells the log once of each trouble, and when it is over: tries follow each other every few seconds.
    fn tell_trouble(&mut self, trouble: Option<String>) {
        match &trouble {
            Some(error) if self.trouble != trouble => {
                warn!(lease = %self.lease, error, "the Lease can't be taken or renewed");
            }
            Some(error) => debug!(lease = %self.lease, error, "the Lease still can't be taken or renewed"),
            None if self.trouble.is_some() => info!(lease = %self.lease, "the Lease can be asked about again"),
            None => {}
        }
        self.trouble = trouble;
    }

    async fn campaign(&mut self) -> Result<(), ApiError> {
        // Whatever breaks off in here leaves the Lease to be read again.
        let is_fresh = std::mem::take(&mut self.is_fresh);
        if !(is_fresh && self.election.is_ours()) {
            let record = self.read().await?;
            self.election.observe(record, Instant::now());
            self.note_holder();
        }
        let sent = Instant::now();
        let (record, method) = match self.election.step(sent, Timestamp::now()) {
            Step::Wait => return Ok(()),
            Step::Create(record) => (record, Method::POST),
            Step::Update(record) => (record, Method::PUT),
        };
        match self.write(method, &record).await {
            Ok(record) => {
                self.election.observe(Some(record), Instant::now());
                self.is_fresh = true;
                self.note_holder();
                self.leadership.held().renewed = Some(sent);
                Ok(())
            }
            // Another candidate was faster; the next look tells who.
            Err(ApiError::Conflict(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Where the Lease is another's, we do not lead, however young our last renewal is.
    fn note_holder(&self) {
        let mut held = self.leadership.held();
        self.election.holder().clone_into(&mut held.holder);
        if !self.election.is_ours() {
            held.renewed = None;
        }
    }

    async fn read(&self) -> Result<Option<Record>, ApiError> {
        let path = resources::object(Kind::Lease, &self.lease);
        let request =
            http::Request::get(path).body(Vec::new()).map_err(|error| ApiError::Invalid(error.to_string()))?;
        match self.client.ask(request).await {
            Ok(body) => record_of(&body).map(Some),
            Err(Refusal::Answer(error)) if errors::is_absent(&error) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    async fn write(&self, method: Method, record: &Record) -> Result<Record, ApiError> {
        let path = match method {
            Method::POST => resources::collection(Kind::Lease, &self.lease.namespace),
            _ => resources::object(Kind::Lease, &self.lease),
        };
        let path = format!("{path}?fieldManager={}", requests::FIELD_MANAGER);
        let body = record.body(&self.lease.namespace, &self.lease.name);
        let request = requests::send(method, path, "application/json", &body);
        let request = request.map_err(|error| ApiError::Invalid(error.to_string()))?;
        record_of(&self.client.ask(request).await?)
    }

    /// Gives the Lease back, where it is ours. First of all we stop to lead.
    async fn resign(&mut self) {
        self.leadership.held().renewed = None;
        self.tell();
        let Some(record) = self.election.release(Timestamp::now()) else { return };
        match timeout(self.leadership.renew_deadline / 2, self.write(Method::PUT, &record)).await {
            Ok(Ok(_)) => info!(lease = %self.lease, "gave the Lease back"),
            Ok(Err(error)) => {
                warn!(lease = %self.lease, %error, "the Lease can't be given back; it runs out by itself")
            }
            Err(_) => warn!(lease = %self.lease, "the Lease can't be given back in time; it runs out by itself"),
        }
    }

    /// Tells the metric, and the log when it changes.
    fn tell(&mut self) {
        let is_leader = self.leadership.is_leader();
        metrics::gauge!("zonewarden_leader").set(if is_leader { 1.0 } else { 0.0 });
        if is_leader != self.was_leader {
            self.was_leader = is_leader;
            info!(lease = %self.lease, leader = is_leader, holder = self.election.holder(), "leadership changed");
        }
    }
}

fn record_of(body: &str) -> Result<Record, ApiError> {
    let lease: Value = serde_json::from_str(body).map_err(|error| ApiError::Unreadable(error.to_string()))?;
    Ok(Record::read(&lease))
}
