//! What EC2 says about the volumes and instances of a world.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName, VolumeEvidence, VolumeFacts};
use zonewarden_ec2::{Evidence, Instance, Question, Sweep, Volume};

/// The answers of one sweep, by id, and the moment at which the world is looked at.
#[derive(Debug)]
pub(crate) struct Facts {
    volumes: HashMap<AwsVolumeId, Evidence<Volume>>,
    instances: HashMap<InstanceId, Evidence<Instance>>,
    names: HashMap<NodeName, Option<bool>>,
    pub(crate) now: Timestamp,
}

impl Facts {
    pub(crate) fn new(question: Question, sweep: Sweep, now: Timestamp) -> Self {
        Self {
            volumes: question.volumes.into_iter().zip(sweep.volumes).collect(),
            instances: question.instances.into_iter().zip(sweep.instances).collect(),
            names: question.names.into_iter().zip(sweep.names).collect(),
            now,
        }
    }

    /// The instances that hold a volume and were not asked about.
    pub(crate) fn strangers(&self) -> BTreeSet<InstanceId> {
        let records = self.volumes.values().filter_map(Evidence::record);
        let holders = records.flat_map(Volume::holders).filter_map(|holder| holder.instance.as_ref());
        holders.filter(|instance| !self.instances.contains_key(*instance)).cloned().collect()
    }

    /// Takes in what was learnt of more instances.
    pub(crate) fn add_instances(&mut self, asked: Vec<InstanceId>, evidence: Vec<Evidence<Instance>>) {
        self.instances.extend(asked.into_iter().zip(evidence));
    }

    /// A volume and the age of its description.
    pub(crate) fn volume(&self, id: &AwsVolumeId) -> Option<(&Volume, u32)> {
        let evidence = self.volumes.get(id)?;
        Some((evidence.record()?, evidence.age_seconds(self.now)?))
    }

    /// What is known about a volume, as the contract has it.
    pub(crate) fn evidence(&self, id: &AwsVolumeId) -> VolumeEvidence {
        match self.volumes.get(id) {
            None | Some(Evidence::Unknown(_)) => VolumeEvidence::Unknown,
            Some(missing @ Evidence::Missing { .. }) => {
                VolumeEvidence::Missing(missing.age_seconds(self.now).unwrap_or_default())
            }
            Some(found @ Evidence::Found { record, .. }) => VolumeEvidence::Found(VolumeFacts {
                age_seconds: found.age_seconds(self.now).unwrap_or_default(),
                state: record.state.clone(),
                zone: record.zone.clone(),
                multi_attach: record.multi_attach,
                attributes: record.attributes.clone(),
            }),
        }
    }

    /// What is known about a volume, as EC2's answer has it.
    pub(crate) fn volume_evidence(&self, id: &AwsVolumeId) -> Option<&Evidence<Volume>> {
        self.volumes.get(id)
    }

    /// An instance and the age of its description.
    pub(crate) fn instance(&self, id: &InstanceId) -> Option<(&Instance, u32)> {
        let evidence = self.instances.get(id)?;
        Some((evidence.record()?, evidence.age_seconds(self.now)?))
    }

    /// Whether a pending or running instance bears the name of a Node that is gone, as far as anybody said.
    pub(crate) fn is_name_taken(&self, name: &NodeName) -> bool {
        self.names.get(name).copied().flatten().unwrap_or_default()
            || self.instances.values().filter_map(Evidence::record).any(|instance| instance.bears(name))
    }

    /// The seconds since a moment; 0 where it is unknown or lies ahead.
    pub(crate) fn age(&self, moment: Option<Timestamp>) -> u32 {
        let seconds = moment.map_or(0, |moment| self.now.as_second().saturating_sub(moment.as_second()));
        u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
    }
}
