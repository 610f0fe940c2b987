//! Every rail, with a weather that only it withstands.

use super::runs::{LIAR, Stage, WORST, needs, needs_where, policy, run};
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
    assert_eq!(run(stage, Rails::default(), &events).violations, Vec::<String>::new());
    assert_ne!(run(stage, Rails::without(Rail::TaintFirst), &events).violations, Vec::<String>::new());
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
