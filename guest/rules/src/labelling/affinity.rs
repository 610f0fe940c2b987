//! What a PersistentVolume's node affinity says about the volume's zone, and what is missing in it.

use zonewarden_bindings::labelling::LabellingQuestion;
use zonewarden_bindings::types::{Finding, Requirement, SelectorOperator, SelectorTerm, Severity, VolumeAffinity};

use super::nodes::Nodes;
use super::origin::Placed;
use crate::answer::finding;
use crate::{keys, region};

/// What became of the affinity.
#[derive(Default)]
pub(super) struct Affinity {
    pub(super) to_set: Option<Vec<SelectorTerm>>,
    pub(super) findings: Vec<Finding>,
    /// Whether the affinity keeps the pod from the volume's zone.
    pub(super) contradicts: bool,
}

/// How one term stands to the volume's zone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// It matches no node at all (F-54).
    Empty,
    /// It matches no node of the zone.
    Excludes,
    /// It matches nodes of the zone alone.
    Exact,
    /// It names the zone beside others.
    Wide,
    /// It does not say which zones it means.
    Silent,
}

/// The one zone that every term names, if they do. Terms that match no node have no say.
pub(super) fn only_zone(affinity: &VolumeAffinity) -> Option<&str> {
    let VolumeAffinity::Required(terms) = affinity else { return None };
    let mut only = None;
    for term in terms.iter().filter(|term| !is_empty(term)) {
        let mut named = false;
        for requirement in term.requirements.iter().filter(|requirement| names_zones(requirement)) {
            let [zone] = requirement.values.as_slice() else { return None };
            if only.is_some_and(|other| other != zone) {
                return None;
            }
            (only, named) = (Some(zone), true);
        }
        if !named {
            return None;
        }
    }
    only.map(String::as_str)
}

/// A PersistentVolume whose affinity is asked about.
pub(super) struct Asked<'a> {
    pub(super) nodes: Nodes<'a>,
    pub(super) question: &'a LabellingQuestion,
    pub(super) placed: &'a Placed,
    /// Whether the affinity may be completed, as far as the settings and the labels go.
    pub(super) writable: bool,
}

/// Judges the affinity.
///
/// What is written is the zone alone, never the region: the zone is enough, and a node without a region label would be lost.
pub(super) fn judge(asked: &Asked<'_>) -> Affinity {
    let mut affinity = Affinity::default();
    let fresh = || asked.writable.then(|| vec![asked.term()]);
    match &asked.question.affinity {
        VolumeAffinity::Unset => affinity.to_set = fresh(),
        // Nothing is stored yet, so what the author left open can be completed, as Kubernetes itself did (F-9).
        VolumeAffinity::Unrestricted if asked.question.creating => affinity.to_set = fresh(),
        VolumeAffinity::Required(terms) if terms.is_empty() && asked.question.creating => affinity.to_set = fresh(),
        VolumeAffinity::Unrestricted => affinity.findings.push(asked.unrestricted()),
        VolumeAffinity::Required(terms) => affinity.judge_terms(asked, terms),
    }
    affinity
}

impl Affinity {
    fn judge_terms(&mut self, asked: &Asked<'_>, terms: &[SelectorTerm]) {
        let own_key = asked.nodes.affinity_key();
        let fits: Vec<Fit> = terms.iter().map(|term| fit(term, asked.placed, own_key)).collect();
        if fits.iter().all(|fit| *fit == Fit::Empty) {
            self.contradicts = true;
            return self.findings.push(asked.matches_no_node());
        }
        if let Some(position) = fits.iter().position(|fit| *fit == Fit::Empty) {
            self.findings.push(asked.term_empty(position));
        }
        if fits.iter().all(|fit| matches!(fit, Fit::Empty | Fit::Excludes)) {
            self.contradicts = true;
            return self.findings.push(asked.contradiction());
        }
        let completed = asked.writable && asked.question.creating && fits.contains(&Fit::Silent);
        if completed {
            self.to_set = Some(terms.iter().zip(&fits).map(|(term, fit)| asked.complete(term, *fit)).collect());
        }
        let too_wide = |fit: &Fit| matches!(fit, Fit::Excludes | Fit::Wide) || (*fit == Fit::Silent && !completed);
        if let Some(position) = fits.iter().position(too_wide) {
            self.findings.push(asked.too_wide(position));
        }
        if terms
            .iter()
            .flat_map(|term| &term.requirements)
            .any(|requirement| needs_missing_key(requirement, asked.nodes))
        {
            self.findings.push(asked.key_not_on_nodes());
        }
    }
}

