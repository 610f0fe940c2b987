//! Nodes as tests write them: a class and its place in one.

use super::world::*;
use zonewarden_bindings::placement::{AttachHeadroom, NodeClasses, Place, Tie, TieKind};

/// A class and its place in one.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) headroom: Vec<AttachHeadroom>,
    /// Positions of the pod's volumes.
    pub(super) ties: Vec<(u32, TieKind)>,
}

/// Nodes with a CSINode that lists the EBS driver without a limit.
pub(super) fn node(pairs: &[(&str, &str)]) -> Node {
    let place = Place { labels: labels(pairs), has_csi_node: true, drivers: strings(&[EBS]), migrated_plugins: vec![] };
    Node { place, headroom: vec![AttachHeadroom::Unlimited], ties: vec![] }
}

impl Node {
    /// The same where these plugins are migrated.
    pub(super) fn migrating(mut self, plugins: &[&str]) -> Self {
        self.place.migrated_plugins = strings(plugins);
        self
    }

    /// The same without a CSINode.
    pub(super) fn without_csi_node(mut self) -> Self {
        self.place.has_csi_node = false;
        self
    }

    /// The same with these drivers.
    pub(super) fn with_drivers(mut self, drivers: &[(&str, AttachHeadroom)]) -> Self {
        self.place.drivers = drivers.iter().map(|(name, _)| (*name).to_owned()).collect();
        self.headroom = drivers.iter().map(|(_, headroom)| *headroom).collect();
        self
    }

    /// The same, tied so to the pod's volumes.
    pub(super) fn tied(self, ties: &[(u32, TieKind)]) -> Self {
        Self { ties: ties.to_vec(), ..self }
    }
}

/// The same where the in-tree EBS plugin is migrated.
pub(super) fn migrated_node(pairs: &[(&str, &str)]) -> Node {
    node(pairs).migrating(&[EBS_PLUGIN])
}

/// The question's table: nodes of one place share it.
pub(super) fn table(nodes: &[Node]) -> NodeClasses {
    let mut table = NodeClasses { places: vec![], classes: vec![], headroom: vec![], ties: vec![] };
    for (class, node) in (0..).zip(nodes) {
        let place = table.places.iter().position(|known| *known == node.place).unwrap_or_else(|| {
            table.places.push(node.place.clone());
            table.places.len() - 1
        });
        table.classes.push(u32::try_from(place).expect("there are few places"));
        table.headroom.extend(&node.headroom);
        table.ties.extend(node.ties.iter().map(|&(volume, kind)| Tie { class, volume, kind }));
    }
    table
}
