//! Nodes and CSINodes.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use zonewarden_contract::types::{NodeName, ProviderId};

use super::{Identity, SharedLabel};

/// A Node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Who it is. The namespace is empty.
    pub identity: Identity,
    /// `metadata.labels`.
    pub labels: Box<[SharedLabel]>,
    /// `spec.providerID`; `None` where it is empty too.
    pub provider_id: Option<ProviderId>,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// The annotation [`TAINT_ANNOTATION`](crate::api::TAINT_ANNOTATION); no other annotation of a Node is kept.
    pub taint_annotation: Option<String>,
    /// Whether the condition `Ready` is `True`.
    pub ready: bool,
    /// `status.volumesInUse`.
    pub volumes_in_use: Vec<String>,
    /// The names in `status.volumesAttached` (`kubernetes.io/csi/ebs.csi.aws.com^vol-…`).
    pub volumes_attached: Box<[String]>,
}

impl Node {
    /// The Node's name.
    pub fn node_name(&self) -> NodeName {
        NodeName { node_name: self.identity.name.name.to_string() }
    }
}

/// A taint of a Node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Taint {
    /// The key.
    pub key: String,
    /// The value; empty where there is none.
    pub value: String,
    /// The effect.
    pub effect: String,
    /// `timeAdded`.
    pub added: Option<Timestamp>,
}

/// A CSINode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CsiNode {
    /// Who it is; it has the Node's name.
    pub identity: Identity,
    /// `spec.drivers`.
    pub drivers: Box<[CsiNodeDriver]>,
    /// The exact items of the annotation `storage.alpha.kubernetes.io/migrated-plugins`.
    pub migrated_plugins: Arc<[String]>,
}

impl CsiNode {
    /// The driver of this name.
    pub fn driver(&self, name: &str) -> Option<&CsiNodeDriver> {
        self.drivers.iter().find(|driver| driver.name == name)
    }
}

/// A driver of a CSINode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CsiNodeDriver {
    /// The driver's name.
    pub name: String,
    /// The node id that the driver registered, byte for byte.
    pub node_id: String,
    /// `allocatable.count`; `None` where the object names no limit, which Kubernetes takes as no limit.
    pub allocatable: Option<u32>,
}

/// A Lease, which a kubelet renews while it lives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lease {
    /// Who it is; its name is the Node's.
    pub identity: Identity,
    /// `spec.renewTime`, by the kubelet's clock.
    pub renewed: Option<Timestamp>,
    /// `spec.leaseDurationSeconds`.
    pub duration_seconds: Option<u32>,
}
