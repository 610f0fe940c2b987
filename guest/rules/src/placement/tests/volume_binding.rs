//! F1c: VolumeBinding and the translation to CSI, for bound claims.

use super::world::*;
use crate::settings::Settings;
use zonewarden_bindings::placement::{Claim, ClaimFacts, ClaimState, ClaimedVolume, PodVolume, PodVolumeSource};
use zonewarden_bindings::types::{KubernetesVolumeId, SelectorOperator, VolumeAffinity, VolumeSource};

const CONFLICT: Wanted = never(&["affinity-conflict"]);
/// D-36.
const NOT_REGISTERED: Wanted = not_now(&["topology-key-missing"]);

#[test]
fn f_50_bound_means_a_volume_name_and_the_annotation() {
    let named = ClaimFacts { bind_completed: false, ..bound(labelled(pv("pv-1"), &[(GA, "a")])) };
    let pod = pod(vec![claimed(0, named)]);
    let class = node(&[(GA, "a")]);
    let names = ["claim-0", "data-0", "pv.kubernetes.io/bind-completed", "set assume-bound to true"];
    check("F-50", &pod, &class, never(&["claim-not-bind-completed"]), &names);
    let assuming = Settings { assume_bound: true, ..Settings::default() };
    check_with("F-50 assumed", &assuming, (&pod, &class), FITS, &[]);
    let other = node(&[(GA, "b")]);
    check_with("F-50 assumed, and then held to it", &assuming, (&pod, &other), never(&["zone-mismatch"]), &[]);
}

#[test]
fn f_50_a_prebound_claim_is_not_delayed_whatever_its_class_says() {
    let volume = ClaimedVolume::Missing("pv-9".to_owned());
    let pod = pod(vec![claimed(0, ClaimFacts { volume, ..unbound(waiting()) })]);
    check("F-50 prebound", &pod, &node(&[]), never(&["claim-not-bind-completed"]), &[]);
    let done = ClaimFacts { bind_completed: true, ..unbound(waiting()) };
    let pod = super::world::pod(vec![claimed(0, done)]);
    check("F-50 an annotation without a volume is unbound", &pod, &node(&[]), FITS, &[]);
}

#[test]
fn f_51_lost_and_deleted_claims_refuse_every_node_and_a_deleted_volume_does_not() {
    let lost = ClaimFacts { lost: true, ..bound(pv("pv-1")) };
    check("F-51 lost", &pod(vec![claimed(0, lost)]), &node(&[]), never(&["claim-lost"]), &["claim-0", "lost"]);
    let deleting = ClaimFacts { deleting: true, ..bound(pv("pv-1")) };
    check("F-51", &pod(vec![claimed(0, deleting)]), &node(&[]), never(&["claim-deleting"]), &["claim-0", "deleted"]);
    let claim = Claim { name: "web-scratch".to_owned(), ephemeral: true, state: ClaimState::Missing };
    let ephemeral = PodVolume { name: "scratch".to_owned(), source: PodVolumeSource::Claim(claim) };
    check(
        "F-51 ephemeral",
        &pod(vec![ephemeral]),
        &node(&[]),
        never(&["claim-missing"]),
        &["web-scratch", "controller"],
    );
}

#[test]
fn f_51_the_first_bad_claim_is_named_first_and_pre_filters_come_before_filters() {
    let deleting = || ClaimFacts { deleting: true, ..bound(pv("pv-1")) };
    let lost = || ClaimFacts { lost: true, ..bound(pv("pv-2")) };
    let in_other_zone = bound(labelled(host_path("pv-3"), &[(GA, "a")]));
    let class = node(&[(GA, "b")]);
    let pod_a = pod(vec![claimed(0, in_other_zone), claimed(1, deleting()), claimed(2, lost())]);
    check("F-51", &pod_a, &class, never(&["claim-deleting", "claim-lost", "zone-mismatch"]), &["claim-1"]);
    let pod_b = pod(vec![claimed(0, lost()), claimed(1, deleting())]);
    check("F-51 turned round", &pod_b, &class, never(&["claim-lost", "claim-deleting"]), &["claim-0"]);
    // VolumeBinding looks at what claims exist, then at what is bound; VolumeZone comes after both.
    let gone = ClaimFacts { volume: ClaimedVolume::Missing("pv-9".to_owned()), ..bound(pv("unused")) };
    let named = ClaimFacts { bind_completed: false, ..bound(pv("pv-4")) };
    let pod_c = pod(vec![claimed(0, gone), claimed(1, named), claimed(2, lost())]);
    let wanted = never(&["claim-lost", "claim-not-bind-completed", "persistent-volume-missing"]);
    check("F-51 by plugin", &pod_c, &class, wanted, &["claim-2"]);
}

