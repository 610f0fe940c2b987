//! VolumeBinding on a node: the node affinity of bound volumes (F-54 to F-57), and what becomes of claims that wait for their
//! pod (F-52, F-53).

use super::claims::NamedClaim;
use super::groups::Group;
use super::nodes::Class;
use super::places::Site;
use super::question::{Question, Volume};
use super::refusal::{Refusal, Stage};
use super::topologies::Topology;
use super::whereabouts;
use crate::keys;
use crate::selector::{NodeSelector, describe_label, describe_topology, holds, topology_allows, value};
use crate::settings::Settings;
use zonewarden_bindings::placement::{Candidate, Claim, Place, StorageClass, UnboundClaim};
use zonewarden_bindings::types::{Label, Requirement, SelectorOperator};

/// The provisioner of a StorageClass whose volumes nobody makes.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

impl Volume<'_> {
    /// Whether the nodes' CSINode says that the volume's plugin is migrated there: an exact item of its annotation.
    pub(super) fn is_migrated_on(&self, place: &Place) -> bool {
        self.migration.is_some_and(|migration| place.migrated_plugins.iter().any(|plugin| plugin == migration.plugin))
    }
}

/// Holds volumes of bound claims against the nodes: by the affinity as written, or where their plugin is migrated by the
/// translated one (F-55).
pub(super) fn judge(group: &Group<'_>, site: &Site<'_>) -> Option<Refusal> {
    let volume = group.first();
    let bound = volume.bound.as_ref()?;
    let labels = &site.place.labels;
    let affinity = if volume.is_migrated_on(site.place) {
        if volume.fails_translation {
            return Some(failed_translation(Stage::Binding, volume));
        }
        group.translated.as_ref()?
    } else {
        bound.topology.affinity.as_ref()?
    };
    if affinity.matches(labels) {
        return None;
    }
    let mut words = Vec::with_capacity(8);
    let verb = group.verb([" needs nodes with ", " need nodes with "]);
    words.extend([group.describe(), verb, affinity.describe(), ", and the node has "]);
    if let Some(key) = unregistered_key(affinity, labels) {
        words.extend(["no ", key, " yet, which its CSI driver sets when it registers"]);
        return Some(Refusal::passing(Stage::Binding, volume.position, "topology-key-missing", words.concat()));
    }
    affinity.describe_labels(labels, &mut words);
    Some(Refusal::lasting(Stage::Binding, volume.position, "affinity-conflict", words.concat()))
}

/// F-61: an error of the scheduler, and no verdict about one node.
pub(super) fn failed_translation(stage: Stage, volume: &Volume<'_>) -> Refusal {
    let plugin = volume.migration.map_or("", |migration| migration.plugin);
    let text = [
        volume.describe(),
        " can't be translated to CSI (",
        volume.text,
        "): on nodes where ",
        plugin,
        " is migrated that is an error, for which Kubernetes gives up the pod's whole attempt, so write the volume anew",
    ];
    Refusal::lasting(stage, volume.position, "translation-fails", text.concat())
}

/// D-36: the topology key that the nodes lack, where nothing else keeps them from a term.
///
/// A node whose zone label already says another zone will not match later either, so it gets no such excuse.
fn unregistered_key<'s>(affinity: &'s NodeSelector<'_>, labels: &[Label]) -> Option<&'s str> {
    let zone = || value(labels, keys::ZONE).or_else(|| value(labels, keys::ZONE_BETA));
    let fits_zone =
        |requirement: &Requirement| zone().is_none_or(|zone| requirement.values.iter().any(|value| value == zone));
    let may_come = |requirement: &Requirement| {
        value(labels, &requirement.key).is_none()
            && is_csi_zone(&requirement.key)
            && match requirement.operator {
                SelectorOperator::Exists => true,
                SelectorOperator::In => fits_zone(requirement),
                _ => false,
            }
    };
    affinity.usable_terms().find_map(|term| {
        let mut failing = term.requirements.iter().filter(|requirement| !holds(requirement, labels));
        let first = failing.next()?;
        (may_come(first) && failing.all(may_come)).then_some(first.key.as_str())
    })
}

fn is_csi_zone(key: &str) -> bool {
    matches!(key, keys::ZONE_EBS_CSI | keys::ZONE_GCE_CSI)
}

/// A claim whose volume is chosen, or made, once the pod is placed.
#[derive(Debug)]
pub(super) struct Delayed<'a> {
    pub(super) position: usize,
    pub(super) claim: &'a Claim,
    pub(super) unbound: &'a UnboundClaim,
    pub(super) class: &'a StorageClass,
    /// The volumes that suit the claim whatever the node, smallest first.
    candidates: Vec<Volume<'a>>,
}

