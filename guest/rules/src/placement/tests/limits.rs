//! F-63 and H-7: attach limits and missing drivers.

use super::world::*;
use crate::settings::Settings;
use zonewarden_bindings::placement::{
    AttachHeadroom, BindingMode, ClaimedClass, PodQuestion, PodVolume, TieKind, UnboundClaim,
};
use zonewarden_bindings::types::VolumeEvidence;

const FULL: Wanted = not_now(&["attach-limit"]);
const NO_DRIVER: Wanted = not_now(&["driver-missing"]);
const UNKNOWN: Wanted = (FITS.0, FITS.1, &["fits-headroom-unknown"]);

fn with_headroom(headroom: AttachHeadroom) -> Node {
    node(&[(GA, "us-east-1a")]).with_drivers(&[(EBS, headroom)])
}

fn left(volumes: u32) -> Node {
    with_headroom(AttachHeadroom::Left(volumes))
}

/// A bound CSI volume in zone us-east-1a.
fn handle(number: usize, handle: &str) -> PodVolume {
    let volume = labelled(pv(&format!("pv-{number}")), &[(GA, "us-east-1a")]);
    claimed(number, bound(PersistentVolume { source: csi(EBS, handle), ..volume }))
}

fn inline(number: usize, id: &str) -> PodVolume {
    direct(number, in_tree(id), ec2("us-east-1a"))
}

fn two() -> PodQuestion {
    pod(vec![handle(0, VOL), handle(1, OTHER_VOL)])
}

#[test]
fn f_63_more_volumes_than_are_left_are_refused_for_now() {
    let names = ["shop/web-0", "2 volumes", EBS, "attach 1 more"];
    check("F-63 too many", &two(), &left(1), FULL, &names);
    check("F-63 none left", &two(), &left(0), FULL, &["attach 0 more"]);
    check("F-63 just enough", &two(), &left(2), FITS, &[]);
    check("F-63 no limit", &two(), &with_headroom(AttachHeadroom::Unlimited), FITS, &[]);
    check(
        "F-63 unknown is not unlimited, and no refusal",
        &two(),
        &with_headroom(AttachHeadroom::Unknown),
        UNKNOWN,
        &[EBS, "nobody knows"],
    );
    let missing = left(0).with_drivers(&[]);
    check("F-63 no driver, no limit", &two(), &missing, FITS, &[]);
    let others = left(0).with_drivers(&[("other.example.com", AttachHeadroom::Left(0))]);
    check("F-63 another driver's limit", &two(), &others, FITS, &[]);
}

#[test]
fn f_63_each_class_is_told_what_it_lacks_itself() {
    let told = filter(&Settings::default(), &two(), &[left(1), left(0), left(1), left(0)]);
    let says: Vec<&str> = told.iter().map(|verdict| verdict.reasons[0].message.as_str()).collect();
    let lacks =
        |left| format!("pod shop/web-0 adds 2 volumes of the driver {EBS}, and the node can attach {left} more");
    assert_eq!(says, [lacks(1), lacks(0), lacks(1), lacks(0)]);
}

#[test]
fn f_63_what_the_node_holds_needs_no_room() {
    let holding = |holds: &[u32], class: Node| {
        let ties: Vec<_> = holds.iter().map(|volume| (*volume, TieKind::Holds)).collect();
        class.tied(&ties)
    };
    check("F-63 one held", &two(), &holding(&[1], left(1)), FITS, &[]);
    check("F-63 both held", &two(), &holding(&[0, 1], left(0)), FITS, &[]);
    check("F-63 one of two held, no room", &two(), &holding(&[1], left(0)), FULL, &["adds 1 volume of the driver"]);
    check("F-63 held elsewhere", &two(), &holding(&[2], left(1)), FULL, &[]);
    let unknown = with_headroom(AttachHeadroom::Unknown);
    check("F-63 all held, room unknown", &two(), &holding(&[0, 1], unknown), FITS, &[]);
}

#[test]
fn h_7_volumes_are_counted_by_id_whatever_their_spelling() {
    let spellings = ["aws://us-east-1a/vol-0123456789abcdef0", "aws:///vol-0123456789abcdef0", VOL];
    let pod_a = pod(spellings.iter().enumerate().map(|(number, id)| inline(number, id)).collect());
    check("H-7 three spellings", &pod_a, &left(1), FITS, &[]);
    check("H-7 one volume", &pod_a, &left(0), FULL, &["adds 1 volume of the driver"]);
    let pod_b = pod(vec![inline(0, spellings[0]), handle(1, VOL)]);
    check("H-7 in-tree and CSI", &pod_b, &left(1), FITS, &[]);
    check("H-7 held under the other name", &pod_b, &left(0).tied(&[(0, TieKind::Holds)]), FITS, &[]);
    check("H-7 held under the other name", &pod_b, &left(0).tied(&[(1, TieKind::Holds)]), FITS, &[]);
    let pod_c = pod(vec![inline(0, VOL), inline(1, OTHER_VOL)]);
    check("H-7 two volumes", &pod_c, &left(1), FULL, &["2 volumes"]);
}

#[test]
fn h_7_csi_handles_are_counted_byte_for_byte_as_kubernetes_does() {
    let pod = pod(vec![handle(0, VOL), handle(1, "aws:///vol-0123456789abcdef0")]);
    check("H-7", &pod, &left(1), FULL, &["2 volumes"]);
}

