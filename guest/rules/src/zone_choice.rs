//! Which zone a volume is made in (F-23): one that its claim's name picks, so that every replica of a set gets its own.
//!
//! Claims of a StatefulSet end in a dash and the pod's number. All claims of one pod have that number and the set's last word
//! in common, so they share a zone, and pods 0, 1, 2 go round the zones. Two ordinary claims of one pod may land in different
//! zones; placing the pod first (WaitForFirstConsumer) is the cure, and then the node's zone is given here.

use crate::keys;
use std::collections::BTreeSet;
use zonewarden_bindings::types::Label;

/// Why no zone could be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoChoice {
    /// The claim has no name. Kubernetes rolls dice; the same question must have the same answer here.
    NoName,
    /// There are fewer zones than replicas, or none.
    TooFewZones {
        /// How many there are.
        zones: usize,
        /// How many were asked for.
        replicas: u32,
    },
    /// No replica was asked for.
    NoReplica,
}

/// Chooses as many zones as there are replicas, for a claim whose pod has no node yet.
///
/// # Errors
/// Why that is impossible.
pub fn choose<'a>(zones: &'a BTreeSet<String>, claim: &str, replicas: u32) -> Result<BTreeSet<&'a str>, NoChoice> {
    let zones: Vec<&str> = zones.iter().map(String::as_str).collect();
    choose_from(&zones, claim, replicas)
}

/// Chooses zones for a claim whose pod has a node: the node's zone, and others beside it for further replicas. One replica is in
/// the node's zone, wherever that is.
///
/// # Errors
/// Why that is impossible.
pub fn choose_with<'a>(
    node_zone: &'a str,
    zones: &'a BTreeSet<String>,
    claim: &str,
    replicas: u32,
) -> Result<BTreeSet<&'a str>, NoChoice> {
    let mut chosen = BTreeSet::from([node_zone]);
    match replicas {
        0 => return Err(NoChoice::NoReplica),
        1 => {}
        _ => {
            let others: Vec<&str> = zones.iter().map(String::as_str).filter(|zone| *zone != node_zone).collect();
            let too_few = |_| NoChoice::TooFewZones { zones: others.len() + 1, replicas };
            let name = if claim.is_empty() { Err(NoChoice::NoName) } else { Ok(claim) };
            chosen.extend(choose_from(&others, name?, replicas - 1).map_err(too_few)?);
        }
    }
    Ok(chosen)
}

/// The zone of a node: the label since 1.17, else the one before. `None` is an error to a provisioner.
#[must_use]
pub fn of_node(labels: &[Label]) -> Option<&str> {
    let value = |key: &str| labels.iter().find(|label| label.key == key).map(|label| label.value.as_str());
    value(keys::ZONE).or_else(|| value(keys::ZONE_BETA)).filter(|zone| !zone.is_empty())
}

fn choose_from<'a>(zones: &[&'a str], claim: &str, replicas: u32) -> Result<BTreeSet<&'a str>, NoChoice> {
    if claim.is_empty() {
        return Err(NoChoice::NoName);
    }
    if replicas == 0 {
        return Err(NoChoice::NoReplica);
    }
    let count = u32::try_from(zones.len()).unwrap_or(u32::MAX);
    if count < replicas {
        return Err(NoChoice::TooFewZones { zones: zones.len(), replicas });
    }
    let (hashed, offset) = split(claim);
    let hash = fnv1(hashed.as_bytes());
    let first = offset.wrapping_mul(replicas);
    let slot = |replica: u32| hash.wrapping_add(first).wrapping_add(replica) % count;
    // Where the sum wraps around, two replicas may meet in one slot: then the next free slot is theirs.
    let mut chosen = BTreeSet::new();
    for replica in 0..replicas {
        let start = slot(replica) as usize;
        let free = (0..zones.len()).map(|step| zones[(start + step) % zones.len()]).find(|zone| !chosen.contains(zone));
        chosen.extend(free);
    }
    Ok(chosen)
}

/// What of a claim's name is hashed, and the pod's number in it.
fn split(claim: &str) -> (&str, u32) {
    let Some((before, last)) = claim.rsplit_once('-') else { return (claim, 0) };
    // `parse` alone would take a plus sign.
    let number = last.bytes().all(|byte| byte.is_ascii_digit()).then(|| last.parse().ok()).flatten();
    let Some(number) = number else { return (claim, 0) };
    let set = before.rsplit_once('-').map_or(before, |(_, set)| set);
    (set, number)
}

