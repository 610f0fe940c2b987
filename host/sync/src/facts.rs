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

    /// What is known about a volume, as the contract has it: of its attributes, those with these keys.
    pub(crate) fn evidence(&self, id: &AwsVolumeId, keys: &[String]) -> VolumeEvidence {
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
                attributes: record.attributes.iter().filter(|shown| keys.contains(&shown.key)).cloned().collect(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use zonewarden_contract::types::{Label, VolumeState, Zone};

    const ATTRIBUTES: [(&str, &str); 4] = [
        ("availability-zone-id", "use1-az1"),
        ("operator", "backup.amazonaws.com"),
        ("outpost-arn", "arn:aws:outposts:us-east-1:123456789012:outpost/op-1"),
        ("volume-type", "gp3"),
    ];

    fn id() -> AwsVolumeId {
        AwsVolumeId { aws_volume_id: "vol-0123456789abcdef0".to_owned() }
    }

    fn labels(labels: &[(&str, &str)]) -> Vec<Label> {
        labels.iter().map(|(key, value)| Label { key: (*key).to_owned(), value: (*value).to_owned() }).collect()
    }

    fn zone() -> Option<Zone> {
        Some(Zone { zone: "us-east-1a".to_owned() })
    }

    /// One volume with every attribute, which was described twelve seconds ago.
    fn mk_facts() -> Facts {
        let record = Volume {
            id: id(),
            zone: zone(),
            state: VolumeState::Available,
            multi_attach: true,
            attachments: Vec::new(),
            attributes: labels(&ATTRIBUTES),
            tags: Vec::new(),
        };
        let observed_at = Timestamp::UNIX_EPOCH;
        let question = Question { volumes: vec![id()], ..Question::default() };
        let sweep = Sweep { volumes: vec![Evidence::Found { record, observed_at }], ..Sweep::default() };
        Facts::new(question, sweep, Timestamp::from_second(12).expect("a moment"))
    }

    #[test]
    fn a_policy_is_shown_the_attributes_that_it_reads_and_the_record_stays_whole() {
        let facts = mk_facts();
        let all = ATTRIBUTES.map(|(key, _)| key);
        for (keys, shown) in [
            (&[][..], &[][..]),
            (&["nothing-has-it"], &[]),
            (&["volume-type"], &ATTRIBUTES[3..]),
            (&["outpost-arn", "availability-zone-id"], &[ATTRIBUTES[0], ATTRIBUTES[2]]),
            (&all, &ATTRIBUTES),
        ] {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            let expected = VolumeFacts {
                age_seconds: 12,
                state: VolumeState::Available,
                zone: zone(),
                multi_attach: true,
                attributes: labels(shown),
            };
            assert_eq!(facts.evidence(&id(), &keys), VolumeEvidence::Found(expected), "{keys:?}");
        }
        let (record, age) = facts.volume(&id()).expect("it was found");
        assert_eq!((&record.attributes, age), (&labels(&ATTRIBUTES), 12));
    }
}
