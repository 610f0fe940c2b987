//! Small worlds, and what is asserted of a verdict.

pub(super) use super::nodes::*;
pub(super) use super::volumes::*;
use crate::placement::{self, Nodes};
use crate::settings::Settings;
use zonewarden_bindings::placement::{
    BindingMode, Candidate, Claim, ClaimFacts, ClaimState, ClaimedClass, ClaimedVolume, ClassDecision, ClassScore,
    InlineVolume, PodQuestion, PodVolume, PodVolumeSource, RefusalOrigin, StorageClass, UnboundClaim,
};
use zonewarden_bindings::types::{
    CsiSource, KubernetesVolumeId, Label, Reason, Requirement, SelectorOperator, SelectorTerm, VolumeAffinity,
    VolumeEvidence, VolumeFacts, VolumeSource, VolumeState, Zone,
};

pub(super) const GA: &str = "topology.kubernetes.io/zone";
pub(super) const GA_REGION: &str = "topology.kubernetes.io/region";
pub(super) const BETA: &str = "failure-domain.beta.kubernetes.io/zone";
pub(super) const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";
pub(super) const EBS_ZONE: &str = "topology.ebs.csi.aws.com/zone";
pub(super) const EBS: &str = "ebs.csi.aws.com";
pub(super) const EBS_PLUGIN: &str = "kubernetes.io/aws-ebs";
pub(super) const VOL: &str = "vol-0123456789abcdef0";
pub(super) const OTHER_VOL: &str = "vol-0123456789abcdef1";

/// Decision, origin and codes.
pub(super) type Wanted = (ClassDecision, RefusalOrigin, &'static [&'static str]);

pub(super) const FITS: Wanted = (ClassDecision::Feasible, RefusalOrigin::Kubernetes, &["fits"]);
pub(super) const FITS_SOMEWHERE: Wanted = (ClassDecision::Feasible, RefusalOrigin::Kubernetes, &["fits-zone-unknown"]);

/// Refused by Kubernetes for good.
pub(super) const fn never(codes: &'static [&'static str]) -> Wanted {
    (ClassDecision::Unresolvable, RefusalOrigin::Kubernetes, codes)
}

/// Refused by Kubernetes for now.
pub(super) const fn not_now(codes: &'static [&'static str]) -> Wanted {
    (ClassDecision::Refused, RefusalOrigin::Kubernetes, codes)
}

/// Refused by the policy for good.
pub(super) const fn ours(codes: &'static [&'static str]) -> Wanted {
    (ClassDecision::Unresolvable, RefusalOrigin::Zonewarden, codes)
}

/// Refused by the policy for now.
pub(super) const fn ours_now(codes: &'static [&'static str]) -> Wanted {
    (ClassDecision::Refused, RefusalOrigin::Zonewarden, codes)
}

pub(super) fn labels(pairs: &[(&str, &str)]) -> Vec<Label> {
    pairs.iter().map(|(key, value)| Label { key: (*key).to_owned(), value: (*value).to_owned() }).collect()
}

pub(super) fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(super) fn requirement(key: &str, operator: SelectorOperator, values: &[&str]) -> Requirement {
    Requirement { key: key.to_owned(), operator, values: strings(values) }
}

pub(super) fn is_in(key: &str, values: &[&str]) -> Requirement {
    requirement(key, SelectorOperator::In, values)
}

pub(super) fn term(requirements: Vec<Requirement>) -> SelectorTerm {
    SelectorTerm { requirements, has_match_fields: false }
}

/// One term of one requirement.
pub(super) fn only(key: &str, values: &[&str]) -> VolumeAffinity {
    VolumeAffinity::Required(vec![term(vec![is_in(key, values)])])
}

/// A verdict with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) decision: ClassDecision,
    pub(super) origin: RefusalOrigin,
    pub(super) reasons: Vec<Reason>,
}

pub(super) fn filter(settings: &Settings, pod: &PodQuestion, nodes: &[Node]) -> Vec<Told> {
    let table = table(nodes);
    let verdicts = placement::filter(settings, pod, &Nodes::new(&table).expect("the nodes fit their places"));
    let told = verdicts.classes.iter().map(|verdict| Told {
        decision: verdict.decision,
        origin: verdict.origin,
        reasons: verdict.reasons.iter().map(|reason| verdicts.reasons[*reason as usize].clone()).collect(),
    });
    told.collect()
}

pub(super) fn score(settings: &Settings, pod: &PodQuestion, nodes: &[Node]) -> Vec<ClassScore> {
    let table = table(nodes);
    placement::score(settings, pod, &Nodes::new(&table).expect("the nodes fit their places"))
}

pub(super) fn csi(driver: &str, handle: &str) -> VolumeSource {
    let volume_handle = KubernetesVolumeId { kubernetes_volume_id: handle.to_owned() };
    VolumeSource::Csi(CsiSource { driver: driver.to_owned(), volume_handle })
}

