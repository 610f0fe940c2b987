//! VolumeZone on a node: the zone and region labels of a bound claim's PersistentVolume (F-39 to F-43, F-58, F-60, F-64).

use super::groups::Group;
use super::refusal::{Refusal, Stage};
use crate::keys;
use crate::selector::{is_same, value};
use crate::zones;
use zonewarden_bindings::placement::Place;
use zonewarden_bindings::types::Label;

/// A label that VolumeZone reads, with a value that it can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ZoneLabel<'a> {
    pub(super) key: &'a str,
    /// A set: `us-east-1a__us-east-1b`.
    pub(super) value: &'a str,
}

impl<'a> ZoneLabel<'a> {
    /// The labels that VolumeZone reads. One whose value is no set is dropped (F-39, F-64).
    pub(super) fn all(labels: &'a [Label]) -> Vec<Self> {
        let read = |label: &'a Label| Self { key: &label.key, value: &label.value };
        let is_set = |label: &Self| label.parts().all(|part| !part.is_empty());
        labels.iter().filter(|label| is_read(&label.key)).map(read).filter(is_set).collect()
    }

    /// Whether the zone or region is one of the label's.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.parts().any(|part| part == name)
    }

    fn parts(&self) -> impl Iterator<Item = &'a str> {
        zones::split(self.value)
    }

    /// The key that the node may carry instead: a beta label is satisfied by the node's GA label, and never the other way.
    fn newer_key(&self) -> Option<&'static str> {
        match self.key {
            keys::ZONE_BETA => Some(keys::ZONE),
            keys::REGION_BETA => Some(keys::REGION),
            _ => None,
        }
    }
}

/// Holds the labels of volumes against those of nodes that have a place. One that does not fit is enough; a zone says more
/// than a region, and may be the cause of it.
pub(super) fn judge(group: &Group<'_>, place: &Place) -> Option<Refusal> {
    let refused = |label: &&ZoneLabel<'_>| !found(label, place).is_some_and(|(_, value)| label.holds(value));
    let mut refusing = group.first().zone_labels().iter().filter(refused);
    let first = refusing.next()?;
    let label =
        if keys::is_zone(first.key) { first } else { refusing.find(|label| keys::is_zone(label.key)).unwrap_or(first) };
    Some(refuse(group, label, found(label, place)))
}

/// What the nodes carry where VolumeZone looks for the label.
fn found<'l>(label: &ZoneLabel<'l>, place: &'l Place) -> Option<(&'l str, &'l str)> {
    let newer = || label.newer_key().and_then(|key| Some((key, value(&place.labels, key)?)));
    value(&place.labels, label.key).map(|value| (label.key, value)).or_else(newer)
}

/// Whether the nodes carry none of the four keys, which VolumeZone lets pass (F-40, F-60).
pub(super) fn has_no_place(labels: &[Label]) -> bool {
    !labels.iter().any(|label| is_read(&label.key))
}

fn is_read(key: &str) -> bool {
    keys::VOLUME_ZONE_KEYS.iter().any(|read| is_same(read, key))
}

fn refuse(group: &Group<'_>, label: &ZoneLabel<'_>, found: Option<(&str, &str)>) -> Refusal {
    let is_zone = keys::is_zone(label.key);
    let mut words = Vec::with_capacity(9);
    let verb = group.verb([" carries the label ", " carry the label "]);
    words.extend([group.describe(), verb, label.key, "=", label.value]);
    let code = match found {
        Some((key, value)) => {
            words.extend([", and the node has ", key, "=", value]);
            if is_zone { "zone-mismatch" } else { "region-mismatch" }
        }
        None => {
            words.extend([", and the node carries zone or region labels, but no ", label.key]);
            if is_zone { "zone-label-missing" } else { "region-label-missing" }
        }
    };
    Refusal::lasting(Stage::Labels, group.first().position, code, words.concat())
}
