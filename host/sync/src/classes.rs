//! Nodes that no rule can tell apart, as one class.
//!
//! A policy sees of a node the label keys that it declares, the keys that the question names, the node's CSI drivers with their
//! headroom, and its migrated plugins. A pure function can't tell two equal inputs apart, so nodes that are equal in these are
//! asked about once. The groups are made once a survey, with the exact headroom; a question merges them, since it clips the
//! headroom to what the pod needs, and takes out the few nodes that hold a volume of the pod already.

use std::collections::{BTreeMap, HashMap, HashSet};

use zonewarden_cluster::Index;
use zonewarden_cluster::records::Node;
use zonewarden_contract::info::PolicyInfo;
use zonewarden_contract::placement::{AttachHeadroom, NodeClass, NodeDriver};
use zonewarden_contract::types::{Label, NodeName, Topology};

use crate::occupancy::Occupancy;
use crate::survey::node_name;

/// One class of one question, and the nodes that it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// What the policy is shown.
    pub class: NodeClass,
    /// The nodes, in ascending order of their names.
    pub nodes: Vec<NodeName>,
}

/// What a question needs to know of the nodes beyond the declared labels.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// The label keys that the question itself names.
    pub(crate) keys: Vec<String>,
    /// The CSI drivers that the question concerns, and how many volumes the pod has of each.
    pub(crate) drivers: BTreeMap<String, u32>,
    /// Nodes that differ from their group: what they hold, and what they are selected for, by positions of the pod's volumes.
    pub(crate) special: HashMap<NodeName, Special>,
}

/// How one node differs from its group.
#[derive(Debug, Default, Clone)]
pub(crate) struct Special {
    pub(crate) holds: Vec<u32>,
    pub(crate) selected_for: Vec<u32>,
}

/// The groups of a cluster's nodes.
#[derive(Debug, Default)]
pub(crate) struct NodeGroups {
    groups: Vec<Group>,
    /// All labels of the nodes: for the keys that a question names.
    labels: HashMap<NodeName, Vec<Label>>,
}

#[derive(Debug)]
struct Group {
    class: NodeClass,
    nodes: Vec<NodeName>,
}

impl NodeGroups {
    pub(crate) fn new(cluster: &Index, occupancy: &Occupancy, info: &PolicyInfo) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut labels = HashMap::new();
        for node in cluster.nodes() {
            let name = node_name(&node.identity.name.name);
            let class = class(cluster, occupancy, info, node);
            labels.insert(name.clone(), node.labels.clone());
            let position = *positions.entry(format!("{class:?}")).or_insert_with(|| {
                groups.push(Group { class, nodes: Vec::new() });
                groups.len() - 1
            });
            groups[position].nodes.push(name);
        }
        Self { groups, labels }
    }

    /// What a policy may see of a Node.
    pub(crate) fn class_of(&self, node: &NodeName) -> Option<&NodeClass> {
        self.groups.iter().find(|group| group.nodes.contains(node)).map(|group| &group.class)
    }

    /// The distinct sets of the declared labels.
    pub(crate) fn topologies(&self) -> Vec<Topology> {
        let mut topologies: Vec<Topology> = Vec::new();
        for group in &self.groups {
            let topology = Topology { labels: group.class.labels.clone() };
            if !topologies.contains(&topology) {
                topologies.push(topology);
            }
        }
        topologies
    }

    /// The classes of a question, in a stable order.
    pub(crate) fn classes(&self, needs: &Needs) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        let mut add = |class: NodeClass, nodes: &mut dyn Iterator<Item = &NodeName>| {
            let position = classes.iter().position(|known| known.class == class).unwrap_or_else(|| {
                classes.push(Class { class, nodes: Vec::new() });
                classes.len() - 1
            });
            classes[position].nodes.extend(nodes.cloned());
        };
        for group in &self.groups {
            let common = needs.of(&group.class);
            if needs.keys.is_empty() {
                let mut ordinary = group.nodes.iter().filter(|node| !needs.special.contains_key(*node)).peekable();
                if ordinary.peek().is_some() {
                    add(common.clone(), &mut ordinary);
                }
            }
            for node in &group.nodes {
                let special = needs.special.get(node);
                if needs.keys.is_empty() && special.is_none() {
                    continue;
                }
                let mut class = common.clone();
                if let Some(Special { holds, selected_for }) = special {
                    class.holds.clone_from(holds);
                    class.selected_for.clone_from(selected_for);
                }
                self.add_named(&mut class, node, &needs.keys);
                add(class, &mut std::iter::once(node));
            }
        }
        for class in &mut classes {
            class.nodes.sort_by(|a, b| a.node_name.cmp(&b.node_name));
        }
        classes
    }

    /// Adds the labels of the keys that a question names.
    fn add_named(&self, class: &mut NodeClass, node: &NodeName, keys: &[String]) {
        for label in self.labels.get(node).into_iter().flatten() {
            let known = class.labels.iter().any(|known| known.key == label.key);
            if !known && keys.contains(&label.key) {
                class.labels.push(label.clone());
            }
        }
        class.labels.sort_by(|a, b| a.key.cmp(&b.key));
    }
}

impl Needs {
    /// A group's class as this question sees it: its drivers only, their headroom clipped.
    fn of(&self, class: &NodeClass) -> NodeClass {
        let clipped = |driver: &NodeDriver| {
            let needed = *self.drivers.get(&driver.name)?;
            let headroom = match driver.headroom {
                AttachHeadroom::Left(left) => AttachHeadroom::Left(left.min(needed)),
                unclipped => unclipped,
            };
            Some(NodeDriver { name: driver.name.clone(), headroom })
        };
        NodeClass { drivers: class.drivers.iter().filter_map(clipped).collect(), ..class.clone() }
    }
}

/// What a policy may see of a node, with the exact headroom of every driver.
fn class(cluster: &Index, occupancy: &Occupancy, info: &PolicyInfo, node: &Node) -> NodeClass {
    let declared: HashSet<&str> = info.node_label_keys.iter().map(String::as_str).collect();
    let mut labels: Vec<Label> =
        node.labels.iter().filter(|label| declared.contains(label.key.as_str())).cloned().collect();
    labels.sort_by(|a, b| a.key.cmp(&b.key));
    let csi_node = cluster.csi_node(&node.identity.name.name);
    let drivers = csi_node.into_iter().flat_map(|csi_node| &csi_node.drivers).map(|driver| NodeDriver {
        name: driver.name.clone(),
        headroom: occupancy.headroom(&node.identity.name.name, &driver.name, driver.allocatable),
    });
    let mut drivers: Vec<NodeDriver> = drivers.collect();
    drivers.sort_by(|a, b| a.name.cmp(&b.name));
    let mut migrated_plugins = csi_node.map(|csi_node| csi_node.migrated_plugins.clone()).unwrap_or_default();
    migrated_plugins.sort();
    NodeClass {
        labels,
        has_csi_node: csi_node.is_some(),
        drivers,
        migrated_plugins,
        holds: Vec::new(),
        selected_for: Vec::new(),
    }
}