pub(super) fn in_tree(id: &str) -> VolumeSource {
    VolumeSource::AwsElasticBlockStore(KubernetesVolumeId { kubernetes_volume_id: id.to_owned() })
}

pub(super) fn facts(zone: Option<&str>, state: VolumeState) -> VolumeFacts {
    let zone = zone.map(|zone| Zone { zone: zone.to_owned() });
    VolumeFacts { age_seconds: 5, state, zone, multi_attach: false, attributes: vec![] }
}

/// EC2 has it in this zone.
pub(super) fn ec2(zone: &str) -> VolumeEvidence {
    VolumeEvidence::Found(facts(Some(zone), VolumeState::Available))
}

pub(super) fn bound(volume: PersistentVolume) -> ClaimFacts {
    ClaimFacts {
        deleting: false,
        lost: false,
        owned_by_pod: false,
        bind_completed: true,
        volume: ClaimedVolume::Found(volume.shown()),
    }
}

/// A claim that waits for its pod.
pub(super) fn waiting() -> UnboundClaim {
    UnboundClaim {
        class: ClaimedClass::Found(class(Some(BindingMode::WaitForFirstConsumer))),
        selected_node: None,
        candidates: vec![],
        requested_bytes: Some(10),
        access_modes: strings(&["ReadWriteOnce"]),
        volume_mode: "Filesystem".to_owned(),
    }
}

pub(super) fn unbound(claim: UnboundClaim) -> ClaimFacts {
    ClaimFacts { volume: ClaimedVolume::None(claim), bind_completed: false, ..bound(pv("unused")) }
}

pub(super) fn class(binding_mode: Option<BindingMode>) -> StorageClass {
    let [name, provisioner] = ["gp3", EBS].map(str::to_owned);
    StorageClass { name, provisioner, binding_mode, allowed_topologies: vec![] }
}

/// A volume that suits `waiting`.
pub(super) fn candidate(volume: PersistentVolume) -> Candidate {
    Candidate {
        volume: volume.shown(),
        available: true,
        capacity_bytes: Some(10),
        access_modes: strings(&["ReadWriteOnce", "ReadOnlyMany"]),
        volume_mode: "Filesystem".to_owned(),
        selected: true,
    }
}

/// A pod's volume `data-N` with claim `claim-N`.
pub(super) fn claimed(number: usize, facts: ClaimFacts) -> PodVolume {
    claim(number, false, facts)
}

pub(super) fn ephemeral(number: usize, facts: ClaimFacts) -> PodVolume {
    claim(number, true, facts)
}

fn claim(number: usize, ephemeral: bool, facts: ClaimFacts) -> PodVolume {
    let claim = Claim { name: format!("claim-{number}"), ephemeral, state: ClaimState::Found(facts) };
    PodVolume { name: format!("data-{number}"), source: PodVolumeSource::Claim(claim) }
}

pub(super) fn direct(number: usize, source: VolumeSource, evidence: VolumeEvidence) -> PodVolume {
    PodVolume { name: format!("data-{number}"), source: PodVolumeSource::Inline(InlineVolume { source, evidence }) }
}

pub(super) fn pod(volumes: Vec<PodVolume>) -> PodQuestion {
    PodQuestion { pod: "shop/web-0".to_owned(), volumes, topologies: topologies(), required_drivers: vec![] }
}

/// A pod with one bound claim.
pub(super) fn pod_of(volume: PersistentVolume) -> PodQuestion {
    pod(vec![claimed(0, bound(volume))])
}

/// Asserts the whole verdict but for its messages, and that the first message names what it must.
pub(super) fn assert_verdict(row: &str, verdict: &Told, wanted: Wanted, names: &[&str]) {
    let codes: Vec<&str> = verdict.reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert_eq!((verdict.decision, verdict.origin, codes.as_slice()), wanted, "{row}: {verdict:?}");
    for name in names {
        assert!(
            verdict.reasons[0].message.contains(name),
            "{row}: {name:?} is not in {:?}",
            verdict.reasons[0].message
        );
    }
    for reason in &verdict.reasons {
        assert!(!reason.message.ends_with('.'), "{row}: {:?} has a full stop", reason.message);
    }
}

/// One class under the default settings.
pub(super) fn check(row: &str, pod: &PodQuestion, class: &Node, wanted: Wanted, names: &[&str]) {
    check_with(row, &Settings::default(), (pod, class), wanted, names);
}

pub(super) fn check_with(
    row: &str,
    settings: &Settings,
    (pod, class): (&PodQuestion, &Node),
    wanted: Wanted,
    names: &[&str],
) {
    let verdicts = filter(settings, pod, std::slice::from_ref(class));
    assert_eq!(verdicts.len(), 1, "{row}");
    assert_verdict(row, &verdicts[0], wanted, names);
}
