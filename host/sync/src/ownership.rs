//! Which cluster an instance belongs to, by the tag that clusters put on what they own (D-54).
//!
//! Nobody has to say what this cluster is called: the instances that are its Nodes bear its name.

use std::collections::{BTreeMap, BTreeSet};

use zonewarden_contract::types::InstanceId;
use zonewarden_ec2::Instance;

use crate::Survey;
use crate::history::History;

impl Survey<'_> {
    /// The other cluster that an instance belongs to; `None` for one that is ours, or of which nobody can tell.
    pub(crate) fn other_cluster(&self, instance: &InstanceId) -> Option<String> {
        let ours = self.names.get_or_init(|| self.learn_names());
        // Where this cluster's own Nodes bear no tag, a tag may as well be ours.
        if ours.is_empty() {
            return None;
        }
        let mut theirs = self.described(instance)?.clusters().peekable();
        let first = theirs.peek().copied()?;
        (!theirs.any(|name| ours.contains(name))).then(|| first.to_owned())
    }

    /// The names that more than half of the Nodes' instances bear: one that was tagged by mistake names nobody.
    fn learn_names(&self) -> BTreeSet<String> {
        let mut bearers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut described = 0;
        for instance in self.identities.node_instances().filter_map(|instance| self.described(instance)) {
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
