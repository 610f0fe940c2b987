//! What the labels of the cluster's nodes say about labels and affinity that are to be written.

use zonewarden_bindings::types::Topology;

use crate::keys;

/// The keys on which an affinity can name a zone, the best first: every tool reads the first.
const AFFINITY_KEYS: [&str; 3] = [keys::ZONE, keys::ZONE_EBS_CSI, keys::ZONE_BETA];

/// The node label sets of the cluster, seen from one zone.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a> {
    pub(super) all: &'a [Topology],
    pub(super) zone: &'a str,
}

impl<'a> Nodes<'a> {
    /// Whether the node is in the zone, so that it can attach the volume.
    fn is_host(self, node: &Topology) -> bool {
        node.labels.iter().any(|label| keys::is_zone(&label.key) && label.value == self.zone)
    }

    fn hosts(self) -> impl Iterator<Item = &'a Topology> {
        self.all.iter().filter(move |node| self.is_host(node))
    }

    /// The nodes in the zone, or, where it has none now, all: the next one will look like the others.
    fn likely_hosts(self) -> impl Iterator<Item = &'a Topology> {
        let empty = self.hosts().next().is_none();
        self.all.iter().filter(move |node| empty || self.is_host(node))
    }

    /// Whether the zone label leaves at least one of the nodes that can attach the volume (F-41, F-60).
    pub(super) fn take_zone_label(self) -> bool {
        self.hosts().next().is_none() || self.hosts().any(|node| passes(node, keys::ZONE, self.zone))
    }

    /// Whether a region label keeps the pod from no node of the zone (D-31): each carries the same one.
    ///
    /// Nothing is said of a cluster without nodes, so it gets no region label.
    pub(super) fn take_region_label(self, region: &str) -> bool {
        let mut any = false;
        self.likely_hosts().all(|node| {
            any = true;
            value(node, keys::REGION) == Some(region)
        }) && any
    }

    /// The key on which an affinity names the zone: the best one that the zone's nodes carry.
    pub(super) fn affinity_key(self) -> &'static str {
        AFFINITY_KEYS
            .into_iter()
            .find(|key| self.likely_hosts().any(|node| value(node, key).is_some()))
            .unwrap_or(keys::ZONE)
    }

    /// Whether there are nodes in the zone and none of them carries the key (D-36).
    pub(super) fn lack(self, key: &str) -> bool {
        self.hosts().next().is_some() && !self.hosts().any(|node| value(node, key).is_some())
    }
}

/// What the scheduler's VolumeZone plugin says of one GA label: a node with none of the four keys passes (F-40), any other
/// needs the label's own key (F-41).
fn passes(node: &Topology, key: &str, wanted: &str) -> bool {
    let unlabelled = !keys::VOLUME_ZONE_KEYS.into_iter().any(|key| value(node, key).is_some());
    unlabelled || value(node, key) == Some(wanted)
}

fn value<'a>(node: &'a Topology, key: &str) -> Option<&'a str> {
    node.labels.iter().find(|label| label.key == key).map(|label| label.value.as_str())
}