#[test]
fn f_63_in_tree_volumes_count_where_there_is_a_csi_node() {
    let pod_a = pod(vec![inline(0, VOL)]);
    check("F-63 not migrated", &pod_a, &left(0), FULL, &[]);
    let without = left(0).without_csi_node();
    check("F-63 no CSINode", &pod_a, &without, FITS, &[]);
    let bound_in_tree = labelled(PersistentVolume { source: in_tree(VOL), ..pv("pv-0") }, &[(GA, "us-east-1a")]);
    let pod_b = pod_of(bound_in_tree);
    check("F-63 bound", &pod_b, &left(0), FULL, &[]);
    check("F-63 bound, no CSINode", &pod_b, &without, FITS, &[]);
    // A CSI volume beside it counts in any case, and once.
    let pod_c = pod(vec![inline(0, VOL), handle(1, VOL)]);
    check("F-63 mixed, no CSINode", &pod_c, &without, FULL, &["adds 1 volume of the driver"]);
}

#[test]
fn f_63_a_volume_that_is_not_made_yet_counts_for_its_driver() {
    let pod_a = pod(vec![claimed(0, unbound(waiting())), handle(1, VOL)]);
    check("F-63 waiting", &pod_a, &left(1), FULL, &["2 volumes"]);
    check("F-63 waiting, room", &pod_a, &left(2), FITS, &[]);
    let mut by_plugin = class(Some(BindingMode::WaitForFirstConsumer));
    by_plugin.provisioner = EBS_PLUGIN.to_owned();
    let waiting_for_plugin = UnboundClaim { class: ClaimedClass::Found(by_plugin), ..waiting() };
    let pod_b = pod(vec![claimed(0, unbound(waiting_for_plugin))]);
    check("F-63 waiting, in-tree", &pod_b, &left(0), FULL, &[]);
    check("F-63 waiting, in-tree, no CSINode", &pod_b, &left(0).without_csi_node(), FITS, &[]);
    let mut twice = claimed(0, unbound(waiting()));
    twice.name = "again".to_owned();
    let pod_c = pod(vec![claimed(0, unbound(waiting())), twice]);
    check("F-63 one claim twice", &pod_c, &left(1), FITS, &[]);
}

#[test]
fn f_63_volumes_of_other_kinds_do_not_count() {
    let pod = pod(vec![claimed(0, bound(host_path("pv-1"))), direct(1, csi(EBS, "x"), VolumeEvidence::Unknown)]);
    check("F-63", &pod, &left(0), FITS, &[]);
}

#[test]
fn f_63_a_missing_driver_is_refused_only_where_the_driver_asks_for_it() {
    let requiring = |pod: PodQuestion| PodQuestion { required_drivers: strings(&["x.example.com", EBS]), ..pod };
    let bare = left(0).with_drivers(&[]);
    let no_csi_node = bare.clone().without_csi_node();
    let names = ["shop/web-0", EBS, "preventPodSchedulingIfMissing"];
    check("F-63", &requiring(two()), &bare, NO_DRIVER, &[&names[..], &["does not list"]].concat());
    check("F-63", &requiring(two()), &no_csi_node, NO_DRIVER, &["no CSINode"]);
    check("F-63 there", &requiring(two()), &left(2), FITS, &[]);
    check("F-63 not required", &two(), &bare, FITS, &[]);
    let others = PodQuestion { required_drivers: strings(&["x.example.com"]), ..two() };
    check("F-63 another is required", &others, &bare, FITS, &[]);
    let other_pod = requiring(pod(vec![claimed(0, bound(host_path("pv-1")))]));
    check("F-63 not concerned", &other_pod, &bare, FITS, &[]);
}

#[test]
fn f_63_limits_come_after_what_stays() {
    let pod = pod_of(labelled(pv("pv-1"), &[(GA, "us-east-1b")]));
    check("F-63", &pod, &left(0), never(&["zone-mismatch", "attach-limit"]), &["pv-1"]);
}

#[test]
fn f_61_a_malformed_inline_id_fails_the_attempt_where_it_would_be_counted() {
    let bad = pod(vec![direct(0, in_tree("aws://z/a/vol-1"), VolumeEvidence::Unknown)]);
    check("F-61", &bad, &left(0), never(&["translation-fails"]), &["data-0", "aws://z/a/vol-1", "whole attempt"]);
    let without = left(0).without_csi_node();
    check("F-61 not counted", &bad, &without, ours(&["volume-id-rejected"]), &["data-0", "aws://z/a/vol-1"]);
}

#[test]
fn f_63_each_driver_has_its_own_count_and_its_own_names() {
    const OTHER: &str = "other.example.com";
    let other = PersistentVolume { source: csi(OTHER, VOL), ..pv("pv-1") };
    let pod = pod(vec![handle(0, VOL), claimed(1, bound(other))]);
    let drivers =
        |ebs, other| left(0).with_drivers(&[(EBS, AttachHeadroom::Left(ebs)), (OTHER, AttachHeadroom::Left(other))]);
    check("F-63 one each", &pod, &drivers(1, 1), FITS, &[]);
    check("F-63 the other is full", &pod, &drivers(1, 0), FULL, &[OTHER, "adds 1 volume of the driver"]);
    check("F-63 both are full", &pod, &drivers(0, 0), not_now(&["attach-limit", "attach-limit"]), &[EBS]);
    let holding = drivers(0, 0).tied(&[(1, TieKind::Holds)]);
    check("F-63 the other's is held", &pod, &holding, FULL, &[EBS]);
}

#[test]
fn f_59_f_63_what_kubernetes_refuses_for_want_of_room_comes_before_what_ec2_knows() {
    let pod = pod_of(PersistentVolume { evidence: ec2("us-east-1b"), ..pv("pv-0") });
    check("F-63 full", &pod, &left(0), never(&["attach-limit", "ec2-zone-mismatch"]), &["shop/web-0"]);
    check("F-63 room", &pod, &left(1), ours(&["ec2-zone-mismatch"]), &["pv-0"]);
}
