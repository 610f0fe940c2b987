//! Which names are borne by a pending or running instance.

use std::collections::HashMap;

use zonewarden_contract::types::NodeName;

use super::asking::Asking;
use super::describe::{Ask, Instances, literally};
use super::fault::{Failure, Fault};
use crate::verify::UnknownCause;

/// Names in one call. EC2 takes 200 values over all filters of a call, and the states are two of them; 150 is what
/// Kubernetes' own cloud provider asks for.
const NAMES_PER_CALL: usize = 150;

/// What is known of the names that were asked for, and what went wrong. A name that is not in it is unknown.
pub(super) async fn look_up(
    names: &[NodeName],
    asking: &Asking<'_, Instances>,
) -> (HashMap<NodeName, bool>, Option<Fault>) {
    let mut distinct: Vec<_> = names.iter().filter(|name| !name.node_name.is_empty()).collect();
    distinct.sort_by(|left, right| left.node_name.cmp(&right.node_name));
    distinct.dedup();
    let mut known = HashMap::new();
    for names in distinct.chunks(NAMES_PER_CALL) {
        let states = vec!["pending".to_owned(), "running".to_owned()];
        let values = names.iter().map(|name| literally(&name.node_name)).collect();
        let ask = Ask::Filters(vec![("private-dns-name", values), ("instance-state-name", states)]);
        let reading = asking.read(&ask).await;
        for name in names {
            let is_taken = reading.records.iter().any(|(_, instance)| instance.bears(name));
            // A name that was seen is taken, even if the pages ended early; one that was not is free only if they did not.
            if is_taken || reading.failure.is_none() {
                known.insert((*name).clone(), is_taken);
            }
        }
        match reading.failure {
            None => {}
            Some(Failure::Fault(fault)) => return (known, Some(fault)),
            Some(Failure::Ids { text, .. }) => return (known, Some(Fault::new(UnknownCause::ApiFault, text))),
        }
    }
    (known, None)
}
