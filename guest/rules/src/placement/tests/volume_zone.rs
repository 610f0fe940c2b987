//! F1b: VolumeZone, with F-58, F-59, F-60, F-62 and F-64 of F1c.

use super::world::*;
use crate::settings::Settings;
use zonewarden_bindings::placement::{
    BindingMode, Claim, ClaimFacts, ClaimState, ClaimedClass, ClaimedVolume, PodVolume, PodVolumeSource, UnboundClaim,
};

#[test]
fn f_30_what_has_no_labels_passes() {
    let any = node(&[(GA, "us-east-1b")]);
    check("F-30 no volumes", &pod(vec![]), &any, (FITS.0, FITS.1, &["no-volumes"]), &["shop/web-0"]);
    check("F-30 no label", &pod_of(pv("pv-1")), &any, FITS_SOMEWHERE, &["shop/web-0", "data-0"]);
    check("F-30 other labels", &pod_of(labelled(host_path("pv-1"), &[("zone", "x")])), &any, FITS, &["shop/web-0"]);
}

/// A claim's state, and what every class is told.
fn check_claim(row: &str, state: ClaimState, code: &'static [&'static str], names: &[&str]) {
    let claim = Claim { name: "claim-0".to_owned(), ephemeral: false, state };
    let volume = PodVolume { name: "data-0".to_owned(), source: PodVolumeSource::Claim(claim) };
    let pod = pod(vec![volume]);
    for class in [node(&[]), node(&[(GA, "us-east-1a")])] {
        check(row, &pod, &class, never(code), &[names, &["claim-0", "data-0"]].concat());
    }
}

#[test]
fn f_31_to_f_38_a_claim_that_can_not_be_used_is_told_of_every_class() {
    let found = ClaimState::Found;
    let of_class = |class: ClaimedClass| unbound(UnboundClaim { class, ..waiting() });
    let mode = |mode| of_class(ClaimedClass::Found(class(mode)));
    check_claim("F-32", ClaimState::Missing, &["claim-missing"], &["does not exist"]);
    check_claim("F-33", found(of_class(ClaimedClass::None)), &["claim-without-class"], &["StorageClass"]);
    let missing = of_class(ClaimedClass::Missing("slow".to_owned()));
    check_claim("F-34", found(missing), &["storage-class-missing"], &["slow"]);
    check_claim("F-35", found(mode(None)), &["class-without-binding-mode"], &["gp3", "volumeBindingMode"]);
    check_claim("F-37", found(mode(Some(BindingMode::Immediate))), &["claim-unbound"], &["gp3"]);
    let unknown_mode = mode(Some(BindingMode::Other("Later".to_owned())));
    check_claim("F-37 a mode we do not know", found(unknown_mode), &["claim-unbound"], &["gp3"]);
    let gone = ClaimFacts { volume: ClaimedVolume::Missing("pv-9".to_owned()), ..bound(pv("unused")) };
    check_claim("F-38", found(gone), &["persistent-volume-missing"], &["pv-9"]);
}

#[test]
fn f_31_a_claim_without_a_name() {
    let claim = Claim { name: String::new(), ephemeral: false, state: ClaimState::Missing };
    let pod = pod(vec![PodVolume { name: "data-0".to_owned(), source: PodVolumeSource::Claim(claim) }]);
    check("F-31", &pod, &node(&[]), never(&["claim-without-name"]), &["data-0", "without a name"]);
}

#[test]
fn f_36_a_claim_that_waits_for_its_pod_is_skipped() {
    check("F-36", &pod(vec![claimed(0, unbound(waiting()))]), &node(&[(GA, "us-east-1a")]), FITS, &[]);
}

/// The labels of a hostPath volume against those of a node; our own strictness is off.
fn check_labels(row: &str, volume: &[(&str, &str)], nodes: &[(&str, &str)], wanted: Wanted, names: &[&str]) {
    let pod = pod_of(labelled(host_path("pv-1"), volume));
    check(row, &pod, &node(nodes), wanted, names);
    if wanted != FITS {
        check(row, &pod, &node(nodes), wanted, &["pv-1", "claim-0", "data-0"]);
    }
}

const ZONE: Wanted = never(&["zone-mismatch"]);
const NO_ZONE: Wanted = never(&["zone-label-missing"]);
const REGION: Wanted = never(&["region-mismatch"]);
const NO_REGION: Wanted = never(&["region-label-missing"]);

