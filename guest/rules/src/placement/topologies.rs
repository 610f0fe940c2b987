//! What the objects of PersistentVolumes say about where they may be used, read once for all volumes that say the same.

use super::labels::ZoneLabel;
use super::nodes::{at, not_there};
use crate::selector::NodeSelector;
use zonewarden_bindings::placement::{
    Claim, ClaimState, ClaimedVolume, PersistentVolume, PodQuestion, PodVolumeSource, VolumeTopology,
};
use zonewarden_bindings::types::{Problem, VolumeAffinity};

/// A topology of the question.
#[derive(Debug)]
pub(super) struct Topology<'a> {
    pub(super) said: &'a VolumeTopology,
    /// The affinity as written; `None`: every node.
    pub(super) affinity: Option<NodeSelector<'a>>,
    /// The labels that VolumeZone reads.
    pub(super) zone_labels: Vec<ZoneLabel<'a>>,
}

impl<'a> Topology<'a> {
    pub(super) fn all(pod: &'a PodQuestion) -> Vec<Self> {
        let read = |said: &'a VolumeTopology| Self {
            said,
            affinity: match &said.affinity {
                VolumeAffinity::Required(terms) => Some(NodeSelector::new(terms.as_slice())),
                VolumeAffinity::Unset | VolumeAffinity::Unrestricted => None,
            },
            zone_labels: ZoneLabel::all(&said.labels),
        };
        pod.topologies.iter().map(read).collect()
    }
}

/// Finds the first volume of a pod's question that names a topology which is not there: the question can't be read.
#[must_use]
pub fn problem_of(pod: &PodQuestion) -> Option<Problem> {
    let is_lost = |volume: &&PersistentVolume| at(volume.topology) >= pod.topologies.len();
    let claims = pod.volumes.iter().filter_map(|volume| match &volume.source {
        PodVolumeSource::Claim(claim) => Some(claim),
        PodVolumeSource::Inline(_) => None,
    });
    let lost = claims.flat_map(volumes_of).find(is_lost)?;
    let who = format!("PersistentVolume {}", lost.name);
    Some(not_there("pod.topologies", &who, ["topology", "topologies"], lost.topology, pod.topologies.len()))
}

/// The volumes that a claim has or may get.
fn volumes_of(claim: &Claim) -> impl Iterator<Item = &PersistentVolume> {
    let claimed = match &claim.state {
        ClaimState::Found(facts) => Some(&facts.volume),
        ClaimState::Missing => None,
    };
    let (bound, candidates) = match claimed {
        Some(ClaimedVolume::Found(volume)) => (Some(volume), &[][..]),
        Some(ClaimedVolume::None(unbound)) => (None, unbound.candidates.as_slice()),
        Some(ClaimedVolume::Missing(_)) | None => (None, &[][..]),
    };
    bound.into_iter().chain(candidates.iter().map(|candidate| &candidate.volume))
}
