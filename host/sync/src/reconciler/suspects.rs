//! Who has to be asked about each second: whoever may be dying, so that the race with the cloud controller's loop is won, and
//! whose volume has left.

use std::collections::BTreeSet;

use zonewarden_cluster::Index;
use zonewarden_contract::attachment::InstanceState;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName};
use zonewarden_ec2::Question;

use crate::identities::Identities;
use crate::observations::{OUT_OF_SERVICE, identified};
use crate::watch::Watched;

/// So many Nodes that are well are read beside the suspects: their Leases show that the API server takes renewals at all.
const WITNESSES: usize = 5;

/// Nodes that are not ready, or gone, or tainted; instances that are shutting down or dead; Nodes that a volume has left.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    nodes: BTreeSet<NodeName>,
    instances: BTreeSet<InstanceId>,
    volumes: BTreeSet<AwsVolumeId>,
    absent: Vec<NodeName>,
}

impl Suspects {
    pub(crate) fn of(cluster: &Index, identities: &Identities, watched: &Watched, question: &Question) -> Self {
        let mut suspects = Self { absent: question.names.clone(), ..Self::default() };
        for node in cluster.nodes() {
            let name = node.node_name();
            let Some(instance) = identities.instance_of(&name) else { continue };
            let dying = watched.memory.instance_state(instance).is_some_and(is_dying);
            if !node.ready || dying || node.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE) {
                suspects.instances.insert(instance.clone());
                suspects.nodes.insert(name);
            }
        }
        suspects.nodes.extend(watched.absent().cloned());
        for attachment in cluster.attachments() {
            let named = identities.instance_of_attachment(attachment);
            let Some(instance) = named.or_else(|| watched.last_instance_of(&attachment.node)) else { continue };
            let state = watched.memory.instance_state(instance);
            let is_gone = watched.memory.is_missing(instance);
            let volume = identified(cluster, identities, attachment);
            // A volume that left a living machine: its kubelet has to be heard before anything is done about it.
            let key = volume.map(|volume| (volume.volume.clone(), instance.clone()));
            let has_left = attachment.attached && key.is_some_and(|key| watched.memory.has_left(&key));
            if has_left {
                suspects.nodes.insert(attachment.node.clone());
            }
            if suspects.nodes.contains(&attachment.node) || state.is_some_and(is_dying) || is_gone {
                suspects.instances.insert(instance.clone());
                suspects.nodes.insert(attachment.node.clone());
                // What a dying instance has not let go of yet need not be asked for until it is dead.
                let is_dead = matches!(state, Some(InstanceState::Terminated)) || is_gone;
                suspects
                    .volumes
                    .extend(volume.filter(|volume| is_dead && volume.askable).map(|volume| volume.volume.clone()));
            }
        }
        suspects
    }

    /// Whether a Node's name is a suspect's.
    pub(crate) fn has(&self, node: &NodeName) -> bool {
        self.nodes.contains(node)
    }

    /// What has to be asked of EC2.
    pub(crate) fn question(self) -> Question {
        Question {
            volumes: self.volumes.into_iter().collect(),
            instances: self.instances.into_iter().collect(),
            names: self.absent,
        }
    }

    /// Whose Leases have to be read; nobody's where nobody is a suspect.
    pub(crate) fn leases(&self, cluster: &Index) -> BTreeSet<NodeName> {
        let present = self.nodes.iter().filter(|name| cluster.node(&name.node_name).is_some());
        let mut leases: BTreeSet<NodeName> = present.cloned().collect();
        if !leases.is_empty() {
            let well = cluster.nodes().filter(|node| node.ready).map(|node| node.node_name());
            leases.extend(well.filter(|name| !self.has(name)).take(WITNESSES));
        }
        leases
    }
}

fn is_dying(state: &InstanceState) -> bool {
    matches!(state, InstanceState::ShuttingDown | InstanceState::Terminated)
}
