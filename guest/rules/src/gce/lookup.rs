//! How a disk is looked for: by its name, where a PersistentVolume's label says, else everywhere (G-2 to G-6).

use super::Disk;
use crate::answer::finding;
use crate::{keys, zones};
use std::collections::BTreeSet;
use zonewarden_bindings::types::{Finding, Label, Severity};

/// What a PersistentVolume's zone label says of where its disk is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Nothing.
    None,
    /// These zones, at least one.
    Zones(BTreeSet<String>),
    /// The label that is to be read holds an empty zone.
    Unreadable {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
    },
}

/// How to look for a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// As a regional disk (G-3).
    Regional,
    /// In this zone (G-4).
    Zonal(&'a str),
    /// As a regional disk and in every zone (G-6).
    Everywhere,
}

/// What one place answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Searched {
    /// The disk is there.
    Found(Disk),
    /// It is not.
    Nothing,
    /// No answer: it may be there.
    Failed(String),
}

/// Why no disk was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// Every place answered, and none has it.
    Nowhere,
    /// Several places have a disk of this name.
    Ambiguous(Vec<Disk>),
    /// A place that might have it did not answer, with its error. Upstream takes that for "not there".
    Unknown(String),
}

/// Reads the zone hint: the label since 1.17, else the one before (G-2).
#[must_use]
pub fn hint(labels: &[Label]) -> Hint {
    let label = |key: &str| labels.iter().find(|label| label.key == key);
    let Some(label) = label(keys::ZONE).or_else(|| label(keys::ZONE_BETA)) else { return Hint::None };
    match zones::parse(&label.value) {
        Some(zones) => Hint::Zones(zones),
        None => Hint::Unreadable { key: label.key.clone(), value: label.value.clone() },
    }
}

/// How to look for a disk with this hint.
///
/// An unreadable one is as good as none: where the disk is can be asked, and [`hint_mismatch`] tells of the label. Upstream
/// refuses the PersistentVolume, or looks in a zone of that name (G-5).
#[must_use]
pub fn lookup(hint: &Hint) -> Lookup<'_> {
    match hint {
        Hint::Zones(zones) => match zones.first() {
            Some(zone) if zones.len() == 1 => Lookup::Zonal(zone),
            _ => Lookup::Regional,
        },
        Hint::None | Hint::Unreadable { .. } => Lookup::Everywhere,
    }
}

/// What the places that were searched say together: only hits count, and one place without an answer makes it unknown.
///
/// # Errors
/// Why there is no disk.
pub fn find(searched: impl IntoIterator<Item = Searched>) -> Result<Disk, NotFound> {
    let mut hits = Vec::new();
    let mut failure = None;
    for answer in searched {
        match answer {
            Searched::Found(disk) => hits.push(disk),
            Searched::Nothing => {}
            Searched::Failed(error) => failure = failure.or(Some(error)),
        }
    }
    if hits.len() > 1 {
        return Err(NotFound::Ambiguous(hits));
    }
    match (failure, hits.pop()) {
        (Some(error), _) => Err(NotFound::Unknown(error)),
        (None, Some(disk)) => Ok(disk),
        (None, None) => Err(NotFound::Nowhere),
    }
}

/// What is wrong with a hint, now that it is known where the disk is. Upstream says "not found" instead (G-4).
#[must_use]
pub fn hint_mismatch(hint: &Hint, disk: &Disk) -> Option<Finding> {
    let real = match disk {
        Disk::Zonal { zone } => zone.clone(),
        Disk::Regional { replica_zones, .. } => zones::join(replica_zones),
    };
    match hint {
        Hint::None => None,
        Hint::Unreadable { key, value } => {
            let message =
                format!("the label {key} has the value {value:?} with an empty zone, but the disk is in {real}");
            Some(finding(Severity::Warning, "zone-label-unreadable", message))
        }
        Hint::Zones(hinted) => {
            let hinted = zones::join(hinted);
            let message = format!("the zone label says {hinted}, but the disk is in {real}, which counts");
            (hinted != real).then(|| finding(Severity::Warning, "disk-zone-mismatch", message))
        }
    }
}
