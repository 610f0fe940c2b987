//! What is asked of the API server beyond the watches, and the closed list of what is written to it.
//!
//! The records of the index lag behind; before anything is written the objects that it concerns are read afresh by
//! [`Api::get`] and [`Api::pods_on_node`], and the write itself names what it was decided on in its [`Precondition`]. There is
//! no write that a remedy of the contract, an event or our own Lease does not need.

use std::future::Future;
use std::pin::Pin;

use jiff::Timestamp;
use serde::Serialize;
use zonewarden_contract::types::{Label, SelectorTerm};

use crate::objects::{Kind, Object};
use crate::records::{Identity, ObjectName, Pod, Taint};

/// The annotation on a Node that says that its out-of-service taint is ours, with the uid of the Node that it was put on.
pub const TAINT_ANNOTATION: &str = "zonewarden.io/out-of-service-taint";

/// An answer on its way.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'a>>;

/// An API server, or what stands in for one.
pub trait Api: Send + Sync {
    /// Reads one object afresh; `None` where there is none of this name. One that can't be read is [`ApiError::Unreadable`].
    fn get<'a>(&'a self, kind: Kind, name: &'a ObjectName) -> Reply<'a, Option<Object>>;

    /// Reads all pods that are bound to a Node's name, afresh.
    fn pods_on_node<'a>(&'a self, node: &'a str) -> Reply<'a, Vec<Pod>>;

    /// Reads all pods of a namespace, afresh.
    fn pods_in_namespace<'a>(&'a self, namespace: &'a str) -> Reply<'a, Vec<Pod>>;

    /// Writes.
    fn write<'a>(&'a self, write: &'a Write) -> Reply<'a, ()>;
}

/// The object that a write was decided on: anything newer, or another one of the same name, is refused as a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Precondition {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
}

impl From<&Identity> for Precondition {
    fn from(identity: &Identity) -> Self {
        Self { uid: identity.uid.clone(), resource_version: identity.resource_version.clone() }
    }
}

/// Everything that is ever written about the cluster's objects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Write {
    /// Sets labels on a PersistentVolume, by server-side apply as the field manager `zonewarden`. Labels that this manager
    /// owns and that are not listed are taken off by the apply; those of others stay, and a conflict with one is an error.
    SetLabels {
        /// The volume.
        volume: ObjectName,
        /// The object that it was decided on.
        precondition: Precondition,
        /// All labels that are to be ours.
        labels: Vec<Label>,
    },
    /// Sets a PersistentVolume's node affinity where it has none.
    SetAffinity {
        /// The volume.
        volume: ObjectName,
        /// The object that it was decided on, which had none.
        precondition: Precondition,
        /// `spec.nodeAffinity.required.nodeSelectorTerms`.
        terms: Vec<SelectorTerm>,
    },
    /// Replaces a Node's taints by these, and says in [`TAINT_ANNOTATION`] whose the out-of-service taint is.
    SetTaints {
        /// The Node.
        node: ObjectName,
        /// The object that it was decided on.
        precondition: Precondition,
        /// All its taints.
        taints: Vec<Taint>,
        /// The annotation's value; `None` takes it off.
        annotation: Option<String>,
    },
    /// Deletes a VolumeAttachment, leaving its finalizers to those who set them.
    DeleteAttachment {
        /// The VolumeAttachment.
        attachment: ObjectName,
        /// The object that it was decided on.
        precondition: Precondition,
    },
    /// Deletes a pod without a grace period.
    DeletePod {
        /// The pod.
        pod: ObjectName,
        /// The object that it was decided on.
        precondition: Precondition,
    },
    /// Tells people.
    Event(Event),
}

/// An event (`events.k8s.io/v1`). The API server merges nothing: whoever writes them does not repeat himself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// The object that people read.
    pub regarding: Reference,
    /// The object beside it.
    pub related: Option<Reference>,
    /// Whether the type is `Warning`, else `Normal`.
    pub warning: bool,
    /// `reason`, in CamelCase.
    pub reason: String,
    /// `action`, in CamelCase.
    pub action: String,
    /// `note`; the API server takes 1 kB.
    pub note: String,
    /// When it happened.
    pub time: Timestamp,
}

/// An object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Reference {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: ObjectName,
    /// Its uid; empty where it is unknown.
    pub uid: String,
}

/// Why the API server did not do it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum ApiError {
    /// The object is another one by now, or a newer one (409), or it is gone (404).
    Conflict(String),
    /// It may not be done (401, 403).
    Forbidden(String),
    /// It can't be done, now or later (422 and the like).
    Invalid(String),
    /// The object came and can't be read.
    Unreadable(String),
    /// No answer, or one that says to come later.
    Unavailable(String),
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (what, text) = match self {
            Self::Conflict(text) => ("changed in the meantime", text),
            Self::Forbidden(text) => ("not allowed", text),
            Self::Invalid(text) => ("refused", text),
            Self::Unreadable(text) => ("unreadable", text),
            Self::Unavailable(text) => ("no answer", text),
        };
        write!(f, "{what}: {text}")
    }
}

impl std::error::Error for ApiError {}
