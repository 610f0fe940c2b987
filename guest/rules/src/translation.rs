//! A PersistentVolume of an in-tree plugin as the scheduler sees it on a node where that plugin is migrated to CSI (F-55 to
//! F-57): the translation library's steps, without its copies of what placement does not read.

use crate::keys;
use crate::zones::{self, SEPARATOR};
use std::collections::BTreeSet;
use zonewarden_bindings::placement::VolumeTopology;
use zonewarden_bindings::types::{Label, Requirement, SelectorOperator, SelectorTerm, VolumeAffinity, VolumeSource};

/// An in-tree plugin and the CSI driver that stands in for it (B-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    /// The plugin's name, as the CSINode's annotation has it.
    pub plugin: &'static str,
    /// The driver's name. Kubernetes has it built in, whatever name the driver runs under.
    pub driver: &'static str,
    /// The driver's topology key for a zone.
    pub zone_key: &'static str,
}

/// The plugins that Kubernetes migrates and this crate knows.
const ALL: [Migration; 2] = [EBS, GCE];
const EBS: Migration = Migration { plugin: keys::EBS_PLUGIN, driver: keys::EBS_DRIVER, zone_key: keys::ZONE_EBS_CSI };
const GCE: Migration = Migration { plugin: keys::GCE_PLUGIN, driver: keys::GCE_DRIVER, zone_key: keys::ZONE_GCE_CSI };

impl Migration {
    /// The migration of the plugin that a source belongs to.
    #[must_use]
    pub const fn of_source(source: &VolumeSource) -> Option<Self> {
        match source {
            VolumeSource::AwsElasticBlockStore(_) => Some(EBS),
            VolumeSource::GcePersistentDisk(_) => Some(GCE),
            VolumeSource::Csi(_) | VolumeSource::Other(_) => None,
        }
    }

    /// The migration of a plugin that a StorageClass names as its provisioner.
    #[must_use]
    pub fn of_plugin(plugin: &str) -> Option<Self> {
        ALL.into_iter().find(|migration| migration.plugin == plugin)
    }

    /// The migration to a driver, under the name that Kubernetes has for it.
    #[must_use]
    pub fn of_driver(driver: &str) -> Option<Self> {
        ALL.into_iter().find(|migration| migration.driver == driver)
    }
}

/// The node affinity that a volume of this topology has once it is translated (F-56, F-57).
#[must_use]
pub fn translate(topology: &VolumeTopology, zone_key: &str) -> VolumeAffinity {
    let mut affinity = topology.affinity.clone();
    let (zone, region) = topology_keys(topology);
    if has_values(&affinity, zone) {
        replace(&mut affinity, zone, zone_key);
    } else if let Some(label) = label(&topology.labels, zone) {
        add_zones(&mut affinity, zone_key, label);
    }
    // The region's GA key stays as it is, and one without values has nothing to translate.
    if region == keys::REGION_BETA && has_values(&affinity, region) {
        replace(&mut affinity, region, keys::REGION);
    }
    affinity
}

/// The zone and region keys that the translation looks at: those of the affinity before those of the labels, GA before beta.
fn topology_keys(topology: &VolumeTopology) -> (&'static str, &'static str) {
    const GA: (&str, &str) = (keys::ZONE, keys::REGION);
    const BETA: (&str, &str) = (keys::ZONE_BETA, keys::REGION_BETA);
    let in_affinity = |key: &str| requirements(&topology.affinity).any(|requirement| requirement.key == key);
    let in_labels = |key: &str| label(&topology.labels, key).is_some();
    if in_affinity(keys::ZONE) {
        GA
    } else if in_affinity(keys::ZONE_BETA) || (!in_labels(keys::ZONE) && in_labels(keys::ZONE_BETA)) {
        BETA
    } else {
        GA
    }
}

fn requirements(affinity: &VolumeAffinity) -> impl Iterator<Item = &Requirement> {
    let terms: &[SelectorTerm] = match affinity {
        VolumeAffinity::Required(terms) => terms,
        VolumeAffinity::Unset | VolumeAffinity::Unrestricted => &[],
    };
    terms.iter().flat_map(|term| &term.requirements)
}

fn label<'a>(labels: &'a [Label], key: &str) -> Option<&'a str> {
    labels.iter().find(|label| label.key == key).map(|label| label.value.as_str())
}

fn has_values(affinity: &VolumeAffinity, key: &str) -> bool {
    requirements(affinity).any(|requirement| requirement.key == key && !requirement.values.is_empty())
}

/// Renames a key, whatever the operator of its requirements.
fn replace(affinity: &mut VolumeAffinity, old: &str, new: &str) {
    let VolumeAffinity::Required(terms) = affinity else { return };
    for requirement in terms.iter_mut().flat_map(|term| &mut term.requirements) {
        if requirement.key == old {
            new.clone_into(&mut requirement.key);
        }
    }
}

/// Adds the zones of a label to every term, an empty one too, and makes a term where there is none.
///
/// Empty parts are left out here, where VolumeZone drops the whole label for one (F-64).
fn add_zones(affinity: &mut VolumeAffinity, key: &str, label: &str) {
    let zones: BTreeSet<&str> = zones::split(label).filter(|zone| !zone.is_empty()).collect();
    if zones.is_empty() {
        return;
    }
    let requirement = Requirement {
        key: key.to_owned(),
        operator: SelectorOperator::In,
        values: zones.into_iter().map(str::to_owned).collect(),
    };
    match affinity {
        VolumeAffinity::Required(terms) if !terms.is_empty() => {
            for term in terms {
                term.requirements.push(requirement.clone());
            }
        }
        _ => {
            let term = SelectorTerm { requirements: vec![requirement], has_match_fields: false };
            *affinity = VolumeAffinity::Required(vec![term]);
        }
    }
}

/// Whether the translation of a regional GCE disk fails, which is an error and no verdict: its zone label must name zones
/// of one region, each of three parts. The beta label is read before the GA one here (B-14).
#[must_use]
pub fn gce_zones_fail(labels: &[Label]) -> bool {
    let beta = label(labels, keys::ZONE_BETA).filter(|value| !value.is_empty());
    let Some(value) = beta.or_else(|| label(labels, keys::ZONE)) else { return false };
    if !value.contains(SEPARATOR) {
        return false;
    }
    let region = |zone: &str| {
        let (region, _) = zone.rsplit_once('-')?;
        (region.split('-').count() == 2).then(|| region.to_owned())
    };
    let regions: Option<BTreeSet<String>> = value.split(SEPARATOR).map(region).collect();
    regions.is_none_or(|regions| regions.len() != 1)
}

#[cfg(test)]
mod tests;
