//! Classes that are in one place are judged once: each gets the verdict that it would get alone.

use super::world::*;
use crate::placement::places::Places;
use crate::placement::question::Question;
use crate::placement::{filter, score};
use crate::settings::{Settings, UnlabelledNodes};
use zonewarden_bindings::placement::{NodeClass, PersistentVolume, PodQuestion};
use zonewarden_bindings::types::VolumeEvidence;

/// Whether a node of no zone is refused depends on all classes but for this setting.
fn settings() -> Settings {
    Settings { unlabelled_nodes: UnlabelledNodes::Refuse, ..Settings::default() }
}

fn assert_as_alone(pod: &PodQuestion, classes: &[NodeClass]) {
    let settings = settings();
    let alone: Vec<_> = classes.iter().flat_map(|class| filter(&settings, pod, std::slice::from_ref(class))).collect();
    assert_eq!(filter(&settings, pod, classes), alone);
    let alone: Vec<_> = classes.iter().flat_map(|class| score(&settings, pod, std::slice::from_ref(class))).collect();
    assert_eq!(score(&settings, pod, classes), alone);
}

/// The codes of the verdicts, where each of two classes that differ in one thing only comes second once.
fn assert_told_apart(row: &str, pod: &PodQuestion, one: &NodeClass, other: &NodeClass) {
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
    let without = NodeClass { has_csi_node: false, ..node(&[(GA, "a")]) };
    assert_told_apart("F-61 a CSINode", &broken, &node(&[(GA, "a")]), &without);
}

#[test]
fn a_place_is_judged_once_for_all_classes_that_are_in_it() {
    let settings = settings();
    let zoned = pod_of(PersistentVolume { affinity: only(GA, &["a"]), ..pv("pv-1") });
    let full = NodeClass { drivers: vec![], holds: vec![0], ..node(&[(GA, "b")]) };
    let classes = [node(&[(GA, "b")]), full];
    let question = Question::new(&settings, &zoned, &classes);
    let mut places = Places::default();
    let [first, second] = classes.each_ref().map(|class| places.judge(&question, class).as_ptr_range());
    assert_ne!(first.start, first.end, "the place is refused");
    // Not equal refusals, but those of before.
    assert_eq!(first, second);
}

#[test]
fn many_places_in_turns_get_their_own_verdicts() {
    let zones: Vec<String> = (0..12).map(|number| format!("zone-{number}")).collect();
    let place = |zone: &String| node(&[(GA, zone.as_str())]);
    let volume = |name: &str| PersistentVolume { affinity: only(GA, &["zone-3", "zone-11"]), ..pv(name) };
    let pod = pod(vec![claimed(0, bound(volume("pv-1"))), claimed(1, bound(volume("pv-2")))]);
    // Twice round, then the last ones again: some are looked back at, and some are too long ago.
    let classes: Vec<NodeClass> = zones.iter().chain(&zones).chain(&zones[8..]).chain(&zones[..3]).map(place).collect();
    assert_as_alone(&pod, &classes);
    let feasible: Vec<usize> = filter(&settings(), &pod, &classes)
        .iter()
        .enumerate()
        .filter(|(_, verdict)| verdict.decision == FITS.0)
        .map(|(index, _)| index)
        .collect();
    assert_eq!(feasible, [3, 11, 15, 23, 27]);
}
