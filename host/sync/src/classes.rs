//! Nodes that no rule can tell apart, as one class.
//!
//! A policy sees of a node the label keys that it declares, the keys that the question names, the node's CSI drivers with their
//! headroom, and its migrated plugins. A pure function can't tell two equal inputs apart, so nodes that are equal in these are
//! asked about once. The groups are made once a survey, with the exact headroom; a question merges them, since it clips the
//! headroom to what the pod needs, and takes out the few nodes that hold a volume of the pod already.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use zonewarden_cluster::Index;
use zonewarden_cluster::records::{Node, SharedLabel};
use zonewarden_contract::info::PolicyInfo;
use zonewarden_contract::placement::{AttachHeadroom, NodeClass, NodeDriver};
use zonewarden_contract::types::{Label, NodeName, Topology};

use crate::occupancy::Occupancy;
use crate::survey::node_name;

/// One class of one question, and the nodes that it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Class<'a> {
    /// What the policy is shown.
    pub class: NodeClass,
    /// The nodes, in ascending order of their names.
    pub nodes: Vec<&'a NodeName>,
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
    groups: Vec<NodeClass>,
    /// The nodes, in ascending order of their names.
    nodes: Vec<Known>,
    /// Where each is.
    positions: HashMap<NodeName, usize>,
    /// The groups as the questions of one kind see them. There are thousands of questions and few kinds of them.
    merged: Mutex<HashMap<Kind, Arc<Vec<Merged>>>>,
}

/// A node, its group, and all its labels: for the keys that a question names.
#[derive(Debug)]
struct Known {
    name: NodeName,
    group: usize,
    labels: Box<[SharedLabel]>,
}

/// All that a question can differ from another in where no node is special: the keys that it names, and its drivers.
type Kind = (BTreeSet<String>, BTreeMap<String, u32>);

/// The groups that a kind of question can't tell apart, and the positions of their nodes, ascending.
#[derive(Debug)]
struct Merged {
    class: NodeClass,
    nodes: Vec<usize>,
}

impl NodeGroups {
    pub(crate) fn new(cluster: &Index, occupancy: &Occupancy, info: &PolicyInfo) -> Self {
        let mut groups: Vec<NodeClass> = Vec::new();
        let mut known: HashMap<NodeClass, usize> = HashMap::new();
        let mut nodes: Vec<Known> = Vec::new();
        for node in cluster.nodes() {
            let class = class(cluster, occupancy, info, node);
            let group = *known.entry(class).or_insert_with_key(|class| {
                groups.push(class.clone());
                groups.len() - 1
            });
            nodes.push(Known { name: node_name(&node.identity.name.name), group, labels: node.labels.clone() });
        }
        nodes.sort_by(|a, b| a.name.node_name.cmp(&b.name.node_name));
        let positions = (0..).zip(&nodes).map(|(position, node)| (node.name.clone(), position)).collect();
        Self { groups, nodes, positions, merged: Mutex::default() }
    }

    /// What a policy may see of a Node.
    pub(crate) fn class_of(&self, node: &NodeName) -> Option<&NodeClass> {
        Some(&self.groups[self.nodes[*self.positions.get(node)?].group])
    }

    /// The distinct sets of the declared labels.
    pub(crate) fn topologies(&self) -> Vec<Topology> {
        let mut topologies: Vec<Topology> = Vec::new();
        for group in &self.groups {
            let topology = Topology { labels: group.labels.clone() };
            if !topologies.contains(&topology) {
                topologies.push(topology);
            }
        }
        topologies
    }

    /// The classes of a question, in a stable order: that of the groups, and in a group the special nodes last.
    pub(crate) fn classes(&self, needs: &Needs) -> Vec<Class<'_>> {
        let special = self.special(needs);
        let mut found: Vec<((usize, usize), Class<'_>)> = Vec::new();
        for merged in self.merged(needs).iter() {
            let mut nodes = Vec::with_capacity(merged.nodes.len());
            let mut first_group = usize::MAX;
            for &position in &merged.nodes {
                let node = &self.nodes[position];
                let Some((_, Special { holds, selected_for })) = special.iter().find(|(at, _)| *at == position) else {
                    first_group = first_group.min(node.group);
                    nodes.push(&node.name);
                    continue;
                };
                let class =
                    NodeClass { holds: holds.clone(), selected_for: selected_for.clone(), ..merged.class.clone() };
                match found.iter_mut().find(|(_, known)| known.class == class) {
                    Some((order, known)) => {
                        *order = (*order).min((node.group, position + 1));
                        known.nodes.push(&node.name);
                    }
                    None => found.push(((node.group, position + 1), Class { class, nodes: vec![&node.name] })),
                }
            }
            if !nodes.is_empty() {
                found.push(((first_group, 0), Class { class: merged.class.clone(), nodes }));
            }
        }
        found.sort_by_key(|(order, _)| *order);
        found.into_iter().map(|(_, class)| class).collect()
    }

    /// The positions of the nodes that differ from their group in this question.
    fn special<'n>(&self, needs: &'n Needs) -> Vec<(usize, &'n Special)> {
        let position = |node| self.positions.get(node).copied();
        needs.special.iter().filter_map(|(node, special)| Some((position(node)?, special))).collect()
    }

    /// The groups as questions of this kind see them.
    fn merged(&self, needs: &Needs) -> Arc<Vec<Merged>> {
        let kind = (needs.keys.iter().cloned().collect(), needs.drivers.clone());
        // What is kept is whole at any moment, so that a panic elsewhere while it was locked does no harm.
        let mut kept = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(kept.entry(kind).or_insert_with(|| Arc::new(self.merge(needs))))
    }

    fn merge(&self, needs: &Needs) -> Vec<Merged> {
        let common: Vec<NodeClass> = self.groups.iter().map(|group| needs.of(group)).collect();
        let mut merged: Vec<Merged> = Vec::new();
        let mut known: HashMap<NodeClass, usize> = HashMap::new();
        for (position, node) in self.nodes.iter().enumerate() {
            let mut class = common[node.group].clone();
            node.add_named(&mut class, &needs.keys);
            let at = *known.entry(class).or_insert_with_key(|class| {
                merged.push(Merged { class: class.clone(), nodes: Vec::new() });
                merged.len() - 1
            });
            merged[at].nodes.push(position);
        }
        merged
    }
}

impl Known {
    /// Adds the labels of the keys that a question names.
    fn add_named(&self, class: &mut NodeClass, keys: &[String]) {
        if keys.is_empty() {
            return;
        }
        for label in &self.labels {
            let known = class.labels.iter().any(|known| *known.key == *label.key);
            if !known && keys.iter().any(|key| **key == *label.key) {
                class.labels.push(label.into());
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
        node.labels.iter().filter(|label| declared.contains(&*label.key)).map(Label::from).collect();
    labels.sort_by(|a, b| a.key.cmp(&b.key));
    let csi_node = cluster.csi_node(&node.identity.name.name);
    let drivers = csi_node.into_iter().flat_map(|csi_node| &csi_node.drivers).map(|driver| NodeDriver {
        name: driver.name.clone(),
        headroom: occupancy.headroom(&node.identity.name.name, &driver.name, driver.allocatable),
    });
    let mut drivers: Vec<NodeDriver> = drivers.collect();
    drivers.sort_by(|a, b| a.name.cmp(&b.name));
    let mut migrated_plugins = csi_node.map(|csi_node| csi_node.migrated_plugins.to_vec()).unwrap_or_default();
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
