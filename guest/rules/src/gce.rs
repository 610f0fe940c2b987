//! GCE persistent disks: which zones a disk is in, and what its PersistentVolume should say (system G, B-13, B-14).
//!
//! No shipped policy handles them; the rules are here for those that do. None of them asks a cloud: what was looked up comes
//! in as a value. Three things are done where upstream went wrong. Whether a disk is regional is told by the disk and not by a
//! label (G-11). A hint is read as a set, so that `a__a` and ` a ` are one zone (G-4), and is held against where the disk is
//! instead of making it "not found". And a lookup that failed is not one that found nothing (G-6).

mod handle;
mod lookup;

pub use handle::{BadHandle, Handle, Location, Repaired, repair};
pub use lookup::{Hint, Lookup, NotFound, Searched, find, hint, hint_mismatch, lookup};

use crate::{keys, zones};
use std::collections::BTreeSet;
use zonewarden_bindings::types::{Label, Requirement, SelectorOperator, VolumeSource};

/// What stands for the name of a disk that is still to be made (F-4).
const PLACEHOLDER: &str = "placeholder-for-provisioning";

/// Where a disk is, as Compute Engine says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disk {
    /// In one zone.
    Zonal {
        /// Its zone.
        zone: String,
    },
    /// In several zones of one region.
    Regional {
        /// Its region.
        region: String,
        /// Its zones.
        replica_zones: BTreeSet<String>,
    },
}

/// What keeps a disk from being labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoLabels {
    /// A zone without a dash has no region (G-7), and no label is ever written empty.
    NoRegion,
    /// A regional disk without zones (G-8).
    NoReplicaZones,
    /// A regional disk has exactly two zones (G-10).
    NotTwoReplicaZones,
}

/// The zones and the region of a disk, both never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    zones: BTreeSet<String>,
    region: String,
}

/// The name of the disk behind a source; `None` where there is nothing to label: another kind of source, or no disk yet (G-1).
#[must_use]
pub fn disk_name(source: &VolumeSource) -> Option<&str> {
    match source {
        VolumeSource::GcePersistentDisk(name) => {
            Some(name.kubernetes_volume_id.as_str()).filter(|name| !name.is_empty() && *name != PLACEHOLDER)
        }
        VolumeSource::AwsElasticBlockStore(_) | VolumeSource::Csi(_) | VolumeSource::Other(_) => None,
    }
}

/// The region of a zone: all before the last dash (G-7).
#[must_use]
pub fn region_of_zone(zone: &str) -> Option<&str> {
    let (region, last) = zone.rsplit_once('-')?;
    (!region.is_empty() && !last.is_empty()).then_some(region)
}

impl Disk {
    /// Whether the disk is regional, and so attached by its region: told by the disk, not by the label (G-11).
    #[must_use]
    pub const fn is_regional(&self) -> bool {
        matches!(self, Self::Regional { .. })
    }

    /// Its zones and region (G-7, G-8, G-10).
    ///
    /// # Errors
    /// What is missing.
    pub fn topology(&self) -> Result<Topology, NoLabels> {
        match self {
            Self::Zonal { zone } => {
                let region = region_of_zone(zone).ok_or(NoLabels::NoRegion)?;
                Ok(Topology { zones: BTreeSet::from([zone.clone()]), region: region.to_owned() })
            }
            Self::Regional { region, .. } if region.is_empty() => Err(NoLabels::NoRegion),
            Self::Regional { region, replica_zones } => match replica_zones.len() {
                0 => Err(NoLabels::NoReplicaZones),
                2 => Ok(Topology { zones: replica_zones.clone(), region: region.clone() }),
                _ => Err(NoLabels::NotTwoReplicaZones),
            },
        }
    }
}

impl Topology {
    /// The labels, sorted so that one disk has one text (G-8).
    #[must_use]
    pub fn labels(&self) -> [Label; 2] {
        let label = |key: &str, value: String| Label { key: key.to_owned(), value };
        [label(keys::REGION, self.region.clone()), label(keys::ZONE, zones::join(&self.zones))]
    }

    /// The node affinity's requirements (G-9).
    #[must_use]
    pub fn requirements(&self) -> [Requirement; 2] {
        let requirement = |key: &str, values: Vec<String>| Requirement {
            key: key.to_owned(),
            operator: SelectorOperator::In,
            values,
        };
        [
            requirement(keys::REGION, vec![self.region.clone()]),
            requirement(keys::ZONE, self.zones.iter().cloned().collect()),
        ]
    }
}

/// Whether disks of a StorageClass with these parameters are regional: `replication-type` is `regional-pd` (G-10).
#[must_use]
pub fn is_regional_class(parameters: &[Label]) -> bool {
    let is_type = |parameter: &Label| parameter.key.eq_ignore_ascii_case("replication-type");
    parameters.iter().any(|parameter| is_type(parameter) && parameter.value.eq_ignore_ascii_case("regional-pd"))
}

#[cfg(test)]
mod tests;
