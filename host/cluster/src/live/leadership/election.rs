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
            transitions: record.transitions + u64::from(!is_ours && !record.version.is_empty()),
        }
    }
}

fn micros(time: Timestamp) -> String {
    format!("{time:.6}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn time() -> Timestamp {
        "2026-12-01T14:00:00Z".parse().unwrap()
    }

    fn election() -> Election {
        Election::new(Terms::new("us"))
    }

    fn held(holder: &str, version: &str) -> Record {
        Record {
            version: version.to_owned(),
            holder: holder.to_owned(),
            seconds: Some(15),
            acquired: Some("2026-12-01T13:00:00.000000Z".to_owned()),
            renewed: Some("2026-12-01T13:59:59.000000Z".to_owned()),
            transitions: 3,
        }
    }

    fn ours(version: &str, acquired: &str, transitions: u64) -> Record {
        Record {
            version: version.to_owned(),
            holder: "us".to_owned(),
            seconds: Some(15),
            acquired: Some(acquired.to_owned()),
            renewed: Some("2026-12-01T14:00:00.000000Z".to_owned()),
            transitions,
        }
    }

    #[test]
    fn a_lease_that_is_not_there_is_created() {
        let mut election = election();
        election.observe(None, Instant::now());
        let record = ours("", "2026-12-01T14:00:00.000000Z", 0);
        assert_eq!(election.step(Instant::now(), time()), Step::Create(record));
    }

    #[test]
    fn anothers_lease_is_taken_only_after_a_whole_duration_without_a_change() {
        let (mut election, start) = (election(), Instant::now());
        election.observe(Some(held("them", "1")), start);
        assert_eq!(election.step(start, time()), Step::Wait);
        // Nothing changed, and looking again does not begin the wait anew.
        election.observe(Some(held("them", "1")), start + 10 * SECOND);
        assert_eq!(election.step(start + 15 * SECOND - Duration::from_millis(1), time()), Step::Wait);
        let taken = Step::Update(ours("1", "2026-12-01T14:00:00.000000Z", 4));
        assert_eq!(election.step(start + 15 * SECOND, time()), taken);
        // A renewal at the last moment begins the wait anew.
        election.observe(Some(held("them", "2")), start + 15 * SECOND);
        assert_eq!(election.step(start + 29 * SECOND, time()), Step::Wait);
        assert_eq!(
            election.step(start + 30 * SECOND, time()),
            Step::Update(ours("2", "2026-12-01T14:00:00.000000Z", 4))
        );
    }

    #[test]
    fn a_clock_that_differs_takes_nothing_over() {
        for renewed in ["1970-01-01T00:00:00.000000Z", "2100-01-01T00:00:00.000000Z", "yesterday"] {
            let (mut election, start) = (election(), Instant::now());
            election.observe(Some(Record { renewed: Some(renewed.to_owned()), ..held("them", "1") }), start);
            assert_eq!(election.step(start + 14 * SECOND, time()), Step::Wait, "{renewed}");
            assert!(matches!(election.step(start + 15 * SECOND, time()), Step::Update(_)), "{renewed}");
        }
    }

    #[test]
    fn the_longer_of_two_durations_counts() {
        for (seconds, expected) in [(Some(60), 60), (Some(1), 15), (None, 15)] {
            let (mut election, start) = (election(), Instant::now());
            election.observe(Some(Record { seconds, ..held("them", "1") }), start);
            let before = start + Duration::from_secs(expected) - Duration::from_millis(1);
            assert_eq!(election.step(before, time()), Step::Wait, "{seconds:?}");
            let step = election.step(start + Duration::from_secs(expected), time());
            assert!(matches!(step, Step::Update(_)), "{seconds:?}");
        }
    }

    #[test]
    fn our_own_lease_is_renewed_and_keeps_its_history() {
        let (mut election, start) = (election(), Instant::now());
        election.observe(Some(held("us", "7")), start);
        let renewed = Step::Update(ours("7", "2026-12-01T13:00:00.000000Z", 3));
        assert_eq!(election.step(start, time()), renewed);
    }

    #[test]
    fn a_lease_that_was_given_back_is_taken_at_once() {
        let (mut election, start) = (election(), Instant::now());
        election.observe(Some(held("us", "7")), start);
        let released = election.release(time()).unwrap();
        assert_eq!(
            released,
            Record {
                version: "7".to_owned(),
                holder: String::new(),
                seconds: Some(1),
                acquired: Some("2026-12-01T13:00:00.000000Z".to_owned()),
                renewed: Some("2026-12-01T14:00:00.000000Z".to_owned()),
                transitions: 3,
            }
        );
        election.observe(Some(Record { version: "8".to_owned(), ..released }), start);
        assert_eq!(election.release(time()), None);
        assert_eq!(election.step(start, time()), Step::Update(ours("8", "2026-12-01T14:00:00.000000Z", 4)));
    }

    #[test]
    fn a_lease_is_written_as_it_is_read() {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": "zonewarden", "namespace": "kube-system", "resourceVersion": "7" },
            "spec": {
                "holderIdentity": "us",
                "leaseDurationSeconds": 15,
                "acquireTime": "2026-12-01T13:00:00.000000Z",
                "renewTime": "2026-12-01T13:59:59.000000Z",
                "leaseTransitions": 3,
            },
        });
        assert_eq!(Record::read(&lease), held("us", "7"));
        assert_eq!(held("us", "7").body("kube-system", "zonewarden"), lease);
        assert_eq!(
            Record::read(&json!({ "spec": { "holderIdentity": 5, "leaseTransitions": "x" } })),
            Record::default()
        );
    }
}
