//! The projected records, one module for each family of kinds.
//!
//! Labels are in ascending order of their keys, as the contract wants them. A text that Kubernetes leaves out is `None`, an
//! empty one stays empty where the two differ. What many objects have in common (a phase, a class, the annotations of a
//! provisioner) is an `Arc`, which the store shares between them.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use zonewarden_contract::types::Label;

mod node;
mod pod;
mod storage;
mod volume;

pub use node::{CsiNode, CsiNodeDriver, Lease, Node, Taint};
pub use pod::{Pod, PodVolume, PodVolumeSource};
pub use storage::{AttachedSource, CsiDriver, StorageClass, VolumeAttachment};
pub use volume::{ClaimRef, PersistentVolume, PersistentVolumeClaim};

/// The namespace of a namespaced object that names none, as kubectl has it.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// A namespace and a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ObjectName {
    /// `metadata.namespace`; empty for an object of a kind without namespaces.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
}

impl ObjectName {
    /// The name of an object in a namespace.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.write_str(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

/// What every object has, and what a remedy's precondition needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identity {
    /// Namespace and name.
    pub name: ObjectName,
    /// `metadata.uid`; empty where a file leaves it out.
    pub uid: String,
    /// `metadata.resourceVersion`; empty where a file leaves it out.
    pub resource_version: String,
    /// `metadata.creationTimestamp`.
    pub created: Option<Timestamp>,
    /// `metadata.deletionTimestamp`; set while the object is being deleted.
    pub deleted: Option<Timestamp>,
}

impl Identity {
    /// Whether it has a deletion timestamp.
    pub fn is_deleting(&self) -> bool {
        self.deleted.is_some()
    }
}

/// A label whose key and value are shared with the other objects that have them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedLabel {
    /// The key.
    pub key: Arc<str>,
    /// The value.
    pub value: Arc<str>,
}

impl From<&SharedLabel> for Label {
    fn from(SharedLabel { key, value }: &SharedLabel) -> Self {
        Self { key: key.to_string(), value: value.to_string() }
    }
}

/// The value of a label or annotation in a list that is ordered by keys.
pub fn value_of<'a>(labels: &'a [Label], key: &str) -> Option<&'a str> {
    let at = labels.binary_search_by(|label| label.key.as_str().cmp(key)).ok()?;
    Some(&labels[at].value)
}
