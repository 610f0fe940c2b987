//! Who uses which volume, and how many volumes each node holds.

use std::collections::{HashMap, HashSet};

use zonewarden_cluster::Index;
use zonewarden_cluster::records::{AttachedSource, Pod, PodVolume, PodVolumeSource};
use zonewarden_contract::info::PolicyInfo;
use zonewarden_contract::placement::AttachHeadroom;
use zonewarden_contract::types::{AwsVolumeId, NodeName, VolumeSource};

use crate::identities::Identities;
use crate::survey::node_name;

/// A volume as a node's limit counts it: its driver, and its id, by which two spellings are one.
pub(crate) type Counted = (String, String);

/// The volumes that each node holds: those of its pods, and those of its VolumeAttachments, each once (F-63).
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    held: HashMap<NodeName, HashSet<Counted>>,
    holders: HashMap<Counted, Vec<NodeName>>,
    users: HashMap<AwsVolumeId, Vec<User>>,
    bound: HashMap<NodeName, u32>,
}

/// A pod that uses a volume.
#[derive(Debug)]
pub(crate) struct User {
    /// The Node that it is bound to.
    pub(crate) node: Option<NodeName>,
    /// Whether any of its containers was ever started.
    pub(crate) started: bool,
}

impl Occupancy {
    pub(crate) fn count(cluster: &Index, identities: &Identities, info: &PolicyInfo) -> Self {
        let mut occupancy = Self::default();
        for pod in cluster.pods().filter(|pod| !pod.has_ended()) {
            if let Some(node) = &pod.node {
                *occupancy.bound.entry(node.clone()).or_default() += 1;
            }
            let mut used = HashSet::new();
            for source in pod.volumes.iter().filter_map(|volume| source(cluster, pod, volume)) {
                if let Some(node) = &pod.node {
                    occupancy.add(node, counted(source, identities, info));
                }
                used.extend(identities.identified(source).map(|volume| &volume.volume));
            }
            for volume in used {
                let user = User { node: pod.node.clone(), started: pod.has_started_container };
                occupancy.users.entry(volume.clone()).or_default().push(user);
            }
        }
        for attachment in cluster.attachments() {
            let source = match &attachment.source {
                AttachedSource::PersistentVolume(name) => cluster.volume(name).map(|volume| &volume.source),
                AttachedSource::Inline(source) => Some(source),
            };
            if let Some(source) = source {
                occupancy.add(&attachment.node, counted(source, identities, info));
            }
        }
        occupancy
    }

    fn add(&mut self, node: &NodeName, counted: Option<Counted>) {
        let Some(counted) = counted else { return };
        if self.held.entry(node.clone()).or_default().insert(counted.clone()) {
            self.holders.entry(counted).or_default().push(node.clone());
        }
    }

    /// The pods that use a volume, but for those that are over.
    pub(crate) fn users(&self, volume: &AwsVolumeId) -> &[User] {
        self.users.get(volume).map_or(&[], Vec::as_slice)
    }

    /// How many pods are bound to a Node's name, but for those that are over.
    pub(crate) fn bound_to(&self, node: &NodeName) -> u32 {
        self.bound.get(node).copied().unwrap_or_default()
    }

    /// The nodes that hold a volume.
    pub(crate) fn holders(&self, counted: &Counted) -> &[NodeName] {
        self.holders.get(counted).map_or(&[], Vec::as_slice)
    }

    /// How many more volumes a node takes through a driver with this limit.
    pub(crate) fn headroom(&self, node: &str, driver: &str, limit: Option<u32>) -> AttachHeadroom {
        let Some(limit) = limit else { return AttachHeadroom::Unlimited };
        let held = self.held.get(&node_name(node)).into_iter().flatten().filter(|(held, _)| held == driver).count();
        AttachHeadroom::Left(limit.saturating_sub(u32::try_from(held).unwrap_or(u32::MAX)))
    }
}

/// A volume as limits count it; `None` for what no driver's limit counts.
pub(crate) fn counted(source: &VolumeSource, identities: &Identities, info: &PolicyInfo) -> Option<Counted> {
    if let Some(volume) = identities.identified(source) {
        let driver = match source {
            VolumeSource::Csi(csi) => csi.driver.clone(),
            // In-tree volumes are attached by the driver that took over from their plugin.
            VolumeSource::AwsElasticBlockStore(_) | VolumeSource::GcePersistentDisk(_) | VolumeSource::Other(_) => {
                info.csi_drivers.first()?.clone()
            }
        };
        return Some((driver, volume.volume.aws_volume_id.clone()));
    }
    match source {
        VolumeSource::Csi(csi) => Some((csi.driver.clone(), csi.volume_handle.kubernetes_volume_id.clone())),
        VolumeSource::AwsElasticBlockStore(_) | VolumeSource::GcePersistentDisk(_) | VolumeSource::Other(_) => None,
    }
}

/// The source behind one of a pod's volumes, where there is one already.
pub(crate) fn source<'a>(cluster: &'a Index, pod: &'a Pod, volume: &'a PodVolume) -> Option<&'a VolumeSource> {
    if let PodVolumeSource::Inline(source) = &volume.source {
        return Some(source);
    }
    let (_, claim) = cluster.claim_of(pod, volume)?;
    Some(&cluster.volume_of(claim?)?.source)
}
