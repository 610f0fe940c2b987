//! Laws over small arbitrary worlds, the first against a slow reading of Kubernetes' own rules that shares no code with ours.

use super::world::*;
use crate::placement::inject;
use crate::settings::Settings;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use zonewarden_bindings::placement::{ClaimFacts, ClassDecision, Injection, PodVolume, RefusalOrigin};
use zonewarden_bindings::types::{
    Label, Requirement, SelectorOperator as Op, SelectorTerm, VolumeAffinity, VolumeEvidence, VolumeSource,
};

type Labels = BTreeMap<String, String>;

/// What Kubernetes says, step by step.
mod oracle {
    use super::*;

    fn satisfied(requirement: &Requirement, node: &Labels) -> bool {
        let found = node.get(&requirement.key);
        match requirement.operator {
            Op::In => found.is_some_and(|found| requirement.values.contains(found)),
            Op::NotIn => found.is_none_or(|found| !requirement.values.contains(found)),
            Op::Exists => found.is_some(),
            Op::DoesNotExist => found.is_none(),
            Op::Gt | Op::Lt | Op::Other(_) => {
                let (Some(Ok(node)), Ok(bound)) =
                    (found.map(|found| found.parse::<i64>()), requirement.values[0].parse::<i64>())
                else {
                    return false;
                };
                if matches!(requirement.operator, Op::Gt) { node > bound } else { node < bound }
            }
        }
    }

    fn well_formed(requirement: &Requirement) -> bool {
        match requirement.operator {
            Op::In | Op::NotIn => !requirement.values.is_empty(),
            Op::Exists | Op::DoesNotExist => requirement.values.is_empty(),
            Op::Gt | Op::Lt => requirement.values.len() == 1 && requirement.values[0].parse::<i64>().is_ok(),
            Op::Other(_) => false,
        }
    }

    fn matches(affinity: &VolumeAffinity, node: &Labels) -> bool {
        let VolumeAffinity::Required(terms) = affinity else { return true };
        for term in terms {
            let empty = term.requirements.is_empty();
            let parses = term.requirements.iter().all(well_formed);
            if !empty && parses && term.requirements.iter().all(|requirement| satisfied(requirement, node)) {
                return true;
            }
        }
        false
    }

    fn uses(affinity: &VolumeAffinity, key: &str, valued: bool) -> bool {
        let VolumeAffinity::Required(terms) = affinity else { return false };
        terms
            .iter()
            .any(|term| term.requirements.iter().any(|found| found.key == key && !(valued && found.values.is_empty())))
    }

    fn rename(affinity: &mut VolumeAffinity, from: &str, to: &str) {
        if let VolumeAffinity::Required(terms) = affinity {
            for term in terms {
                for requirement in &mut term.requirements {
                    if requirement.key == from {
                        requirement.key = to.to_owned();
                    }
                }
            }
        }
    }

    fn translated(volume: &PersistentVolume, labels: &Labels) -> VolumeAffinity {
        let mut affinity = volume.affinity.clone();
        let is_beta = !uses(&affinity, GA, false)
            && (uses(&affinity, BETA, false) || (!labels.contains_key(GA) && labels.contains_key(BETA)));
        let (zone, region) = if is_beta { (BETA, BETA_REGION) } else { (GA, GA_REGION) };
        if uses(&affinity, zone, true) {
            rename(&mut affinity, zone, EBS_ZONE);
        } else if let Some(label) = labels.get(zone) {
            let zones: Vec<&str> = label.split("__").map(str::trim).filter(|zone| !zone.is_empty()).collect();
            if !zones.is_empty() {
                let mut terms = match affinity {
                    VolumeAffinity::Required(terms) => terms,
                    VolumeAffinity::Unset | VolumeAffinity::Unrestricted => vec![],
                };
                if terms.is_empty() {
                    terms.push(term(vec![]));
                }
                terms.iter_mut().for_each(|term| term.requirements.push(is_in(EBS_ZONE, &zones)));
                affinity = VolumeAffinity::Required(terms);
            }
        }
        if is_beta && uses(&affinity, region, true) {
            rename(&mut affinity, region, GA_REGION);
        }
        affinity
    }