/// The 32-bit Fowler-Noll-Vo hash, variant 1.
fn fnv1(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zones(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn set<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
        names.iter().copied().collect()
    }

    #[test]
    fn f_23_the_hash_is_fnv_1_of_32_bits() {
        for (text, hash) in [("", 0x811c_9dc5), ("a", 0x050c_5d7e), ("b", 0x050c_5d7d), ("foobar", 0x31f0_b262)] {
            assert_eq!(fnv1(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn f_23_the_number_at_the_end_is_the_offset_and_the_word_before_it_is_hashed() {
        for (claim, wanted) in [
            ("data-web-2", ("web", 2)),
            ("logs-web-2", ("web", 2)),
            ("web-2", ("web", 2)),
            ("data-my-web-10", ("web", 10)),
            ("data-web-002", ("web", 2)),
            ("data-web-4294967295", ("web", u32::MAX)),
            ("data-web-4294967296", ("data-web-4294967296", 0)),
            ("data-web-+2", ("data-web-+2", 0)),
            ("data-web-", ("data-web-", 0)),
            ("data-web-x", ("data-web-x", 0)),
            ("web2", ("web2", 0)),
            ("2", ("2", 0)),
            ("-2", ("", 2)),
        ] {
            assert_eq!(split(claim), wanted, "{claim}");
        }
    }

    /// `a` hashes to 0x050c5d7e, which is 2 modulo 3; `b` to one less.
    #[test]
    fn f_23_one_zone_is_hash_plus_number_modulo_the_sorted_zones() {
        let three = zones(&["z2", "z0", "z1"]);
        for (claim, wanted) in [
            ("a", "z2"),
            ("b", "z1"),
            ("a-0", "z2"),
            ("a-1", "z0"),
            ("a-2", "z1"),
            ("a-3", "z2"),
            ("data-a-1", "z0"),
            ("logs-a-1", "z0"),
            ("b-1", "z2"),
        ] {
            assert_eq!(choose(&three, claim, 1), Ok(set(&[wanted])), "{claim}");
        }
        assert_eq!(choose(&zones(&["only"]), "a-7", 1), Ok(set(&["only"])));
    }

    #[test]
    fn f_23_replicas_take_consecutive_slots_from_the_number_times_their_count() {
        let four = zones(&["z0", "z1", "z2", "z3"]);
        // 0x050c5d7e is 2 modulo 4.
        for (claim, replicas, wanted) in [
            ("a", 2, ["z2", "z3"]),
            ("a-0", 2, ["z2", "z3"]),
            ("a-1", 2, ["z0", "z1"]),
            ("a-2", 2, ["z2", "z3"]),
            ("b", 2, ["z1", "z2"]),
            ("b-1", 2, ["z3", "z0"]),
        ] {
            assert_eq!(choose(&four, claim, replicas), Ok(set(&wanted)), "{claim}");
        }
        assert_eq!(choose(&four, "a-1", 3), Ok(set(&["z1", "z2", "z3"])));
        assert_eq!(choose(&four, "a-1", 4), Ok(set(&["z0", "z1", "z2", "z3"])));
    }

    /// `b` hashes to 0x050c5d7d, and twice the number brings that to the last 32-bit number: the second replica starts over at 0,
    /// which is the same slot of three.
    #[test]
    fn f_23_replicas_that_meet_where_the_sum_wraps_around_part() {
        let three = zones(&["z0", "z1", "z2"]);
        assert_eq!(choose(&three, "b-2105135425", 2), Ok(set(&["z0", "z1"])));
    }

    #[test]
    fn f_23_what_can_not_be_chosen() {
        let two = zones(&["z0", "z1"]);
        assert_eq!(choose(&two, "", 1), Err(NoChoice::NoName));
        assert_eq!(choose(&two, "a", 0), Err(NoChoice::NoReplica));
        assert_eq!(choose(&two, "a", 3), Err(NoChoice::TooFewZones { zones: 2, replicas: 3 }));
        assert_eq!(choose(&zones(&[]), "a", 1), Err(NoChoice::TooFewZones { zones: 0, replicas: 1 }));
        assert_eq!(choose(&two, "a", 2), Ok(set(&["z0", "z1"])));
    }

    #[test]
    fn f_23_a_node_brings_its_zone() {
        let three = zones(&["z0", "z1", "z2"]);
        assert_eq!(choose_with("z9", &three, "a", 1), Ok(set(&["z9"])));
        assert_eq!(choose_with("z0", &three, "", 1), Ok(set(&["z0"])));
        // Beside z0 there are z1 and z2; 0x050c5d7e is even.
        assert_eq!(choose_with("z0", &three, "a", 2), Ok(set(&["z0", "z1"])));
        assert_eq!(choose_with("z0", &three, "b", 2), Ok(set(&["z0", "z2"])));
        assert_eq!(choose_with("z0", &three, "a", 3), Ok(set(&["z0", "z1", "z2"])));
        assert_eq!(choose_with("z0", &three, "a", 4), Err(NoChoice::TooFewZones { zones: 3, replicas: 4 }));
        assert_eq!(choose_with("z0", &three, "", 2), Err(NoChoice::NoName));
        assert_eq!(choose_with("z0", &three, "a", 0), Err(NoChoice::NoReplica));
    }

    #[test]
    fn f_23_a_nodes_zone_is_its_label_since_1_17_else_the_older_one() {
        let label = |key: &str, value: &str| Label { key: key.to_owned(), value: value.to_owned() };
        let beta = label(keys::ZONE_BETA, "beta");
        assert_eq!(of_node(&[beta.clone(), label(keys::ZONE, "ga")]), Some("ga"));
        assert_eq!(of_node(&[label(keys::REGION, "r"), beta]), Some("beta"));
        assert_eq!(of_node(&[label(keys::ZONE, "")]), None);
        assert_eq!(of_node(&[]), None);
    }

    proptest! {
        #[test]
        fn f_23_every_replica_has_a_zone_of_its_own(claim in "[a-z-]{1,5}(-[0-9]{1,10})?", count in 1_u32..6, replicas in 1_u32..6) {
            let names: BTreeSet<String> = (0..count).map(|n| format!("z{n}")).collect();
            match choose(&names, &claim, replicas) {
                Ok(chosen) => prop_assert_eq!(chosen.len(), replicas as usize),
                Err(error) => prop_assert_eq!(error, NoChoice::TooFewZones { zones: names.len(), replicas }),
            }
        }
    }
}
