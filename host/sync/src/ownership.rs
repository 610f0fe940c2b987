//! Which cluster an instance belongs to, by the tag that clusters put on what they own (D-54).
//!
//! Nobody has to say what this cluster is called: the instances that are its Nodes bear its name.

use std::collections::{BTreeMap, BTreeSet};

use zonewarden_contract::types::{InstanceId, NodeName};
use zonewarden_ec2::Instance;

use crate::Survey;
use crate::history::History;

impl Survey<'_> {
    /// The Node that an instance is. A last look before a write has read but few objects: of the others counts what the look
    /// before it saw.
    pub(crate) fn node_of(&self, instance: &InstanceId) -> Option<&NodeName> {
        self.identities.node_of(instance).or_else(|| match self.history {
            History::Settled => None,
            History::Live(watched, _) => watched.nodes().find(|(_, known)| *known == instance).map(|(name, _)| name),
        })
    }

    /// The other cluster that an instance belongs to; `None` for one that is ours, or of which nobody can tell.
    pub(crate) fn other_cluster(&self, instance: &InstanceId) -> Option<String> {
        let ours = self.names.get_or_init(|| match self.history {
            History::Settled => self.learn_names(self.identities.node_instances()),
            History::Live(watched, _) => self.learn_names(watched.nodes().map(|(_, instance)| instance)),
        });
        // Where this cluster's own Nodes bear no tag, a tag may as well be ours.
        if ours.is_empty() {
            return None;
        }
        let mut theirs = self.described(instance)?.clusters().peekable();
        let first = theirs.peek().copied()?;
        (!theirs.any(|name| ours.contains(name))).then(|| first.to_owned())
    }

    /// The names that more than half of the Nodes' instances bear: one that was tagged by mistake names nobody.
    fn learn_names<'a>(&'a self, instances: impl Iterator<Item = &'a InstanceId>) -> BTreeSet<String> {
        let mut bearers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut described = 0;
        for instance in instances.filter_map(|instance| self.described(instance)) {
            described += 1;
            for name in instance.clusters() {
                *bearers.entry(name).or_default() += 1;
            }
        }
        bearers.into_iter().filter(|(_, count)| count * 2 > described).map(|(name, _)| name.to_owned()).collect()
    }

    /// An instance's description, for what does not change: its age does not matter.
    fn described(&self, instance: &InstanceId) -> Option<&Instance> {
        match self.history {
            History::Settled => self.facts.instance(instance).map(|(found, _)| found),
            History::Live(watched, _) => watched.memory.described(instance),
        }
    }
}
