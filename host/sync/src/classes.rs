//! Nodes that no rule can tell apart, as one class.
//!
//! A policy sees of a node the label keys that it declares, the keys that the question names, the node's CSI drivers with their
//! headroom, and its migrated plugins. A pure function can't tell two equal inputs apart, so nodes that are equal in these are
//! asked about once. The groups are made once a survey, with the exact headroom; a question merges them, since it clips the
//! headroom to what the pod needs, and takes out the few nodes that are tied to a volume of the pod. Classes that are then the
//! same but for their headroom and their ties share a place.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::{IndexMap, IndexSet};
use zonewarden_cluster::Index;
use zonewarden_cluster::records::{Node, SharedLabel};
use zonewarden_contract::info::PolicyInfo;
use zonewarden_contract::placement::{AttachHeadroom, NodeClasses, Place, Tie, TieKind};
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

/// A class of nodes, as a question's table has it row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeClass {
    /// The place, by its position.
    pub place: u32,
    /// The headroom of each of the place's drivers, in their order.
    pub headroom: Vec<AttachHeadroom>,
    /// What ties the nodes to the pod's volumes, which are named by position, in the order of these.
    pub ties: Vec<(u32, TieKind)>,
}

/// What a question needs to know of the nodes beyond the declared labels.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// The label keys that the question itself names.
    pub(crate) keys: Vec<String>,
    /// The CSI drivers that the question concerns.
    pub(crate) drivers: BTreeSet<String>,
    /// How many volumes the pod has: beyond that, headroom makes no difference.
    pub(crate) volumes: u32,
    /// The nodes that differ from their group, and what ties them to the pod's volumes, in the order of these.
    pub(crate) ties: HashMap<NodeName, Vec<(u32, TieKind)>>,
}

/// The groups of a cluster's nodes.
#[derive(Debug, Default)]
pub(crate) struct NodeGroups {
    groups: Vec<Group>,
    /// The nodes, in ascending order of their names.
    nodes: Vec<Known>,
    /// Where each is.
    positions: HashMap<NodeName, usize>,
    /// The groups as the questions of one kind see them. There are thousands of questions and few kinds of them.
    merged: Mutex<HashMap<Kind, Arc<Merged>>>,
}

/// What a policy may see of nodes: their place, and the headroom of each of its drivers, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Group {
    place: Place,
    headroom: Vec<AttachHeadroom>,
}

/// A node, its group, and all its labels: for the keys that a question names.
#[derive(Debug)]
struct Known {
    name: NodeName,
    group: usize,
    labels: Box<[SharedLabel]>,
}

/// All that a question can differ from another in where no node is tied: the keys that it names, its drivers, and how many
/// volumes the pod has.
type Kind = (BTreeSet<String>, BTreeSet<String>, u32);

/// The groups as a kind of question sees them.
#[derive(Debug)]
struct Merged {
    /// The places, each once, in the order in which the classes use them first.
    places: Arc<[Place]>,
    /// The classes, none of them tied to anything, in the order of their groups; and the positions of the nodes of each,
    /// ascending.
    classes: Vec<(NodeClass, Vec<usize>)>,
}

impl NodeGroups {
    pub(crate) fn new(cluster: &Index, occupancy: &Occupancy, info: &PolicyInfo) -> Self {
        let mut groups: IndexSet<Group> = IndexSet::new();
        let mut nodes: Vec<Known> = Vec::new();
        for node in cluster.nodes() {
            let (group, _) = groups.insert_full(group(cluster, occupancy, info, node));
            nodes.push(Known { name: node_name(&node.identity.name.name), group, labels: node.labels.clone() });
        }
        nodes.sort_by(|a, b| a.name.node_name.cmp(&b.name.node_name));
        let positions = (0..).zip(&nodes).map(|(position, node)| (node.name.clone(), position)).collect();
        Self { groups: groups.into_iter().collect(), nodes, positions, merged: Mutex::default() }
    }

    /// What a policy may see of a Node: its place, and the exact headroom of each of the place's drivers.
    pub(crate) fn class_of(&self, node: &NodeName) -> Option<(&Place, &[AttachHeadroom])> {
        let group = &self.groups[self.nodes[*self.positions.get(node)?].group];
        Some((&group.place, &group.headroom))
    }

    /// The distinct sets of the declared labels.
    pub(crate) fn topologies(&self) -> Vec<Topology> {
        let topologies = self.groups.iter().map(|group| Topology { labels: group.place.labels.clone() });
        topologies.collect::<IndexSet<_>>().into_iter().collect()
    }

    /// The places and the classes of a question, in a stable order: that of the groups, and in a group the tied nodes last.
    pub(crate) fn classes(&self, needs: &Needs) -> (Arc<[Place]>, Vec<Class<'_>>) {
        let tied = self.tied(needs);
        let merged = self.merged(needs);
        let mut found: Vec<((usize, usize), Class<'_>)> = Vec::new();
        for (common, positions) in &merged.classes {
            let mut nodes = Vec::with_capacity(positions.len());
            let mut first_group = usize::MAX;
            for &position in positions {
                let node = &self.nodes[position];
                let Some((_, ties)) = tied.iter().find(|(at, _)| *at == position) else {
                    first_group = first_group.min(node.group);
                    nodes.push(&node.name);
                    continue;
                };
                let class = NodeClass { ties: ties.to_vec(), ..common.clone() };
                match found.iter_mut().find(|(_, known)| known.class == class) {
                    Some((order, known)) => {
                        *order = (*order).min((node.group, position + 1));
                        known.nodes.push(&node.name);
                    }
                    None => found.push(((node.group, position + 1), Class { class, nodes: vec![&node.name] })),
                }
            }
            if !nodes.is_empty() {
                found.push(((first_group, 0), Class { class: common.clone(), nodes }));
            }
        }
        found.sort_by_key(|(order, _)| *order);
        (Arc::clone(&merged.places), found.into_iter().map(|(_, class)| class).collect())
    }

    /// The positions of the nodes that are tied to a volume of this question's pod.
    fn tied<'n>(&self, needs: &'n Needs) -> Vec<(usize, &'n [(u32, TieKind)])> {
        let position = |node| self.positions.get(node).copied();
        needs.ties.iter().filter_map(|(node, ties)| Some((position(node)?, ties.as_slice()))).collect()
    }

