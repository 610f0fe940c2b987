//! The pods of an answer.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use zonewarden_contract::placement::{ClassDecision, ClassVerdict, Injection};
use zonewarden_contract::types::{Reason, Severity};
use zonewarden_sync::{Class, PlacedPod, Survey};

use super::{Finding, Labels, Requirement, labels, terms};
use crate::output::kebab;

/// How many nodes of a group are named where not all are asked for: thousands of pods times thousands of nodes is no answer.
const NAMED_NODES: usize = 5;

/// A pod.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pod {
    /// The pod's namespace.
    pub(crate) namespace: String,
    /// The pod's name.
    pub(crate) name: String,
    /// The Node that the pod is bound to.
    pub(crate) node: Option<String>,
    /// The nodes that the pod may go to.
    pub(crate) feasible: Vec<NodeGroup>,
    /// The nodes that it may not go to.
    pub(crate) refused: Vec<NodeGroup>,
    /// The node affinity that the pod should have; null where it needs none.
    pub(crate) affinity: Option<Vec<Vec<Requirement>>>,
    /// What is worth telling.
    pub(crate) findings: Vec<Finding>,
}

/// Nodes that no rule can tell apart.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeGroup {
    /// Their labels, as far as the policy reads them.
    pub(crate) labels: Labels,
    /// How many they are.
    pub(crate) node_count: usize,
    /// Their names: the first five, or all with --all-nodes.
    pub(crate) nodes: Vec<String>,
    /// feasible, refused (now) or unresolvable.
    pub(crate) decision: String,
    /// Whose decision it is: kubernetes or zonewarden.
    pub(crate) origin: String,
    /// Why, the decisive reason first.
    pub(crate) reasons: Vec<Coded>,
}

/// A reason.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Coded {
    /// A stable code.
    pub(crate) code: String,
    /// A sentence.
    pub(crate) message: String,
}

impl Pod {
    /// Whether there is something to tell.
    pub(crate) fn tells(&self) -> bool {
        self.findings.iter().any(Finding::tells)
    }
}

/// Every pod that is the policy's business.
pub(super) fn of(survey: &Survey<'_>, all_nodes: bool) -> Result<Vec<Pod>> {
    survey.pods().map(|pod| Ok(Pod::new(&survey.place(pod)?, all_nodes))).collect()
}

impl Pod {
    /// One pod.
    pub(crate) fn new(placed: &PlacedPod<'_>, all_nodes: bool) -> Self {
        let mut pod = Self {
            namespace: placed.pod.identity.name.namespace.to_string(),
            name: placed.pod.identity.name.name.to_string(),
            node: placed.pod.node.as_ref().map(|node| node.node_name.clone()),
            feasible: Vec::new(),
            refused: Vec::new(),
            affinity: None,
            findings: findings(placed),
        };
        for (class, verdict) in &placed.classes {
            let group = NodeGroup::new(placed, class, verdict, all_nodes);
            match verdict.decision {
                ClassDecision::Feasible => pod.feasible.push(group),
                ClassDecision::Refused | ClassDecision::Unresolvable => pod.refused.push(group),
            }
        }
        if let Some(Injection::Inject(injected)) = &placed.injection {
            pod.affinity = Some(terms(&injected.terms));
        }
        pod
    }
}

impl NodeGroup {
    fn new(placed: &PlacedPod<'_>, class: &Class<'_>, verdict: &ClassVerdict, all_nodes: bool) -> Self {
        let named = if all_nodes { usize::MAX } else { NAMED_NODES };
        Self {
            labels: labels(&placed.place_of(class).labels),
            node_count: class.nodes.len(),
            nodes: class.nodes.iter().take(named).map(|node| node.node_name.clone()).collect(),
            decision: kebab(&verdict.decision),
            origin: kebab(&verdict.origin),
            reasons: placed.reasons(verdict).map(Coded::new).collect(),
        }
    }
}

impl Coded {
    fn new(reason: &Reason) -> Self {
        Self { code: reason.code.clone(), message: reason.message.clone() }
    }
}

/// What is worth telling of a pod: that no node fits, that it waits on a node that does not fit, that its affinity is missing.
fn findings(placed: &PlacedPod<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let finding =
        |severity, code: &str, message: String| Finding::of(severity, &Reason { code: code.to_owned(), message });
    let verdict = placed.pod.node.as_ref().and_then(|node| placed.verdict_of(node));
    match (&placed.pod.node, verdict) {
        (None, _) if !placed.is_placeable() => {
            let why = placed.classes.iter().find_map(|(_, verdict)| placed.reasons(verdict).next());
            let why = why.map_or("there are no nodes", |reason| reason.message.as_str());
            findings.push(finding(Severity::Error, "fits-no-node", format!("no node fits: {why}")));
        }
        // A pod whose containers run has its volumes; what a rule thinks of its node is then of no use to anybody.
        (Some(node), Some(verdict))
            if verdict.decision != ClassDecision::Feasible && !placed.pod.has_started_container =>
        {
            let why = placed.reasons(verdict).next().map_or("", |reason| reason.message.as_str());
            let message = format!("it waits on node {}, which does not fit: {why}", node.node_name);
            findings.push(finding(Severity::Error, "placed-on-wrong-node", message));
        }
        _ => {}
    }
    match &placed.injection {
        Some(Injection::Inject(injected)) => {
            // Only a pod that is still to be made, or still gated, can be given one.
            findings.push(Finding::of(Severity::Warning, &injected.reason));
            findings.extend(injected.findings.iter().map(Finding::new));
        }
        Some(Injection::Contradiction(reason)) => findings.push(Finding::of(Severity::Error, reason)),
        Some(Injection::Undecided(reason)) => findings.push(Finding::of(Severity::Warning, reason)),
        Some(Injection::Nothing(_)) | None => {}
    }
    findings
}
