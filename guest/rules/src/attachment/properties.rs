//! What must hold for every observation: no remedy without the design's own conditions, written here a second time, and none
//! held back where they are met.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use zonewarden_bindings::attachment::{
    AttachmentState, Ec2Attachment, Holder, InstanceReport, InstanceState, Lease, NodeReport, Observation,
    OutOfServiceTaint, PresentNode, Verdict, VolumeAttachment, VolumeReport,
};
use zonewarden_bindings::types::Remedy;

use super::arbitrary::observation;
use super::fields::{ATTACHMENT_FIELDS, PROOF_FIELDS, READ_FIELDS, USE_FIELDS, carry};
use super::fixture::{
    dead, dead_and_node_gone, dead_and_node_reborn, mk_observation, mk_settings, no_pods, node, unused, waiting,
};
use super::{REMEDIES, judge};

/// The observations that the arbitrary ones start from, so that some come close to a remedy.
const STARTS: [fn(&mut Observation); 7] = [
    |_| {},
    dead,
    |o| {
        dead(o);
        no_pods(o);
        node(o).taint = OutOfServiceTaint::Ours;
    },
    |o| {
        dead_and_node_gone(o);
        no_pods(o);
    },
    dead_and_node_reborn,
    waiting,
    unused,
];

/// A start with some of its fields replaced, or with all of them.
fn near_a_remedy() -> BoxedStrategy<Observation> {
    let masks = any::<(u32, u32, u32)>().prop_map(|(a, b, c)| a & b & c).boxed();
    (0..STARTS.len(), observation(), [masks.clone(), masks.clone(), masks.clone(), masks], 0..4_u32)
        .prop_map(|(start, other, [attachment, reads, uses, proof], all)| {
            if all == 0 {
                return other;
            }
            let mut observation = mk_observation();
            STARTS[start](&mut observation);
            carry(&mut observation, &other, ATTACHMENT_FIELDS, attachment);
            carry(&mut observation, &other, READ_FIELDS, reads);
            carry(&mut observation, &other, USE_FIELDS, uses);
            carry(&mut observation, &other, PROOF_FIELDS, proof);
            observation
        })
        .boxed()
}

fn present(o: &Observation) -> Option<&PresentNode> {
    match &o.node {
        NodeReport::Present(node) => Some(node),
        NodeReport::Unknown | NodeReport::Absent(_) => None,
    }
}

/// The Node, where it is the pair's instance.
fn own_node(o: &Observation) -> Option<&PresentNode> {
    present(o).filter(|node| o.instance.is_some() && node.instance == o.instance)
}

fn is_other_node(o: &Observation) -> bool {
    present(o).is_some_and(|node| node.instance.is_some() && o.instance.is_some() && node.instance != o.instance)
}

fn live(o: &Observation) -> Vec<&Ec2Attachment> {
    let VolumeReport::Found(found) = &o.volume_report else { return Vec::new() };
    found.attachments.iter().filter(|held| held.state != AttachmentState::Detached).collect()
}

/// The VolumeAttachment, where it is not being deleted and EC2's answer about the volume is not older.
fn judged_attachment(o: &Observation) -> Option<&VolumeAttachment> {
    let VolumeReport::Found(found) = &o.volume_report else { return None };
    o.attachment.as_ref().filter(|it| it.deleting_seconds.is_none() && found.age_seconds <= it.age_seconds)
}

fn both_read_twice(o: &Observation) -> bool {
    let volume = match &o.volume_report {
        VolumeReport::Found(found) => (found.reads, found.consistent_seconds),
        VolumeReport::Unknown | VolumeReport::Missing(_) => (0, 0),
    };
    let instance = match &o.instance_report {
        InstanceReport::Found(found) => (found.reads, found.consistent_seconds),
        InstanceReport::Missing(missing) => (missing.reads, missing.consistent_seconds),
        InstanceReport::Unknown => (0, 0),
    };
    [volume, instance].iter().all(|(reads, seconds)| *reads >= 2 && *seconds >= 10)
}

/// The proof of a death, as the design words it.
fn is_proven_dead(o: &Observation) -> bool {
    let Some(attachment) = judged_attachment(o) else { return false };
    let says_dead = match &o.instance_report {
        InstanceReport::Found(it) => it.state == InstanceState::Terminated && it.age_seconds <= attachment.age_seconds,
        InstanceReport::Missing(missing) => missing.known_before,
        InstanceReport::Unknown => false,
    };
    let is_free = live(o).iter().all(|held| held.holder != Holder::ThisInstance && held.instance != o.instance);
    let is_silent = match (&o.node, own_node(o)) {
        (NodeReport::Present(_), Some(node)) => matches!(node.lease, Lease::Silent(seconds) if seconds >= 15),
        (NodeReport::Present(_), None) => is_other_node(o) && both_read_twice(o),
        (NodeReport::Absent(absent), _) => !absent.name_taken && both_read_twice(o),
        (NodeReport::Unknown, _) => false,
    };
    o.instance.is_some() && says_dead && is_free && is_silent
}

