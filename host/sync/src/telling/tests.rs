//! That a decision is counted once, and again when it is another one.

use zonewarden_cluster::api::Reference;
use zonewarden_cluster::{ApiError, ObjectName};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName, Reason};

use super::*;
use crate::act::mk_finding;
use crate::rails::Withheld;

fn mk_act(remedy: Remedy) -> Act {
    let deed = Deed::Pair {
        remedy,
        attachment: ObjectName::new("", "csi-1"),
        uid: "va-uid".to_owned(),
        pair: (AwsVolumeId { aws_volume_id: "vol-1".to_owned() }, InstanceId { instance_id: "i-1".to_owned() }),
        node: NodeName { node_name: "node-1".to_owned() },
        node_uid: None,
    };
    Act { deed, reason: Reason { code: "a-code".to_owned(), message: String::new() }, regarding: Vec::new() }
}

#[test]
fn a_decision_stands_until_its_finding_is_gone_or_is_another() {
    let mut told = Told::default();
    let mut is_new = |code: &str, result: &'static str, kept: &[Finding]| {
        told.keep(kept);
        let decision = |finding| Decision::of_finding(finding, Remedy::DeleteDeadAttachment, result);
        [
            told.is_new_decision(decision(&mk_finding(code, None))),
            told.is_new_decision(decision(&mk_finding(code, None))),
        ]
    };
    let stands = [mk_finding("a-code", None)];
    assert_eq!(is_new("a-code", "too-young", &[]), [true, false]);
    assert_eq!(is_new("a-code", "too-young", &stands), [false, false]);
    assert_eq!(is_new("a-code", "not-seen-twice", &stands), [true, false]);
    assert_eq!(is_new("another-code", "too-young", &stands), [true, false]);
    assert_eq!(is_new("a-code", "too-young", &[]), [true, false]);
    // An act's own reason may be another than its finding's.
    let finding = Finding { acts: vec![mk_act(Remedy::DeleteDeadAttachment)], ..mk_finding("worse", None) };
    assert_eq!(is_new("a-code", "too-young", &[finding]), [false, false]);
}

#[test]
fn writes_and_tries_are_counted_each_and_refusals_once() {
    let counts = |remedy, outcome: &Outcome| {
        let (mut told, act) = (Told::default(), mk_act(remedy));
        [told.is_to_be_counted(&act, outcome), told.is_to_be_counted(&act, outcome)]
    };
    let withheld = Outcome::Withheld(Withheld("moved"));
    let failed = Outcome::Failed(ApiError::Unavailable(String::new()));
    assert_eq!(counts(Remedy::DeleteDeadAttachment, &Outcome::Done(1)), [true, true]);
    assert_eq!(counts(Remedy::DeleteDeadAttachment, &failed), [true, true]);
    assert_eq!(counts(Remedy::DeleteDeadAttachment, &withheld), [true, false]);
    // A finalizer may hold a pod, which is then deleted again every second.
    assert_eq!(counts(Remedy::ForceDeletePods, &Outcome::Done(1)), [true, false]);
    assert_eq!(counts(Remedy::ForceDeletePods, &Outcome::Done(0)), [false, false]);
}

#[test]
fn a_finding_without_a_verdict_is_told_by_what_it_is_about() {
    let reason = |kind: Kind| {
        let about = Reference { kind, name: ObjectName::new("", "one"), uid: "uid".to_owned() };
        let finding = Finding { regarding: vec![about], ..mk_finding("a-code", None) };
        of_finding(&finding, Timestamp::UNIX_EPOCH).into_iter().map(|event| event.reason).collect::<Vec<_>>()
    };
    assert_eq!(reason(Kind::PersistentVolume), ["VolumeZoneMismatch"]);
    assert_eq!(reason(Kind::Node), ["OutOfServiceTaintOutdated"]);
}
