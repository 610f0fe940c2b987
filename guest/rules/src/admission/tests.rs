//! What the tests of admission share: reviews, rules that are the standard ones but for the injection, and a whole answer.

mod persistent_volume;
mod pod;
mod review;

use std::cell::RefCell;

use serde_json::{Value, json};
use zonewarden_bindings::admission::{AdmissionAnswer, ConcernedVolume, PatchOperation};
use zonewarden_bindings::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::labelling::{LabellingAnswer, LabellingQuestion};
use zonewarden_bindings::placement::{Injection, PodQuestion};
use zonewarden_bindings::types::{
    Error, KubernetesVolumeId, Label, Requirement, SelectorOperator, SelectorTerm, Topology, VolumeEvidence,
    VolumeFacts, VolumeSource, VolumeState, Zone,
};

use super::{Rules, answer, concerns};
use crate::answer::reason;
use crate::identity::identify_volume;
use crate::keys::{REGION, ZONE};
use crate::labelling::label_volume;
use crate::settings::{Settings, VolumeIds};

const ID: &str = "vol-0123456789abcdef0";
const A: &str = "us-east-1a";

/// The standard rules, with an injection that is said beforehand, and a record of what it was asked.
struct Standard {
    settings: Settings,
    injection: Injection,
    asked: RefCell<Vec<(PodQuestion, Option<Vec<SelectorTerm>>)>>,
}

impl Standard {
    fn new(settings: Settings, injection: Injection) -> Self {
        Self { settings, injection, asked: RefCell::default() }
    }
}

impl Rules for Standard {
    fn identify(&self, question: &VolumeQuestion) -> VolumeIdentity {
        identify_volume(&self.settings, question)
    }

    fn label(&self, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer {
        label_volume(&self.settings, topologies, question)
    }

    fn inject(&self, pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Injection {
        self.asked.borrow_mut().push((pod.clone(), terms.map(<[SelectorTerm]>::to_vec)));
        self.injection.clone()
    }
}

fn nothing() -> Injection {
    Injection::Nothing(reason("no-need", "the pod says it already"))
}

fn review(operation: &str, (group, kind): (&str, &str), object: &Value) -> String {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": { "group": group, "version": "v1", "kind": kind },
            "namespace": "shop",
            "operation": operation,
            "object": object,
            "oldObject": null,
        },
    })
    .to_string()
}

fn in_tree(id: &str) -> VolumeSource {
    VolumeSource::AwsElasticBlockStore(KubernetesVolumeId { kubernetes_volume_id: id.to_owned() })
}

fn concerned(field: &str, source: VolumeSource) -> ConcernedVolume {
    ConcernedVolume { field: field.to_owned(), source }
}

fn in_zone(zone: &str) -> VolumeEvidence {
    let zone = Some(Zone { zone: zone.to_owned() });
    let state = VolumeState::Available;
    VolumeEvidence::Found(VolumeFacts { age_seconds: 1, state, zone, multi_attach: false, attributes: Vec::new() })
}

fn label(key: &str, value: &str) -> Label {
    Label { key: key.to_owned(), value: value.to_owned() }
}

fn zone_term(zone: &str) -> SelectorTerm {
    let requirement =
        Requirement { key: ZONE.to_owned(), operator: SelectorOperator::In, values: vec![zone.to_owned()] };
    SelectorTerm { requirements: vec![requirement], has_match_fields: false }
}

fn nodes() -> Vec<Topology> {
    vec![Topology { labels: vec![label(REGION, "us-east-1"), label(ZONE, A)] }]
}

fn strict() -> Settings {
    Settings { volume_ids: VolumeIds::Strict, ..Settings::default() }
}

/// The answer of the standard rules.
fn answer_of(settings: &Settings, review: &str, evidence: &[VolumeEvidence], injection: Injection) -> AdmissionAnswer {
    let rules = Standard::new(settings.clone(), injection);
    answer(settings, review, evidence, &nodes(), &rules).expect("the review can be read")
}

/// Holds the answer against its parts: allowed, code, warnings (by the beginning of each), operations.
fn check(
    row: &str,
    answer: &AdmissionAnswer,
    (allowed, code): (bool, &str),
    warnings: &[&str],
    operations: &[PatchOperation],
) {
    assert_eq!((answer.allowed, answer.reason.code.as_str()), (allowed, code), "{row}: {answer:?}");
    assert_eq!(answer.warnings.len(), warnings.len(), "{row}: {:?}", answer.warnings);
    for (warning, wanted) in answer.warnings.iter().zip(warnings) {
        assert!(warning.starts_with(wanted), "{row}: {warning:?}");
        assert!(warning.chars().count() <= 120, "{row}: {warning:?}");
    }
    assert_eq!(answer.operations, operations, "{row}");
}
