//! Who leads, decided from what the Lease says and since when it says it.
//!
//! A pure state machine: what was read and the time go in, what to write comes out. The times that others write into the Lease
//! are never compared with our clock: another candidate is dead when the Lease did not change for its whole duration, as we
//! saw it.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

/// How the Lease is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Our name among the candidates; no other process may ever bear it.
    pub identity: String,
    /// So long after its last renewal nobody else takes the Lease.
    pub lease_duration: Duration,
    /// Whoever could not renew for so long does not lead any more; shorter than the duration.
    pub renew_deadline: Duration,
    /// The pause between two tries.
    pub retry_period: Duration,
}

impl Terms {
    /// The durations that client-go's programs have: 15, 10 and 2 seconds.
    pub fn new(identity: impl Into<String>) -> Self {
        Self {
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// What a Lease says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// `metadata.resourceVersion`; empty for one that is to be created.
    pub(super) version: String,
    /// `spec.holderIdentity`; empty where nobody holds it.
    pub(super) holder: String,
    /// `spec.leaseDurationSeconds`.
    pub(super) seconds: Option<u64>,
    /// `spec.acquireTime`, as it stands there.
    pub(super) acquired: Option<String>,
    /// `spec.renewTime`, as it stands there.
    pub(super) renewed: Option<String>,
    /// `spec.leaseTransitions`.
    pub(super) transitions: u64,
}

impl Record {
    /// Reads a Lease. A field that can't be read counts as missing.
    pub(super) fn read(lease: &Value) -> Self {
        let spec = &lease["spec"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            version: text(&lease["metadata"]["resourceVersion"]).unwrap_or_default(),
            holder: text(&spec["holderIdentity"]).unwrap_or_default(),
            seconds: spec["leaseDurationSeconds"].as_u64(),
            acquired: text(&spec["acquireTime"]),
            renewed: text(&spec["renewTime"]),
            transitions: spec["leaseTransitions"].as_u64().unwrap_or_default(),
        }
    }

    /// The Lease's body. The resource version makes the API server refuse it where somebody else wrote in the meantime.
    pub(super) fn body(&self, namespace: &str, name: &str) -> Value {
        let mut body = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": name, "namespace": namespace },
            "spec": {
                "holderIdentity": self.holder,
                "leaseDurationSeconds": self.seconds,
                "acquireTime": self.acquired,
                "renewTime": self.renewed,
                "leaseTransitions": self.transitions,
            },
        });
        if !self.version.is_empty() {
            body["metadata"]["resourceVersion"] = Value::from(&*self.version);
        }
        body
    }
}

/// What is to be done about the Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Somebody else holds it.
    Wait,
    /// There is none: this is to be created.
    Create(Record),
    /// It is ours, or free: this is to be written in its place.
    Update(Record),
}

/// What one candidate knows.
#[derive(Debug)]
pub(super) struct Election {
    terms: Terms,
    /// What the Lease said last, and since when by our clock.
    observed: Option<(Record, Instant)>,
}

impl Election {
    pub(super) fn new(terms: Terms) -> Self {
        Self { terms, observed: None }
    }

    pub(super) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Notes what the Lease says; `None` where there is none. The same words twice are one observation, the first.
    pub(super) fn observe(&mut self, record: Option<Record>, now: Instant) {
        match record {
            None => self.observed = None,
            Some(record) if self.observed.as_ref().is_some_and(|(known, _)| *known == record) => {}
            Some(record) => self.observed = Some((record, now)),
        }
    }

    /// Whether the Lease said last that we hold it.
    pub(super) fn is_ours(&self) -> bool {
        self.observed.as_ref().is_some_and(|(record, _)| record.holder == self.terms.identity)
    }

    /// Who holds it, by what it said last.
    pub(super) fn holder(&self) -> &str {
        self.observed.as_ref().map_or("", |(record, _)| &record.holder)
    }

    /// What to do now. `time` is only written, never compared.
    pub(super) fn step(&self, now: Instant, time: Timestamp) -> Step {
        let Some((record, since)) = &self.observed else {
            return Step::Create(self.claim(&Record::default(), time));
        };
        let is_free = record.holder.is_empty() || now.duration_since(*since) >= self.duration_of(record);
        if self.is_ours() || is_free { Step::Update(self.claim(record, time)) } else { Step::Wait }
    }

    /// The Lease given back; `None` where it is not ours.
    pub(super) fn release(&self, time: Timestamp) -> Option<Record> {
        let (record, _) = self.observed.as_ref().filter(|_| self.is_ours())?;
        Some(Record { holder: String::new(), seconds: Some(1), renewed: Some(micros(time)), ..record.clone() })
    }

    /// The duration that the holder itself named, or ours where that is longer: a holder in another version may believe more
    /// than it says.
    fn duration_of(&self, record: &Record) -> Duration {
        let named = record.seconds.map(Duration::from_secs).unwrap_or_default();
        named.max(self.terms.lease_duration)
    }

    fn claim(&self, record: &Record, time: Timestamp) -> Record {
        let time = micros(time);
        let is_ours = record.holder == self.terms.identity;
        Record {
            version: record.version.clone(),
            holder: self.terms.identity.clone(),
            seconds: Some(self.terms.lease_duration.as_secs().max(1)),
            acquired: record.acquired.clone().filter(|_| is_ours).or_else(|| Some(time.clone())),
            renewed: Some(time),
            // A Lease that was never held does not change hands.
            transitions: record.transitions.saturating_add(u64::from(!is_ours && !record.version.is_empty())),
        }
    }
}

fn micros(time: Timestamp) -> String {
    format!("{time:.6}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests;
