//! What one read says of one pair, and how often in a row it was said.

use zonewarden_contract::attachment::{AttachmentState, InstanceState};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, VolumeState};
use zonewarden_ec2::{Evidence, Instance, Volume};

use crate::clock::Moment;

/// How often in a row something was seen, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) reads: u32,
    pub(crate) seconds: u32,
}

/// Something that was said, in a row.
#[derive(Debug)]
pub(super) struct Repeated<T> {
    claim: T,
    reads: u32,
    /// Since when.
    pub(super) first: Moment,
    last: Moment,
}

/// What a read of a volume says of one pair.
#[derive(Debug, PartialEq)]
pub(super) enum VolumeClaim {
    Missing,
    Found { state: VolumeState, own: Option<AttachmentState>, others: usize, device: Option<String> },
}

/// What a read of an instance says of one pair.
#[derive(Debug, PartialEq)]
pub(super) enum InstanceClaim {
    Missing,
    Found { state: InstanceState, mapping: Option<AttachmentState> },
}

impl<T: PartialEq> Repeated<T> {
    pub(super) fn take(before: Option<Self>, claim: T, asked: Moment) -> Option<Self> {
        match before {
            // An answer that overtook another is no second read.
            Some(before) if before.last >= asked => Some(before),
            Some(before) if before.claim == claim => {
                Some(Self { reads: before.reads.saturating_add(1), last: asked, ..before })
            }
            Some(_) | None => Some(Self { claim, reads: 1, first: asked, last: asked }),
        }
    }

    /// Whether a newer answer says something else.
    pub(super) fn is_taken_back(&self, claim: &T, asked: Moment) -> bool {
        self.last < asked && self.claim != *claim
    }

    pub(super) fn run(&self) -> Run {
        Run { reads: self.reads, seconds: self.last.seconds_since(self.first) }
    }
}

impl Repeated<VolumeClaim> {
    /// Whether the volume is there, and not on the pair's instance.
    pub(super) fn has_left(&self) -> bool {
        matches!(self.claim, VolumeClaim::Found { own: None, .. })
    }
}

pub(super) fn volume_claim(evidence: &Evidence<Volume>, instance: &InstanceId) -> Option<VolumeClaim> {
    match evidence {
        Evidence::Unknown(_) => None,
        Evidence::Missing { .. } => Some(VolumeClaim::Missing),
        Evidence::Found { record, .. } => {
            let is_own = |held: &&zonewarden_ec2::Attachment| held.instance.as_ref() == Some(instance);
            let own = record.holders().find(is_own);
            Some(VolumeClaim::Found {
                state: record.state.clone(),
                own: own.map(|held| held.state.clone()),
                others: record.holders().filter(|held| !is_own(held)).count(),
                device: own.and_then(|held| held.device.clone()),
            })
        }
    }
}

pub(super) fn instance_claim(evidence: &Evidence<Instance>, volume: &AwsVolumeId) -> Option<InstanceClaim> {
    match evidence {
        Evidence::Unknown(_) => None,
        Evidence::Missing { .. } => Some(InstanceClaim::Missing),
        Evidence::Found { record, .. } => {
            // The mappings of a terminated instance fade one by one, which is no news.
            let is_dead = matches!(record.state, InstanceState::Terminated);
            let mapping = if is_dead { None } else { record.mapping(volume).cloned() };
            Some(InstanceClaim::Found { state: record.state.clone(), mapping })
        }
    }
}