#[test]
fn f_39_f_64_a_label_that_is_no_set_is_ignored() {
    for value in ["", "a__", "__a", "a____b", "a__ __b", " "] {
        check_labels("F-64", &[(GA, value)], &[(GA, "us-east-1b")], FITS, &[]);
    }
    check_labels("F-39 the others count", &[(GA, "a__"), (BETA, "a")], &[(GA, "b")], ZONE, &[BETA]);
}

#[test]
fn f_40_f_60_a_node_with_none_of_the_four_keys_passes() {
    check_labels("F-40", &[(GA, "a")], &[], FITS, &[]);
    check_labels(
        "F-60 CSI key and zone id",
        &[(GA, "a")],
        &[(EBS_ZONE, "b"), ("topology.k8s.aws/zone-id", "use1-az1")],
        FITS,
        &[],
    );
    for key in [GA_REGION, BETA_REGION] {
        check_labels("F-60 a region ends it", &[(GA, "a")], &[(key, "r")], NO_ZONE, &[GA, "a"]);
    }
    check_labels("F-60 a zone ends it", &[(GA_REGION, "r")], &[(GA, "a")], NO_REGION, &[GA_REGION, "r"]);
}

#[test]
fn f_41_each_label_is_held_against_its_key_and_beta_against_ga() {
    for (row, volume, nodes, wanted, names) in [
        ("F-41 equal", (GA, "a"), (GA, "a"), FITS, &[][..]),
        ("F-41 other", (GA, "a"), (GA, "b"), ZONE, &["topology.kubernetes.io/zone=a", "topology.kubernetes.io/zone=b"]),
        ("F-41 beta by beta", (BETA, "a"), (BETA, "a"), FITS, &[]),
        ("F-41 beta falls back to GA", (BETA, "a"), (GA, "a"), FITS, &[]),
        (
            "F-41 beta falls back to a GA that differs",
            (BETA, "a"),
            (GA, "b"),
            ZONE,
            &["failure-domain.beta.kubernetes.io/zone=a", "topology.kubernetes.io/zone=b"],
        ),
        ("F-41 GA never falls back to beta", (GA, "a"), (BETA, "a"), NO_ZONE, &["no topology.kubernetes.io/zone"]),
        ("F-41 beta region falls back to GA", (BETA_REGION, "r"), (GA_REGION, "r"), FITS, &[]),
        (
            "F-41 beta region, GA differs",
            (BETA_REGION, "r"),
            (GA_REGION, "s"),
            REGION,
            &["=r", "topology.kubernetes.io/region=s"],
        ),
        ("F-41 GA region never falls back", (GA_REGION, "r"), (BETA_REGION, "r"), NO_REGION, &[GA_REGION]),
        ("F-41 case counts", (GA, "A"), (GA, "a"), ZONE, &[]),
    ] {
        check_labels(row, &[volume], &[nodes], wanted, names);
    }
    check_labels("F-41 beta before GA on the node", &[(BETA, "a")], &[(BETA, "b"), (GA, "a")], ZONE, &["zone=b"]);
}

#[test]
fn f_42_beta_and_ga_labels_must_both_match() {
    let both = [(BETA, "b"), (GA, "a")];
    check_labels("F-42 stale beta", &both, &[(GA, "a")], ZONE, &[BETA]);
    check_labels("F-42 both", &both, &[(GA, "a"), (BETA, "b")], FITS, &[]);
    check_labels("F-42 stale GA", &both, &[(GA, "b")], ZONE, &["topology.kubernetes.io/zone=a"]);
    check_labels("F-42 neither: once, by the first", &both, &[(GA, "c")], ZONE, &[BETA]);
}

#[test]
fn f_43_f_64_values_are_sets() {
    for key in [GA, GA_REGION] {
        for (value, node, fits) in [
            ("a__b", "b", true),
            ("b__a", "b", true),
            (" a __ b ", "b", true),
            ("a__b", "a__b", false),
            ("a_b", "b", false),
            ("a_b", "a_b", true),
            ("a__b", "c", false),
        ] {
            let refused = if key == GA { ZONE } else { REGION };
            check_labels("F-43", &[(key, value)], &[(key, node)], if fits { FITS } else { refused }, &[]);
        }
    }
}

