//! Single weathers, with what has to come of them: inline volumes, autoscalers' Nodes, and a host that starts anew.

use std::collections::BTreeMap;

use super::runs::{EBS, FEW, Stage, WORST, policy, run};
use super::weather::Event::{self, *};
use super::world::Tally;
use crate::rails::switch::Rails;

/// What came of a weather for so many seconds, with the standard policy on so many Nodes.
fn come_of(component: &[u8], nodes: usize, seconds: u64, events: &[(u64, Event)]) -> Tally {
    let policy = policy(component);
    let stage = Stage { policy: &policy, nodes, delete_pods: true, seconds, leads: true };
    let tally = run(stage, &Rails::default(), events);
    assert_eq!(tally.violations, Vec::<String>::new());
    tally
}

#[test]
fn d_44_an_inline_volume_of_a_dead_instance_is_freed() {
    let right = come_of(EBS, FEW, 100, &[(1, Inline(1)), (30, Kill(1, 2))]).right;
    assert_eq!(right, BTreeMap::from([("taint on", 1), ("pod deleted", 1), ("dead deleted", 1)]));
}

#[test]
fn d_44_a_detached_inline_volume_that_its_pod_waits_for_is_attached_again() {
    let right = come_of(EBS, FEW, 120, &[(1, Inline(1)), (60, Detach(1)), (60, RestartPod(1))]).right;
    assert_eq!(right, BTreeMap::from([("detached healed", 1)]));
}

#[test]
fn d_44_a_leaked_attachment_of_an_inline_volume_goes_after_a_while() {
    let events = [(1, Inline(1)), (1, Slow(1)), (40, ScaleDown(1))];
    assert_eq!(come_of(EBS, FEW, 75, &events).right, BTreeMap::new());
    assert_eq!(come_of(EBS, FEW, 110, &events).right, BTreeMap::from([("leaked deleted", 1)]));
}

/// The autoscaler's finalizer goes soon after the instance: there is no Node left to taint, and the VolumeAttachment that the
/// drain left behind goes.
#[test]
fn d_58_a_node_that_leaves_with_its_instance_is_not_tainted_and_its_attachment_goes() {
    let right = come_of(EBS, FEW, 100, &[(30, Terminating(1, 6)), (33, Kill(1, 5))]).right;
    assert_eq!(right, BTreeMap::from([("dead deleted", 1)]));
}

/// The finalizer holds the Node for long. The attachment goes while it is there, and nothing is done to the Node beside the taint:
/// it leaves when its autoscaler lets it.
#[test]
fn d_58_a_node_that_a_finalizer_holds_is_left_to_its_owner_and_its_attachment_goes() {
    for seconds in [90, 160] {
        let right = come_of(EBS, FEW, seconds, &[(30, Terminating(1, 100)), (33, Kill(1, 5))]).right;
        assert_eq!(right, BTreeMap::from([("taint on", 1), ("dead deleted", 1)]), "{seconds}");
    }
}

/// A Node that a drain has begun for and whose machine lives is nobody's death.
#[test]
fn d_58_a_node_that_is_only_marked_for_deletion_is_left_alone() {
    assert_eq!(come_of(EBS, FEW, 130, &[(30, Terminating(1, 0))]).right, BTreeMap::new());
    assert_eq!(come_of(WORST, FEW, 130, &[(30, Terminating(1, 0))]).right, BTreeMap::new());
}

/// The host starts anew in a cluster where more is bad than may turn bad at once: all of it is held back until it has stood for
/// seventy seconds here, and then healed at the usual pace of five a minute.
#[test]
fn what_a_host_finds_bad_when_it_begins_is_healed_once_it_has_stood() {
    let mut events: Vec<(u64, Event)> =
        (0..8).flat_map(|number| [(60, Detach(number)), (60, RestartPod(number))]).collect();
    let healed = |events: &[(u64, Event)], seconds| {
        come_of(EBS, 8, seconds, events).right.get("detached healed").copied().unwrap_or_default()
    };
    assert_eq!(healed(&events, 260), 0, "a burst before the host's eyes stays");
    events.push((80, Restart));
    assert_eq!(healed(&events, 145), 0);
    assert_eq!(healed(&events, 190), 5);
    assert_eq!(healed(&events, 260), 8);
}

/// A host that starts anew amid a burst of nonsense sees it pass.
#[test]
fn a_host_that_begins_amid_nonsense_heals_nothing_that_is_well() {
    let slow = (0..8).map(|number| (1, Slow(number)));
    let events: Vec<_> = slow.chain([(40, AllFree(100)), (80, Restart), (110, Restart)]).collect();
    assert_eq!(come_of(EBS, 8, 220, &events).right, BTreeMap::new());
}

/// A policy that proposes to write about every pair, and in vain about all but one, does not open the breaker for that one.
#[test]
fn what_is_proposed_in_vain_does_not_open_the_breaker() {
    let right = come_of(WORST, 8, 140, &[(60, Detach(1)), (60, RestartPod(1))]).right;
    assert_eq!(right, BTreeMap::from([("detached healed", 1)]));
}
