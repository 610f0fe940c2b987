//! What the policy knows beyond Kubernetes: F-40 in strict mode, H-1 to H-6, D-38.

use super::world::*;
use crate::settings::{Settings, UnlabelledNodes, VolumeIds};
use zonewarden_bindings::placement::{ClassDecision, PodQuestion, RefusalOrigin};
use zonewarden_bindings::types::{Label, VolumeEvidence, VolumeFacts, VolumeState};

const URL: &str = "aws://us-east-1a/vol-0123456789abcdef0";

fn inline(id: &str, evidence: VolumeEvidence) -> PodQuestion {
    pod(vec![direct(0, in_tree(id), evidence)])
}

#[test]
fn h_1_h_5_a_direct_volume_is_held_to_its_zone_at_ec2() {
    let pod = inline(VOL, ec2("us-east-1a"));
    let wanted = ours(&["ec2-zone-mismatch"]);
    for key in [GA, BETA, EBS_ZONE] {
        check("H-1", &pod, &node(&[(key, "us-east-1a")]), FITS, &[]);
        check("H-5", &pod, &node(&[(key, "us-east-1b")]), wanted, &["data-0", VOL, "us-east-1a", key, "=us-east-1b"]);
    }
    check("H-1 unlabelled", &pod, &node(&[]), FITS, &[]);
    check("H-6 migrated", &pod, &migrated_node(&[(GA, "us-east-1b")]), wanted, &[]);
    check("H-1 the driver's label counts", &pod, &node(&[(EBS_ZONE, "us-east-1a"), (GA, "us-east-1b")]), FITS, &[]);
}

#[test]
fn h_3_the_zone_in_the_id_counts_where_ec2_said_nothing() {
    let pod = inline(URL, VolumeEvidence::Unknown);
    let wanted = ours(&["zone-hint-mismatch"]);
    check("H-3", &pod, &node(&[(GA, "us-east-1b")]), wanted, &["data-0", URL, "us-east-1a", "zone=us-east-1b"]);
    check("H-3 same", &pod, &node(&[(GA, "us-east-1a")]), FITS, &[]);
    let without = Settings { zone_hints: false, ..Settings::default() };
    check_with("H-3 off", &without, (&pod, &node(&[(GA, "us-east-1b")])), FITS_SOMEWHERE, &["data-0"]);
    let contradicted = inline(URL, ec2("us-east-1b"));
    check("H-3 EC2 wins", &contradicted, &node(&[(GA, "us-east-1b")]), FITS, &[]);
    check("H-3 EC2 wins", &contradicted, &node(&[(GA, "us-east-1a")]), ours(&["ec2-zone-mismatch"]), &[]);
    let zoneless = inline(URL, VolumeEvidence::Found(facts(None, VolumeState::InUse)));
    check("H-3 EC2 names no zone", &zoneless, &node(&[(GA, "us-east-1b")]), wanted, &[]);
    let empty = inline(URL, VolumeEvidence::Found(facts(Some(""), VolumeState::InUse)));
    check("H-3 EC2 names an empty zone", &empty, &node(&[(GA, "us-east-1b")]), wanted, &[]);
    check("H-3 no hint", &inline(VOL, VolumeEvidence::Unknown), &node(&[(GA, "us-east-1b")]), FITS_SOMEWHERE, &[]);
}

#[test]
fn h_3_a_hint_refuses_nobody_for_a_bound_volume() {
    let volume = PersistentVolume { source: in_tree(URL), ..pv("pv-1") };
    check("H-3", &pod_of(volume), &node(&[(GA, "us-east-1b")]), FITS, &[]);
}