    fn volume_zone(labels: &Labels, node: &Labels) -> bool {
        let keys = [GA, GA_REGION, BETA, BETA_REGION];
        if keys.iter().all(|key| !node.contains_key(*key)) {
            return true;
        }
        for key in keys {
            let Some(value) = labels.get(key) else { continue };
            let set: Vec<&str> = value.split("__").map(str::trim).collect();
            if set.contains(&"") {
                continue;
            }
            let newer = key.replace("failure-domain.beta", "topology");
            let found = node.get(key).or_else(|| node.get(&newer));
            if !found.is_some_and(|found| set.contains(&found.as_str())) {
                return false;
            }
        }
        true
    }

    /// Whether Kubernetes takes the class for a pod with this one bound claim.
    pub(super) fn takes(volume: &PersistentVolume, class: &Node, is_ephemeral: bool) -> bool {
        let map = |labels: &[Label]| labels.iter().map(|label| (label.key.clone(), label.value.clone())).collect();
        let (labels, node): (Labels, Labels) = (map(&volume.labels), map(&class.place.labels));
        let is_in_tree = matches!(volume.source, VolumeSource::AwsElasticBlockStore(_));
        let is_migrated = class.place.migrated_plugins.iter().any(|plugin| plugin == EBS_PLUGIN);
        let affinity = if is_in_tree && is_migrated { translated(volume, &labels) } else { volume.affinity.clone() };
        matches(&affinity, &node) && (is_ephemeral || volume_zone(&labels, &node))
    }
}

const KEYS: [&str; 6] = [GA, BETA, EBS_ZONE, GA_REGION, BETA_REGION, "disk"];

fn some_labels(values: &'static [&'static str]) -> impl Strategy<Value = Vec<Label>> {
    let one = (select(&KEYS[..]), select(values));
    proptest::collection::vec(one, 0..4).prop_map(|pairs| {
        let map: BTreeMap<&str, &str> = pairs.into_iter().collect();
        labels(&map.into_iter().collect::<Vec<_>>())
    })
}

fn some_requirement() -> impl Strategy<Value = Requirement> {
    let operator = select(vec![Op::In, Op::In, Op::In, Op::NotIn, Op::Exists, Op::DoesNotExist, Op::Gt, Op::Lt]);
    let values = proptest::collection::vec(select(&["a", "b", "5"][..]), 0..3);
    (select(&KEYS[..]), operator, values).prop_map(|(key, operator, values)| {
        let takes_none = matches!(operator, Op::Exists | Op::DoesNotExist);
        // Now and then a requirement that does not parse, but mostly one that does.
        let values = if takes_none && values.len() < 2 { vec![] } else { values };
        requirement(key, operator, &values)
    })
}

fn some_terms() -> impl Strategy<Value = Vec<SelectorTerm>> {
    let term = proptest::collection::vec(some_requirement(), 0..3).prop_map(term);
    proptest::collection::vec(term, 0..3)
}

fn some_volume() -> impl Strategy<Value = PersistentVolume> {
    let affinity = prop_oneof![
        Just(VolumeAffinity::Unset),
        Just(VolumeAffinity::Unrestricted),
        some_terms().prop_map(VolumeAffinity::Required),
        some_requirement().prop_map(|requirement| VolumeAffinity::Required(vec![term(vec![requirement])])),
    ];
    let source = select(vec![csi(EBS, VOL), in_tree(VOL), in_tree(VOL), host_path("x").source]);
    let labels = some_labels(&["a", "b", "a__b", " a __b", "", "a__", "5"]);
    let evidence = select(vec![VolumeEvidence::Unknown, VolumeEvidence::Unknown, ec2("a"), VolumeEvidence::Missing(1)]);
    (affinity, source, labels, evidence).prop_map(|(affinity, source, labels, evidence)| PersistentVolume {
        name: "pv-1".to_owned(),
        source,
        labels,
        affinity,
        evidence,
    })
}

