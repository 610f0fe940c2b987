//! The node affinity for a pod that names EBS volumes directly, which Kubernetes places blindly (H-1 to H-6, h2).

use super::question::Volume;
use super::whereabouts::{KnownZone, gone};
use crate::answer::{finding, reason};
use crate::identity::{Canonical, identify_volume};
use crate::keys;
use crate::selector::{describe_requirement, is_usable};
use crate::settings::Settings;
use zonewarden_bindings::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::placement::{InjectedAffinity, Injection, PodQuestion, PodVolumeSource};
use zonewarden_bindings::types::{
    Finding, Reason, Requirement, SelectorOperator, SelectorTerm, Severity, VolumeSource, Zone,
};

/// Says which node affinity the pod needs. `terms` are its own required terms.
#[must_use]
pub fn inject(settings: &Settings, pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Injection {
    let volumes = direct_volumes(settings, pod);
    let mut findings = Vec::new();
    let (zone, volume) = match common_zone(&pod.pod, &volumes) {
        Ok(found) => found,
        Err(injection) => return injection,
    };
    for volume in &volumes {
        findings.extend(about_volume(settings, volume));
    }
    let own: &[SelectorTerm] = terms.unwrap_or_default();
    if terms.is_some() {
        if !own.iter().any(is_usable) {
            let text = ["the required node affinity of pod ", &pod.pod, " matches no node, whatever zone it asks for"];
            return Injection::Contradiction(reason("affinity-matches-nothing", text.concat()));
        }
        if let Some(excluded) = excluded_by_all(own, zone) {
            let text = [
                volume.describe(),
                " is in ",
                zone,
                ", and the node affinity of pod ",
                &pod.pod,
                " itself excludes that: ",
                &excluded,
            ];
            return Injection::Contradiction(reason("affinity-excludes-zone", text.concat()));
        }
        if own.iter().filter(|term| is_usable(term)).all(|term| says(term, zone)) {
            let text = ["the node affinity of pod ", &pod.pod, " asks for ", keys::ZONE, "=", zone, " already"];
            return Injection::Nothing(reason("affinity-present", text.concat()));
        }
        findings.extend(own.iter().enumerate().filter_map(|(index, term)| about_term(index, term, zone)));
    }
    let text = [
        volume.describe(),
        " is in ",
        zone,
        ", so pod ",
        &pod.pod,
        " may run only on nodes with ",
        keys::ZONE,
        "=",
        zone,
    ];
    Injection::Inject(InjectedAffinity {
        terms: narrowed(terms, zone),
        reason: reason("zone-of-direct-volume", text.concat()),
        findings,
    })
}

/// The EBS volumes that the pod names directly. Those of other kinds have no zone that we could know.
fn direct_volumes<'a>(settings: &'a Settings, pod: &'a PodQuestion) -> Vec<Volume<'a>> {
    let direct = |(position, volume): (usize, &'a zonewarden_bindings::placement::PodVolume)| match &volume.source {
        PodVolumeSource::Inline(inline) if matches!(inline.source, VolumeSource::AwsElasticBlockStore(_)) => {
            Some(Volume::inline(settings, position, &volume.name, inline))
        }
        _ => None,
    };
    let is_ours = |volume: &Volume<'_>| !matches!(volume.canonical, Canonical::Foreign(_));
    pod.volumes.iter().enumerate().filter_map(direct).filter(is_ours).collect()
}

/// The one zone of all volumes, and the first volume that says so.
fn common_zone<'v, 'a>(pod: &str, volumes: &'v [Volume<'a>]) -> Result<(&'a str, &'v Volume<'a>), Injection> {
    if volumes.is_empty() {
        let text = ["pod ", pod, " names no EBS volume directly"].concat();
        return Err(Injection::Nothing(reason("no-direct-volume", text)));
    }
    if let Some(reason) = volumes.iter().find_map(unusable) {
        return Err(Injection::Contradiction(reason));
    }
    let known = |volume: &'v Volume<'a>| Some((volume.whereabouts.zone?.name(), volume));
    let mut placed = volumes.iter().filter_map(known);
    let first = placed.next();
    if let Some((zone, volume)) = first
        && let Some((other_zone, other)) = placed.find(|(other, _)| *other != zone)
    {
        let text = [
            volume.describe(),
            " is in ",
            zone,
            " and ",
            other.describe(),
            " in ",
            other_zone,
            ": no node can attach both",
        ];
        return Err(Injection::Contradiction(reason("volumes-in-different-zones", text.concat())));
    }
    if let Some(volume) = volumes.iter().find(|volume| volume.whereabouts.zone.is_none()) {
        let text = [volume.describe(), " has a zone that nobody knows yet: EC2 has to be asked"].concat();
        return Err(Injection::Undecided(reason("zone-unknown", text)));
    }
    first.ok_or_else(|| Injection::Nothing(reason("no-direct-volume", ["pod ", pod, " names no EBS volume"].concat())))
}