#[test]
fn h_5_ec2_overrides_labels_and_affinity_of_a_bound_volume() {
    let labelled = labelled(PersistentVolume { evidence: ec2("us-east-1b"), ..pv("pv-1") }, &[(GA, "us-east-1a")]);
    let wrong = node(&[(GA, "us-east-1a")]);
    let names = ["pv-1", "claim-0", "us-east-1b", "zone=us-east-1a"];
    check("H-5 label", &pod_of(labelled.clone()), &wrong, ours(&["ec2-zone-mismatch"]), &names);
    // What Kubernetes refuses for good is its own refusal, and said once.
    check("H-5 Kubernetes first", &pod_of(labelled), &node(&[(GA, "us-east-1c")]), never(&["zone-mismatch"]), &[]);
    let affine = PersistentVolume { affinity: only(GA, &["us-east-1a"]), evidence: ec2("us-east-1b"), ..pv("pv-1") };
    check("H-5 affinity", &pod_of(affine), &wrong, ours(&["ec2-zone-mismatch"]), &names);
    let bare = PersistentVolume { evidence: ec2("us-east-1b"), ..pv("pv-1") };
    check("H-5 neither", &pod_of(bare.clone()), &wrong, ours(&["ec2-zone-mismatch"]), &names);
    check("H-5 right", &pod_of(bare), &node(&[(GA, "us-east-1b")]), FITS, &[]);
    let foreign = PersistentVolume { evidence: ec2("us-east-1b"), ..host_path("pv-1") };
    check("H-5 not ours", &pod_of(foreign), &wrong, FITS, &[]);
}

#[test]
fn d_36_with_ec2s_word_the_refusal_stays() {
    let mut volume = PersistentVolume { evidence: ec2("us-east-1b"), ..pv("pv-1") };
    volume.affinity = only(EBS_ZONE, &["us-east-1a"]);
    let wanted = never(&["topology-key-missing", "ec2-zone-mismatch"]);
    check("D-36", &pod_of(volume), &node(&[(GA, "us-east-1a")]), wanted, &["pv-1"]);
}

#[test]
fn h_5_a_volume_that_ec2_can_not_attach_refuses_every_node_for_now() {
    let state = |state| VolumeEvidence::Found(facts(Some("us-east-1a"), state));
    for (evidence, codes, says) in [
        (VolumeEvidence::Missing(7), &["volume-missing"], "EC2 said 7 s ago that there is no such volume"),
        (state(VolumeState::Deleting), &["volume-deleting"], "reported as deleting 5 s ago"),
        (state(VolumeState::Deleted), &["volume-deleted"], "reported as deleted 5 s ago"),
        (state(VolumeState::Error), &["volume-failed"], "reported as failed 5 s ago"),
    ] {
        let class = node(&[(GA, "us-east-1a")]);
        check("direct", &inline(VOL, evidence.clone()), &class, ours_now(codes), &["data-0", VOL, says]);
        let volume = PersistentVolume { evidence, ..pv("pv-1") };
        check("bound", &pod_of(volume), &class, ours_now(codes), &["pv-1", "claim-0", VOL, says]);
    }
    for fine in [VolumeState::Creating, VolumeState::Available, VolumeState::InUse, VolumeState::Other("x".to_owned())]
    {
        check("fine", &inline(VOL, state(fine)), &node(&[(GA, "us-east-1a")]), FITS, &[]);
    }
}

#[test]
fn b_3_an_id_that_breaks_a_rule_refuses_every_node() {
    let strict = Settings { volume_ids: VolumeIds::Strict, ..Settings::default() };
    let pod = inline("vol-xyz", VolumeEvidence::Unknown);
    let class = node(&[(GA, "us-east-1a")]);
    check_with("strict", &strict, (&pod, &class), ours(&["volume-id-rejected"]), &["data-0", "vol-xyz"]);
    check("lenient", &pod, &class, FITS_SOMEWHERE, &[]);
    let volume = labelled(PersistentVolume { source: in_tree("vol-xyz"), ..pv("pv-1") }, &[(GA, "us-east-1a")]);
    let stricter = Settings { unlabelled_nodes: UnlabelledNodes::Refuse, ..strict };
    let once = ours(&["volume-id-rejected"]);
    check_with("B-3 F-40 refused once", &stricter, (&pod_of(volume), &node(&[])), once, &["pv-1", "vol-xyz"]);
}

/// The verdict about the first class, in the company of the others.
fn check_among(row: &str, settings: &Settings, pod: &PodQuestion, zones: &[&[(&str, &str)]], wanted: Wanted) {
    let classes: Vec<_> = zones.iter().map(|labels| node(labels)).collect();
    assert_verdict(row, &filter(settings, pod, &classes)[0], wanted, &[]);
}

