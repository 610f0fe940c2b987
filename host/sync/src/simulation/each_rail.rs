//! Every rail, with a weather that only it withstands.

use std::collections::BTreeMap;

use super::runs::{EBS, FEW, LIAR, Stage, WORST, needs, needs_where, policy, run};
use super::weather::Event::*;
use crate::rails::switch::{Rail, Rails};

#[test]
fn terminated() {
    needs(Rail::Terminated, WORST, &[(40, Detach(1)), (41, Cut(1))]);
}

#[test]
fn read_again() {
    let lies = (90..140).step_by(10).map(|second| (second, Lie(1, 1)));
    needs(Rail::ReadAgain, WORST, &[(30, Cut(1))].into_iter().chain(lies).collect::<Vec<_>>());
}

#[test]
fn released() {
    needs(Rail::Released, WORST, &[(30, Cut(1)), (60, InstancesLie(1, 60))]);
}

#[test]
fn silence() {
    needs(Rail::Silence, WORST, &[(30, Lie(1, 100))]);
}

#[test]
fn two_sweeps() {
    let lies = (40..140).step_by(20).map(|second| (second, Lie(1, 8)));
    needs(Rail::TwoSweeps, WORST, &[(30, DeleteNode(1))].into_iter().chain(lies).collect::<Vec<_>>());
}

#[test]
fn free_name() {
    needs(Rail::FreeName, WORST, &[(30, Kill(1, 2)), (33, DeleteNode(1)), (34, Boot(1))]);
}

/// A new machine has the name and its kubelet adopted the Node. A VolumeAttachment is made for it, and the policy makes nothing of
/// the node id that it has, so that the pair goes by the Node, which the policy calls the old instance. What the old one's death
/// proves, the new one would pay for.
#[test]
fn named() {
    let adopted = [(30, Kill(1, 2)), (36, Replace(1)), (40, ScaleDown(1)), (41, Release(1)), (43, Bind(1))];
    let cut_off = [(60, ScaleDown(1)), (60, Cut(1)), (61, Detach(1)), (62, Taint(1))];
    needs(Rail::Named, LIAR, &[&adopted[..], &cut_off[..]].concat());
}

/// No weather can show what this rail is for: whatever is not announced still has to pass all the others, so nothing that harms
/// anybody comes of it. It keeps the word that a policy gave to its operator, who read in its description what it may write. So
/// here is an act that is right, and that nobody announced.
#[test]
fn announced() {
    let policy = policy(zonewarden_artifacts::MODEST_COMPONENT);
    let stage = Stage { policy: &policy, nodes: FEW, delete_pods: true, seconds: 80, leads: true };
    let events = [(30, Kill(1, 2))];
    let with = run(stage, &Rails::default(), &events);
    assert_eq!((with.violations, with.right), (Vec::new(), BTreeMap::new()));
    let without = run(stage, &Rails::without(Rail::Announced), &events);
    assert_eq!((without.violations, without.right.get("taint on")), (Vec::new(), Some(&1)));
}

#[test]
fn same_instance() {
    needs(Rail::SameInstance, LIAR, &[(30, Kill(1, 2)), (36, Replace(1)), (37, Cut(1))]);
}

#[test]
fn no_pod_bound() {
    needs_where(Rail::NoPodBound, WORST, false, &[(30, Kill(1, 2)), (33, DeleteNode(1))]);
}

#[test]
fn not_in_use() {
    let events = [(30, ScaleDown(1)), (31, Kill(1, 2)), (35, DeleteNode(1)), (36, Replace(1)), (36, InUse(1))];
    needs(Rail::NotInUse, WORST, &events);
}

#[test]
fn taint_first() {
    // The worst policy's proposals change each second: one of these deaths is proven when pods come before the taint.
    let events: Vec<_> = (0..6).map(|node| (30, Kill(node, 30 + node as u64))).collect();
    let policy = policy(WORST);
    let stage = Stage { policy: &policy, nodes: 8, delete_pods: true, seconds: 100, leads: true };
    assert_eq!(run(stage, &Rails::default(), &events).violations, Vec::<String>::new());
    assert_ne!(run(stage, &Rails::without(Rail::TaintFirst), &events).violations, Vec::<String>::new());
}

/// EC2 calls every volume free from the host's first look on, and their pods are slow to start. Eight at once are too many, and a
/// host that has just begun does not know whether they always were.
#[test]
fn breaker() {
    let policy = policy(EBS);
    let stage = Stage { policy: &policy, nodes: 8, delete_pods: true, seconds: 120, leads: true };
    let events: Vec<_> = (0..8).map(|number| (1, Slow(number))).chain([(1, AllFree(65))]).collect();
    assert_eq!(run(stage, &Rails::default(), &events).violations, Vec::<String>::new());
    assert_ne!(run(stage, &Rails::without(Rail::Breaker), &events).violations, Vec::<String>::new());
}

#[test]
fn taint_once() {
    needs_where(Rail::TaintOnce, WORST, false, &[(30, Kill(1, 2))]);
}

#[test]
fn our_taint() {
    needs(Rail::OurTaint, WORST, &[(30, Taint(1))]);
}

#[test]
fn renewed() {
    needs_where(Rail::Renewed, WORST, false, &[(30, Kill(1, 2))]);
}

#[test]
fn quiet() {
    let events = [(40, ScaleDown(1)), (41, Release(1)), (60, Slow(1)), (61, Bind(1)), (63, Behind(25, 25))];
    needs(Rail::Quiet, WORST, &events);
}

#[test]
fn attached_nowhere() {
    needs(Rail::AttachedNowhere, WORST, &[(40, Elsewhere(1, 2)), (40, RestartPod(1))]);
}

#[test]
fn both_apis() {
    needs(Rail::BothApis, WORST, &[(40, Slow(1)), (40, RestartPod(1)), (41, VolumesLie(1, 60))]);
}

#[test]
fn kubelet_alive() {
    needs(Rail::KubeletAlive, WORST, &[(40, Cut(1)), (40, RestartPod(1)), (50, Detach(1))]);
}

#[test]
fn pods_wait() {
    needs(Rail::PodsWait, WORST, &[(40, Detach(1))]);
}

#[test]
fn unused() {
    needs(Rail::Unused, WORST, &[(30, ScaleDown(1)), (31, Release(1)), (32, Slow(1)), (33, Bind(1))]);
}

#[test]
fn d_49_fresh_read() {
    let events = [(37, ScaleDown(1)), (37, Lag(8)), (38, Kill(1, 2)), (40, DeleteNode(1)), (54, Bind(1))];
    needs(Rail::FreshRead, WORST, &events);
}