fn nobody_is_bound(o: &Observation) -> bool {
    o.usage.bound_to_node == 0 && o.usage.pods_on_node == 0 && o.usage.started_on_node == 0
}

/// What a remedy needs, by the design's table.
fn may(o: &Observation, remedy: Remedy) -> bool {
    let is_quiet = judged_attachment(o).is_some_and(|attachment| attachment.age_seconds >= 300);
    let is_heard = |it: &PresentNode| it.lease == Lease::Renewed || (it.lease == Lease::Unknown && it.ready);
    let lives = own_node(o).is_some_and(is_heard);
    match remedy {
        Remedy::None | Remedy::Event => true,
        Remedy::SetLabels | Remedy::SetNodeAffinity => false,
        Remedy::AddOutOfServiceTaint => {
            is_proven_dead(o) && own_node(o).is_some_and(|node| node.taint == OutOfServiceTaint::Absent)
        }
        Remedy::RemoveOutOfServiceTaint => {
            present(o).is_some_and(|node| node.taint == OutOfServiceTaint::Ours && node.lease == Lease::Renewed)
        }
        Remedy::DeleteDeadAttachment => {
            let is_name_free =
                !is_other_node(o) || present(o).is_some_and(|node| !node.volume_in_use) && live(o).is_empty();
            is_proven_dead(o) && nobody_is_bound(o) && is_name_free
        }
        Remedy::DeleteDetachedAttachment => {
            let is_unmapped = matches!(&o.instance_report, InstanceReport::Found(it)
                if it.state == InstanceState::Running && matches!(it.mapping, None | Some(AttachmentState::Detached)));
            let is_attached = o.attachment.as_ref().is_some_and(|attachment| attachment.attached);
            let all_wait = o.usage.pods_on_node > 0 && o.usage.started_on_node == 0;
            // Under the name of a proven dead instance it is the new one whose kubelet has to live.
            let is_reborn = is_other_node(o) && is_proven_dead(o) && present(o).is_some_and(is_heard);
            let is_free = live(o).is_empty() && both_read_twice(o);
            is_quiet && (is_reborn || lives && is_unmapped) && is_attached && all_wait && is_free
        }
        Remedy::DeleteLeakedAttachment => {
            let is_listed = own_node(o).is_none_or(|node| node.volume_in_use || node.volume_attached);
            let is_unused = o.usage.unused_seconds >= 640 && o.usage.pods_elsewhere == 0;
            is_quiet && lives && !is_listed && is_unused && o.usage.pods_on_node == 0 && o.usage.started_on_node == 0
        }
        Remedy::ForceDeletePods => is_proven_dead(o) && !nobody_is_bound(o) && !is_other_node(o),
    }
}

