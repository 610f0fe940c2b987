//! What is known of a volume beyond its Kubernetes objects, and the refusals that follow from it: ours, not Kubernetes'
//! (F-40, H-3, H-5, D-38).

use super::places::Site;
use super::question::Volume;
use super::refusal::{Refusal, Stage};
use crate::identity::Canonical;
use crate::keys;
use crate::selector::value;
use crate::settings::Settings;
use zonewarden_bindings::types::{Label, VolumeEvidence, VolumeFacts, VolumeState};

/// Where a volume is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Whereabouts<'a> {
    pub(super) zone: Option<KnownZone<'a>>,
    /// The id of the Outpost that it lies on.
    outpost: Option<&'a str>,
    /// Why it is of no use anywhere.
    gone: Option<Gone<'a>>,
}

/// A zone, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownZone<'a> {
    /// EC2, which is right.
    Ec2(&'a str),
    /// The volume's own id, which nobody ever checked.
    Hint(&'a str),
}

/// Why EC2 can't attach a volume to anything.
#[derive(Debug, Clone, Copy)]
enum Gone<'a> {
    Missing(u32),
    State(&'static str, &'a VolumeFacts),
}

impl<'a> KnownZone<'a> {
    pub(super) const fn name(self) -> &'a str {
        match self {
            Self::Ec2(zone) | Self::Hint(zone) => zone,
        }
    }
}

impl<'a> Whereabouts<'a> {
    /// Reads the evidence. Only a volume of ours has whereabouts.
    pub(super) fn new(settings: &Settings, canonical: &Canonical<'a>, evidence: &'a VolumeEvidence) -> Self {
        let Canonical::Volume(id) = canonical else { return Self::default() };
        let hint = id.zone_hint().filter(|_| settings.zone_hints).map(KnownZone::Hint);
        match evidence {
            VolumeEvidence::Unknown => Self { zone: hint, ..Self::default() },
            VolumeEvidence::Missing(age) => Self { gone: Some(Gone::Missing(*age)), ..Self::default() },
            VolumeEvidence::Found(facts) => {
                let zone = facts.zone.as_ref().map(|zone| zone.zone.as_str()).filter(|zone| !zone.is_empty());
                Self { zone: zone.map(KnownZone::Ec2).or(hint), outpost: outpost(facts), gone: Gone::of(facts) }
            }
        }
    }
}

impl<'a> Gone<'a> {
    const fn of(facts: &'a VolumeFacts) -> Option<Self> {
        match facts.state {
            VolumeState::Deleting => Some(Self::State("volume-deleting", facts)),
            VolumeState::Deleted => Some(Self::State("volume-deleted", facts)),
            VolumeState::Error => Some(Self::State("volume-failed", facts)),
            VolumeState::Creating | VolumeState::Available | VolumeState::InUse | VolumeState::Other(_) => None,
        }
    }
}

/// The last part of the ARN: `op-0123456789abcdef0`.
fn outpost(facts: &VolumeFacts) -> Option<&str> {
    let arn = value(&facts.attributes, keys::OUTPOST_ARN)?;
    arn.rsplit('/').next().filter(|id| !id.is_empty())
}

/// What refuses a volume on every node: EC2 has no such volume, or not for long, or its id names none.
pub(super) fn gone(volume: &Volume<'_>) -> Option<Refusal> {
    let gone = volume.whereabouts.gone?;
    let id = match &volume.canonical {
        Canonical::Volume(id) => id.id().as_str(),
        // Where the scheduler fails over the id, that is told class by class.
        Canonical::Rejected(_) | Canonical::Foreign(_) => return None,
    };
    let described = volume.describe();
    let (code, message) = match gone {
        Gone::Missing(age) => {
            let message = format!("{described} names {id}, and EC2 said {age} s ago that there is no such volume");
            ("volume-missing", message)
        }
        Gone::State(code, facts) => {
            let state = code.trim_start_matches("volume-");
            let age = facts.age_seconds;
            (code, format!("{described} names {id}, which EC2 reported as {state} {age} s ago"))
        }
    };
    Some(Refusal::passing(Stage::Ours, volume.position, code, message))
}

