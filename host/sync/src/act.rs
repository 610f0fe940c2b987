//! What is to be done, and what came of it.

use zonewarden_cluster::ObjectName;
use zonewarden_cluster::api::Reference;
use zonewarden_contract::attachment::Verdict;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, Label, NodeName, Reason, Remedy, SelectorTerm, Severity};

use crate::rails::Withheld;

/// Something that the rails permit. It names its objects by uid: another object of the same name is another case.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// What is done.
    pub deed: Deed,
    /// Why, as the policy says it.
    pub reason: Reason,
    /// Where people are told.
    pub regarding: Vec<Reference>,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    /// A remedy about a pair of a volume and an instance.
    Pair {
        /// The remedy.
        remedy: Remedy,
        /// The VolumeAttachment that the pair is about.
        attachment: ObjectName,
        /// Its uid.
        uid: String,
        /// The pair.
        pair: (AwsVolumeId, InstanceId),
        /// The Node's name.
        node: NodeName,
        /// The uid of the Node of that name; `None` where there was none.
        node_uid: Option<String>,
    },
    /// Our taint is taken off a Node.
    Untaint {
        /// The Node.
        node: NodeName,
        /// Its uid.
        uid: String,
    },
    /// Labels are set on a PersistentVolume.
    Label {
        /// The volume.
        volume: ObjectName,
        /// Its uid.
        uid: String,
        /// All labels that are to be ours.
        labels: Vec<Label>,
    },
    /// A PersistentVolume's node affinity is set.
    Affinity {
        /// The volume.
        volume: ObjectName,
        /// Its uid.
        uid: String,
        /// The terms.
        terms: Vec<SelectorTerm>,
    },
}

impl Deed {
    /// What it is about, as the finding that it comes from names it.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Self::Pair { attachment, .. } => format!("VolumeAttachment {attachment}"),
            Self::Untaint { node, .. } => format!("Node {}", node.node_name),
            Self::Label { volume, .. } | Self::Affinity { volume, .. } => format!("PersistentVolume {volume}"),
        }
    }

    /// The remedy that it is.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Pair { remedy, .. } => *remedy,
            Self::Untaint { .. } => Remedy::RemoveOutOfServiceTaint,
            Self::Label { .. } => Remedy::SetLabels,
            Self::Affinity { .. } => Remedy::SetNodeAffinity,
        }
    }
}

/// What one look found about one pair or one PersistentVolume.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is about, for telling it once: the name of the object and what is wrong with it.
    pub subject: String,
    /// What the observations mean; `None` for a PersistentVolume.
    pub verdict: Option<Verdict>,
    /// How grave it is.
    pub severity: Severity,
    /// Why.
    pub reason: Reason,
    /// Whether the death of the pair's instance is proven: such a finding neither counts for the breaker nor heeds it.
    pub death: bool,
    /// Whether people are told.
    pub told: bool,
    /// Where people are told.
    pub regarding: Vec<Reference>,
    /// The acts that the rails permit, in their order.
    pub acts: Vec<Act>,
    /// The remedies that the policy proposed and the rails did not permit.
    pub withheld: Vec<(Remedy, Withheld)>,
}

#[cfg(test)]
pub(crate) fn mk_finding(code: &str, verdict: Option<Verdict>) -> Finding {
    Finding {
        subject: "VolumeAttachment csi-1".to_owned(),
        verdict,
        severity: Severity::Warning,
        reason: Reason { code: code.to_owned(), message: "a sentence".to_owned() },
        death: false,
        told: true,
        regarding: Vec::new(),
        acts: Vec::new(),
        withheld: Vec::new(),
    }
}
