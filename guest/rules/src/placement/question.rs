//! The question, read once for all classes.

use super::binding::Delayed;
use super::claims::{NamedClaim, UsableClaim};
use super::groups::Group;
use super::labels::ZoneLabel;
use super::limits::Demand;
use super::nodes::{Nodes, at};
use super::refusal::Refusal;
use super::topologies::Topology;
use super::whereabouts::{self, Whereabouts};
use crate::identity::{Canonical, canonical};
use crate::keys;
use crate::selector::value;
use crate::settings::{Settings, UnlabelledNodes, VolumeIds};
use crate::translation::{Migration, gce_zones_fail};
use crate::volume_id::{self, Rejection};
use std::cell::OnceCell;
use zonewarden_bindings::placement::{InlineVolume, PersistentVolume, PodQuestion, PodVolumeSource};
use zonewarden_bindings::types::{VolumeEvidence, VolumeSource};

/// A pod's volumes, as far as they are the same for every class.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) pod: &'a PodQuestion,
    /// The volumes that exist: those that Kubernetes can't tell apart together.
    pub(super) groups: Vec<Group<'a>>,
    /// The claims whose volume is chosen once the pod is placed.
    pub(super) delayed: Vec<Delayed<'a>>,
    /// What counts against attach limits.
    pub(super) demand: Demand<'a>,
    /// What refuses every class.
    pub(super) refusals: Vec<Refusal>,
    /// Whether a node of unknown zone is refused for a volume of known zone.
    pub(super) refuses_unlabelled: bool,
}

/// A volume that exists: a bound claim's, or one that the pod names directly.
#[derive(Debug)]
pub(super) struct Volume<'a> {
    pub(super) position: usize,
    /// The name of the pod's volume.
    pub(super) name: &'a str,
    /// The claim and its PersistentVolume; `None` for a volume that is named directly.
    pub(super) bound: Option<Bound<'a>>,
    /// The in-tree plugin that Kubernetes translates, if it is one.
    pub(super) migration: Option<Migration>,
    /// Whether translating it is an error, which fails the pod's whole attempt (F-61).
    pub(super) fails_translation: bool,
    /// The volume's id as it stands.
    pub(super) text: &'a str,
    pub(super) canonical: Canonical<'a>,
    /// Whether VolumeZone reads the volume's labels: not those of generic ephemeral volumes (F-62).
    pub(super) is_zone_checked: bool,
    pub(super) whereabouts: Whereabouts<'a>,
    /// What `describe` says, once somebody asked.
    pub(super) words: OnceCell<String>,
}

/// A bound claim's volume.
#[derive(Debug)]
pub(super) struct Bound<'a> {
    pub(super) claim: &'a str,
    pub(super) volume: &'a PersistentVolume,
    pub(super) topology: &'a Topology<'a>,
}

impl<'a> Question<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        pod: &'a PodQuestion,
        topologies: &'a [Topology<'a>],
        nodes: &Nodes<'_>,
    ) -> Self {
        let mut question = Self {
            pod,
            groups: Vec::new(),
            delayed: Vec::new(),
            demand: Demand::default(),
            refusals: Vec::new(),
            refuses_unlabelled: refuses_unlabelled(settings, nodes),
        };
        for (position, volume) in pod.volumes.iter().enumerate() {
            let name = volume.name.as_str();
            match &volume.source {
                PodVolumeSource::Claim(claim) => {
                    question.add_claim(settings, topologies, NamedClaim { position, volume: name, claim });
                }
                // An inline CSI volume is made on the node it is used on, and has no place before that (F-45).
                PodVolumeSource::Inline(InlineVolume { source: VolumeSource::Csi(_), .. }) => {}
                PodVolumeSource::Inline(inline) => question.add(Volume::inline(settings, position, name, inline)),
            }
        }
        // Kubernetes serves the smallest request first (F-53).
        question.delayed.sort_by_key(|delayed| delayed.unbound.requested_bytes);
        question
    }

    fn add_claim(&mut self, settings: &'a Settings, topologies: &'a [Topology<'a>], named: NamedClaim<'a>) {
        match named.read(settings) {
            Err(refusal) => self.refusals.push(refusal),
            Ok(UsableClaim::Bound(volume)) => self.add(Volume::bound(settings, topologies, named, volume)),
            Ok(UsableClaim::Delayed(unbound, class)) => {
                self.demand.add_delayed(named.position, &named.claim.name, &class.provisioner);
                self.delayed.push(Delayed::new(settings, topologies, named, unbound, class));
            }
        }
    }

    fn add(&mut self, volume: Volume<'a>) {
        self.demand.add(&volume);
        self.refusals.extend(whereabouts::gone(&volume));
        match self.groups.iter_mut().find(|group| group.takes(&volume)) {
            Some(group) => group.volumes.push(volume),
            None => self.groups.push(Group::new(volume)),
        }
    }

    /// The volumes that exist.
    pub(super) fn volumes(&self) -> impl Iterator<Item = &Volume<'a>> {
        self.groups.iter().flat_map(|group| &group.volumes)
    }
}

