//! The volumes that are stuck on their way, one by one.

use std::collections::BTreeMap;

use zonewarden_contract::attachment::{AttachmentState, Drift, Observation, Verdict, VolumeReport};
use zonewarden_contract::types::{AwsVolumeId, InstanceId};

use crate::attachments::JudgedAttachment;

/// A volume that is stuck on its way to an instance or from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckVolume {
    /// The volume.
    pub volume: AwsVolumeId,
    /// The instance; `None` where nobody knows it.
    pub instance: Option<InstanceId>,
    /// The PersistentVolume; `None` where there is none.
    pub persistent_volume: Option<String>,
    /// The state of the attachment at EC2: `attaching`, `attached`, `detaching`, `busy`, `other`; `none` where EC2 has none,
    /// `unknown` where that is not known.
    pub state: &'static str,
    /// For how long, in seconds.
    pub seconds: u32,
}

/// Those among the judged pairs that a policy calls stuck, the longest stuck first. Which of them are named once only, since
/// two VolumeAttachments can tell of the same volume, instance and state.
pub(crate) fn of(judged: &[JudgedAttachment<'_>]) -> Vec<StuckVolume> {
    let mut stuck: BTreeMap<_, StuckVolume> = BTreeMap::new();
    for pair in judged.iter().filter(|pair| is_stuck(&pair.judgement.verdict)) {
        let found = of_pair(&pair.observation);
        let key = (found.volume.clone(), found.instance.clone(), found.persistent_volume.clone(), found.state);
        match stuck.get(&key) {
            Some(known) if known.seconds >= found.seconds => {}
            Some(_) | None => drop(stuck.insert(key, found)),
        }
    }
    let mut stuck: Vec<_> = stuck.into_values().collect();
    stuck.sort_by_key(|stuck| std::cmp::Reverse(stuck.seconds));
    stuck
}

/// The policy knows for how long what may take.
fn is_stuck(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Drift(Drift::StuckAttaching | Drift::StuckDetaching | Drift::DetachFailing))
}

fn of_pair(observation: &Observation) -> StuckVolume {
    let own = match &observation.volume_report {
        VolumeReport::Found(volume) => {
            let is_own = |instance: &Option<InstanceId>| instance.is_some() && *instance == observation.instance;
            Some(volume.attachments.iter().find(|held| is_own(&held.instance)))
        }
        VolumeReport::Missing(_) => Some(None),
        VolumeReport::Unknown => None,
    };
    let state = match own {
        Some(Some(held)) => state_of(&held.state),
        Some(None) => "none",
        None => "unknown",
    };
    // What EC2 is moving is as old as its state there; what it does not move is as old as Kubernetes' wish.
    let at_ec2 = own.flatten().filter(|_| matches!(state, "attaching" | "detaching" | "busy" | "other"));
    let wished = || {
        let attachment = observation.attachment.as_ref();
        attachment.map(|attachment| attachment.deleting_seconds.unwrap_or(attachment.age_seconds))
    };
    let seconds = at_ec2.map(|held| held.seconds).or_else(wished).or(own.flatten().map(|held| held.seconds));
    StuckVolume {
        volume: observation.volume.clone(),
        instance: observation.instance.clone(),
        persistent_volume: observation.persistent_volume.clone(),
        state,
        seconds: seconds.unwrap_or_default(),
    }
}

const fn state_of(state: &AttachmentState) -> &'static str {
    match state {
        AttachmentState::Attaching => "attaching",
        AttachmentState::Attached => "attached",
        AttachmentState::Detaching => "detaching",
        // It may stand in EC2's list for a while and counts as absent.
        AttachmentState::Detached => "none",
        AttachmentState::Busy => "busy",
        AttachmentState::Other(_) => "other",
    }
}

#[cfg(test)]
mod tests;