const UNLABELLED: Wanted = ours(&["unlabelled-node"]);

#[test]
fn f_40_strict_mode_refuses_a_node_of_no_zone() {
    let auto = Settings::default();
    let pass = Settings { unlabelled_nodes: UnlabelledNodes::Pass, ..Settings::default() };
    let refuse = Settings { unlabelled_nodes: UnlabelledNodes::Refuse, ..Settings::default() };
    let two: &[&[(&str, &str)]] = &[&[], &[(GA, "us-east-1a")], &[(GA, "us-east-1b")]];
    let mixed: &[&[(&str, &str)]] = &[&[], &[(GA, "us-east-1a")], &[(BETA, "us-east-1b")]];
    let one: &[&[(&str, &str)]] = &[&[], &[(GA, "us-east-1a")], &[(GA, "us-east-1a"), (BETA, "us-east-1b")]];
    let by_csi: &[&[(&str, &str)]] = &[&[], &[(EBS_ZONE, "us-east-1a")], &[(EBS_ZONE, "us-east-1b")]];
    let labelled = pod_of(labelled(pv("pv-1"), &[(GA, "us-east-1a")]));
    for (row, settings, zones, wanted) in [
        ("F-40 auto, two zones", &auto, two, UNLABELLED),
        ("F-40 auto, two zones, one by beta", &auto, mixed, UNLABELLED),
        ("F-40 auto, one zone", &auto, one, FITS),
        ("F-40 auto, the CSI key does not count", &auto, by_csi, FITS),
        ("F-40 pass", &pass, two, FITS),
        ("F-40 refuse", &refuse, one, UNLABELLED),
    ] {
        check_among(row, settings, &labelled, zones, wanted);
    }
    let names = ["pv-1", "us-east-1a", "no topology.kubernetes.io/zone", "unlabelled-nodes"];
    check_with("F-40 message", &refuse, (&labelled, &node(&[])), UNLABELLED, &names);
}

#[test]
fn f_40_strict_mode_speaks_of_volumes_whose_zone_is_known() {
    let refuse = Settings { unlabelled_nodes: UnlabelledNodes::Refuse, ..Settings::default() };
    let check = |row: &str, pod: &PodQuestion, labels: &[(&str, &str)], wanted: Wanted| {
        check_with(row, &refuse, (pod, &node(labels)), wanted, &[]);
    };
    check("F-40 unknown", &pod_of(pv("pv-1")), &[], FITS_SOMEWHERE);
    check("F-40 EC2", &pod_of(PersistentVolume { evidence: ec2("us-east-1a"), ..pv("pv-1") }), &[], UNLABELLED);
    check("F-40 direct", &inline(VOL, ec2("us-east-1a")), &[], UNLABELLED);
    check("F-40 hint", &inline(URL, VolumeEvidence::Unknown), &[], UNLABELLED);
    check("F-40 a bound volume's hint", &pod_of(PersistentVolume { source: in_tree(URL), ..pv("pv-1") }), &[], FITS);
    check("F-40 beta label", &pod_of(labelled(host_path("pv-1"), &[(BETA, "a")])), &[], UNLABELLED);
    check("F-40 region label", &pod_of(labelled(host_path("pv-1"), &[(GA_REGION, "r")])), &[], FITS);
    check("F-40 a node of a region", &inline(VOL, ec2("us-east-1a")), &[(GA_REGION, "us-east-1")], UNLABELLED);
    check("F-40 a waiting claim", &pod(vec![claimed(0, unbound(waiting()))]), &[], FITS);
    // The driver's own key tells the zone, though VolumeZone does not read it.
    let labelled = pod_of(labelled(pv("pv-1"), &[(GA, "us-east-1a__us-east-1b")]));
    check("F-60 CSI key", &labelled, &[(EBS_ZONE, "us-east-1b")], FITS);
    check("F-60 CSI key, other zone", &labelled, &[(EBS_ZONE, "us-east-1c")], UNLABELLED);
    check("F-60 both", &labelled, &[(EBS_ZONE, "us-east-1c"), (GA, "us-east-1a")], FITS);
    let pass = Settings { unlabelled_nodes: UnlabelledNodes::Pass, ..Settings::default() };
    check_with("F-60", &pass, (&labelled, &node(&[(EBS_ZONE, "us-east-1c")])), FITS, &[]);
}

