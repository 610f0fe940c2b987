//! Where a volume's zone is known from: EC2, else the object's own hints, else nowhere.

use zonewarden_bindings::identity::IdentifiedVolume;
use zonewarden_bindings::labelling::{LabellingBasis, LabellingQuestion};
use zonewarden_bindings::types::{Finding, Reason, Severity, VolumeEvidence, VolumeFacts, VolumeState};

use super::{affinity, names};
use crate::answer::{finding, reason};
use crate::keys;
use crate::region;
use crate::settings::Settings;

/// A volume's zone.
pub(super) struct Placed {
    pub(super) zone: String,
    /// The zone's id, where EC2 told it.
    pub(super) zone_id: Option<String>,
    pub(super) basis: LabellingBasis,
    /// How it is known.
    pub(super) reason: Reason,
}

impl Placed {
    /// The zone's region; `None` for a zone of unknown shape (D-38).
    pub(super) fn region(&self) -> Option<&str> {
        region::of_zone(&self.zone)
    }

    pub(super) fn is_proven(&self) -> bool {
        self.basis == LabellingBasis::Ec2
    }
}

/// What is known about the zone.
pub(super) enum Origin {
    /// The zone.
    Known(Placed),
    /// Nobody says it.
    Unknown(Reason),
    /// The volume is not there, or not for long: nothing is to be written, the finding says why.
    Gone(Finding),
}

/// Finds the zone, and adds what is odd about it to the findings.
pub(super) fn find(
    settings: &Settings,
    question: &LabellingQuestion,
    identified: &IdentifiedVolume,
    findings: &mut Vec<Finding>,
) -> Origin {
    let volume = identified.volume.aws_volume_id.as_str();
    match &question.evidence {
        VolumeEvidence::Missing(_) => {
            let message = format!(
                "EC2 has no volume {volume}, which PersistentVolume {} names: correct the id or delete the object, unless a service of AWS hides the volume",
                question.persistent_volume
            );
            return Origin::Gone(finding(Severity::Error, "volume-missing", message));
        }
        VolumeEvidence::Found(facts) => {
            if let Some(gone) = going(volume, facts, question) {
                return Origin::Gone(gone);
            }
            outpost(volume, facts, findings);
            if let Some(known) = from_ec2(volume, facts, findings) {
                return known;
            }
        }
        VolumeEvidence::Unknown => {}
    }
    from_hints(settings, question, identified, findings)
}

/// A volume that is deleted, or never came to be, gets no zone (E13).
fn going(volume: &str, facts: &VolumeFacts, question: &LabellingQuestion) -> Option<Finding> {
    let (code, word) = match facts.state {
        VolumeState::Deleting => ("volume-deleting", "is deleting"),
        VolumeState::Deleted => ("volume-deleted", "has deleted"),
        VolumeState::Error => ("volume-failed", "could not make"),
        VolumeState::Creating | VolumeState::Available | VolumeState::InUse | VolumeState::Other(_) => return None,
    };
    let name = &question.persistent_volume;
    Some(finding(Severity::Error, code, format!("EC2 {word} volume {volume}, which PersistentVolume {name} names")))
}

/// A volume on an Outpost attaches to that Outpost's instances alone (D-38).
fn outpost(volume: &str, facts: &VolumeFacts, findings: &mut Vec<Finding>) {
    if let Some(arn) = attribute(facts, "outpost-arn") {
        let message =
            format!("volume {volume} is on {arn}: its zone alone does not bring a pod to a node of that Outpost");
        findings.push(finding(Severity::Warning, "volume-on-outpost", message));
    }
}

fn from_ec2(volume: &str, facts: &VolumeFacts, findings: &mut Vec<Finding>) -> Option<Origin> {
    let zone = facts.zone.as_ref().map_or("", |zone| zone.zone.as_str());
    if !names::is_writable(zone) {
        let message = format!("EC2 names {zone:?} as the zone of volume {volume}, which no label can hold");
        findings.push(finding(Severity::Warning, "ec2-zone-unusable", message));
        return None;
    }
    let zone_id = attribute(facts, keys::ZONE_ID).map(str::to_owned);
    let reason = reason("zone-from-ec2", format!("EC2 has volume {volume} in zone {zone}"));
    Some(Origin::Known(Placed { zone: zone.to_owned(), zone_id, basis: LabellingBasis::Ec2, reason }))
}

/// An attribute that is there and not empty.
fn attribute<'a>(facts: &'a VolumeFacts, key: &str) -> Option<&'a str> {
    facts
        .attributes
        .iter()
        .find(|pair| pair.key == key)
        .map(|pair| pair.value.as_str())
        .filter(|value| !value.is_empty())
}

/// The zone that the object itself hints at: its affinity, which a provisioner wrote, and its id, which anybody may have
/// typed. Two hints that differ are none.
fn from_hints(
    settings: &Settings,
    question: &LabellingQuestion,
    identified: &IdentifiedVolume,
    findings: &mut Vec<Finding>,
) -> Origin {
    let (name, volume) = (&question.persistent_volume, &identified.volume.aws_volume_id);
    // An affinity that names a zone's id is told of with the affinity.
    let usable = |zone: &&str| names::is_writable(zone) && !region::is_zone_id(zone);
    let by_affinity = affinity::only_zone(&question.affinity).filter(usable);
    let by_id = identified.zone_hint.as_ref().filter(|_| settings.zone_hints).map(|zone| zone.zone.as_str());
    let known = |zone: &str, code: &str, where_from: &str| {
        let message = format!(
            "the {where_from} of PersistentVolume {name} names zone {zone}, and EC2 said nothing of volume {volume}"
        );
        let reason = reason(code, message);
        Origin::Known(Placed { zone: zone.to_owned(), zone_id: None, basis: LabellingBasis::Hint, reason })
    };
    match (by_affinity, by_id) {
        (Some(zone), Some(other)) if zone != other => {
            let message = format!(
                "PersistentVolume {name} names zone {zone} in its node affinity and zone {other} in its volume id, and EC2 said nothing of volume {volume}"
            );
            findings.push(finding(Severity::Warning, "zone-hints-differ", message));
            unknown(name, volume)
        }
        (Some(zone), _) => known(zone, "zone-from-affinity", "node affinity"),
        (None, Some(zone)) => known(zone, "zone-from-id", "volume id"),
        (None, None) => unknown(name, volume),
    }
}

fn unknown(name: &str, volume: &str) -> Origin {
    Origin::Unknown(reason(
        "zone-unknown",
        format!("nothing tells the zone of volume {volume} of PersistentVolume {name}"),
    ))
}