/// Holds what is known of the volume against the nodes: an id that names no volume is worse than a wrong zone, and that worse
/// than another Outpost of the right one.
pub(super) fn judge(volume: &Volume<'_>, site: &Site<'_>, refuses_unlabelled: bool) -> Option<Refusal> {
    let (code, message) = if let Canonical::Rejected(rejected) = &volume.canonical {
        let message = [volume.describe(), " can't be attached anywhere: ", &rejected.to_problem().message].concat();
        ("volume-id-rejected", message)
    } else {
        let outpost =
            || Some(("outpost-mismatch", outpost_refusal(volume, volume.whereabouts.outpost?, &site.place.labels)?));
        zone_refusal(volume, site, refuses_unlabelled).or_else(outpost)?
    };
    Some(Refusal::lasting(Stage::Ours, volume.position, code, message))
}

/// The zone that the nodes are in, and the label that says so: the CSI driver's own first, which comes from the instance.
pub(super) fn node_zone(labels: &[Label]) -> Option<(&'static str, &str)> {
    [keys::ZONE_EBS_CSI, keys::ZONE, keys::ZONE_BETA].into_iter().find_map(|key| Some((key, value(labels, key)?)))
}

fn zone_refusal(volume: &Volume<'_>, site: &Site<'_>, refuses_unlabelled: bool) -> Option<(&'static str, String)> {
    // A hint decides only for a volume that the pod names directly: nothing else places that one.
    let decides = |zone: &KnownZone<'_>| matches!(zone, KnownZone::Ec2(_)) || volume.bound.is_none();
    let zone = volume.whereabouts.zone.filter(decides);
    match (zone, site.zone) {
        (Some(zone), Some((key, found))) if found != zone.name() => {
            let (code, says) = match zone {
                KnownZone::Ec2(_) => ("ec2-zone-mismatch", " by EC2, which lets no instance of another zone attach it"),
                KnownZone::Hint(_) => ("zone-hint-mismatch", " by its own id, which EC2 was not there to confirm"),
            };
            let text = [volume.describe(), " is in ", zone.name(), says, ", and the node has ", key, "=", found];
            Some((code, text.concat()))
        }
        (Some(_), Some(_)) => None,
        (zone, _) if refuses_unlabelled => unlabelled_refusal(volume, zone, site),
        _ => None,
    }
}

/// F-40 and F-60 in strict mode: a node that VolumeZone lets pass for want of labels.
fn unlabelled_refusal(
    volume: &Volume<'_>,
    zone: Option<KnownZone<'_>>,
    site: &Site<'_>,
) -> Option<(&'static str, String)> {
    let label = volume.zone_label();
    let has = match site.zone {
        None => ["the node has no ", keys::ZONE, " to tell its zone by"].concat(),
        // VolumeZone does not read the CSI driver's key; here it tells the zone.
        Some((key, found)) if !site.has_place && label.is_some_and(|label| !label.holds(found)) => {
            ["the node has only ", key, "=", found].concat()
        }
        Some(_) => return None,
    };
    let known = zone.map(KnownZone::name).or_else(|| label.map(|label| label.value))?;
    let advice = "; label the node, or set unlabelled-nodes to pass";
    Some(("unlabelled-node", [volume.describe(), " is in ", known, ", and ", &has, advice].concat()))
}

/// D-38: a volume of an Outpost attaches only there. A node without any label of the CSI driver may be there or not.
fn outpost_refusal(volume: &Volume<'_>, outpost: &str, labels: &[Label]) -> Option<String> {
    let node = value(labels, keys::OUTPOST_EBS_CSI);
    let is_registered = value(labels, keys::ZONE_EBS_CSI).is_some();
    let has = match node {
        Some(found) if found == outpost => return None,
        Some(found) => ["the node has ", keys::OUTPOST_EBS_CSI, "=", found].concat(),
        None if is_registered => ["the node has no ", keys::OUTPOST_EBS_CSI].concat(),
        None => return None,
    };
    Some([volume.describe(), " lies on the Outpost ", outpost, ", and ", &has].concat())
}