#[test]
fn f_60_h_5_a_label_that_ec2_contradicts_refuses_no_node_that_only_the_csi_key_places() {
    let refuse = Settings { unlabelled_nodes: UnlabelledNodes::Refuse, ..Settings::default() };
    let volume = labelled(PersistentVolume { evidence: ec2("us-east-1b"), ..pv("pv-1") }, &[(GA, "us-east-1a")]);
    let pod = pod_of(volume);
    // VolumeZone passes it (F-60), and EC2 has the volume where the node is.
    check_with("F-60 EC2's zone", &refuse, (&pod, &node(&[(EBS_ZONE, "us-east-1b")])), FITS, &[]);
    let names = ["pv-1", "us-east-1b", "topology.ebs.csi.aws.com/zone=us-east-1a"];
    let label_s_zone = node(&[(EBS_ZONE, "us-east-1a")]);
    check_with("H-5 the label's zone", &refuse, (&pod, &label_s_zone), ours(&["ec2-zone-mismatch"]), &names);
}

#[test]
fn d_38_a_volume_on_an_outpost_attaches_only_there() {
    const ID: &str = "topology.ebs.csi.aws.com/outpost-id";
    let on = |arn: &str| {
        let attributes = vec![Label { key: "outpost-arn".to_owned(), value: arn.to_owned() }];
        let facts = VolumeFacts { attributes, ..facts(Some("us-east-1a"), VolumeState::Available) };
        inline(VOL, VolumeEvidence::Found(facts))
    };
    let pod = on("arn:aws:outposts:us-east-1:123456789012:outpost/op-1");
    let wanted = ours(&["outpost-mismatch"]);
    check("D-38 there", &pod, &node(&[(GA, "us-east-1a"), (ID, "op-1")]), FITS, &[]);
    check("D-38 another", &pod, &node(&[(GA, "us-east-1a"), (ID, "op-2")]), wanted, &["data-0", "op-1", ID, "=op-2"]);
    check(
        "D-38 none",
        &pod,
        &node(&[(EBS_ZONE, "us-east-1a")]),
        wanted,
        &["op-1", "no topology.ebs.csi.aws.com/outpost-id"],
    );
    let mismatch = ours(&["ec2-zone-mismatch"]);
    check("D-38 H-5 refused once, for its zone", &pod, &node(&[(EBS_ZONE, "us-east-1b")]), mismatch, &["data-0"]);
    check("D-38 not registered", &pod, &node(&[(GA, "us-east-1a")]), FITS, &[]);
    check("D-38 no Outpost", &inline(VOL, ec2("us-east-1a")), &node(&[(GA, "us-east-1a"), (ID, "op-2")]), FITS, &[]);
    check("D-38 an empty ARN", &on(""), &node(&[(EBS_ZONE, "us-east-1a")]), FITS, &[]);
}

#[test]
fn each_class_gets_its_own_verdict_and_each_volume_its_own_reason() {
    let first = labelled(PersistentVolume { source: csi(EBS, OTHER_VOL), ..pv("pv-1") }, &[(GA, "us-east-1a")]);
    let second = PersistentVolume { evidence: ec2("us-east-1b"), ..pv("pv-2") };
    let pod = pod(vec![claimed(0, bound(first)), claimed(1, bound(second))]);
    let verdicts = filter(&Settings::default(), &pod, &[node(&[(GA, "us-east-1a")]), node(&[(GA, "us-east-1c")])]);
    assert_eq!(verdicts.len(), 2);
    assert_verdict("a", &verdicts[0], ours(&["ec2-zone-mismatch"]), &["pv-2"]);
    assert_verdict("c", &verdicts[1], never(&["zone-mismatch", "ec2-zone-mismatch"]), &["pv-1"]);
    assert!(verdicts[1].reasons[1].message.contains("pv-2"));
    assert_eq!((verdicts[1].decision, verdicts[1].origin), (ClassDecision::Unresolvable, RefusalOrigin::Kubernetes));
}
