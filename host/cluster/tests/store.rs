//! The store, fed by hand.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use zonewarden_cluster::{Change, Changes, Cluster, Kind, Object, ObjectName, parse};

fn object(json: &str) -> Object {
    let loaded = parse(json.as_bytes(), "f");
    assert_eq!(loaded.problems, []);
    let kind = *loaded.counts.keys().next().unwrap();
    loaded.index.object(kind, &loaded.index.names(kind)[0]).unwrap()
}

fn node(name: &str, version: &str) -> Object {
    object(&format!(r#"{{"kind":"Node","metadata":{{"name":"{name}","resourceVersion":"{version}"}}}}"#))
}

fn pod(name: &str, node: &str) -> Object {
    object(&format!(r#"{{"kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"nodeName":"{node}"}}}}"#))
}

fn change(before: Option<Object>, after: Option<Object>) -> Change {
    let object = before.as_ref().or(after.as_ref()).unwrap();
    Change { kind: object.kind(), name: object.name().clone(), before, after }
}

fn all(changes: &mut Changes) -> Vec<Change> {
    std::iter::from_fn(|| changes.try_next()).collect()
}

#[test]
fn changes_are_told_in_order_with_what_was_and_what_is() {
    let cluster = Cluster::new();
    let mut changes = cluster.changes();
    cluster.apply(node("n1", "1"));
    cluster.apply(node("n1", "2"));
    assert_eq!(cluster.delete(Kind::Node, &ObjectName::new("", "n1")), Some(node("n1", "2")));
    assert_eq!(cluster.delete(Kind::Node, &ObjectName::new("", "n1")), None);
    let expected = [
        change(None, Some(node("n1", "1"))),
        change(Some(node("n1", "1")), Some(node("n1", "2"))),
        change(Some(node("n1", "2")), None),
    ];
    assert_eq!(all(&mut changes), expected);
}

#[test]
fn a_snapshot_stays_as_it_is() {
    let cluster = Cluster::new();
    cluster.apply(pod("p", "n1"));
    let before = cluster.read();
    cluster.apply(pod("p", "n2"));
    cluster.apply(pod("q", "n1"));
    let after = cluster.read();
    let on = |index: &zonewarden_cluster::Index, node: &str| index.pods_on_node(node).count();
    assert_eq!((on(&before, "n1"), on(&before, "n2"), before.pods().len()), (1, 0, 1));
    assert_eq!((on(&after, "n1"), on(&after, "n2"), after.pods().len()), (1, 1, 2));
}

#[test]
fn the_first_reset_fills_and_a_later_one_tells_what_differs() {
    let cluster = Cluster::new();
    let mut changes = cluster.changes();
    cluster.reset(Kind::Node, [node("n1", "1"), node("n2", "1"), pod("p", "n1")]);
    assert_eq!(all(&mut changes), []);
    assert_eq!((cluster.synced(Kind::Node), cluster.synced(Kind::Pod)), (true, false));
    assert_eq!((cluster.read().nodes().len(), cluster.read().pods().len()), (2, 0));
    cluster.reset(Kind::Node, [node("n2", "1"), node("n3", "1")]);
    assert_eq!(all(&mut changes), [change(None, Some(node("n3", "1"))), change(Some(node("n1", "1")), None)]);
}

#[test]
fn readiness_says_which_kinds_still_fill_and_wakes_who_waits() {
    let cluster = Cluster::new();
    let mut context = Context::from_waker(Waker::noop());
    let mut filled = pin!(cluster.filled());
    let (last, others) = Kind::WATCHED.split_last().unwrap();
    for kind in others {
        cluster.reset(*kind, []);
        assert_eq!(filled.as_mut().poll(&mut context), Poll::Pending);
    }
    assert_eq!((cluster.filling(), cluster.all_synced()), (vec![*last], false));
    cluster.reset(*last, []);
    assert_eq!((cluster.filling(), cluster.all_synced()), (vec![], true));
    assert_eq!(filled.as_mut().poll(&mut context), Poll::Ready(()));
}

#[test]
fn every_listener_gets_everything_and_the_end() {
    let cluster = Cluster::new();
    let (mut one, mut two) = (cluster.changes(), cluster.changes());
    cluster.apply(node("n1", "1"));
    drop(cluster.changes());
    cluster.apply(node("n2", "1"));
    let expected = [change(None, Some(node("n1", "1"))), change(None, Some(node("n2", "1")))];
    assert_eq!((all(&mut one), all(&mut two)), (expected.to_vec(), expected.to_vec()));
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(pin!(one.next()).poll(&mut context), Poll::Pending);
    drop(cluster);
    assert_eq!(pin!(one.next()).poll(&mut context), Poll::Ready(None));
}

#[test]
fn a_listener_that_leaves_too_much_lying_is_told_that_it_missed_some() {
    let cluster = Cluster::new();
    let mut changes = cluster.changes();
    for version in 0..25_000 {
        cluster.apply(node("n1", if version % 2 == 0 { "1" } else { "2" }));
    }
    assert!(!changes.missed());
    cluster.apply(node("n1", "3"));
    assert!(changes.missed());
    assert!(!changes.missed());
    assert_eq!(all(&mut changes), [change(Some(node("n1", "2")), Some(node("n1", "3")))]);
}

#[test]
fn an_interruption_is_told_while_it_lasts_and_costs_nothing() {
    let cluster = Cluster::new();
    cluster.apply(node("n1", "1"));
    cluster.interrupt(Kind::Node, Some("connection refused".to_owned()));
    assert_eq!(cluster.interruptions(), [(Kind::Node, "connection refused".to_owned())].into());
    assert_eq!(cluster.read().nodes().len(), 1);
    cluster.interrupt(Kind::Node, None);
    assert_eq!(cluster.interruptions(), [].into());
}
