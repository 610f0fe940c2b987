//! What the tests of labelling share: a volume in `us-east-1a`, and a way to say a whole answer.

mod affinity;
mod labels;
mod origin;
mod properties;

use zonewarden_bindings::labelling::{LabellingAnswer, LabellingBasis, LabellingQuestion};
use zonewarden_bindings::types::{
    CsiSource, KubernetesVolumeId, Label, Requirement, SelectorOperator, SelectorTerm, Severity, Topology,
    VolumeAffinity, VolumeEvidence, VolumeFacts, VolumeSource, VolumeState, Zone,
};

use super::label_volume;
use crate::keys::{REGION, ZONE};
use crate::settings::Settings;

const ID: &str = "vol-0123456789abcdef0";
const A: &str = "us-east-1a";
const B: &str = "us-east-1b";

/// One label of a node, a volume, or an answer.
type Pair = (&'static str, &'static str);

fn label((key, value): &(&str, &str)) -> Label {
    Label { key: (*key).to_owned(), value: (*value).to_owned() }
}

fn in_tree(id: &str) -> VolumeSource {
    VolumeSource::AwsElasticBlockStore(KubernetesVolumeId { kubernetes_volume_id: id.to_owned() })
}

fn csi(driver: &str, handle: &str) -> VolumeSource {
    let volume_handle = KubernetesVolumeId { kubernetes_volume_id: handle.to_owned() };
    VolumeSource::Csi(CsiSource { driver: driver.to_owned(), volume_handle })
}

fn facts(zone: Option<&str>, state: VolumeState) -> VolumeFacts {
    let zone = zone.map(|zone| Zone { zone: zone.to_owned() });
    VolumeFacts { age_seconds: 5, state, zone, multi_attach: false, attributes: Vec::new() }
}

/// An existing PersistentVolume that carries nothing, whose volume EC2 has in `us-east-1a`.
fn pv() -> LabellingQuestion {
    LabellingQuestion {
        persistent_volume: "pv-1".to_owned(),
        source: in_tree(ID),
        labels: Vec::new(),
        owned_labels: Vec::new(),
        annotations: Vec::new(),
        affinity: VolumeAffinity::Unset,
        evidence: VolumeEvidence::Found(facts(Some(A), VolumeState::InUse)),
        creating: false,
    }
}

/// The same, with these labels.
fn labelled(labels: &[Pair]) -> LabellingQuestion {
    LabellingQuestion { labels: labels.iter().map(label).collect(), ..pv() }
}

/// The same, with this affinity, one list of requirements a term.
fn bound_to(terms: &[&[Requirement]]) -> LabellingQuestion {
    LabellingQuestion { affinity: required(terms), ..pv() }
}

fn required(terms: &[&[Requirement]]) -> VolumeAffinity {
    VolumeAffinity::Required(terms.iter().map(|term| self::term(term)).collect())
}

fn term(requirements: &[Requirement]) -> SelectorTerm {
    SelectorTerm { requirements: requirements.to_vec(), has_match_fields: false }
}

fn requirement(key: &str, operator: SelectorOperator, values: &[&str]) -> Requirement {
    Requirement { key: key.to_owned(), operator, values: values.iter().map(|value| (*value).to_owned()).collect() }
}

fn is_in(key: &str, values: &[&str]) -> Requirement {
    requirement(key, SelectorOperator::In, values)
}

fn node(labels: &[Pair]) -> Topology {
    Topology { labels: labels.iter().map(label).collect() }
}

/// Nodes in two zones of one region, each with the GA labels, as the cloud controller makes them.
fn nodes() -> Vec<Topology> {
    vec![node(&[(REGION, "us-east-1"), (ZONE, A)]), node(&[(REGION, "us-east-1"), (ZONE, B)])]
}

/// A whole answer, but for the texts.
struct Wanted {
    basis: LabellingBasis,
    labels: Vec<Pair>,
    affinity: Option<Vec<SelectorTerm>>,
    findings: Vec<(Severity, &'static str)>,
    reason: &'static str,
}

/// An answer by EC2's word that sets nothing.
fn nothing_to_set() -> Wanted {
    Wanted {
        basis: LabellingBasis::Ec2,
        labels: Vec::new(),
        affinity: None,
        findings: Vec::new(),
        reason: "zone-from-ec2",
    }
}

/// An answer that rests on nothing.
fn nothing(reason: &'static str) -> Wanted {
    Wanted { basis: LabellingBasis::Nothing, reason, ..nothing_to_set() }
}

/// The affinity that names the zone on this key.
fn zone_on(key: &str, zone: &str) -> Option<Vec<SelectorTerm>> {
    Some(vec![term(&[is_in(key, &[zone])])])
}

/// Asks, compares the whole answer, and returns it for a look at the texts.
fn check(row: &str, question: &LabellingQuestion, nodes: &[Topology], wanted: Wanted) -> LabellingAnswer {
    check_with(&Settings::default(), row, question, nodes, wanted)
}

fn check_with(
    settings: &Settings,
    row: &str,
    question: &LabellingQuestion,
    nodes: &[Topology],
    wanted: Wanted,
) -> LabellingAnswer {
    let Wanted { basis, labels, affinity, findings, reason } = wanted;
    let answer = label_volume(settings, nodes, question);
    let found = answer.findings.iter().map(|finding| (finding.severity, finding.reason.code.as_str()));
    assert_eq!(found.collect::<Vec<_>>(), findings, "{row}: {:?}", answer.findings);
    assert_eq!(answer.labels, labels.iter().map(label).collect::<Vec<_>>(), "{row}");
    assert_eq!(answer.affinity, affinity, "{row}");
    assert_eq!((answer.basis, answer.reason.code.as_str()), (basis, reason), "{row}");
    answer
}

/// Whether the text names all of these.
fn assert_names(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{text:?} does not name {part:?}");
    }
}
