//! Classes that are in one place are judged once: each gets the verdict that it would get alone.

use super::world::*;
use crate::placement::{self, Nodes};
use crate::settings::{Settings, UnlabelledNodes};
use zonewarden_bindings::placement::{AttachHeadroom, NodeClass, PersistentVolume, PodQuestion, Tie};
use zonewarden_bindings::types::{Problem, VolumeEvidence};

/// Whether a node of no zone is refused depends on all classes but for this setting.
fn settings() -> Settings {
    Settings { unlabelled_nodes: UnlabelledNodes::Refuse, ..Settings::default() }
}

fn assert_as_alone(pod: &PodQuestion, classes: &[Node]) {
    let settings = settings();
    let alone: Vec<_> = classes.iter().flat_map(|class| filter(&settings, pod, std::slice::from_ref(class))).collect();
    assert_eq!(filter(&settings, pod, classes), alone);
    let alone: Vec<_> = classes.iter().flat_map(|class| score(&settings, pod, std::slice::from_ref(class))).collect();
    assert_eq!(score(&settings, pod, classes), alone);
}

/// The codes of the verdicts, where each of two classes that differ in one thing only comes second once.
fn assert_told_apart(row: &str, pod: &PodQuestion, one: &Node, other: &Node) {
    for classes in [[one.clone(), other.clone()], [other.clone(), one.clone()]] {
        assert_as_alone(pod, &classes);
        let verdicts = filter(&settings(), pod, &classes);
        assert_ne!(verdicts[0], verdicts[1], "{row}");
    }
}

#[test]
fn places_that_differ_in_one_thing_are_told_apart() {
    let zoned = pod_of(PersistentVolume { affinity: only(GA, &["a"]), ..pv("pv-1") });
    assert_told_apart("F-54 a label's value", &zoned, &node(&[(GA, "a")]), &node(&[(GA, "b")]));
    assert_told_apart("F-54 a label's key", &zoned, &node(&[(GA, "a")]), &node(&[(BETA, "a")]));
    assert_told_apart("F-54 a label more", &zoned, &node(&[]), &node(&[(GA, "a")]));
    assert_told_apart("F-54 a label more, at the end", &zoned, &node(&[(BETA, "a")]), &node(&[(BETA, "a"), (GA, "a")]));
    let in_tree_pv = pod_of(PersistentVolume { source: in_tree(VOL), ..labelled(pv("pv-1"), &[(GA, "a")]) });
    assert_told_apart("F-55 a migrated plugin", &in_tree_pv, &node(&[(GA, "a")]), &migrated_node(&[(GA, "a")]));
    let broken = pod(vec![direct(0, in_tree("aws://us-east-1a/i-1"), VolumeEvidence::Unknown)]);
    let without = node(&[(GA, "a")]).without_csi_node();
    assert_told_apart("F-61 a CSINode", &broken, &node(&[(GA, "a")]), &without);
}

#[test]
fn what_refuses_a_place_is_said_once_for_all_classes_that_are_in_it() {
    let volume = |name: &str| PersistentVolume { affinity: only(GA, &["a"]), ..pv(name) };
    let pod = pod(vec![claimed(0, bound(volume("pv-1"))), claimed(1, bound(volume("pv-2")))]);
    let full = node(&[(GA, "b")]).with_drivers(&[(EBS, AttachHeadroom::Left(0))]).tied(&[Tie::Holds(7)]);
    let (places, classes) = table(&[node(&[(GA, "b")]), full, node(&[(GA, "a")]), node(&[(GA, "b")])]);
    let nodes = Nodes::new(&places, &classes).expect("the nodes fit their places");
    let verdicts = placement::filter(&settings(), &pod, &nodes);
    let named: Vec<&[u32]> = verdicts.classes.iter().map(|verdict| verdict.reasons.as_slice()).collect();
    let codes: Vec<&str> = verdicts.reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert_eq!(codes, ["affinity-conflict", "affinity-conflict", "attach-limit", "fits"]);
    assert_eq!(named, [&[0, 1][..], &[0, 1, 2], &[3], &[0, 1]]);
}

