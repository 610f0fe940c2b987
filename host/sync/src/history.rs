//! How often and for how long things were seen: what a snapshot can't tell, and a host that goes on looking can.

use zonewarden_cluster::Index;
use zonewarden_cluster::records::VolumeAttachment;
use zonewarden_contract::attachment::{self, MissingInstance};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName};

use crate::clock::Now;
use crate::leases::silence_of;
use crate::memory::{PairKey, Run};
use crate::watch::Watched;

/// Files do not change while they are looked at: what they say was said before and will be said again.
const SETTLED: Run = Run { reads: 3, seconds: 3_600 };

/// Where the counts and the durations of an observation come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum History<'a> {
    /// One look at a snapshot: everything counts as long settled, and ages are the calendar's.
    Settled,
    /// What the host saw since it began.
    Live(&'a Watched, Now),
}

impl History<'_> {
    /// How often what is known of the volume was read; `None` where that tells nothing of the pair as it is now.
    pub(crate) fn volume_run(&self, key: Option<&PairKey>) -> Option<Run> {
        match self {
            Self::Settled => Some(SETTLED),
            Self::Live(watched, _) => watched.memory.volume_run(key?),
        }
    }

    /// How often what is known of the instance was read; `None` where that tells nothing of the pair as it is now.
    pub(crate) fn instance_run(&self, key: Option<&PairKey>) -> Option<Run> {
        match self {
            Self::Settled => Some(SETTLED),
            Self::Live(watched, _) => watched.memory.instance_run(key?),
        }
    }

    /// An instance that EC2 does not know. A snapshot never tells that: a listing may be filtered.
    pub(crate) fn missing_instance(&self, key: Option<&PairKey>) -> Option<MissingInstance> {
        match self {
            Self::Settled => None,
            Self::Live(watched, _) => watched.memory.missing_instance(key?),
        }
    }

    /// For how long an attachment has its state; `by_calendar` is what its own attach time says.
    pub(crate) fn held_seconds(&self, volume: &AwsVolumeId, instance: Option<&InstanceId>, by_calendar: u32) -> u32 {
        match (self, instance) {
            (Self::Settled, _) | (Self::Live(..), None) => by_calendar,
            (Self::Live(watched, now), Some(instance)) => {
                watched.memory.held_seconds(&(volume.clone(), instance.clone()), now.moment)
            }
        }
    }

    /// What the Lease of a Node's kubelet tells.
    pub(crate) fn lease(&self, cluster: &Index, node: &NodeName) -> attachment::Lease {
        match self {
            Self::Settled => settled_lease(cluster, node),
            Self::Live(watched, now) => watched.leases.lease(node, now.moment),
        }
    }

    /// Since when there is no Node of this name, in seconds.
    pub(crate) fn absent_seconds(&self, node: &NodeName) -> u32 {
        match self {
            Self::Settled => SETTLED.seconds,
            Self::Live(watched, now) => watched.absent_seconds(node, now.moment),
        }
    }

    /// Whether a pending or running instance bears the name of a Node that is gone; `by_records` is what the instances at hand
    /// say.
    pub(crate) fn is_name_taken(&self, node: &NodeName, by_records: bool) -> bool {
        match self {
            Self::Settled => by_records,
            Self::Live(watched, now) => by_records || watched.is_name_taken(node, now.moment),
        }
    }

    /// For how long nobody used a volume that nobody uses, in seconds.
    pub(crate) fn unused_seconds(&self, volume: &AwsVolumeId) -> u32 {
        match self {
            Self::Settled => SETTLED.seconds,
            Self::Live(watched, now) => watched.unused_seconds(volume, now.moment),
        }
    }

    /// For how long a detach error has repeated; `by_deletion` is the time since the deletion was asked for.
    pub(crate) fn detach_error_seconds(&self, attachment: &VolumeAttachment, by_deletion: u32) -> u32 {
        match self {
            Self::Settled => by_deletion,
            Self::Live(watched, now) => watched.detach_error_seconds(attachment, now.moment).min(by_deletion),
        }
    }
}

/// What the Leases of a world on files tell: how far a Node's lies behind the newest of the others. Nobody knows when the files
/// were written, so a Lease alone tells nothing.
fn settled_lease(cluster: &Index, node: &NodeName) -> attachment::Lease {
    let own = cluster.lease(&node.node_name);
    let others = cluster.leases().filter(|lease| *lease.identity.name.name != *node.node_name);
    let newest = others.filter_map(|lease| lease.renewed).max();
    let (Some(own), Some(newest)) = (own, newest) else { return attachment::Lease::Unknown };
    let Some(renewed) = own.renewed else { return attachment::Lease::Unknown };
    let silent = newest.as_second().saturating_sub(renewed.as_second()).max(0);
    let silent = u32::try_from(silent).unwrap_or(u32::MAX);
    if silent >= silence_of(own.duration_seconds) {
        attachment::Lease::Silent(silent)
    } else {
        attachment::Lease::Renewed
    }
}
