//! A pod as the question about its placement.

use indexmap::IndexSet;
use zonewarden_cluster::records::{PersistentVolume, PersistentVolumeClaim, Pod, PodVolume, PodVolumeSource};
use zonewarden_contract::placement::{
    self, Candidate, Claim, ClaimFacts, ClaimState, ClaimedClass, ClaimedVolume, InlineVolume, PodQuestion, TieKind,
    UnboundClaim, VolumeTopology,
};
use zonewarden_contract::types::{VolumeAffinity, VolumeSource};

use crate::Survey;
use crate::classes::Needs;
use crate::occupancy::counted;

impl Survey<'_> {
    /// The question about a pod.
    pub(crate) fn pod_question(&self, pod: &Pod) -> PodQuestion {
        let required = self.cluster.csi_drivers().filter(|driver| driver.prevent_pod_scheduling_if_missing);
        let mut topologies = Topologies::new();
        PodQuestion {
            pod: pod.identity.name.to_string(),
            volumes: pod.volumes.iter().map(|volume| self.pod_volume(pod, volume, &mut topologies)).collect(),
            topologies: topologies.into_iter().collect(),
            required_drivers: required.map(|driver| driver.identity.name.name.to_string()).collect(),
        }
    }

    fn pod_volume(&self, pod: &Pod, volume: &PodVolume, topologies: &mut Topologies) -> placement::PodVolume {
        let mut claim = |ephemeral| {
            let (name, claim) = self.cluster.claim_of(pod, volume).expect("only an inline volume has no claim");
            let state =
                claim.map_or(ClaimState::Missing, |claim| ClaimState::Found(self.claim_facts(pod, claim, topologies)));
            Claim { name: name.name.to_string(), ephemeral, state }
        };
        let source = match &volume.source {
            PodVolumeSource::Claim(_) => placement::PodVolumeSource::Claim(claim(false)),
            PodVolumeSource::Ephemeral(_) => placement::PodVolumeSource::Claim(claim(true)),
            PodVolumeSource::Inline(source) => placement::PodVolumeSource::Inline(InlineVolume {
                source: source.clone(),
                evidence: self.evidence(source),
            }),
        };
        placement::PodVolume { name: volume.name.to_string(), source }
    }

    fn claim_facts(&self, pod: &Pod, claim: &PersistentVolumeClaim, topologies: &mut Topologies) -> ClaimFacts {
        let volume = match &claim.volume_name {
            None => ClaimedVolume::None(self.unbound_claim(claim, topologies)),
            Some(name) => match self.cluster.volume(name) {
                None => ClaimedVolume::Missing(name.clone()),
                Some(volume) => ClaimedVolume::Found(self.persistent_volume(volume, topologies)),
            },
        };
        ClaimFacts {
            deleting: claim.identity.is_deleting(),
            lost: &*claim.phase == "Lost",
            owned_by_pod: claim.is_owned_by(&pod.identity.uid),
            bind_completed: claim.bind_completed,
            volume,
        }
    }

    fn unbound_claim(&self, claim: &PersistentVolumeClaim, topologies: &mut Topologies) -> UnboundClaim {
        let class = match claim.storage_class.as_deref() {
            None | Some("") => ClaimedClass::None,
            Some(name) => match self.cluster.storage_class(name) {
                None => ClaimedClass::Missing(name.to_owned()),
                Some(class) => ClaimedClass::Found(placement::StorageClass {
                    name: class.identity.name.name.to_string(),
                    provisioner: class.provisioner.clone(),
                    binding_mode: class.binding_mode.clone(),
                    allowed_topologies: class.allowed_topologies.clone(),
                }),
            },
        };
        UnboundClaim {
            class,
            selected_node: claim.selected_node.clone(),
            candidates: self.candidates(claim, topologies),
            requested_bytes: claim.requested_bytes,
            access_modes: claim.access_modes.to_vec(),
            volume_mode: claim.volume_mode.to_string(),
        }
    }

    fn candidates(&self, claim: &PersistentVolumeClaim, topologies: &mut Topologies) -> Vec<Candidate> {
        let candidates = self.cluster.candidates(claim).map(|candidate| Candidate {
            available: candidate.available,
            capacity_bytes: candidate.volume.capacity_bytes,
            access_modes: candidate.volume.access_modes.to_vec(),
            volume_mode: candidate.volume.volume_mode.to_string(),
            selected: candidate.selected,
            volume: self.persistent_volume(candidate.volume, topologies),
        });
        candidates.collect()
    }

    fn persistent_volume(&self, volume: &PersistentVolume, topologies: &mut Topologies) -> placement::PersistentVolume {
        placement::PersistentVolume {
            name: volume.identity.name.name.to_string(),
            source: volume.source.clone(),
            topology: position_of(volume, topologies),
            evidence: self.evidence(&volume.source),
        }
    }

    /// What the question needs to know of the nodes.
    pub(crate) fn needs(&self, question: &PodQuestion) -> Needs {
        let info = self.policy.info();
        let volumes = u32::try_from(question.volumes.len()).unwrap_or(u32::MAX);
        let mut needs = Needs { volumes, ..Needs::default() };
        needs.drivers.extend(question.required_drivers.iter().cloned());
        for key in named_keys(question) {
            if !info.node_label_keys.contains(key) && !needs.keys.contains(key) {
                needs.keys.push(key.clone());
            }
        }
        for (position, volume) in (0..).zip(&question.volumes) {
            if let Some(ClaimedVolume::None(claim)) = claimed(&volume.source) {
                if let Some(selected) = &claim.selected_node {
                    needs.ties.entry(selected.clone()).or_default().push((position, TieKind::SelectedFor));
                }
                // A volume that is still to be made will be one of the class's driver, or of the drivers that took over from
                // the class's plugin.
                if let ClaimedClass::Found(class) = &claim.class {
                    needs.drivers.insert(class.provisioner.clone());
                    if info.in_tree_plugins.contains(&class.provisioner) {
                        needs.drivers.extend(info.csi_drivers.iter().cloned());
                    }
                }
            }
            let Some(source) = source(&volume.source) else { continue };
            // A volume of an in-tree plugin counts for the driver that took over, even where its id can't be read.
            if matches!(source, VolumeSource::AwsElasticBlockStore(_) | VolumeSource::GcePersistentDisk(_)) {
                needs.drivers.extend(info.csi_drivers.iter().cloned());
            }
            let Some(counted) = counted(source, &self.identities, info) else { continue };
            needs.drivers.insert(counted.0.clone());
            for holder in self.occupancy.holders(&counted) {
                needs.ties.entry(holder.clone()).or_default().push((position, TieKind::Holds));
            }
        }
        needs
    }
}