impl<'a> Delayed<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        topologies: &'a [Topology<'a>],
        named: NamedClaim<'a>,
        unbound: &'a UnboundClaim,
        class: &'a StorageClass,
    ) -> Self {
        let mut suitable: Vec<&Candidate> =
            unbound.candidates.iter().filter(|candidate| suits(unbound, candidate)).collect();
        suitable.sort_by_key(|candidate| candidate.capacity_bytes);
        let read = |candidate: &'a Candidate| {
            // Labels of a volume that is not bound yet are read by nobody (F-53).
            let volume = Volume::bound(settings, topologies, named, &candidate.volume);
            Volume { is_zone_checked: false, ..volume }
        };
        let candidates = suitable.into_iter().map(read).collect();
        Self { position: named.position, claim: named.claim, unbound, class, candidates }
    }

    /// The smallest volume that no other claim of the pod has taken and that the nodes may use, by its affinity as written.
    fn volume_for(&self, labels: &[Label], taken: &[&str]) -> Option<(&'a str, &Volume<'a>)> {
        let named = |volume: &'_ Volume<'a>| volume.bound.as_ref().map(|bound| bound.volume.name.as_str());
        let matches = |volume: &Volume<'a>| {
            let affinity = volume.bound.as_ref().and_then(|bound| bound.topology.affinity.as_ref());
            affinity.is_none_or(|affinity| affinity.matches(labels))
        };
        let free =
            |volume| named(volume).filter(|name| !taken.contains(name) && matches(volume)).map(|name| (name, volume));
        self.candidates.iter().find_map(free)
    }

    fn refuse(&self, code: &str, what: &[&str]) -> Refusal {
        let message = ["claim ", &self.claim.name, " ", &what.concat()].concat();
        Refusal::lasting(Stage::Binding, self.position, code, message)
    }
}

/// Whether a volume suits a claim on any node at all (F-53). What can't be read does not suit.
fn suits(claim: &UnboundClaim, candidate: &Candidate) -> bool {
    let is_large_enough =
        matches!((candidate.capacity_bytes, claim.requested_bytes), (Some(has), Some(needs)) if has >= needs);
    candidate.available
        && candidate.selected
        && is_large_enough
        && candidate.volume_mode == claim.volume_mode
        && claim.access_modes.iter().all(|mode| candidate.access_modes.contains(mode))
}

/// Holds the claims that wait for the pod, smallest request first, against the class.
///
/// Like Kubernetes this is greedy: each claim takes the smallest volume that is left for it, and none gives one back. A
/// cleverer choice would call nodes feasible that Kubernetes refuses.
pub(super) fn judge_delayed(question: &Question<'_>, class: &Class<'_>, site: &Site<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut taken: Vec<&str> = Vec::new();
    for claim in &question.delayed {
        // A claim that has a node already waits for its volume to be made there: no search among those that exist (F-52).
        if let Some(node) = &claim.unbound.selected_node {
            if !class.is_selected_for(claim.position) {
                let what = ["is to get its volume on node ", &node.node_name, ", which this node is not"];
                refusals.push(claim.refuse("selected-node-mismatch", &what));
                continue;
            }
        } else if let Some((name, volume)) = claim.volume_for(&site.place.labels, &taken) {
            // Kubernetes takes this one; what EC2 knows of it comes on top.
            taken.push(name);
            refusals.extend(whereabouts::gone(volume));
            refusals.extend(whereabouts::judge(volume, site, question.refuses_unlabelled));
            continue;
        }
        refusals.extend(judge_provisioning(claim, site.place));
    }
    refusals
}

fn judge_provisioning(claim: &Delayed<'_>, place: &Place) -> Option<Refusal> {
    let StorageClass { name, provisioner, allowed_topologies, .. } = claim.class;
    if provisioner.is_empty() || provisioner == NO_PROVISIONER {
        let what =
            ["finds no volume that is free and suits both it and the node, and StorageClass ", name, " makes none"];
        return Some(claim.refuse("no-volume-to-bind", &what));
    }
    if topology_allows(allowed_topologies, &place.labels) {
        return None;
    }
    let keys = allowed_topologies.iter().flat_map(|term| &term.requirements);
    let mut found: Vec<String> = keys.map(|requirement| describe_label(&place.labels, &requirement.key)).collect();
    found.dedup();
    let what = [
        "can have its volume made only where StorageClass ",
        name,
        " allows it (",
        &describe_topology(allowed_topologies),
        "), and the node has ",
        &found.join(", "),
    ];
    Some(claim.refuse("topology-not-allowed", &what))
}