fn affine(affinity: VolumeAffinity) -> PersistentVolume {
    PersistentVolume { affinity, ..pv("pv-1") }
}

#[test]
fn f_54_the_affinity_of_a_bound_volume() {
    let required = VolumeAffinity::Required;
    let not_in = || term(vec![super::world::requirement(GA, SelectorOperator::NotIn, &["a"])]);
    let twice = term(vec![is_in(GA, &["a"]), is_in(GA, &["b"])]);
    for (row, affinity, labels, wanted) in [
        ("F-54 unset", VolumeAffinity::Unset, &[][..], FITS_SOMEWHERE),
        ("F-54 {}", VolumeAffinity::Unrestricted, &[], FITS_SOMEWHERE),
        ("F-54 []", required(vec![]), &[(GA, "a")], CONFLICT),
        ("F-54 [{}]", required(vec![term(vec![])]), &[(GA, "a")], CONFLICT),
        ("F-54 In", only(GA, &["a", "b"]), &[(GA, "b")], FITS),
        ("F-54 In, other", only(GA, &["a"]), &[(GA, "b")], CONFLICT),
        ("F-54 In, missing", only(GA, &["a"]), &[], CONFLICT),
        ("F-54 no fallback to beta", only(GA, &["a"]), &[(BETA, "a")], CONFLICT),
        ("F-54 NotIn", required(vec![not_in()]), &[(GA, "a")], CONFLICT),
        ("F-54 NotIn, missing", required(vec![not_in()]), &[], FITS),
        ("F-54 the same key twice", required(vec![twice]), &[(GA, "a")], CONFLICT),
        ("F-54 OR", required(vec![term(vec![is_in(GA, &["a"])]), term(vec![is_in(GA, &["b"])])]), &[(GA, "b")], FITS),
    ] {
        check(row, &pod_of(affine(affinity)), &node(labels), wanted, &[]);
    }
    let pod = pod_of(affine(only(GA, &["us-east-1a"])));
    let names = ["pv-1", "claim-0", "data-0", "topology.kubernetes.io/zone In [us-east-1a]"];
    let class = node(&[(GA, "us-east-1b")]);
    check("F-54 message", &pod, &class, CONFLICT, &[&names[..], &["topology.kubernetes.io/zone=us-east-1b"]].concat());
    check("F-54 message", &pod, &node(&[]), CONFLICT, &["no topology.kubernetes.io/zone"]);
}

