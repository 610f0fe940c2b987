//! One look at one world.

use zonewarden_cluster::Index;
use zonewarden_contract::types::{NodeName, VolumeSource};
use zonewarden_ec2::Snapshot;
use zonewarden_engine::{ConfiguredPolicy, Error};

use crate::classes::NodeGroups;
use crate::identities::Identities;
use crate::occupancy::Occupancy;

/// One look at one world: the facts, the policy, and what the policy said that the ids mean.
#[derive(Debug)]
pub struct Survey<'a> {
    pub(crate) cluster: &'a Index,
    pub(crate) ec2: &'a Snapshot,
    pub(crate) policy: &'a ConfiguredPolicy,
    pub(crate) identities: Identities,
    pub(crate) occupancy: Occupancy,
    pub(crate) groups: NodeGroups,
    /// Seconds since the epoch at which the world is looked at.
    pub(crate) now: i64,
}

impl<'a> Survey<'a> {
    /// Looks at a world at a moment, in seconds since the epoch.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn new(cluster: &'a Index, ec2: &'a Snapshot, policy: &'a ConfiguredPolicy, now: i64) -> Result<Self, Error> {
        let identities = Identities::learn(cluster, ec2, policy)?;
        let occupancy = Occupancy::count(cluster, &identities, policy.info());
        let groups = NodeGroups::new(cluster, &occupancy, policy.info());
        Ok(Self { cluster, ec2, policy, identities, occupancy, groups, now })
    }

    /// What the ids mean.
    #[must_use]
    pub fn identities(&self) -> &Identities {
        &self.identities
    }

    /// The policy that decides.
    #[must_use]
    pub fn policy(&self) -> &ConfiguredPolicy {
        self.policy
    }

    /// The cluster's facts.
    #[must_use]
    pub fn cluster(&self) -> &Index {
        self.cluster
    }

    /// EC2's facts.
    #[must_use]
    pub fn ec2(&self) -> &Snapshot {
        self.ec2
    }

    /// The seconds since a moment; 0 where it lies ahead.
    pub(crate) fn age(&self, moment: Option<i64>) -> u32 {
        moment.map_or(0, |moment| u32::try_from(self.now.saturating_sub(moment).max(0)).unwrap_or(u32::MAX))
    }

    /// Whether the policy handles this kind of volume, be its id good or not.
    pub(crate) fn handles(&self, source: &VolumeSource) -> bool {
        use zonewarden_contract::identity::VolumeIdentity::{Foreign, Identified, Rejected};
        match self.identities.volume(source) {
            Some(Identified(_) | Rejected(_)) => true,
            Some(Foreign(_)) | None => false,
        }
    }
}

/// A Node's name as the contract has it.
pub(crate) fn node_name(name: &str) -> NodeName {
    NodeName { node_name: name.to_owned() }
}
