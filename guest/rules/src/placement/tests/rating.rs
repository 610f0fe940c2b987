//! Scores (h1), point by point.

use super::world::*;
use crate::settings::Settings;
use zonewarden_bindings::placement::{AttachHeadroom, PodQuestion, TieKind};
use zonewarden_bindings::types::VolumeEvidence;

const URL: &str = "aws://us-east-1a/vol-0123456789abcdef0";

fn check_score(row: &str, pod: &PodQuestion, class: &Node, wanted: (u8, &str), says: &[&str]) {
    let scores = score(&Settings::default(), pod, std::slice::from_ref(class));
    assert_eq!(scores.len(), 1, "{row}");
    assert_eq!((scores[0].score, scores[0].reason.code.as_str()), wanted, "{row}: {:?}", scores[0].reason);
    for says in says {
        assert!(scores[0].reason.message.contains(says), "{row}: {says:?} is not in {:?}", scores[0].reason.message);
    }
}

fn with_headroom(headroom: AttachHeadroom) -> Node {
    node(&[(GA, "us-east-1a")]).with_drivers(&[(EBS, headroom)])
}

fn known() -> PersistentVolume {
    PersistentVolume { evidence: ec2("us-east-1a"), ..pv("pv-1") }
}

#[test]
fn h1_the_zone_gives_up_to_four_points() {
    let a = node(&[(GA, "us-east-1a")]);
    let affine = PersistentVolume { affinity: only(GA, &["us-east-1a"]), ..pv("pv-1") };
    let hinted = PersistentVolume { source: in_tree(URL), ..pv("pv-1") };
    for (row, pod, class, points, says) in [
        ("no volume", pod(vec![]), &a, 10, "no volume is bound to a zone"),
        ("not ours", pod_of(host_path("pv-1")), &a, 10, "no volume is bound to a zone"),
        ("EC2", pod_of(known()), &a, 10, "4 of 4 for the zone (EC2 has the volumes in the node's zone)"),
        ("label", pod_of(labelled(pv("pv-1"), &[(GA, "us-east-1a")])), &a, 9, "3 of 4 for the zone"),
        ("affinity", pod_of(affine), &a, 9, "3 of 4 for the zone"),
        ("hint", pod_of(hinted.clone()), &a, 9, "3 of 4 for the zone"),
        ("hint contradicts", pod_of(hinted), &node(&[(GA, "us-east-1b")]), 6, "0 of 4 for the zone (a volume's own id"),
        ("unknown", pod_of(pv("pv-1")), &a, 7, "1 of 4 for the zone (nobody knows"),
        ("the node's is unknown", pod_of(known()), &node(&[]), 6, "0 of 4 for the zone (the node's zone"),
    ] {
        check_score(row, &pod, class, (points, "rated"), &[says]);
    }
    let mixed = pod(vec![claimed(0, bound(known())), claimed(1, bound(pv("pv-2")))]);
    check_score("the worst volume counts", &mixed, &a, (7, "rated"), &["1 of 4"]);
}

#[test]
fn h1_headroom_gives_up_to_three_points_and_the_driver_two() {
    let pod = pod_of(known());
    for (row, class, points, says) in [
        ("no limit", with_headroom(AttachHeadroom::Unlimited), 10, "3 of 3 for attach headroom (room for more)"),
        ("more", with_headroom(AttachHeadroom::Left(2)), 10, "3 of 3 for attach headroom (room for more)"),
        ("just enough", with_headroom(AttachHeadroom::Left(1)), 9, "2 of 3 for attach headroom (just enough)"),
        ("unknown", with_headroom(AttachHeadroom::Unknown), 7, "0 of 3 for attach headroom (nobody knows"),
        (
            "held",
            with_headroom(AttachHeadroom::Left(0)).tied(&[(0, TieKind::Holds)]),
            10,
            "3 of 3 for attach headroom (the node holds",
        ),
        (
            "no driver",
            node(&[(GA, "us-east-1a")]).with_drivers(&[]),
            5,
            "0 of 3 for attach headroom (the CSINode lacks the driver), 0 of 2 for drivers (the CSINode lacks a driver)",
        ),
    ] {
        check_score(row, &pod, &class, (points, "rated"), &[says]);
    }
    check_score(
        "the parts are told",
        &pod,
        &node(&[(GA, "us-east-1a")]),
        (10, "rated"),
        &["2 of 2 for drivers (every driver is there)"],
    );
}

#[test]
fn h1_what_does_not_fit_gets_nothing() {
    let pod = pod_of(known());
    check_score("ours", &pod, &node(&[(GA, "us-east-1b")]), (0, "ec2-zone-mismatch"), &["pv-1"]);
    check_score("full", &pod, &with_headroom(AttachHeadroom::Left(0)), (0, "attach-limit"), &[EBS]);
    let gone = pod_of(PersistentVolume { evidence: VolumeEvidence::Missing(1), ..pv("pv-1") });
    check_score("gone", &gone, &node(&[]), (0, "volume-missing"), &["pv-1"]);
}

#[test]
fn h1_scores_come_in_the_order_of_the_classes() {
    let classes = [node(&[(GA, "us-east-1b")]), node(&[(GA, "us-east-1a")]), node(&[])];
    let scores = score(&Settings::default(), &pod_of(known()), &classes);
    // Beside two zones, a node of none is refused (F-40).
    assert_eq!(scores.iter().map(|score| score.score).collect::<Vec<_>>(), [0, 10, 0]);
}
