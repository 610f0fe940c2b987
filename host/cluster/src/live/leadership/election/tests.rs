//! The election, with a clock of its own.

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
    assert_eq!(election.step(start + 30 * SECOND, time()), Step::Update(ours("2", "2026-12-01T14:00:00.000000Z", 4)));
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
fn no_count_of_transitions_is_too_high() {
    let (mut election, start) = (election(), Instant::now());
    election.observe(Some(Record { holder: String::new(), transitions: u64::MAX, ..held("", "1") }), start);
    assert_eq!(election.step(start, time()), Step::Update(ours("1", "2026-12-01T14:00:00.000000Z", u64::MAX)));
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
    assert_eq!(Record::read(&json!({ "spec": { "holderIdentity": 5, "leaseTransitions": "x" } })), Record::default());
}