#[test]
fn d_36_a_node_that_lacks_the_csi_key_may_not_be_registered_yet() {
    let csi_zone = || is_in(EBS_ZONE, &["us-east-1a"]);
    let terms = |terms: Vec<_>| VolumeAffinity::Required(terms);
    let exists = term(vec![super::world::requirement(EBS_ZONE, SelectorOperator::Exists, &[])]);
    let gce = || is_in("topology.gke.io/zone", &["us-east-1a"]);
    for (row, affinity, labels, wanted) in [
        ("D-36 no label at all", terms(vec![term(vec![csi_zone()])]), &[][..], NOT_REGISTERED),
        ("D-36 right zone", terms(vec![term(vec![csi_zone()])]), &[(GA, "us-east-1a")], NOT_REGISTERED),
        ("D-36 right zone by beta", terms(vec![term(vec![csi_zone()])]), &[(BETA, "us-east-1a")], NOT_REGISTERED),
        ("D-36 it will come with another zone", terms(vec![term(vec![csi_zone()])]), &[(GA, "us-east-1b")], CONFLICT),
        ("D-36 by beta", terms(vec![term(vec![csi_zone()])]), &[(BETA, "us-east-1b")], CONFLICT),
        ("D-36 key there", terms(vec![term(vec![csi_zone()])]), &[(EBS_ZONE, "us-east-1b")], CONFLICT),
        ("D-36 one of two zones", only(EBS_ZONE, &["us-east-1b", "us-east-1a"]), &[(GA, "us-east-1a")], NOT_REGISTERED),
        ("D-36 Exists", terms(vec![exists]), &[(GA, "us-east-1b")], NOT_REGISTERED),
        ("D-36 something else fails too", terms(vec![term(vec![csi_zone(), is_in("disk", &["ssd"])])]), &[], CONFLICT),
        ("D-36 in the other order", terms(vec![term(vec![is_in("disk", &["ssd"]), csi_zone()])]), &[], CONFLICT),
        (
            "D-36 something else holds",
            terms(vec![term(vec![csi_zone(), is_in("disk", &["ssd"])])]),
            &[("disk", "ssd")],
            NOT_REGISTERED,
        ),
        ("D-36 two keys", terms(vec![term(vec![csi_zone(), gce()])]), &[], NOT_REGISTERED),
        (
            "D-36 a second term",
            terms(vec![term(vec![is_in("disk", &["ssd"])]), term(vec![csi_zone()])]),
            &[],
            NOT_REGISTERED,
        ),
        ("D-36 GCE", terms(vec![term(vec![gce()])]), &[], NOT_REGISTERED),
        (
            "D-36 NotIn never waits",
            terms(vec![term(vec![
                csi_zone(),
                super::world::requirement(EBS_ZONE, SelectorOperator::NotIn, &["us-east-1a"]),
            ])]),
            &[(EBS_ZONE, "us-east-1a")],
            CONFLICT,
        ),
    ] {
        check(row, &pod_of(affine(affinity)), &node(labels), wanted, &["pv-1", "claim-0"]);
    }
    let pod = pod_of(affine(only(EBS_ZONE, &["us-east-1a"])));
    check(
        "D-36 message",
        &pod,
        &node(&[]),
        NOT_REGISTERED,
        &["no topology.ebs.csi.aws.com/zone yet", "In [us-east-1a]"],
    );
}

#[test]
fn d_36_beside_a_refusal_that_stays_the_decision_is_the_graver_one() {
    let volume = labelled(affine(only(EBS_ZONE, &["us-east-1a"])), &[(GA_REGION, "us-east-1")]);
    let class = node(&[(GA, "us-east-1a")]);
    // The volume is refused once, for what stays.
    check("D-36 with F-41", &pod_of(volume), &class, never(&["region-label-missing"]), &["pv-1"]);
}

fn in_tree_pv(pairs: &[(&str, &str)], affinity: VolumeAffinity) -> PersistentVolume {
    PersistentVolume { source: in_tree(VOL), affinity, ..labelled(pv("pv-1"), pairs) }
}

#[test]
fn f_55_an_in_tree_volume_is_judged_per_node() {
    let pod = pod_of(in_tree_pv(&[], only(GA, &["a"])));
    let labels = [(GA, "a")];
    check("F-55 as written", &pod, &node(&labels), FITS, &[]);
    check("F-55 migrated", &pod, &migrated_node(&labels), NOT_REGISTERED, &[EBS_ZONE]);
    check("F-55 migrated, with the key", &pod, &migrated_node(&[(EBS_ZONE, "a"), (GA, "a")]), FITS, &[]);
    check("F-55 migrated, other", &pod, &migrated_node(&[(EBS_ZONE, "b"), (GA, "a")]), CONFLICT, &["In [a]", "zone=b"]);
    for item in [" kubernetes.io/aws-ebs", "kubernetes.io/aws-ebs ", "kubernetes.io/gce-pd", "KUBERNETES.IO/AWS-EBS"] {
        let class = node(&labels).migrating(&[item]);
        check("F-55 exact items", &pod, &class, FITS, &[]);
    }
    let both = node(&labels).migrating(&["kubernetes.io/gce-pd", EBS_PLUGIN]);
    check("F-55 one of several", &pod, &both, NOT_REGISTERED, &[]);
    let csi_volume = pod_of(affine(only(GA, &["a"])));
    check("F-55 a CSI volume is never translated", &csi_volume, &migrated_node(&labels), FITS, &[]);
}

#[test]
fn f_56_the_ga_label_is_not_enough_on_a_migrated_node() {
    let pod = pod_of(in_tree_pv(&[(GA, "us-east-1a")], VolumeAffinity::Unset));
    check("F-56", &pod, &migrated_node(&[(GA, "us-east-1a")]), NOT_REGISTERED, &[EBS_ZONE]);
    check("F-56 not migrated", &pod, &node(&[(GA, "us-east-1a")]), FITS, &[]);
    let full = [(EBS_ZONE, "us-east-1a"), (GA, "us-east-1a")];
    check("F-56 with the key", &pod, &migrated_node(&full), FITS, &[]);
    let unlabelled = migrated_node(&[(EBS_ZONE, "us-east-1a")]);
    check("F-56 the key alone", &pod, &unlabelled, FITS, &[]);
    check("F-56 F-59", &pod, &migrated_node(&[(GA, "us-east-1b")]), CONFLICT, &[EBS_ZONE]);
}

