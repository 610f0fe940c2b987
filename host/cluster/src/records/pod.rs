//! Pods, as far as their volumes and their place go.

use std::sync::Arc;

use serde::Serialize;
use zonewarden_contract::types::{NodeName, SelectorTerm, VolumeSource};

use super::{Identity, ObjectName};

/// A pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pod {
    /// Who it is.
    pub identity: Identity,
    /// `spec.nodeName`; `None` for a pod that is not scheduled, where it is empty too.
    pub node: Option<NodeName>,
    /// `status.phase`; empty where there is none.
    pub phase: String,
    /// The volumes that have a claim or a volume source that somebody attaches, in the pod's own order.
    pub volumes: Box<[PodVolume]>,
    /// `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`; `None` where the pod
    /// has none.
    pub required_terms: Option<Vec<SelectorTerm>>,
    /// Whether any container of the pod, an init container too, was ever started, as far as can be told: a pod whose phase
    /// is not `Pending` counts as started, since a remedy hangs on this.
    pub has_started_container: bool,
}

impl Pod {
    /// Whether it has ended (`Succeeded` or `Failed`) and uses nothing any more.
    pub fn has_ended(&self) -> bool {
        matches!(&*self.phase, "Succeeded" | "Failed")
    }

    /// Whether it is bound to a node and no container of it was ever started.
    pub fn waits_for_containers(&self) -> bool {
        self.node.is_some() && !self.has_started_container && !self.has_ended()
    }

    /// The claim of one of its volumes.
    pub fn claim_of(&self, volume: &PodVolume) -> Option<ObjectName> {
        let name = Arc::from(volume.claim()?);
        Some(ObjectName { namespace: Arc::clone(&self.identity.name.namespace), name })
    }
}

/// One of a pod's volumes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PodVolume {
    /// `spec.volumes[].name`.
    pub name: Arc<str>,
    /// Where it comes from.
    pub source: PodVolumeSource,
}

impl PodVolume {
    /// The name of its claim, which is in the pod's namespace; `None` for a volume without one.
    pub fn claim(&self) -> Option<&str> {
        match &self.source {
            PodVolumeSource::Claim(name) | PodVolumeSource::Ephemeral(name) => Some(name),
            PodVolumeSource::Inline(_) => None,
        }
    }
}

/// Where a pod's volume comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum PodVolumeSource {
    /// `persistentVolumeClaim`, with the claim's name.
    Claim(Box<str>),
    /// `ephemeral`, with the claim's name: that of the pod and the volume.
    Ephemeral(Box<str>),
    /// A volume that the pod names directly.
    Inline(VolumeSource),
}
