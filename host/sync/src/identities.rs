//! What the texts of the world mean, as the policy says.

use std::collections::{HashMap, HashSet};

use zonewarden_cluster::Index;
use zonewarden_cluster::records::{AttachedSource, PodVolumeSource, VolumeAttachment};
use zonewarden_contract::identity::{IdentifiedVolume, NodeIdentity, NodeQuestion, VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::{InstanceId, NodeName, VolumeSource};
use zonewarden_ec2::Question;
use zonewarden_engine::{ConfiguredPolicy, Error};

use crate::BATCH;
use crate::facts::Facts;
use crate::metering::{Hook, asked};
use crate::survey::node_name;

/// Every id of a world, asked for once. They hold for one policy with its settings: with another they are asked for anew.
#[derive(Debug, Default)]
pub struct Identities {
    volumes: HashMap<VolumeSource, VolumeIdentity>,
    /// The sources that were asked for again, with the zone that EC2 contradicts them by.
    contradicted: HashSet<VolumeSource>,
    nodes: HashMap<NodeName, (NodeQuestion, NodeIdentity)>,
    node_ids: HashMap<String, Option<InstanceId>>,
    nodes_of_instances: HashMap<InstanceId, NodeName>,
}

impl Identities {
    /// Asks the policy for the ids of everything that the cluster names and that it was not asked before, and forgets those that
    /// the cluster names no more.
    pub(crate) fn learn(&mut self, cluster: &Index, policy: &ConfiguredPolicy) -> Result<(), Error> {
        let sources = sources(cluster);
        let new = sources.iter().filter(|source| !self.volumes.contains_key(**source));
        let questions: Vec<_> =
            new.map(|source| VolumeQuestion { source: (*source).clone(), ec2_zone: None }).collect();
        self.ask_volumes(&questions, policy)?;
        if self.volumes.len() > sources.len() {
            self.volumes.retain(|source, _| sources.contains(source));
            self.contradicted.retain(|source| sources.contains(source));
        }
        self.learn_nodes(cluster, policy)?;
        self.learn_node_ids(cluster, policy)
    }

    /// What EC2 is to be asked about: the volumes that it may be asked about, and the instances of the Nodes and of the
    /// VolumeAttachments.
    pub(crate) fn question(&self) -> Question {
        let identified = self.volumes.values().filter_map(|identity| match identity {
            VolumeIdentity::Identified(volume) => Some(volume),
            VolumeIdentity::Foreign(_) | VolumeIdentity::Rejected(_) => None,
        });
        let volumes: HashSet<_> = identified.filter(|volume| volume.askable).map(|volume| &volume.volume).collect();
        let instances: HashSet<_> = self.nodes_of_instances.keys().chain(self.node_ids.values().flatten()).collect();
        Question {
            volumes: volumes.into_iter().cloned().collect(),
            instances: instances.into_iter().cloned().collect(),
            names: Vec::new(),
        }
    }

    /// Asks again about the ids whose own zone EC2 contradicts: only there does the policy have more to say.
    pub(crate) fn learn_contradictions(&mut self, facts: &Facts, policy: &ConfiguredPolicy) -> Result<(), Error> {
        let contradicted = self.volumes.keys().filter_map(|source| {
            let volume = self.identified(source).filter(|_| !self.contradicted.contains(source))?;
            let ec2_zone = facts.volume(&volume.volume)?.0.zone.clone()?;
            (volume.zone_hint.as_ref()? != &ec2_zone)
                .then(|| VolumeQuestion { source: source.clone(), ec2_zone: Some(ec2_zone) })
        });
        let contradicted: Vec<_> = contradicted.collect();
        self.ask_volumes(&contradicted, policy)?;
        self.contradicted.extend(contradicted.into_iter().map(|question| question.source));
        Ok(())
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
        self.nodes.get(node).map(|(_, identity)| identity)
    }

    /// The instance behind a Node, where there is one.
    #[must_use]
    pub fn instance_of(&self, node: &NodeName) -> Option<&InstanceId> {
        match self.node(node)? {
            NodeIdentity::Identified(node) => Some(&node.instance),
            NodeIdentity::Foreign(_) | NodeIdentity::Unresolved(_) => None,
        }
    }

    /// The instance that a VolumeAttachment was made for: by the node id that it has, else by its Node.
    #[must_use]
    pub fn instance_of_attachment(&self, attachment: &VolumeAttachment) -> Option<&InstanceId> {
        let by_node_id = attachment.node_id.as_ref().and_then(|node_id| self.node_ids.get(node_id)?.as_ref());
        by_node_id.or_else(|| self.instance_of(&attachment.node))
    }

    /// The Node that an instance is.
    #[must_use]
    pub fn node_of(&self, instance: &InstanceId) -> Option<&NodeName> {
        self.nodes_of_instances.get(instance)
    }

    /// The instances that are Nodes.
    pub(crate) fn node_instances(&self) -> impl Iterator<Item = &InstanceId> {
        self.nodes_of_instances.keys()
    }

    fn ask_volumes(&mut self, questions: &[VolumeQuestion], policy: &ConfiguredPolicy) -> Result<(), Error> {
        for batch in questions.chunks(BATCH) {
            let ask = || policy.identify_volumes(batch);
            let answers = asked(Hook::IdentifyVolumes, batch.len(), ask, outcome_of_volume)?;
            self.volumes.extend(batch.iter().map(|question| question.source.clone()).zip(answers));
        }
        Ok(())
    }

    fn learn_nodes(&mut self, cluster: &Index, policy: &ConfiguredPolicy) -> Result<(), Error> {
        let drivers = &policy.info().csi_drivers;
        let mut questions = Vec::new();
        let mut before = std::mem::take(&mut self.nodes);
        for node in cluster.nodes() {
            let name = node.node_name();
            let registered = cluster.csi_node(&name.node_name).into_iter().flat_map(|csi_node| &csi_node.drivers);
            let csi_node_id =
                registered.filter(|driver| drivers.contains(&driver.name)).map(|driver| driver.node_id.clone()).next();
            let question = NodeQuestion { node: name.clone(), provider_id: node.provider_id.clone(), csi_node_id };
            match before.remove(&name) {
                Some(known) if known.0 == question => drop(self.nodes.insert(name, known)),
                Some(_) | None => questions.push(question),
            }
        }
        for batch in questions.chunks(BATCH) {
            let answers = identify_nodes(policy, batch)?;
            for (question, answer) in batch.iter().zip(answers) {
                self.nodes.insert(question.node.clone(), (question.clone(), answer));
            }
        }
        let instances = self.nodes.iter().filter_map(|(name, (_, identity))| match identity {
            NodeIdentity::Identified(node) => Some((node.instance.clone(), name.clone())),
            NodeIdentity::Foreign(_) | NodeIdentity::Unresolved(_) => None,
        });
        self.nodes_of_instances = instances.collect();
        Ok(())
    }

    fn learn_node_ids(&mut self, cluster: &Index, policy: &ConfiguredPolicy) -> Result<(), Error> {
        let named: HashSet<&String> =
            cluster.attachments().filter_map(|attachment| attachment.node_id.as_ref()).collect();
        self.node_ids.retain(|node_id, _| named.contains(node_id));
        let nobody = node_name("");
        let new = named.into_iter().filter(|node_id| !self.node_ids.contains_key(*node_id));
        let questions = new.map(|node_id| NodeQuestion {
            node: nobody.clone(),
            provider_id: None,
            csi_node_id: Some(node_id.clone()),
        });
        for batch in questions.collect::<Vec<_>>().chunks(BATCH) {
            for (question, answer) in batch.iter().zip(identify_nodes(policy, batch)?) {
                let instance = match answer {
                    NodeIdentity::Identified(node) => Some(node.instance),
                    NodeIdentity::Foreign(_) | NodeIdentity::Unresolved(_) => None,
                };
                self.node_ids.extend(question.csi_node_id.clone().map(|node_id| (node_id, instance)));
            }
        }
        Ok(())
    }
}

fn identify_nodes(policy: &ConfiguredPolicy, batch: &[NodeQuestion]) -> Result<Vec<NodeIdentity>, Error> {
    asked(Hook::IdentifyNodes, batch.len(), || policy.identify_nodes(batch), outcome_of_node)
}

const fn outcome_of_volume(identity: &VolumeIdentity) -> &'static str {
    match identity {
        VolumeIdentity::Identified(_) => "identified",
        VolumeIdentity::Foreign(_) => "foreign",
        VolumeIdentity::Rejected(_) => "rejected",
    }
}

const fn outcome_of_node(identity: &NodeIdentity) -> &'static str {
    match identity {
        NodeIdentity::Identified(_) => "identified",
        NodeIdentity::Foreign(_) => "foreign",
        NodeIdentity::Unresolved(_) => "unresolved",
    }
}

/// Every volume source of the cluster, each once.
fn sources(cluster: &Index) -> HashSet<&VolumeSource> {
    let inline = cluster.pods().flat_map(|pod| &pod.volumes).filter_map(|volume| match &volume.source {
        PodVolumeSource::Inline(source) => Some(source),
        PodVolumeSource::Claim(_) | PodVolumeSource::Ephemeral(_) => None,
    });
    let attached = cluster.attachments().filter_map(|attachment| match &attachment.source {
        AttachedSource::Inline(source) => Some(source),
        AttachedSource::PersistentVolume(_) => None,
    });
    let persistent = cluster.volumes().map(|volume| &volume.source);
    persistent.chain(inline).chain(attached).collect()
}