#[test]
fn classes_that_do_not_fit_their_places_are_named() {
    let (places, good) = table(&[node(&[(GA, "a")]), node(&[(GA, "b")])]);
    let class = |place, drivers| NodeClass { place, headroom: vec![AttachHeadroom::Unknown; drivers], ties: vec![] };
    let problem = |subject: &str, text: &str, rule: &str, message: &str, accepted: &[&str]| Problem {
        subject: subject.to_owned(),
        text: text.to_owned(),
        rule: rule.to_owned(),
        message: message.to_owned(),
        accepted: strings(accepted),
    };
    let one_each = "one headroom for each driver of the place, in their order";
    for (places, class, wanted) in [
        (
            &places[..],
            class(2, 1),
            problem(
                "classes[1].place",
                "2",
                "no-such-place",
                "class 1 names place 2, and there are only 2 places",
                &["a position from 0 to 1"],
            ),
        ),
        (
            &places[..1],
            class(u32::MAX, 1),
            problem(
                "classes[1].place",
                "4294967295",
                "no-such-place",
                "class 1 names place 4294967295, and there is only 1 place",
                &["the position 0"],
            ),
        ),
        (
            &places[..],
            class(1, 2),
            problem(
                "classes[1].headroom",
                "2",
                "headroom-count",
                "class 1 has the headroom of 2 drivers, and its place has 1",
                &[one_each],
            ),
        ),
        (
            &places[..],
            class(1, 0),
            problem(
                "classes[1].headroom",
                "0",
                "headroom-count",
                "class 1 has the headroom of 0 drivers, and its place has 1",
                &[one_each],
            ),
        ),
    ] {
        assert_eq!(Nodes::new(places, &[good[0].clone(), class]).expect_err(&wanted.message), wanted);
    }
    let bare = [zonewarden_bindings::placement::Place { drivers: vec![], ..places[0].clone() }];
    let message = Nodes::new(&bare, &good[..1]).expect_err("it has no drivers").message;
    assert_eq!(message, "class 0 has the headroom of 1 driver, and its place has 0");
    let problem = Nodes::new(&[], &good[..1]).expect_err("there is no place");
    assert_eq!(problem.message, "class 0 names place 0, and there are no places");
    assert_eq!(problem.accepted, Vec::<String>::new());
    let nodes = Nodes::new(&places, &good).expect("the nodes fit their places");
    assert_eq!((nodes.len(), nodes.is_empty()), (2, false));
    assert!(Nodes::new(&places, &[]).expect("no nodes fit any place").is_empty());
}

#[test]
fn a_tie_to_a_volume_that_the_pod_does_not_have_is_passed_over() {
    let pod = pod_of(PersistentVolume { affinity: only(GA, &["a"]), ..pv("pv-1") });
    let tied = node(&[(GA, "a")]).tied(&[Tie::Holds(7), Tie::SelectedFor(u32::MAX)]);
    check("F-63 a tie to nothing", &pod, &tied, FITS, &[]);
}

#[test]
fn many_places_in_turns_get_their_own_verdicts() {
    let zones: Vec<String> = (0..12).map(|number| format!("zone-{number}")).collect();
    let place = |zone: &String| node(&[(GA, zone.as_str())]);
    let volume = |name: &str| PersistentVolume { affinity: only(GA, &["zone-3", "zone-11"]), ..pv(name) };
    let pod = pod(vec![claimed(0, bound(volume("pv-1"))), claimed(1, bound(volume("pv-2")))]);
    // Twice round, then the last ones again: some are looked back at, and some are too long ago.
    let classes: Vec<Node> = zones.iter().chain(&zones).chain(&zones[8..]).chain(&zones[..3]).map(place).collect();
    assert_as_alone(&pod, &classes);
    let feasible: Vec<usize> = filter(&settings(), &pod, &classes)
        .iter()
        .enumerate()
        .filter(|(_, verdict)| verdict.decision == FITS.0)
        .map(|(index, _)| index)
        .collect();
    assert_eq!(feasible, [3, 11, 15, 23, 27]);
}