/// Why no affinity helps: there is no such volume.
fn unusable(volume: &Volume<'_>) -> Option<Reason> {
    if let Canonical::Rejected(rejected) = &volume.canonical {
        let text = [volume.describe(), " can't be attached anywhere: ", &rejected.to_problem().message];
        return Some(reason("volume-id-rejected", text.concat()));
    }
    gone(volume).map(|refusal| refusal.reason)
}

/// What is odd about a volume: leniencies of its id, a zone in the id that EC2 contradicts or did not confirm.
fn about_volume(settings: &Settings, volume: &Volume<'_>) -> Vec<Finding> {
    let (ec2_zone, hint) = match volume.whereabouts.zone {
        Some(KnownZone::Ec2(zone)) => (Some(Zone { zone: zone.to_owned() }), None),
        Some(KnownZone::Hint(zone)) => (None, Some(zone)),
        None => (None, None),
    };
    let id = zonewarden_bindings::types::KubernetesVolumeId { kubernetes_volume_id: volume.text.to_owned() };
    let source = VolumeSource::AwsElasticBlockStore(id);
    let mut findings = match identify_volume(settings, &VolumeQuestion { source, ec2_zone }) {
        VolumeIdentity::Identified(identified) => identified.warnings,
        VolumeIdentity::Foreign(_) | VolumeIdentity::Rejected(_) => Vec::new(),
    };
    if let Some(zone) = hint {
        let text = [
            volume.describe(),
            " is taken to be in ",
            zone,
            " by its own id alone, since EC2 was not there to confirm it",
        ];
        findings.push(finding(Severity::Warning, "zone-by-hint", text.concat()));
    }
    findings
}

/// A usable term that the zone leaves without nodes, where other terms remain.
fn about_term(index: usize, term: &SelectorTerm, zone: &str) -> Option<Finding> {
    let excluding = term.requirements.iter().find(|requirement| is_usable(term) && excludes(requirement, zone))?;
    let message = format!(
        "term {index} of the pod's node affinity asks for {} and matches no node any more, since the pod's volume is in {zone}",
        describe_requirement(excluding)
    );
    Some(finding(Severity::Warning, "term-excluded", message))
}

/// What each usable term asks for that excludes the zone, where all of them do.
fn excluded_by_all(terms: &[SelectorTerm], zone: &str) -> Option<String> {
    let excluding = |term: &SelectorTerm| {
        let found = term.requirements.iter().find(|requirement| excludes(requirement, zone));
        found.map(describe_requirement)
    };
    let found: Option<Vec<String>> = terms.iter().filter(|term| is_usable(term)).map(excluding).collect();
    found.map(|found| found.join(" or "))
}

/// Whether no node of the zone satisfies the requirement, once its zone label is required too.
///
/// Under the label's own key that is exact. A node need not carry the older or the CSI driver's key, so there only a list
/// that lacks the zone excludes it.
fn excludes(requirement: &Requirement, zone: &str) -> bool {
    let is_listed = requirement.values.iter().any(|value| value == zone);
    match (requirement.key.as_str(), &requirement.operator) {
        (keys::ZONE | keys::ZONE_BETA | keys::ZONE_EBS_CSI, SelectorOperator::In) => !is_listed,
        (keys::ZONE, SelectorOperator::NotIn) => is_listed,
        (keys::ZONE, SelectorOperator::DoesNotExist) => true,
        _ => false,
    }
}

/// Whether the term already asks for the zone and no other.
fn says(term: &SelectorTerm, zone: &str) -> bool {
    term.requirements.iter().any(|requirement| {
        requirement.key == keys::ZONE
            && matches!(requirement.operator, SelectorOperator::In)
            && requirement.values.iter().all(|value| value == zone)
    })
}

/// The pod's own terms with the zone required in each, or one new term.
///
/// A term that matches no node stays as it is: one more requirement would make the empty term match.
fn narrowed(terms: Option<&[SelectorTerm]>, zone: &str) -> Vec<SelectorTerm> {
    let requirement =
        || Requirement { key: keys::ZONE.to_owned(), operator: SelectorOperator::In, values: vec![zone.to_owned()] };
    let Some(terms) = terms else {
        return vec![SelectorTerm { requirements: vec![requirement()], has_match_fields: false }];
    };
    let narrow = |term: &SelectorTerm| {
        let mut term = term.clone();
        if is_usable(&term) && !says(&term, zone) {
            term.requirements.push(requirement());
        }
        term
    };
    terms.iter().map(narrow).collect()
}