#[test]
fn f_41_f_43_a_volume_is_refused_once_and_its_zone_says_more_than_its_region() {
    let regions = [(BETA_REGION, "q"), (GA_REGION, "r")];
    check_labels("F-43 two regions", &regions, &[(GA_REGION, "s")], REGION, &[BETA_REGION]);
    let region_first = [(GA_REGION, "r"), (GA, "a")];
    let zone_names = ["topology.kubernetes.io/zone=a", "topology.kubernetes.io/zone=b"];
    check_labels("F-41 with F-43", &region_first, &[(GA_REGION, "s"), (GA, "b")], ZONE, &zone_names);
    check_labels("F-41 alone", &region_first, &[(GA_REGION, "r"), (GA, "b")], ZONE, &zone_names);
    check_labels("F-43 alone", &region_first, &[(GA_REGION, "s"), (GA, "a")], REGION, &[GA_REGION]);
    let zone_first = [(BETA, "a"), (GA_REGION, "r")];
    check_labels("F-41 before F-43", &zone_first, &[(BETA, "b"), (GA_REGION, "s")], ZONE, &[BETA]);
}

#[test]
fn f_44_f_59_affinity_and_label_must_both_hold_and_the_affinity_refuses_first() {
    let mut volume = labelled(pv("pv-1"), &[(GA, "a")]);
    volume.affinity = only("disk", &["ssd"]);
    let pod = pod_of(volume);
    check("F-59 both hold", &pod, &node(&[(GA, "a"), ("disk", "ssd")]), FITS, &[]);
    check("F-59 label alone", &pod, &node(&[(GA, "b"), ("disk", "ssd")]), ZONE, &[]);
    check("F-59 affinity alone", &pod, &node(&[(GA, "a"), ("disk", "hdd")]), never(&["affinity-conflict"]), &[]);
    let first = never(&["affinity-conflict"]);
    check("F-59 neither", &pod, &node(&[(GA, "b"), ("disk", "hdd")]), first, &["disk In [ssd]", "disk=hdd"]);
}

#[test]
fn f_59_kubernetes_order_holds_over_volumes() {
    let first = labelled(host_path("pv-1"), &[(GA, "a")]);
    let mut second = host_path("pv-2");
    second.affinity = only("disk", &["ssd"]);
    let pod = pod(vec![claimed(0, bound(first)), claimed(1, bound(second))]);
    check("F-59", &pod, &node(&[(GA, "b")]), never(&["affinity-conflict", "zone-mismatch"]), &["pv-2", "claim-1"]);
}

#[test]
fn f_45_f_62_labels_of_an_ephemeral_volume_and_inline_csi_are_not_read() {
    let owned = |volume| ClaimFacts { owned_by_pod: true, ..bound(volume) };
    let labelled = labelled(host_path("pv-1"), &[(GA, "a")]);
    check("F-62 labels", &pod(vec![ephemeral(0, owned(labelled.clone()))]), &node(&[(GA, "b")]), FITS, &[]);
    let mut volume = host_path("pv-1");
    volume.affinity = only(GA, &["a"]);
    let bad = never(&["affinity-conflict"]);
    check("F-62 affinity", &pod(vec![ephemeral(0, owned(volume))]), &node(&[(GA, "b")]), bad, &["pv-1"]);
    let stranger = pod(vec![ephemeral(0, bound(labelled))]);
    check("F-62 owner", &stranger, &node(&[(GA, "a")]), never(&["claim-not-owned"]), &["claim-0", "owned"]);
    let inline = pod(vec![direct(0, csi(EBS, "aws://us-east-1a/vol-x"), ec2("us-east-1a"))]);
    check("F-45 inline CSI", &inline, &node(&[(GA, "us-east-1b")]), FITS, &[]);
}

#[test]
fn f_58_labels_of_every_kind_of_volume_count_and_the_csi_key_as_a_label_does_not() {
    for source in [csi(EBS, VOL), csi("nfs.csi.k8s.io", "x"), in_tree(VOL), host_path("x").source] {
        let mut volume = labelled(pv("pv-1"), &[(GA, "a")]);
        volume.source = source;
        check("F-58", &pod_of(volume.clone()), &node(&[(GA, "b")]), ZONE, &[]);
        // A label never becomes affinity but by translation.
        volume.labels = labels(&[(EBS_ZONE, "a")]);
        let pod = pod_of(volume);
        let verdicts = filter(&Settings::default(), &pod, &[node(&[(GA, "b"), (EBS_ZONE, "b")])]);
        assert_eq!(verdicts[0].decision, FITS.0, "F-58 {pod:?}");
    }
}
