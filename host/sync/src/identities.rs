//! What the texts of the world mean, as the policy says.

use std::collections::{HashMap, HashSet};

use zonewarden_cluster::Index;
use zonewarden_cluster::records::{AttachedSource, PodVolumeSource};
use zonewarden_contract::identity::{IdentifiedVolume, NodeIdentity, NodeQuestion, VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::{InstanceId, NodeName, VolumeSource};
use zonewarden_ec2::Question;
use zonewarden_engine::{ConfiguredPolicy, Error};

use crate::BATCH;
use crate::facts::Facts;
use crate::survey::node_name;

/// Every id of a world, asked for once.
#[derive(Debug, Default)]
pub struct Identities {
    volumes: HashMap<VolumeSource, VolumeIdentity>,
    nodes: HashMap<NodeName, NodeIdentity>,
    node_ids: HashMap<String, InstanceId>,
    nodes_of_instances: HashMap<InstanceId, NodeName>,
}

impl Identities {
    /// Asks the policy for the ids of everything that the cluster names.
    pub(crate) fn learn(cluster: &Index, policy: &ConfiguredPolicy) -> Result<Self, Error> {
        let mut identities = Self::default();
        let questions = sources(cluster).into_iter().map(|source| VolumeQuestion { source, ec2_zone: None });
        identities.ask_volumes(&questions.collect::<Vec<_>>(), policy)?;
        identities.learn_nodes(cluster, policy)?;
        Ok(identities)
    }

    /// What EC2 is to be asked about: the volumes that it may be asked about, and the instances of the Nodes and of the
    /// VolumeAttachments.
    pub(crate) fn question(&self) -> Question {
        let identified = self.volumes.values().filter_map(|identity| match identity {
            VolumeIdentity::Identified(volume) => Some(volume),
            VolumeIdentity::Foreign(_) | VolumeIdentity::Rejected(_) => None,
        });
        let volumes: HashSet<_> = identified.filter(|volume| volume.askable).map(|volume| &volume.volume).collect();
        let instances: HashSet<_> = self.nodes_of_instances.keys().chain(self.node_ids.values()).collect();
        Question {
            volumes: volumes.into_iter().cloned().collect(),
            instances: instances.into_iter().cloned().collect(),
            names: Vec::new(),
        }
    }

    /// Asks again about the ids whose own zone EC2 contradicts: only there does the policy have more to say.
    pub(crate) fn learn_contradictions(&mut self, facts: &Facts, policy: &ConfiguredPolicy) -> Result<(), Error> {
        let contradicted = self.volumes.keys().filter_map(|source| {
            let volume = self.identified(source)?;
            let ec2_zone = facts.volume(&volume.volume)?.0.zone.clone()?;
            (volume.zone_hint.as_ref()? != &ec2_zone)
                .then(|| VolumeQuestion { source: source.clone(), ec2_zone: Some(ec2_zone) })
        });
        let contradicted: Vec<_> = contradicted.collect();
        self.ask_volumes(&contradicted, policy)
    }

    /// What a volume source names; `None` for one that the cluster does not have.
    #[must_use]
    pub fn volume(&self, source: &VolumeSource) -> Option<&VolumeIdentity> {
        self.volumes.get(source)
    }

    /// The volume that a source names, where the policy handles it.
    #[must_use]
    pub fn identified(&self, source: &VolumeSource) -> Option<&IdentifiedVolume> {
        match self.volumes.get(source)? {
            VolumeIdentity::Identified(volume) => Some(volume),
            VolumeIdentity::Foreign(_) | VolumeIdentity::Rejected(_) => None,
        }
    }

    /// What stands behind a Node.
    #[must_use]
    pub fn node(&self, node: &NodeName) -> Option<&NodeIdentity> {
        self.nodes.get(node)
    }

    /// The instance behind a Node, where there is one.
    #[must_use]
    pub fn instance_of(&self, node: &NodeName) -> Option<&InstanceId> {
        match self.nodes.get(node)? {
            NodeIdentity::Identified(node) => Some(&node.instance),
            NodeIdentity::Foreign(_) | NodeIdentity::Unresolved(_) => None,
        }
    }

    /// The instance that a CSI driver's node id names.
    #[must_use]
    pub fn instance_of_node_id(&self, node_id: &str) -> Option<&InstanceId> {
        self.node_ids.get(node_id)
    }

    /// The Node that an instance is.
    #[must_use]
    pub fn node_of(&self, instance: &InstanceId) -> Option<&NodeName> {
        self.nodes_of_instances.get(instance)
    }

    fn ask_volumes(&mut self, questions: &[VolumeQuestion], policy: &ConfiguredPolicy) -> Result<(), Error> {
        for batch in questions.chunks(BATCH) {
            let answers = policy.identify_volumes(batch)?;
            self.volumes.extend(batch.iter().map(|question| question.source.clone()).zip(answers));
        }
        Ok(())
    }

    fn learn_nodes(&mut self, cluster: &Index, policy: &ConfiguredPolicy) -> Result<(), Error> {
        let drivers = &policy.info().csi_drivers;
        let nodes = cluster.nodes().map(|node| {
            let name = node_name(&node.identity.name.name);
            let registered = cluster.csi_node(&name.node_name).into_iter().flat_map(|csi_node| &csi_node.drivers);
            let csi_node_id =
                registered.filter(|driver| drivers.contains(&driver.name)).map(|driver| driver.node_id.clone()).next();
            NodeQuestion { node: name, provider_id: node.provider_id.clone(), csi_node_id }
        });
        for batch in nodes.collect::<Vec<_>>().chunks(BATCH) {
            let answers = policy.identify_nodes(batch)?;
            for (question, answer) in batch.iter().zip(answers) {
                if let NodeIdentity::Identified(node) = &answer {
                    self.nodes_of_instances.insert(node.instance.clone(), question.node.clone());
                }
                self.nodes.insert(question.node.clone(), answer);
            }
        }
        let node_ids: HashSet<&String> =
            cluster.attachments().filter_map(|attachment| attachment.node_id.as_ref()).collect();
        let nobody = node_name("");
        let questions = node_ids.into_iter().map(|node_id| NodeQuestion {
            node: nobody.clone(),
            provider_id: None,
            csi_node_id: Some(node_id.clone()),
        });
        for batch in questions.collect::<Vec<_>>().chunks(BATCH) {
            for (question, answer) in batch.iter().zip(policy.identify_nodes(batch)?) {
                if let (Some(node_id), NodeIdentity::Identified(node)) = (&question.csi_node_id, answer) {
                    self.node_ids.insert(node_id.clone(), node.instance);
                }
            }
        }
        Ok(())
    }
}

/// Every volume source of the cluster, each once.
fn sources(cluster: &Index) -> Vec<VolumeSource> {
    let inline = cluster.pods().flat_map(|pod| &pod.volumes).filter_map(|volume| match &volume.source {
        PodVolumeSource::Inline(source) => Some(source),
        PodVolumeSource::Claim(_) | PodVolumeSource::Ephemeral => None,
    });
    let attached = cluster.attachments().filter_map(|attachment| match &attachment.source {
        AttachedSource::Inline(source) => Some(source),
        AttachedSource::PersistentVolume(_) => None,
    });
    let persistent = cluster.volumes().map(|volume| &volume.source);
    let mut seen = HashSet::new();
    persistent.chain(inline).chain(attached).filter(|source| seen.insert(*source)).cloned().collect()
}