/// Remedies that change something, but for the taint that goes from a living Node.
fn acts(remedy: Remedy) -> bool {
    !matches!(remedy, Remedy::None | Remedy::Event | Remedy::RemoveOutOfServiceTaint)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_remedy_is_proposed_without_its_conditions(o in near_a_remedy()) {
        let judged = judge(&mk_settings(), &o);
        let escalation = judged.escalation.unwrap_or(Remedy::None);
        prop_assert!(may(&o, judged.remedy), "{:?}", judged);
        prop_assert!(may(&o, escalation), "{:?}", judged);
        if judged.remedy == Remedy::None && escalation == Remedy::ForceDeletePods {
            let is_tainted = own_node(&o).is_none_or(|node| node.taint != OutOfServiceTaint::Absent);
            prop_assert!(is_tainted, "the pods before the taint: {:?}", judged);
        }
    }

    #[test]
    fn nothing_is_done_to_a_volume_that_a_living_kubelet_may_use(o in near_a_remedy()) {
        let judged = judge(&mk_settings(), &o);
        let proposed = [judged.remedy, judged.escalation.unwrap_or(Remedy::None)];
        let is_dead = is_proven_dead(&o);
        if present(&o).is_some_and(|node| node.lease == Lease::Renewed) && !is_other_node(&o) {
            let of_the_dead = [Remedy::AddOutOfServiceTaint, Remedy::DeleteDeadAttachment, Remedy::ForceDeletePods];
            prop_assert!(proposed.iter().all(|remedy| !of_the_dead.contains(remedy)), "{:?}", judged);
        }
        if present(&o).is_some_and(|node| node.volume_in_use && !matches!(node.lease, Lease::Silent(_))) {
            let of_unused = [Remedy::DeleteDeadAttachment, Remedy::DeleteLeakedAttachment];
            prop_assert!(proposed.iter().all(|remedy| !of_unused.contains(remedy)), "{:?}", judged);
        }
        let is_young = o.attachment.as_ref().is_some_and(|attachment| attachment.age_seconds < 300);
        let is_unknown = matches!(o.volume_report, VolumeReport::Unknown);
        if !is_dead && (o.usage.started_on_node > 0 || is_young || is_unknown || o.attachment.is_none()) {
            prop_assert!(!proposed.iter().any(|remedy| acts(*remedy)), "{:?}", judged);
        }
    }

    #[test]
    fn every_observation_gets_a_whole_judgement(o in near_a_remedy()) {
        let judged = judge(&mk_settings(), &o);
        let code = &judged.reason.code;
        let is_kebab_case = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !code.is_empty();
        prop_assert!(is_kebab_case, "{}", code);
        prop_assert!(judged.reason.message.starts_with("volume vol-0a") && !judged.reason.message.ends_with('.'));
        prop_assert!(judged.remedy == Remedy::None || REMEDIES.contains(&judged.remedy));
        prop_assert!(judged.escalation.is_none_or(|remedy| REMEDIES.contains(&remedy) && acts(remedy)));
        match judged.verdict {
            Verdict::Drift(_) => prop_assert!(judged.remedy != Remedy::None, "{:?}", judged),
            Verdict::InProgress => prop_assert_eq!(judged.remedy, Remedy::None),
            Verdict::InSync => prop_assert_eq!((judged.remedy, judged.escalation), (Remedy::None, None)),
            Verdict::Unknown | Verdict::Unstable => prop_assert!(!acts(judged.remedy) && judged.escalation.is_none()),
        }
    }

    #[test]
    fn what_is_no_part_of_a_proof_holds_nothing_back(
        other in observation(), mask in any::<u32>(), silent in 15..u32::MAX,
    ) {
        let settings = mk_settings();
        let propose = |start: fn(&mut Observation), fields: &[&[_]]| {
            let mut o = mk_observation();
            start(&mut o);
            if let NodeReport::Present(node) = &mut o.node && matches!(node.lease, Lease::Silent(_)) {
                node.lease = Lease::Silent(silent);
            }
            fields.iter().for_each(|fields| carry(&mut o, &other, fields, mask));
            let judged = judge(&settings, &o);
            (judged.remedy, judged.escalation)
        };
        let (attachment, reads, uses) = (ATTACHMENT_FIELDS, READ_FIELDS, USE_FIELDS);
        let (taint, pods) = (Remedy::AddOutOfServiceTaint, Some(Remedy::ForceDeletePods));
        prop_assert_eq!(propose(STARTS[1], &[attachment, reads, uses]), (taint, pods));
        prop_assert_eq!(propose(STARTS[2], &[attachment, reads, uses]), (Remedy::DeleteDeadAttachment, None));
        prop_assert_eq!(propose(STARTS[3], &[attachment, uses]), (Remedy::DeleteDeadAttachment, None));
        prop_assert_eq!(propose(STARTS[4], &[attachment]), (Remedy::DeleteDeadAttachment, None));
        prop_assert_eq!(propose(STARTS[5], &[attachment]), (Remedy::DeleteDetachedAttachment, None));
        prop_assert_eq!(propose(dead_and_node_gone, &[attachment, uses]), (Remedy::None, pods));
        let outdated = |o: &mut Observation| (node(o).lease, node(o).taint) = (Lease::Renewed, OutOfServiceTaint::Ours);
        prop_assert_eq!(propose(outdated, &[attachment, reads, uses]), (Remedy::RemoveOutOfServiceTaint, None));
    }
}

#[test]
fn the_arbitrary_observations_come_close_to_every_remedy() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = near_a_remedy();
    let mut seen = Vec::new();
    for _ in 0..3_000 {
        let tree = strategy.new_tree(&mut runner).expect("the strategy rejects nothing");
        let judged = judge(&mk_settings(), &tree.current());
        seen.extend([Some(judged.remedy), judged.escalation]);
    }
    for remedy in REMEDIES {
        let times = seen.iter().filter(|it| **it == Some(remedy)).count();
        assert!(times >= 10, "{remedy:?} was proposed {times} times");
    }
}