fn some_class() -> impl Strategy<Value = Node> {
    (some_labels(&["a", "b", "5"]), any::<bool>()).prop_map(|(labels, is_migrated)| {
        let mut class = if is_migrated { migrated_node(&[]) } else { node(&[]) };
        class.place.labels = labels;
        class
    })
}

fn one_volume(volume: PersistentVolume, is_ephemeral: bool) -> PodVolume {
    let facts = ClaimFacts { owned_by_pod: is_ephemeral, ..bound(volume) };
    if is_ephemeral { ephemeral(0, facts) } else { claimed(0, facts) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_kubernetes_refuses_is_never_feasible_and_what_it_takes_is_never_its_refusal(
        volume in some_volume(), class in some_class(), is_ephemeral in any::<bool>(),
    ) {
        let takes = oracle::takes(&volume, &class, is_ephemeral);
        let nothing_more_known = volume.evidence == VolumeEvidence::Unknown;
        let pod = pod(vec![one_volume(volume, is_ephemeral)]);
        let verdict = &filter(&Settings::default(), &pod, &[class])[0];
        if takes {
            let is_ours = verdict.origin == RefusalOrigin::Zonewarden && !nothing_more_known;
            prop_assert!(verdict.decision == ClassDecision::Feasible || is_ours, "{:?}", verdict);
        } else {
            prop_assert_ne!(verdict.decision, ClassDecision::Feasible);
            prop_assert_eq!(verdict.origin, RefusalOrigin::Kubernetes);
        }
        prop_assert!(!verdict.reasons.is_empty());
    }

    #[test]
    fn classes_in_another_order_get_the_same_verdicts_and_scores(
        volumes in proptest::collection::vec(some_volume(), 0..3),
        classes in proptest::collection::vec(some_class(), 0..5),
        turn in 0_usize..5,
    ) {
        let volumes = volumes.into_iter().enumerate().map(|(number, volume)| claimed(number, bound(volume))).collect();
        let pod = pod(volumes);
        let settings = Settings::default();
        let mut turned = classes.clone();
        let turn = turn.min(turned.len());
        turned.rotate_left(turn);
        let mut verdicts = filter(&settings, &pod, &classes);
        let scores = score(&settings, &pod, &classes);
        prop_assert_eq!(verdicts.len(), classes.len());
        for (verdict, score) in verdicts.iter().zip(&scores) {
            prop_assert!(score.score <= 10);
            prop_assert_eq!(score.score == 0, verdict.decision != ClassDecision::Feasible);
        }
        verdicts.rotate_left(turn);
        prop_assert_eq!(filter(&settings, &pod, &turned), verdicts);
    }

    #[test]
    fn asked_about_its_own_answer_inject_says_nothing(
        terms in proptest::option::of(some_terms()), zone in select(&["a", "b"][..]),
    ) {
        let pod = pod(vec![direct(0, in_tree(VOL), ec2(zone))]);
        let settings = Settings::default();
        if let Injection::Inject(affinity) = inject(&settings, &pod, terms.as_deref()) {
            prop_assert_eq!(affinity.terms.len(), terms.map_or(1, |terms| terms.len()));
            let again = inject(&settings, &pod, Some(&affinity.terms));
            prop_assert!(matches!(again, Injection::Nothing(_)), "{:?}", again);
            let asks_for_zone = |requirement: &Requirement| {
                requirement.key == GA && requirement.operator == Op::In && requirement.values.iter().all(|value| value == zone)
            };
            for term in affinity.terms.iter().filter(|term| crate::selector::is_usable(term)) {
                prop_assert!(term.requirements.iter().any(asks_for_zone));
            }
        }
    }
}
