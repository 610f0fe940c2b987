//! A pod's volumes of which Kubernetes says the same on every node, since their objects say the same: nearly always all of
//! them. They are judged once and refused in one sentence.

use super::question::Volume;
use crate::selector::NodeSelector;
use crate::translation::translate;
use std::cell::OnceCell;
use std::ptr;
use zonewarden_bindings::types::VolumeAffinity;

/// Volumes that are alike to Kubernetes.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// The volumes, in the pod's order; never none.
    pub(super) volumes: Vec<Volume<'a>>,
    /// The affinity on nodes where the plugin is migrated (F-55); `None`: every node.
    pub(super) translated: Option<NodeSelector<'a>>,
    /// What they are called, once somebody asked.
    who: OnceCell<String>,
}

impl<'a> Group<'a> {
    pub(super) fn new(volume: Volume<'a>) -> Self {
        let topology = volume.bound.as_ref().map(|bound| bound.topology.said);
        let translated = match topology.zip(volume.migration).map(|(said, plugin)| translate(said, plugin.zone_key)) {
            Some(VolumeAffinity::Required(terms)) => Some(NodeSelector::new(terms)),
            Some(VolumeAffinity::Unset | VolumeAffinity::Unrestricted) | None => None,
        };
        Self { volumes: vec![volume], translated, who: OnceCell::new() }
    }

    /// Whether a volume belongs here. What Kubernetes has against an id is told volume by volume.
    pub(super) fn takes(&self, volume: &Volume<'_>) -> bool {
        let first = self.first();
        matches!((&first.bound, &volume.bound), (Some(one), Some(other)) if ptr::eq(one.topology.said, other.topology.said))
            && first.migration.map(|migration| migration.plugin) == volume.migration.map(|migration| migration.plugin)
            && first.is_zone_checked == volume.is_zone_checked
            && !first.fails_translation
            && !volume.fails_translation
    }

    /// The volume that stands for all of them.
    pub(super) fn first(&self) -> &Volume<'a> {
        &self.volumes[0]
    }

    /// All of them with everything they are called.
    pub(super) fn describe(&self) -> &str {
        match self.volumes.as_slice() {
            [alone] => alone.describe(),
            [first, between @ .., last] => self.who.get_or_init(|| {
                let mut words = vec![first.describe()];
                words.extend(between.iter().flat_map(|volume| [", ", volume.describe()]));
                words.extend([" and ", last.describe()]);
                words.concat()
            }),
            [] => "",
        }
    }

    /// Of a verb's two forms, the one that follows what they are called.
    pub(super) fn verb<'v>(&self, [one, many]: [&'v str; 2]) -> &'v str {
        if self.volumes.len() == 1 { one } else { many }
    }
}