impl<'a> Volume<'a> {
    pub(super) fn bound(
        settings: &'a Settings,
        topologies: &'a [Topology<'a>],
        named: NamedClaim<'a>,
        volume: &'a PersistentVolume,
    ) -> Self {
        let mut this = Self::new(settings, (named.position, named.volume), &volume.source, &volume.evidence);
        let topology = &topologies[at(volume.topology)];
        this.fails_translation |=
            matches!(volume.source, VolumeSource::GcePersistentDisk(_)) && gce_zones_fail(&topology.said.labels);
        this.is_zone_checked = !named.claim.ephemeral;
        this.bound = Some(Bound { claim: &named.claim.name, volume, topology });
        this
    }

    pub(super) fn inline(settings: &'a Settings, position: usize, name: &'a str, inline: &'a InlineVolume) -> Self {
        Self::new(settings, (position, name), &inline.source, &inline.evidence)
    }

    fn new(
        settings: &'a Settings,
        (position, name): (usize, &'a str),
        source: &'a VolumeSource,
        evidence: &'a VolumeEvidence,
    ) -> Self {
        let canonical = canonical(settings, source);
        Self {
            position,
            name,
            bound: None,
            migration: Migration::of_source(source),
            fails_translation: fails_translation(source),
            text: text(source),
            whereabouts: Whereabouts::new(settings, &canonical, evidence),
            canonical,
            is_zone_checked: false,
            words: OnceCell::new(),
        }
    }

    /// The volume with everything it is called, for messages: many classes may be refused for one volume.
    pub(super) fn describe(&self) -> &str {
        self.words.get_or_init(|| match &self.bound {
            Some(bound) => {
                ["PersistentVolume ", &bound.volume.name, " (claim ", bound.claim, ", volume ", self.name, ")"].concat()
            }
            None => ["volume ", self.name, " (", self.text, ")"].concat(),
        })
    }

    /// Whether it is a volume of ours whose zone nothing tells.
    pub(super) fn is_nowhere(&self) -> bool {
        let is_placed = self.bound.as_ref().is_some_and(|bound| bound.topology.affinity.is_some());
        matches!(self.canonical, Canonical::Volume(_))
            && self.whereabouts.zone.is_none()
            && self.zone_label().is_none()
            && !is_placed
    }

    /// The labels that VolumeZone reads.
    pub(super) fn zone_labels(&self) -> &'a [ZoneLabel<'a>] {
        self.bound.as_ref().filter(|_| self.is_zone_checked).map_or(&[], |bound| &bound.topology.zone_labels)
    }

    /// The zone label that VolumeZone reads, the GA one before the beta one.
    pub(super) fn zone_label(&self) -> Option<&'a ZoneLabel<'a>> {
        let of_key = |key: &str| self.zone_labels().iter().find(|label| label.key == key);
        of_key(keys::ZONE).or_else(|| of_key(keys::ZONE_BETA))
    }
}

fn text(source: &VolumeSource) -> &str {
    match source {
        VolumeSource::AwsElasticBlockStore(id) | VolumeSource::GcePersistentDisk(id) => &id.kubernetes_volume_id,
        VolumeSource::Csi(csi) => &csi.volume_handle.kubernetes_volume_id,
        VolumeSource::Other(field) => field,
    }
}

/// Whether Kubernetes fails to translate the id: it reads only what begins with `aws://` (F-61), and takes an id that is
/// percent-encoded, which we do not.
fn fails_translation(source: &VolumeSource) -> bool {
    let VolumeSource::AwsElasticBlockStore(id) = source else { return false };
    let text = id.kubernetes_volume_id.as_str();
    let rejected = || volume_id::read(text, VolumeIds::Lenient).err();
    text.starts_with("aws://") && rejected().is_some_and(|rejection| rejection != Rejection::NotLiteral)
}

/// F-60 and its remedy: in a cluster of two zones or more, a node of no zone is no place for a volume that has one.
fn refuses_unlabelled(settings: &Settings, nodes: &Nodes<'_>) -> bool {
    match settings.unlabelled_nodes {
        UnlabelledNodes::Pass => false,
        UnlabelledNodes::Refuse => true,
        UnlabelledNodes::Auto => {
            let zone = |labels| value(labels, keys::ZONE).or_else(|| value(labels, keys::ZONE_BETA));
            let mut zones = nodes.classes().iter().filter_map(|class| zone(&class.place().labels));
            let first = zones.next();
            zones.any(|zone| Some(zone) != first)
        }
    }
}