/// What a question's volumes say of where they may be used, each once: a claim may have thousands of candidates.
type Topologies = IndexSet<VolumeTopology>;

fn position_of(volume: &PersistentVolume, topologies: &mut Topologies) -> u32 {
    let topology = VolumeTopology { labels: volume.labels.to_vec(), affinity: volume.affinity.clone() };
    let (position, _) = topologies.insert_full(topology);
    u32::try_from(position).expect("there are fewer volumes than a u32 counts")
}

/// What the claim behind one of a pod's volumes says of its volume, where there is such a claim.
fn claimed(source: &placement::PodVolumeSource) -> Option<&ClaimedVolume> {
    match source {
        placement::PodVolumeSource::Claim(claim) => match &claim.state {
            ClaimState::Found(facts) => Some(&facts.volume),
            ClaimState::Missing => None,
        },
        placement::PodVolumeSource::Inline(_) => None,
    }
}

fn source(source: &placement::PodVolumeSource) -> Option<&VolumeSource> {
    match source {
        placement::PodVolumeSource::Inline(volume) => Some(&volume.source),
        placement::PodVolumeSource::Claim(_) => match claimed(source)? {
            ClaimedVolume::Found(volume) => Some(&volume.source),
            ClaimedVolume::None(_) | ClaimedVolume::Missing(_) => None,
        },
    }
}

/// The node label keys that a question names: in the affinity of the volumes that the pod has or may get, and in the topologies
/// of its claims' classes.
fn named_keys(question: &PodQuestion) -> impl Iterator<Item = &String> {
    let affinities = question.topologies.iter().flat_map(|topology| match &topology.affinity {
        VolumeAffinity::Required(terms) => terms.as_slice(),
        VolumeAffinity::Unset | VolumeAffinity::Unrestricted => &[],
    });
    let of_volumes = affinities.flat_map(|term| &term.requirements).map(|requirement| &requirement.key);
    let classes = question.volumes.iter().filter_map(|volume| match claimed(&volume.source)? {
        ClaimedVolume::None(UnboundClaim { class: ClaimedClass::Found(class), .. }) => Some(class),
        ClaimedVolume::None(_) | ClaimedVolume::Missing(_) | ClaimedVolume::Found(_) => None,
    });
    let of_classes = classes.flat_map(|class| &class.allowed_topologies).flat_map(|term| &term.requirements);
    of_volumes.chain(of_classes.map(|requirement| &requirement.key))
}
