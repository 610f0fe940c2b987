//! H1 to H3 and h2: the affinity for a pod that names EBS volumes directly.

use super::world::*;
use crate::placement::inject;
use crate::settings::{Settings, VolumeIds};
use zonewarden_bindings::placement::{Injection, PodQuestion};
use zonewarden_bindings::types::{
    Requirement, SelectorOperator as Op, SelectorTerm, VolumeEvidence, VolumeSource, VolumeState,
};

const A: &str = "us-east-1a";
const B: &str = "us-east-1b";
const URL: &str = "aws://us-east-1a/vol-0123456789abcdef0";

fn inline(id: &str, evidence: VolumeEvidence) -> PodQuestion {
    pod(vec![direct(0, in_tree(id), evidence)])
}

fn known() -> PodQuestion {
    inline(VOL, ec2(A))
}

fn zone(zones: &[&str]) -> Requirement {
    is_in(GA, zones)
}

fn asked(pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Injection {
    inject(&Settings::default(), pod, terms)
}

/// The kind of answer and its code.
fn kind(injection: &Injection) -> (&'static str, &str) {
    match injection {
        Injection::Nothing(reason) => ("nothing", &reason.code),
        Injection::Inject(affinity) => ("inject", &affinity.reason.code),
        Injection::Contradiction(reason) => ("contradiction", &reason.code),
        Injection::Undecided(reason) => ("undecided", &reason.code),
    }
}

fn message(injection: &Injection) -> &str {
    match injection {
        Injection::Nothing(reason) | Injection::Contradiction(reason) | Injection::Undecided(reason) => &reason.message,
        Injection::Inject(affinity) => &affinity.reason.message,
    }
}

fn check_kind(row: &str, injection: &Injection, wanted: (&str, &str), names: &[&str]) {
    assert_eq!(kind(injection), wanted, "{row}: {injection:?}");
    for name in names {
        assert!(message(injection).contains(name), "{row}: {name:?} is not in {:?}", message(injection));
    }
}

/// The terms that come of these, with the codes of what is found.
fn check_terms(row: &str, terms: Option<&[SelectorTerm]>, wanted: &[SelectorTerm], findings: &[&str]) {
    match asked(&known(), terms) {
        Injection::Inject(affinity) => {
            assert_eq!(affinity.terms, wanted, "{row}");
            let codes: Vec<&str> = affinity.findings.iter().map(|finding| finding.reason.code.as_str()).collect();
            assert_eq!(codes, findings, "{row}");
        }
        other => panic!("{row}: {other:?}"),
    }
}

#[test]
fn h_2_a_pod_that_names_nothing_directly_needs_nothing() {
    let none = ("nothing", "no-direct-volume");
    check_kind("no volume", &asked(&pod(vec![]), None), none, &["shop/web-0"]);
    check_kind("claims", &asked(&pod(vec![claimed(0, bound(pv("pv-1")))]), None), none, &[]);
    let gce = VolumeSource::GcePersistentDisk(zonewarden_bindings::types::KubernetesVolumeId {
        kubernetes_volume_id: "disk".to_owned(),
    });
    let foreign = vec![
        direct(0, gce, ec2(A)),
        direct(1, VolumeSource::Other("hostPath".to_owned()), ec2(A)),
        direct(2, csi(EBS, VOL), ec2(A)),
        direct(3, in_tree("placeholder-for-provisioning"), ec2(A)),
    ];
    check_kind("others' volumes", &asked(&pod(foreign), None), none, &[]);
}

#[test]
fn h_3_a_pod_without_terms_gets_one() {
    let wanted = [term(vec![zone(&[A])])];
    check_terms("h2", None, &wanted, &[]);
    let names = ["data-0", VOL, A, "shop/web-0", "topology.kubernetes.io/zone=us-east-1a"];
    check_kind("h2", &asked(&known(), None), ("inject", "zone-of-direct-volume"), &names);
}

#[test]
fn h2_the_zone_is_required_in_every_term() {
    let ssd = || is_in("disk", &["ssd"]);
    let arm = || is_in("kubernetes.io/arch", &["arm64"]);
    let fields = |requirements| SelectorTerm { requirements, has_match_fields: true };
    check_terms(
        "h2 ORed terms",
        Some(&[term(vec![ssd()]), term(vec![arm(), ssd()])]),
        &[term(vec![ssd(), zone(&[A])]), term(vec![arm(), ssd(), zone(&[A])])],
        &[],
    );
    check_terms("h2 matchFields", Some(&[fields(vec![])]), &[fields(vec![zone(&[A])])], &[]);
    check_terms("h2 a wider list", Some(&[term(vec![zone(&[A, B])])]), &[term(vec![zone(&[A, B]), zone(&[A])])], &[]);
    check_terms(
        "h2 one term says it already",
        Some(&[term(vec![zone(&[A])]), term(vec![ssd()])]),
        &[term(vec![zone(&[A])]), term(vec![ssd(), zone(&[A])])],
        &[],
    );
    check_terms(
        "h2 a term that excludes the zone stays beside one that does not",
        Some(&[term(vec![zone(&[B])]), term(vec![ssd()])]),
        &[term(vec![zone(&[B]), zone(&[A])]), term(vec![ssd(), zone(&[A])])],
        &["term-excluded"],
    );
    check_terms(
        "F-54 an empty term matches nothing and stays so",
        Some(&[term(vec![]), term(vec![ssd()])]),
        &[term(vec![]), term(vec![ssd(), zone(&[A])])],
        &[],
    );
    let unusable = || term(vec![zone(&[B]), requirement("disk", Op::In, &[])]);
    check_terms(
        "F-54 nor is such a term told to exclude anything",
        Some(&[unusable(), term(vec![ssd()])]),
        &[unusable(), term(vec![ssd(), zone(&[A])])],
        &[],
    );
    let bad = || term(vec![requirement("disk", Op::In, &[])]);
    check_terms(
        "F-54 nor one that can't be parsed",
        Some(&[bad(), term(vec![ssd()])]),
        &[bad(), term(vec![ssd(), zone(&[A])])],
        &[],
    );
}

#[test]
fn h2_a_pod_that_says_it_already_needs_nothing() {
    let said = ("nothing", "affinity-present");
    let terms = [term(vec![zone(&[A])]), term(vec![is_in("disk", &["ssd"]), zone(&[A, A])])];
    check_kind("h2", &asked(&known(), Some(&terms)), said, &["shop/web-0", "topology.kubernetes.io/zone=us-east-1a"]);
    let with_empty = [term(vec![]), term(vec![zone(&[A])])];
    check_kind("h2 beside an empty term", &asked(&known(), Some(&with_empty)), said, &[]);
    // The driver's or the older key is not carried by every node, so it does not say the same.
    for key in [BETA, EBS_ZONE] {
        check_kind(
            "h2",
            &asked(&known(), Some(&[term(vec![is_in(key, &[A])])])),
            ("inject", "zone-of-direct-volume"),
            &[],
        );
    }
}

#[test]
fn f_54_terms_that_match_nothing_are_no_place_for_a_zone() {
    let wanted = ("contradiction", "affinity-matches-nothing");
    check_kind("F-54 []", &asked(&known(), Some(&[])), wanted, &["shop/web-0"]);
    check_kind("F-54 [{}]", &asked(&known(), Some(&[term(vec![])])), wanted, &[]);
}

#[test]
fn h_3_a_pod_that_asks_for_another_zone_contradicts_itself() {
    let excluded = ("contradiction", "affinity-excludes-zone");
    let injected = ("inject", "zone-of-direct-volume");
    for (row, requirements, wanted) in [
        ("GA In", vec![zone(&[B])], excluded),
        ("beta In", vec![is_in(BETA, &[B])], excluded),
        ("CSI In", vec![is_in(EBS_ZONE, &[B])], excluded),
        ("GA NotIn", vec![requirement(GA, Op::NotIn, &[B, A])], excluded),
        ("GA DoesNotExist", vec![requirement(GA, Op::DoesNotExist, &[])], excluded),
        ("GA twice", vec![zone(&[A]), zone(&[B])], excluded),
        ("beside another key", vec![is_in("disk", &["ssd"]), zone(&[B])], excluded),
        ("beta In both", vec![is_in(BETA, &[A, B])], injected),
        ("GA NotIn another", vec![requirement(GA, Op::NotIn, &[B])], injected),
        ("GA Exists", vec![requirement(GA, Op::Exists, &[])], injected),
        ("beta NotIn: a node may lack it", vec![requirement(BETA, Op::NotIn, &[A])], injected),
        ("beta DoesNotExist", vec![requirement(BETA, Op::DoesNotExist, &[])], injected),
        ("another key", vec![is_in("disk", &[B])], injected),
    ] {
        check_kind(row, &asked(&known(), Some(&[term(requirements)])), wanted, &["data-0", VOL, A]);
    }
    let both = [term(vec![zone(&[B])]), term(vec![]), term(vec![is_in(BETA, &["us-east-1c"])])];
    let names =
        ["topology.kubernetes.io/zone In [us-east-1b] or failure-domain.beta.kubernetes.io/zone In [us-east-1c]"];
    check_kind("each term", &asked(&known(), Some(&both)), excluded, &names);
}

#[test]
fn h_3_the_hint_counts_only_where_ec2_said_nothing_and_says_so() {
    let hinted = inline(URL, VolumeEvidence::Unknown);
    match asked(&hinted, None) {
        Injection::Inject(affinity) => {
            assert_eq!(affinity.terms, [term(vec![zone(&[A])])]);
            assert_eq!(affinity.findings.len(), 1);
            assert_eq!(affinity.findings[0].reason.code, "zone-by-hint");
            assert!(affinity.findings[0].reason.message.contains(URL));
        }
        other => panic!("{other:?}"),
    }
    match asked(&inline(URL, ec2(B)), None) {
        Injection::Inject(affinity) => {
            assert_eq!(affinity.terms, [term(vec![zone(&[B])])]);
            assert_eq!(affinity.findings[0].reason.code, "zone-mismatch");
        }
        other => panic!("{other:?}"),
    }
    let without = Settings { zone_hints: false, ..Settings::default() };
    let undecided = ("undecided", "zone-unknown");
    check_kind("H-3 off", &inject(&without, &hinted, None), undecided, &["data-0", URL, "EC2"]);
    check_kind("no hint", &asked(&inline(VOL, VolumeEvidence::Unknown), None), undecided, &[VOL]);
    let zoneless = VolumeEvidence::Found(facts(None, VolumeState::Available));
    check_kind("no zone", &asked(&inline(VOL, zoneless), None), undecided, &[]);
}

#[test]
fn h2_volumes_in_different_zones_contradict_each_other() {
    let volumes =
        |second: VolumeEvidence| pod(vec![direct(0, in_tree(VOL), ec2(A)), direct(1, in_tree(OTHER_VOL), second)]);
    let wanted = ("contradiction", "volumes-in-different-zones");
    check_kind("h2", &asked(&volumes(ec2(B)), None), wanted, &["data-0", VOL, A, "data-1", OTHER_VOL, B]);
    check_kind("h2 one zone", &asked(&volumes(ec2(A)), None), ("inject", "zone-of-direct-volume"), &[]);
    check_kind(
        "h2 one unknown",
        &asked(&volumes(VolumeEvidence::Unknown), None),
        ("undecided", "zone-unknown"),
        &["data-1"],
    );
    let mut three = volumes(ec2(B));
    three.volumes.insert(0, direct(2, in_tree("vol-0123456789abcdef2"), VolumeEvidence::Unknown));
    check_kind("h2 a contradiction is one whatever the third", &asked(&three, None), wanted, &["data-0", "data-1"]);
}

#[test]
fn h_5_no_affinity_helps_a_volume_that_is_not_there() {
    let missing = inline(VOL, VolumeEvidence::Missing(3));
    check_kind("missing", &asked(&missing, None), ("contradiction", "volume-missing"), &["data-0", VOL]);
    let deleted = inline(VOL, VolumeEvidence::Found(facts(Some(A), VolumeState::Deleted)));
    check_kind("deleted", &asked(&deleted, None), ("contradiction", "volume-deleted"), &[VOL]);
    let strict = Settings { volume_ids: VolumeIds::Strict, ..Settings::default() };
    let odd = inline("vol-xyz", ec2(A));
    check_kind("strict", &inject(&strict, &odd, None), ("contradiction", "volume-id-rejected"), &["vol-xyz"]);
    match asked(&odd, None) {
        Injection::Inject(affinity) => assert!(!affinity.findings.is_empty(), "a lenient id is told"),
        other => panic!("{other:?}"),
    }
}