impl Asked<'_> {
    fn term(&self) -> SelectorTerm {
        SelectorTerm { requirements: vec![self.requirement()], has_match_fields: false }
    }

    fn requirement(&self) -> Requirement {
        let key = self.nodes.affinity_key().to_owned();
        Requirement { key, operator: SelectorOperator::In, values: vec![self.placed.zone.clone()] }
    }

    /// The term with the zone's requirement where it says nothing of zones; any other as it is (F-10, done per term).
    fn complete(&self, term: &SelectorTerm, fit: Fit) -> SelectorTerm {
        let mut term = term.clone();
        if fit == Fit::Silent {
            term.requirements.push(self.requirement());
        }
        term
    }

    /// What can be done about an affinity. It can't be changed once it is stored (D-35), but with an alpha gate of Kubernetes.
    fn advice(&self) -> &'static str {
        if self.question.creating {
            "correct it before the object is created, since it can't be changed later"
        } else {
            "re-create the object with reclaim policy Retain, or change it where the feature gate MutablePVNodeAffinity is on"
        }
    }

    fn matches_no_node(&self) -> Finding {
        let name = &self.question.persistent_volume;
        let message =
            format!("no term of the node affinity of PersistentVolume {name} matches any node: {}", self.advice());
        finding(Severity::Error, "affinity-matches-no-node", message)
    }

    fn term_empty(&self, position: usize) -> Finding {
        let name = &self.question.persistent_volume;
        let message =
            format!("term {position} of the node affinity of PersistentVolume {name} is empty and matches no node");
        finding(Severity::Warning, "affinity-term-empty", message)
    }

    fn too_wide(&self, position: usize) -> Finding {
        let (name, zone) = (&self.question.persistent_volume, &self.placed.zone);
        let message = format!(
            "term {position} of the node affinity of PersistentVolume {name} admits nodes outside zone {zone}, and its volume attaches only there: {}",
            self.advice()
        );
        finding(Severity::Warning, "affinity-too-wide", message)
    }

    fn key_not_on_nodes(&self) -> Finding {
        let (name, zone, key) = (&self.question.persistent_volume, &self.placed.zone, keys::ZONE_EBS_CSI);
        let message = format!(
            "the node affinity of PersistentVolume {name} asks for {key}, which no node of zone {zone} carries: the EBS CSI driver has not registered there yet"
        );
        finding(Severity::Warning, "affinity-key-not-on-nodes", message)
    }

    fn unrestricted(&self) -> Finding {
        let (name, zone) = (&self.question.persistent_volume, &self.placed.zone);
        let message = format!(
            "PersistentVolume {name} has an empty node affinity, which admits every node and can't be set any more, while its volume is in zone {zone}: {}",
            self.advice()
        );
        finding(Severity::Warning, "affinity-unrestricted", message)
    }

    fn contradiction(&self) -> Finding {
        let (name, zone) = (&self.question.persistent_volume, &self.placed.zone);
        let (severity, witness) = if self.placed.is_proven() {
            (Severity::Error, "in which EC2 has its volume")
        } else {
            (Severity::Warning, "at which the object itself hints")
        };
        let message =
            format!("the node affinity of PersistentVolume {name} excludes zone {zone}, {witness}: {}", self.advice());
        finding(severity, "affinity-contradicts-zone", message)
    }
}

/// An affinity that names a zone by its id (D-37). Asked for whether the volume's zone is known or not.
pub(super) fn zone_id(question: &LabellingQuestion, placed: Option<&Placed>) -> Option<Finding> {
    let VolumeAffinity::Required(terms) = &question.affinity else { return None };
    let requirements = terms.iter().flat_map(|term| &term.requirements).filter(|requirement| names_zones(requirement));
    let (key, id) = requirements
        .flat_map(|requirement| requirement.values.iter().map(|value| (&requirement.key, value)))
        .find(|(_, value)| region::is_zone_id(value))?;
    let advice = match placed {
        Some(placed) if placed.zone_id.as_deref() == Some(id) => format!("the zone's name is {}", placed.zone),
        _ => "give the zone's name".to_owned(),
    };
    let message = format!(
        "the node affinity of PersistentVolume {} says {id} for {key}, which is the id of a zone and not its name: {advice}",
        question.persistent_volume
    );
    Some(finding(Severity::Error, "zone-id-not-name", message))
}

fn is_empty(term: &SelectorTerm) -> bool {
    term.requirements.is_empty() && !term.has_match_fields
}

/// Whether the requirement lists the zones that it means. `Exists` and the negative operators do not.
fn names_zones(requirement: &Requirement) -> bool {
    keys::is_zone(&requirement.key) && requirement.operator == SelectorOperator::In
}

/// `own_key` is the key that a requirement of ours would be written on.
fn fit(term: &SelectorTerm, placed: &Placed, own_key: &str) -> Fit {
    if is_empty(term) {
        return Fit::Empty;
    }
    let excludes = |requirement: &Requirement| {
        if keys::is_zone(&requirement.key) {
            let unlabelled_only = requirement.operator == SelectorOperator::DoesNotExist && requirement.key == own_key;
            unlabelled_only || !holds(requirement, &placed.zone)
        } else if keys::is_region(&requirement.key) {
            placed.region().is_some_and(|region| !holds(requirement, region))
        } else {
            false
        }
    };
    if term.requirements.iter().any(excludes) {
        return Fit::Excludes;
    }
    let mut fit = Fit::Silent;
    for requirement in term.requirements.iter().filter(|requirement| names_zones(requirement)) {
        if requirement.values.iter().all(|value| *value == placed.zone) {
            return Fit::Exact;
        }
        fit = Fit::Wide;
    }
    fit
}

/// Whether a node with this value, under some key of the same meaning, can satisfy the requirement. The value is no number,
/// and an operator that nobody knows matches no node.
fn holds(requirement: &Requirement, value: &str) -> bool {
    match requirement.operator {
        SelectorOperator::In => requirement.values.iter().any(|accepted| accepted == value),
        SelectorOperator::NotIn => requirement.values.iter().all(|refused| refused != value),
        SelectorOperator::Exists | SelectorOperator::DoesNotExist => true,
        SelectorOperator::Gt | SelectorOperator::Lt | SelectorOperator::Other(_) => false,
    }
}

/// The key that only the CSI driver's nodes have, on none of the zone's nodes (D-36).
fn needs_missing_key(requirement: &Requirement, nodes: Nodes<'_>) -> bool {
    names_zones(requirement) && requirement.key == keys::ZONE_EBS_CSI && nodes.lack(keys::ZONE_EBS_CSI)
}
