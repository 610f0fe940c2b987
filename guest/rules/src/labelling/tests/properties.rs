//! What holds for every question.

use proptest::prelude::*;

use super::*;
use crate::keys::{REGION_BETA, ZONE_BETA, ZONE_EBS_CSI};

fn value() -> impl Strategy<Value = String> {
    let known = ["us-east-1a", "us-east-1b", "us-east-1a__us-east-1b", "us-east-1", "eu-west-1", "use1-az6", "", "a__"];
    prop::sample::select(known.to_vec()).prop_map(str::to_owned)
}

fn labels() -> impl Strategy<Value = Vec<Label>> {
    let key = prop::sample::subsequence(vec![REGION_BETA, ZONE_BETA, REGION, ZONE, ZONE_EBS_CSI], 0..=5);
    key.prop_flat_map(|keys| {
        let values = prop::collection::vec(value(), keys.len());
        values.prop_map(move |values| {
            keys.iter().zip(values).map(|(key, value)| Label { key: (*key).to_owned(), value }).collect()
        })
    })
}

fn operator() -> impl Strategy<Value = SelectorOperator> {
    prop_oneof![
        4 => Just(SelectorOperator::In),
        1 => Just(SelectorOperator::NotIn),
        1 => Just(SelectorOperator::Exists),
        1 => Just(SelectorOperator::DoesNotExist),
        1 => Just(SelectorOperator::Gt),
        1 => Just(SelectorOperator::Other("Near".to_owned())),
    ]
}

fn affinity() -> impl Strategy<Value = VolumeAffinity> {
    let key = prop::sample::select(vec![ZONE, ZONE_EBS_CSI, ZONE_BETA, REGION, "kubernetes.io/os"]);
    let requirement = (key, operator(), prop::collection::vec(value(), 0..3))
        .prop_map(|(key, operator, values)| Requirement { key: key.to_owned(), operator, values });
    let term = (prop::collection::vec(requirement, 0..3), any::<bool>())
        .prop_map(|(requirements, has_match_fields)| SelectorTerm { requirements, has_match_fields });
    prop_oneof![
        Just(VolumeAffinity::Unset),
        Just(VolumeAffinity::Unrestricted),
        prop::collection::vec(term, 0..4).prop_map(VolumeAffinity::Required),
    ]
}

fn evidence() -> impl Strategy<Value = VolumeEvidence> {
    let state = prop_oneof![4 => Just(VolumeState::InUse), 1 => Just(VolumeState::Deleted)];
    let zone = prop_oneof![4 => Just(Some(A)), 1 => Just(None)];
    prop_oneof![
        2 => Just(VolumeEvidence::Unknown),
        1 => Just(VolumeEvidence::Missing(1)),
        4 => (zone, state).prop_map(|(zone, state)| VolumeEvidence::Found(facts(zone, state))),
    ]
}

prop_compose! {
    fn question()(
        id in prop::sample::select(vec!["vol-0123456789abcdef0", "aws://us-east-1a/vol-1", "aws://us-east-1b/vol-1", "aws://"]),
        is_csi: bool,
        labels in labels(),
        owned in prop::sample::subsequence(vec![ZONE, REGION, ZONE_BETA], 0..=3),
        affinity in affinity(),
        evidence in evidence(),
        creating: bool,
    ) -> LabellingQuestion {
        let source = if is_csi { csi("ebs.csi.aws.com", id) } else { in_tree(id) };
        let owned_labels = owned.into_iter().map(str::to_owned).collect();
        LabellingQuestion { source, labels, owned_labels, affinity, evidence, creating, ..pv() }
    }
}

/// The object as the answer makes it.
fn apply(question: &LabellingQuestion, answer: &LabellingAnswer) -> LabellingQuestion {
    let mut changed = question.clone();
    for label in &answer.labels {
        match changed.labels.iter_mut().find(|old| old.key == label.key) {
            Some(old) => old.value.clone_from(&label.value),
            None => changed.labels.push(label.clone()),
        }
    }
    if let Some(terms) = &answer.affinity {
        changed.affinity = VolumeAffinity::Required(terms.clone());
    }
    changed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn asked_again_about_the_changed_object_nothing_is_set(
        question in question(),
        nodes in prop::collection::vec(labels().prop_map(|labels| Topology { labels }), 0..4),
    ) {
        let first = label_volume(&Settings::default(), &nodes, &question);
        let second = label_volume(&Settings::default(), &nodes, &apply(&question, &first));
        prop_assert_eq!(second.labels, Vec::new());
        prop_assert_eq!(second.affinity, None);
        prop_assert!(!first.labels.iter().any(|label| label.value.is_empty()));
        if question.creating || question.affinity == VolumeAffinity::Unset {
            return Ok(());
        }
        prop_assert_eq!(first.affinity, None, "a stored affinity is never touched");
    }
}