    /// The groups as questions of this kind see them.
    fn merged(&self, needs: &Needs) -> Arc<Merged> {
        let kind = (needs.keys.iter().cloned().collect(), needs.drivers.clone(), needs.volumes);
        // What is kept is whole at any moment, so that a panic elsewhere while it was locked does no harm.
        let mut kept = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(kept.entry(kind).or_insert_with(|| Arc::new(self.merge(needs))))
    }

    fn merge(&self, needs: &Needs) -> Merged {
        let common: Vec<Group> = self.groups.iter().map(|group| needs.of(group)).collect();
        let mut alike: IndexMap<Group, Vec<usize>> = IndexMap::new();
        for (position, node) in self.nodes.iter().enumerate() {
            let mut group = common[node.group].clone();
            node.add_named(&mut group.place, &needs.keys);
            alike.entry(group).or_default().push(position);
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_by_key(|(_, nodes)| nodes.iter().map(|&position| self.nodes[position].group).min());
        Merged::new(alike)
    }
}

impl Merged {
    /// Says once what the groups have in common.
    fn new(groups: Vec<(Group, Vec<usize>)>) -> Self {
        let mut places: IndexSet<Place> = IndexSet::new();
        let mut classes = Vec::with_capacity(groups.len());
        for (Group { place, headroom }, nodes) in groups {
            let (place, _) = places.insert_full(place);
            let place = u32::try_from(place).expect("there are fewer nodes than a u32 counts");
            classes.push((NodeClass { place, headroom, ties: Vec::new() }, nodes));
        }
        Self { places: places.into_iter().collect(), classes }
    }
}

impl Known {
    /// Adds the labels of the keys that a question names.
    fn add_named(&self, place: &mut Place, keys: &[String]) {
        if keys.is_empty() {
            return;
        }
        for label in &self.labels {
            let known = place.labels.iter().any(|known| *known.key == *label.key);
            if !known && keys.iter().any(|key| **key == *label.key) {
                place.labels.push(label.into());
            }
        }
        place.labels.sort_by(|a, b| a.key.cmp(&b.key));
    }
}

impl Needs {
    /// A group as this question sees it: its drivers only, their headroom clipped.
    fn of(&self, group: &Group) -> Group {
        let clipped = |(driver, headroom): (&String, &AttachHeadroom)| {
            let headroom = match *headroom {
                AttachHeadroom::Left(left) => AttachHeadroom::Left(left.min(self.volumes)),
                unclipped => unclipped,
            };
            self.drivers.contains(driver).then(|| (driver.clone(), headroom))
        };
        let (drivers, headroom) = group.place.drivers.iter().zip(&group.headroom).filter_map(clipped).unzip();
        Group { place: Place { drivers, ..group.place.clone() }, headroom }
    }
}

/// The table that a question has of its places and classes.
pub(crate) fn table(places: &[Place], classes: &[Class<'_>]) -> NodeClasses {
    let rows = || classes.iter().map(|class| &class.class);
    let ties = (0..)
        .zip(rows())
        .flat_map(|(class, row)| row.ties.iter().map(move |&(volume, kind)| Tie { class, volume, kind }));
    NodeClasses {
        places: places.to_vec(),
        classes: rows().map(|row| row.place).collect(),
        headroom: rows().flat_map(|row| row.headroom.iter().copied()).collect(),
        ties: ties.collect(),
    }
}

/// What a policy may see of a node, with the exact headroom of every driver.
fn group(cluster: &Index, occupancy: &Occupancy, info: &PolicyInfo, node: &Node) -> Group {
    let declared: HashSet<&str> = info.node_label_keys.iter().map(String::as_str).collect();
    let mut labels: Vec<Label> =
        node.labels.iter().filter(|label| declared.contains(&*label.key)).map(Label::from).collect();
    labels.sort_by(|a, b| a.key.cmp(&b.key));
    let csi_node = cluster.csi_node(&node.identity.name.name);
    let drivers = csi_node.into_iter().flat_map(|csi_node| &csi_node.drivers).map(|driver| {
        let headroom = occupancy.headroom(&node.identity.name.name, &driver.name, driver.allocatable);
        (driver.name.clone(), headroom)
    });
    let mut drivers: Vec<(String, AttachHeadroom)> = drivers.collect();
    drivers.sort_by(|(one, _), (other, _)| one.cmp(other));
    let (drivers, headroom) = drivers.into_iter().unzip();
    let mut migrated_plugins = csi_node.map(|csi_node| csi_node.migrated_plugins.to_vec()).unwrap_or_default();
    migrated_plugins.sort();
    Group { place: Place { labels, has_csi_node: csi_node.is_some(), drivers, migrated_plugins }, headroom }
}
