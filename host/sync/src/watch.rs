//! What the host keeps from one look to the next, beside the objects themselves.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use zonewarden_cluster::Index;
use zonewarden_cluster::records::VolumeAttachment;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName};
use zonewarden_ec2::Question;

use crate::clock::{Moment, Now};
use crate::identities::Identities;
use crate::leases::LeaseBook;
use crate::memory::{Memory, PairKey, Phase};
use crate::observations::identified;
use crate::occupancy::Occupancy;

/// Everything that is remembered.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) memory: Memory,
    pub(crate) leases: LeaseBook,
    /// From which age on what EC2 said of instances and their names counts for nothing.
    stale_seconds: u32,
    /// The instance that each Node was when it was last there, by the Node's name.
    nodes: BTreeMap<NodeName, InstanceId>,
    /// The Nodes that are gone and still named by a VolumeAttachment.
    absent: BTreeMap<NodeName, Moment>,
    /// Volumes that no pod uses, and since when.
    unused: HashMap<AwsVolumeId, Moment>,
    /// VolumeAttachments whose detach fails, by uid, and since when.
    failing: HashMap<String, Moment>,
}

impl Watched {
    /// Nothing is remembered yet.
    pub(crate) fn new(stale_seconds: u32) -> Self {
        Self { stale_seconds, ..Self::default() }
    }

    /// Only what stays true whoever looks: which instances EC2 once showed.
    pub(crate) fn anew(self) -> Self {
        Self { memory: self.memory.anew(), ..Self::new(self.stale_seconds) }
    }

    /// Takes in what the cluster says now, and says what EC2 has to be asked about all of it.
    pub(crate) fn look(&mut self, cluster: &Index, identities: &Identities, now: Now) -> Question {
        self.memory.begin(now.moment);
        let mut question = identities.question();
        self.note_nodes(cluster, identities, now.moment);
        question.names = self.absent.keys().cloned().collect();
        let gone = self.absent.keys().filter_map(|node| self.nodes.get(node));
        // Who else holds a volume may belong to another cluster, which its tags tell.
        let holders = self.memory.holders();
        let asked: HashSet<InstanceId> = question.instances.iter().chain(gone).chain(holders).cloned().collect();
        question.instances = asked.into_iter().collect();

        let mut pairs = HashSet::new();
        for attachment in cluster.attachments() {
            let Some(key) = key_of(cluster, identities, &self.nodes, attachment) else { continue };
            self.memory.watch(&key, Some(Phase::of(attachment)), now.moment);
            pairs.insert(key);
        }
        self.note_errors(cluster, now.moment);
        self.memory.keep(&question, &pairs);
        question
    }

    /// Notes which volumes nobody uses.
    pub(crate) fn note_usage(&mut self, question: &Question, occupancy: &Occupancy, now: Moment) {
        let unused = question.volumes.iter().filter(|volume| occupancy.users(volume).is_empty());
        let unused: HashSet<&AwsVolumeId> = unused.collect();
        self.unused.retain(|volume, _| unused.contains(volume));
        for volume in unused {
            if !self.unused.contains_key(volume) {
                self.unused.insert(volume.clone(), now);
            }
        }
    }

    fn note_nodes(&mut self, cluster: &Index, identities: &Identities, now: Moment) {
        let named: BTreeSet<&NodeName> = cluster.attachments().map(|attachment| &attachment.node).collect();
        for node in cluster.nodes() {
            let name = node.node_name();
            self.absent.remove(&name);
            match identities.instance_of(&name) {
                Some(instance) => drop(self.nodes.insert(name, instance.clone())),
                None => drop(self.nodes.remove(&name)),
            }
        }
        for name in &named {
            if cluster.node(&name.node_name).is_none() {
                self.absent.entry((*name).clone()).or_insert(now);
            }
        }
        self.absent.retain(|name, _| named.contains(name));
        self.nodes.retain(|name, _| named.contains(name) || cluster.node(&name.node_name).is_some());
    }

    fn note_errors(&mut self, cluster: &Index, now: Moment) {
        let failing = cluster.attachments().filter(|attachment| attachment.detach_error.is_some());
        let failing: HashSet<&str> = failing.map(|attachment| attachment.identity.uid.as_str()).collect();
        self.failing.retain(|uid, _| failing.contains(uid.as_str()));
        for uid in failing {
            self.failing.entry(uid.to_owned()).or_insert(now);
        }
    }

    /// The instance that a Node was when it was last there.
    pub(crate) fn last_instance_of(&self, node: &NodeName) -> Option<&InstanceId> {
        self.nodes.get(node)
    }

    /// The Nodes that are there, each with the instance that it is.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&NodeName, &InstanceId)> {
        self.nodes.iter().filter(|(name, _)| !self.absent.contains_key(*name))
    }

    /// The Nodes that are gone and still named by a VolumeAttachment.
    pub(crate) fn absent(&self) -> impl Iterator<Item = &NodeName> {
        self.absent.keys()
    }

    pub(crate) fn absent_seconds(&self, node: &NodeName, now: Moment) -> u32 {
        self.absent.get(node).map_or(0, |since| now.seconds_since(*since))
    }

    /// Whether a pending or running instance bears the name of a Node that is gone. Unless EC2 said no since the Node went, and
    /// not longer ago than evidence may be old, it counts as yes.
    pub(crate) fn is_name_taken(&self, node: &NodeName, now: Moment) -> bool {
        let oldest = Moment(now - Moment(Duration::from_secs(self.stale_seconds.into())));
        self.absent.get(node).is_none_or(|since| self.memory.is_name_taken(node, oldest.max(*since)))
    }

    pub(crate) fn unused_seconds(&self, volume: &AwsVolumeId, now: Moment) -> u32 {
        self.unused.get(volume).map_or(0, |since| now.seconds_since(*since))
    }

    pub(crate) fn detach_error_seconds(&self, attachment: &VolumeAttachment, now: Moment) -> u32 {
        self.failing.get(&attachment.identity.uid).map_or(0, |since| now.seconds_since(*since))
    }
}

/// The pair that a VolumeAttachment is about, where volume and instance are known.
fn key_of(
    cluster: &Index,
    identities: &Identities,
    nodes: &BTreeMap<NodeName, InstanceId>,
    attachment: &VolumeAttachment,
) -> Option<PairKey> {
    let volume = identified(cluster, identities, attachment)?;
    let instance = identities.instance_of_attachment(attachment).or_else(|| nodes.get(&attachment.node))?;
    Some((volume.volume.clone(), instance.clone()))
}

#[cfg(test)]
mod tests {
    use zonewarden_ec2::Sweep;

    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment(Duration::from_secs(seconds))
    }

    #[test]
    fn that_a_name_is_free_is_believed_while_it_is_fresh_and_was_asked_since_the_node_went() {
        let name = NodeName { node_name: "node-1".to_owned() };
        let mut watched = Watched::new(45);
        watched.absent.insert(name.clone(), at(100));
        let mut answer = |asked, taken| {
            let question = Question { names: vec![name.clone()], ..Question::default() };
            watched.memory.take(&question, Sweep { names: vec![Some(taken)], ..Sweep::default() }, at(asked));
            [100, 145, 146].map(|now| watched.is_name_taken(&name, at(now)))
        };
        assert_eq!(answer(99, false), [true; 3], "it was asked while the Node was there");
        assert_eq!(answer(100, false), [false, false, true], "it grows old");
        assert_eq!(answer(101, true), [true; 3]);
    }
}
