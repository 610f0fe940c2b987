//! Classes that are in one place are judged once: each gets the verdict that it would get alone.

use super::world::*;
use crate::placement::{self, Class, Nodes, give, problem_of};
use crate::settings::{Settings, UnlabelledNodes};
use zonewarden_bindings::placement::{AttachHeadroom, NodeClasses, PodQuestion, TieKind, UnboundClaim};
use zonewarden_bindings::types::{Problem, Reason, VolumeEvidence};

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
    let full = node(&[(GA, "b")]).with_drivers(&[(EBS, AttachHeadroom::Left(0))]).tied(&[(7, TieKind::Holds)]);
    let table = table(&[node(&[(GA, "b")]), full, node(&[(GA, "a")]), node(&[(GA, "b")])]);
    let nodes = Nodes::new(&table).expect("the nodes fit their places");
    let verdicts = placement::filter(&settings(), &pod, &nodes);
    let named: Vec<&[u32]> = verdicts.classes.iter().map(|verdict| verdict.reasons.as_slice()).collect();
    let codes: Vec<&str> = verdicts.reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert_eq!(codes, ["affinity-conflict", "attach-limit", "fits"]);
    assert_eq!(named, [&[0][..], &[0, 1], &[2], &[0]]);
}

#[test]
fn what_is_said_of_several_places_is_given_once() {
    let volume = |name: &str, zone: &str| PersistentVolume { affinity: only(GA, &[zone]), ..pv(name) };
    let pod = pod(vec![claimed(0, bound(volume("pv-1", "a"))), claimed(1, bound(volume("pv-2", "c")))]);
    let on = |disk: &str| node(&[("disk", disk), (GA, "b")]);
    let table = table(&[on("x"), on("y"), on("z")]);
    let nodes = Nodes::new(&table).expect("the nodes fit their places");
    let verdicts = placement::filter(&settings(), &pod, &nodes);
    let named: Vec<&[u32]> = verdicts.classes.iter().map(|verdict| verdict.reasons.as_slice()).collect();
    assert_eq!((verdicts.reasons.len(), named), (2, vec![&[0, 1][..]; 3]));
}

#[test]
fn a_reason_is_given_again_only_where_it_was_given_long_ago() {
    let reason = |number: usize| Reason { code: "code".to_owned(), message: format!("message {number}") };
    let mut reasons = vec![];
    let positions: Vec<u32> = (0..20).map(|number| give(&mut reasons, reason(number))).collect();
    assert_eq!(positions, (0..20).collect::<Vec<_>>());
    // The last sixteen are looked back at.
    for (number, position) in [(19, 19), (4, 4), (17, 17), (3, 20)] {
        assert_eq!(give(&mut reasons, reason(number)), position);
    }
    let other_code = Reason { code: "other".to_owned(), ..reason(19) };
    assert_eq!((give(&mut reasons, other_code), reasons.len()), (21, 22));
}

#[test]
fn classes_that_do_not_fit_their_places_are_named() {
    let good = table(&[node(&[(GA, "a")]), node(&[(GA, "b")])]);
    assert_eq!(Nodes::new(&good).expect("the nodes fit their places").classes().len(), 2);
    let of_places = |places: usize, place: u32| NodeClasses {
        places: good.places[..places].to_vec(),
        classes: vec![0, place],
        ..good.clone()
    };
    let of_headroom = |count: usize| NodeClasses { headroom: vec![AttachHeadroom::Unknown; count], ..good.clone() };
    let problem = |subject: &str, text: &str, rule: &str, message: &str, accepted: &[&str]| Problem {
        subject: subject.to_owned(),
        text: text.to_owned(),
        rule: rule.to_owned(),
        message: message.to_owned(),
        accepted: strings(accepted),
    };
    let no_place = |text: &str, message: &str, accepted: &str| {
        problem("nodes.classes[1]", text, "no-such-place", message, &[accepted])
    };
    let one_each = "one headroom for each driver of each class's place, class by class";
    let headroom = |text: &str, message: &str| problem("nodes.headroom", text, "headroom-count", message, &[one_each]);
    for (nodes, wanted) in [
        (
            of_places(2, 2),
            no_place("2", "class 1 names place 2, and there are only 2 places", "a position from 0 to 1"),
        ),
        (
            of_places(1, u32::MAX),
            no_place("4294967295", "class 1 names place 4294967295, and there is only 1 place", "the position 0"),
        ),
        (of_headroom(3), headroom("3", "the headroom is that of 3 drivers, and the places of the classes have 2")),
        (of_headroom(1), headroom("1", "the headroom is that of 1 driver, and the places of the classes have 2")),
        (of_headroom(0), headroom("0", "the headroom is that of 0 drivers, and the places of the classes have 2")),
    ] {
        assert_eq!(Nodes::new(&nodes).expect_err(&wanted.message), wanted);
    }
    let nowhere = NodeClasses { places: vec![], ..good };
    let problem = Nodes::new(&nowhere).expect_err("there is no place");
    assert_eq!(problem.message, "class 0 names place 0, and there are no places");
    assert_eq!(problem.accepted, Vec::<String>::new());
    let nothing = NodeClasses { places: vec![], classes: vec![], headroom: vec![], ties: vec![] };
    assert!(Nodes::new(&nothing).expect("no nodes fit any place").classes().is_empty());
}