#[test]
fn f_57_not_in_passes_a_migrated_node_without_the_key() {
    let not_in = term(vec![super::world::requirement(GA, SelectorOperator::NotIn, &["a"])]);
    let pod = pod_of(in_tree_pv(&[], VolumeAffinity::Required(vec![not_in])));
    check("F-57", &pod, &migrated_node(&[(GA, "a")]), FITS, &[]);
    check("F-57 not migrated", &pod, &node(&[(GA, "a")]), CONFLICT, &[]);
    let empty = pod_of(in_tree_pv(&[(GA, "a")], VolumeAffinity::Required(vec![term(vec![])])));
    check("F-57 an empty term", &empty, &node(&[(GA, "a")]), CONFLICT, &[]);
    check("F-57 an empty term, migrated", &empty, &migrated_node(&[(EBS_ZONE, "a"), (GA, "a")]), FITS, &[]);
}

#[test]
fn f_61_a_malformed_id_fails_the_whole_attempt_on_a_migrated_node() {
    let bad = "aws://us-east-1a/i-1234";
    let volume = PersistentVolume { source: in_tree(bad), ..pv("pv-1") };
    let names = ["pv-1", "claim-0", bad, EBS_PLUGIN, "whole attempt"];
    check("F-61", &pod_of(volume.clone()), &migrated_node(&[]), never(&["translation-fails"]), &names);
    check("F-61 ours", &pod_of(volume), &node(&[]), ours(&["volume-id-rejected"]), &["pv-1", bad]);
    let verbatim = PersistentVolume { source: in_tree("garbage"), ..pv("pv-1") };
    check("F-61 verbatim", &pod_of(verbatim), &migrated_node(&[]), FITS_SOMEWHERE, &[]);
    let encoded = PersistentVolume { source: in_tree("aws://us-east-1a/vol-%31"), ..pv("pv-1") };
    check("F-61 Kubernetes decodes", &pod_of(encoded), &migrated_node(&[]), ours(&["volume-id-rejected"]), &[]);
    let no_volume = "aws://us-east-1a/i-%31";
    let volume = PersistentVolume { source: in_tree(no_volume), ..pv("pv-1") };
    let names = ["pv-1", "claim-0", no_volume, EBS_PLUGIN, "whole attempt"];
    check("F-61 decoded, still no id", &pod_of(volume), &migrated_node(&[]), never(&["translation-fails"]), &names);
}

#[test]
fn b_14_zones_of_two_regions_fail_a_gce_disk_on_a_migrated_node() {
    let zones = "us-central1-a__us-east1-b";
    let gce = || {
        let id = KubernetesVolumeId { kubernetes_volume_id: "disk-1".to_owned() };
        PersistentVolume { source: VolumeSource::GcePersistentDisk(id), ..pv("pv-1") }
    };
    let pod = pod_of(labelled(gce(), &[(GA, zones)]));
    let class = node(&[]).migrating(&["kubernetes.io/gce-pd"]);
    check("B-14", &pod, &class, never(&["translation-fails"]), &["disk-1", "kubernetes.io/gce-pd"]);
    check("B-14 not migrated", &pod, &migrated_node(&[]), FITS, &[]);
    let one_zone = pod_of(labelled(gce(), &[(GA, "us-central1-a")]));
    let class = node(&[("topology.gke.io/zone", "us-central1-a")]).migrating(&["kubernetes.io/gce-pd"]);
    check("B-14 one zone", &one_zone, &class, FITS, &[]);
    let ebs = pod_of(in_tree_pv(&[(GA, zones)], VolumeAffinity::Unset));
    check("B-14 EBS has no such rule", &ebs, &migrated_node(&[(EBS_ZONE, "us-east1-b")]), FITS, &[]);
}

#[test]
fn f_65_a_class_is_judged_by_nothing_else() {
    let pod = pod_of(affine(only(GA, &["a"])));
    check("F-65", &pod, &node(&[(GA, "a"), ("node-role.kubernetes.io/control-plane", "")]), FITS, &[]);
}
