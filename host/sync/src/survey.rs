//! One look at one world.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use jiff::Timestamp;
use zonewarden_cluster::Index;
use zonewarden_contract::attachment::InstanceState;
use zonewarden_contract::placement::{AttachHeadroom, Place};
use zonewarden_contract::types::{InstanceId, NodeName, VolumeEvidence, VolumeSource};
use zonewarden_ec2::{Problem, Question, Sweep};
use zonewarden_engine::{ConfiguredPolicy, Error};

use crate::classes::NodeGroups;
use crate::facts::Facts;
use crate::history::History;
use crate::identities::Identities;
use crate::occupancy::Occupancy;

/// One look at one world: the facts, the policy, and what the policy said that the ids mean.
#[derive(Debug)]
pub struct Survey<'a> {
    pub(crate) cluster: &'a Index,
    pub(crate) policy: &'a ConfiguredPolicy,
    pub(crate) identities: Identities,
    pub(crate) occupancy: Occupancy,
    pub(crate) facts: Facts,
    pub(crate) history: History<'a>,
    groups: OnceLock<NodeGroups>,
    /// The names by which clusters' tags call this one.
    pub(crate) names: OnceLock<BTreeSet<String>>,
    problems: Vec<Problem>,
}

impl<'a> Survey<'a> {
    /// Looks at a world at a moment. `sweep` asks EC2, once, about everything that the cluster names; and once more about the
    /// instances that hold its volumes and are none of its Nodes, where there are any.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn new(
        cluster: &'a Index,
        policy: &'a ConfiguredPolicy,
        now: Timestamp,
        mut sweep: impl FnMut(&Question) -> Sweep,
    ) -> Result<Self, Error> {
        let mut identities = Identities::default();
        identities.learn(cluster, policy)?;
        let mut question = identities.question();
        let named: BTreeSet<&NodeName> = cluster.attachments().map(|attachment| &attachment.node).collect();
        let absent = named.into_iter().filter(|node| cluster.node(&node.node_name).is_none());
        question.names = absent.cloned().collect();
        let mut answer = sweep(&question);
        let mut problems = std::mem::take(&mut answer.problems);
        let mut facts = Facts::new(question, answer, now);
        let strangers = facts.strangers();
        if !strangers.is_empty() {
            let question = Question { instances: strangers.into_iter().collect(), ..Question::default() };
            let answer = sweep(&question);
            // What is wrong with files is said with every answer.
            let news: Vec<_> = answer.problems.into_iter().filter(|problem| !problems.contains(problem)).collect();
            problems.extend(news);
            facts.add_instances(question.instances, answer.instances);
        }
        let survey = Self::with(cluster, policy, identities, facts, History::Settled)?;
        Ok(Self { problems, ..survey })
    }

    /// Looks at a world with what is known of it already.
    pub(crate) fn with(
        cluster: &'a Index,
        policy: &'a ConfiguredPolicy,
        mut identities: Identities,
        facts: Facts,
        history: History<'a>,
    ) -> Result<Self, Error> {
        identities.learn_contradictions(&facts, policy)?;
        let occupancy = Occupancy::count(cluster, &identities, policy.info());
        Ok(Self {
            cluster,
            policy,
            identities,
            occupancy,
            facts,
            history,
            groups: OnceLock::new(),
            names: OnceLock::new(),
            problems: Vec::new(),
        })
    }

    /// The classes of the nodes, which not every survey needs.
    pub(crate) fn groups(&self) -> &NodeGroups {
        self.groups.get_or_init(|| NodeGroups::new(self.cluster, &self.occupancy, self.policy.info()))
    }

    /// What the ids mean, and who uses what, for the next survey.
    pub(crate) fn into_parts(self) -> (Identities, Occupancy) {
        (self.identities, self.occupancy)
    }

    /// What went wrong when EC2 was asked.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What the ids mean.
    #[must_use]
    pub fn identities(&self) -> &Identities {
        &self.identities
    }

    /// The policy that decides.
    #[must_use]
    pub fn policy(&self) -> &ConfiguredPolicy {
        self.policy
    }

    /// The cluster's facts.
    #[must_use]
    pub fn cluster(&self) -> &Index {
        self.cluster
    }

    /// What EC2 says about the volume that a source names, as far as the policy reads it.
    #[must_use]
    pub fn evidence(&self, source: &VolumeSource) -> VolumeEvidence {
        let volume = self.identities.identified(source);
        let keys = &self.policy.info().volume_attribute_keys;
        volume.map_or(VolumeEvidence::Unknown, |volume| self.facts.evidence(&volume.volume, keys))
    }

    /// What EC2 says an instance does; `None` where that is not known.
    #[must_use]
    pub fn instance_state(&self, instance: &InstanceId) -> Option<InstanceState> {
        self.facts.instance(instance).map(|(instance, _)| instance.state.clone())
    }

    /// What a policy may see of a Node: its place with every driver, and the exact headroom of each, in their order.
    #[must_use]
    pub fn class_of(&self, node: &NodeName) -> Option<(&Place, &[AttachHeadroom])> {
        self.groups().class_of(node)
    }

    /// Whether the policy handles this kind of volume, be its id good or not.
    pub(crate) fn handles(&self, source: &VolumeSource) -> bool {
        use zonewarden_contract::identity::VolumeIdentity::{Foreign, Identified, Rejected};
        match self.identities.volume(source) {
            Some(Identified(_) | Rejected(_)) => true,
            Some(Foreign(_)) | None => false,
        }
    }
}

/// A Node's name as the contract has it.
pub(crate) fn node_name(name: &str) -> NodeName {
    NodeName { node_name: name.to_owned() }
}