#[test]
fn each_class_gets_the_headroom_and_the_ties_that_are_its_own() {
    let drivers = |left: u32| [(EBS, AttachHeadroom::Left(left)), ("x", AttachHeadroom::Unknown)];
    let table = table(&[
        node(&[]).with_drivers(&drivers(1)).tied(&[(1, TieKind::Holds)]),
        node(&[]).with_drivers(&[]),
        node(&[]).with_drivers(&drivers(2)).tied(&[(0, TieKind::SelectedFor)]),
    ]);
    let nodes = Nodes::new(&table).expect("the nodes fit their places");
    let headroom: Vec<Vec<_>> = nodes.classes().iter().map(|class| class.headroom().collect()).collect();
    assert_eq!(headroom, [drivers(1).to_vec(), vec![], drivers(2).to_vec()]);
    let tied = |of: for<'a> fn(&Class<'a>, usize) -> bool| -> Vec<Vec<usize>> {
        nodes.classes().iter().map(|class| (0..3).filter(|volume| of(class, *volume)).collect()).collect()
    };
    assert_eq!(tied(|class, volume| class.holds(volume)), [vec![1], vec![], vec![]]);
    assert_eq!(tied(|class, volume| class.is_selected_for(volume)), [vec![], vec![], vec![0]]);
}

#[test]
fn a_volume_whose_topology_is_not_there_is_named() {
    let volume = PersistentVolume { affinity: only(GA, &["a"]), ..pv("pv-1") };
    let problem = |text: &str, message: &str, accepted: &[&str]| Problem {
        subject: "pod.topologies".to_owned(),
        text: text.to_owned(),
        rule: "no-such-topology".to_owned(),
        message: message.to_owned(),
        accepted: strings(accepted),
    };
    let claim = waiting();
    let claims = [
        claimed(0, bound(volume.clone())),
        ephemeral(0, bound(volume.clone())),
        claimed(0, unbound(UnboundClaim { candidates: vec![candidate(volume)], ..claim })),
    ];
    for claimed in claims {
        let good = pod(vec![direct(1, in_tree(VOL), VolumeEvidence::Unknown), claimed]);
        assert_eq!(problem_of(&good), None);
        let bare = PodQuestion { topologies: vec![], ..good };
        let message = "PersistentVolume pv-1 names topology 0, and there are no topologies";
        assert_eq!(problem_of(&bare), Some(problem("0", message, &[])));
    }
    let second = PersistentVolume { affinity: only(GA, &["b"]), ..pv("pv-2") };
    let mut both = pod(vec![claimed(0, bound(pv("pv-1"))), claimed(1, bound(second))]);
    assert_eq!(problem_of(&both), None);
    let last = both.topologies.len() - 1;
    both.topologies.truncate(last);
    let message = format!("PersistentVolume pv-2 names topology {last}, and there are only {last} topologies");
    let accepted = format!("a position from 0 to {}", last - 1);
    assert_eq!(problem_of(&both), Some(problem(&last.to_string(), &message, &[&accepted])));
}

#[test]
fn a_tie_to_a_volume_that_the_pod_does_not_have_is_passed_over() {
    let pod = pod_of(PersistentVolume { affinity: only(GA, &["a"]), ..pv("pv-1") });
    let tied = node(&[(GA, "a")]).tied(&[(7, TieKind::Holds), (u32::MAX, TieKind::SelectedFor)]);
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
