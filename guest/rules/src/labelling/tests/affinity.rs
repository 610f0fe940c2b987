//! Node affinity: set where it is unset, completed as the object is created, else only told about.

use super::*;
use crate::keys::{REGION_BETA, ZONE_BETA, ZONE_EBS_CSI};

const ERROR: Severity = Severity::Error;
const WARNING: Severity = Severity::Warning;
const OS: &str = "kubernetes.io/os";

/// Labels are in order, so that only the affinity is left to judge.
fn question(affinity: VolumeAffinity, creating: bool) -> LabellingQuestion {
    LabellingQuestion { affinity, creating, ..labelled(&[(ZONE, A), (REGION, "us-east-1")]) }
}

fn linux() -> Requirement {
    is_in(OS, &["linux"])
}

fn in_zone() -> Requirement {
    is_in(ZONE, &[A])
}

fn finds(findings: &[(Severity, &'static str)]) -> Wanted {
    Wanted { findings: findings.to_vec(), ..nothing_to_set() }
}

/// A new object with these terms becomes one with those.
fn completes(row: &str, terms: &[&[Requirement]], wanted: &[&[Requirement]], findings: &[(Severity, &'static str)]) {
    let VolumeAffinity::Required(affinity) = required(wanted) else { unreachable!("terms") };
    let question = question(required(terms), true);
    check(row, &question, &nodes(), Wanted { affinity: Some(affinity), ..finds(findings) });
}

/// An object with these terms, new or not, is left alone.
fn leaves(row: &str, terms: &[&[Requirement]], creating: bool, findings: &[(Severity, &'static str)]) -> String {
    let answer = check(row, &question(required(terms), creating), &nodes(), finds(findings));
    answer.findings.iter().map(|finding| finding.reason.message.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn e13_c_7_an_unset_affinity_is_set_on_the_key_that_the_nodes_carry() {
    let rows: [(&str, Vec<Topology>, &str); 6] = [
        ("no nodes", vec![], ZONE),
        ("GA", vec![node(&[(ZONE, A), (ZONE_EBS_CSI, A)])], ZONE),
        ("CSI", vec![node(&[(ZONE_EBS_CSI, A)])], ZONE_EBS_CSI),
        ("CSI before beta", vec![node(&[(ZONE_BETA, A), (ZONE_EBS_CSI, A)])], ZONE_EBS_CSI),
        ("the zone's nodes count", vec![node(&[(ZONE_EBS_CSI, A)]), node(&[(ZONE, B)])], ZONE_EBS_CSI),
        ("others count where it has none", vec![node(&[(ZONE_EBS_CSI, B)])], ZONE_EBS_CSI),
    ];
    for (row, nodes, key) in rows {
        for creating in [false, true] {
            let answer = label_volume(&Settings::default(), &nodes, &question(VolumeAffinity::Unset, creating));
            assert_eq!(answer.affinity, zone_on(key, A), "{row}");
        }
    }
}

#[test]
fn e13_the_setting_turns_affinity_off() {
    let off = Settings { set_affinity: false, ..Settings::default() };
    for affinity in [VolumeAffinity::Unset, required(&[])] {
        check_with(&off, "off", &question(affinity, true), &nodes(), finds(&[]));
    }
    let silent = question(required(&[&[linux()]]), true);
    check_with(&off, "off", &silent, &nodes(), finds(&[(WARNING, "affinity-too-wide")]));
}

#[test]
fn f_54_an_empty_affinity_can_not_be_set_any_more() {
    let question = question(VolumeAffinity::Unrestricted, false);
    let answer = check("F-54", &question, &nodes(), finds(&[(WARNING, "affinity-unrestricted")]));
    assert_names(&answer.findings[0].reason.message, &["pv-1", A, "Retain", "MutablePVNodeAffinity"]);
}

#[test]
fn f_9_what_a_new_object_leaves_open_is_completed() {
    for affinity in [VolumeAffinity::Unset, VolumeAffinity::Unrestricted, required(&[])] {
        let wanted = Wanted { affinity: zone_on(ZONE, A), ..finds(&[]) };
        check("F-9", &question(affinity, true), &nodes(), wanted);
    }
}

#[test]
fn f_9_f_10_the_zone_is_added_to_each_term_that_says_nothing_of_zones() {
    completes("F-9", &[&[linux()]], &[&[linux(), in_zone()]], &[]);
    completes(
        "F-9, every term",
        &[&[linux()], &[is_in(OS, &["bsd"])]],
        &[&[linux(), in_zone()], &[is_in(OS, &["bsd"]), in_zone()]],
        &[],
    );
    completes("F-10, term by term", &[&[in_zone()], &[linux()]], &[&[in_zone()], &[linux(), in_zone()]], &[]);
    let region = || is_in(REGION, &["us-east-1"]);
    completes("F-10, key by key", &[&[region()]], &[&[region(), in_zone()]], &[]);
    for open in [
        requirement(ZONE, SelectorOperator::Exists, &[]),
        requirement(ZONE, SelectorOperator::NotIn, &[B]),
        requirement(ZONE_BETA, SelectorOperator::DoesNotExist, &[]),
        requirement(OS, SelectorOperator::Other("Near".to_owned()), &[]),
    ] {
        completes("F-57, no zone is listed", &[std::slice::from_ref(&open)], &[&[open.clone(), in_zone()]], &[]);
    }
}

#[test]
fn f_54_a_term_with_match_fields_alone_is_not_empty() {
    let mut terms = vec![term(&[])];
    terms[0].has_match_fields = true;
    let mut wanted = vec![term(&[in_zone()])];
    wanted[0].has_match_fields = true;
    let question = question(VolumeAffinity::Required(terms), true);
    check("F-54", &question, &nodes(), Wanted { affinity: Some(wanted), ..finds(&[]) });
}

#[test]
fn f_54_an_empty_term_matches_no_node_and_is_left_alone() {
    completes("F-54", &[&[], &[linux()]], &[&[], &[linux(), in_zone()]], &[(WARNING, "affinity-term-empty")]);
    let text = leaves("F-54", &[&[in_zone()], &[]], false, &[(WARNING, "affinity-term-empty")]);
    assert_names(&text, &["term 1", "pv-1"]);
    for creating in [false, true] {
        let text = leaves("F-54, all", &[&[], &[]], creating, &[(ERROR, "affinity-matches-no-node")]);
        assert_names(&text, &["pv-1"]);
    }
    leaves("F-54, none", &[], false, &[(ERROR, "affinity-matches-no-node")]);
}

#[test]
fn e14_d_35_c_37_a_stored_affinity_is_never_touched() {
    leaves("right", &[&[in_zone()]], false, &[]);
    leaves("right on the CSI key", &[&[is_in(ZONE_BETA, &[A])]], false, &[]);
    let text = leaves("D-35", &[&[is_in(ZONE, &[B])]], false, &[(ERROR, "affinity-contradicts-zone")]);
    assert_names(&text, &["pv-1", A, "EC2", "Retain", "MutablePVNodeAffinity"]);
    let text = leaves("silent", &[&[linux()]], false, &[(WARNING, "affinity-too-wide")]);
    assert_names(&text, &["term 0", "pv-1", A, "Retain", "MutablePVNodeAffinity"]);
}

#[test]
fn d_35_a_new_affinity_that_excludes_the_zone_is_left_alone_too() {
    let text = leaves(
        "D-35",
        &[&[is_in(ZONE, &[B])], &[]],
        true,
        &[(WARNING, "affinity-term-empty"), (ERROR, "affinity-contradicts-zone")],
    );
    assert_names(&text, &["pv-1", A, "EC2", "before the object is created"]);
    for excluding in [
        is_in(ZONE_EBS_CSI, &[B]),
        is_in(ZONE_BETA, &[B]),
        is_in(ZONE, &[]),
        requirement(ZONE, SelectorOperator::NotIn, &[B, A]),
        requirement(ZONE, SelectorOperator::DoesNotExist, &[]),
        requirement(ZONE, SelectorOperator::Gt, &["1"]),
        requirement(ZONE, SelectorOperator::Lt, &["1"]),
        requirement(ZONE, SelectorOperator::Other("Near".to_owned()), &[A]),
        is_in(REGION, &["eu-west-1"]),
        requirement(REGION_BETA, SelectorOperator::NotIn, &["us-east-1"]),
    ] {
        leaves("D-35", &[&[in_zone(), excluding]], true, &[(ERROR, "affinity-contradicts-zone")]);
    }
}

#[test]
fn d_35_the_missing_labels_of_a_contradicted_volume_are_set() {
    let question = bound_to(&[&[is_in(ZONE, &[B])]]);
    let labels = vec![(ZONE, A), (REGION, "us-east-1")];
    check("D-35", &question, &nodes(), Wanted { labels, ..finds(&[(ERROR, "affinity-contradicts-zone")]) });
}

#[test]
fn f_54_terms_are_alternatives_so_one_that_leads_elsewhere_is_told() {
    for creating in [false, true] {
        let wide = [(WARNING, "affinity-too-wide")];
        leaves("two zones in one requirement", &[&[is_in(ZONE, &[A, B])]], creating, &wide);
        let text = leaves("two terms", &[&[in_zone()], &[is_in(ZONE, &[B])]], creating, &wide);
        assert_names(&text, &["term 1", "pv-1", A]);
        leaves("wide and exact", &[&[is_in(ZONE, &[A, B]), in_zone()]], creating, &[]);
    }
    let elsewhere = || is_in(ZONE, &[B]);
    completes(
        "mixed",
        &[&[elsewhere()], &[linux()]],
        &[&[elsewhere()], &[linux(), in_zone()]],
        &[(WARNING, "affinity-too-wide")],
    );
}

#[test]
fn e14_with_a_wrong_label_left_the_affinity_is_left_too() {
    let wrong = LabellingQuestion { affinity: VolumeAffinity::Unset, ..labelled(&[(ZONE, B)]) };
    check("E14", &wrong, &nodes(), finds(&[(ERROR, "zone-mismatch")]));
    // A set that holds the zone does not contradict it.
    let wide = LabellingQuestion {
        affinity: VolumeAffinity::Unset,
        ..labelled(&[(ZONE, "us-east-1a__us-east-1b"), (REGION, "us-east-1")])
    };
    check("D-33", &wide, &nodes(), Wanted { affinity: zone_on(ZONE, A), ..finds(&[(WARNING, "multi-zone-label")]) });
}

#[test]
fn d_36_the_csi_key_on_no_node_of_the_zone_is_told() {
    let on_csi_key = question(required(&[&[is_in(ZONE_EBS_CSI, &[A])]]), false);
    let answer = check("D-36", &on_csi_key, &nodes(), finds(&[(WARNING, "affinity-key-not-on-nodes")]));
    assert_names(&answer.findings[0].reason.message, &["pv-1", ZONE_EBS_CSI, A]);
    let mut registered = nodes();
    registered.push(node(&[(ZONE, A), (ZONE_EBS_CSI, A)]));
    check("D-36, one has it", &on_csi_key, &registered, finds(&[]));
    check("D-36, no node there", &on_csi_key, &[node(&[(ZONE, B)])], finds(&[]));
    check("D-36, the GA key", &question(required(&[&[in_zone()]]), false), &[node(&[(ZONE_EBS_CSI, A)])], finds(&[]));
}

#[test]
fn d_37_an_affinity_by_a_zones_id_is_told() {
    let by_id = [(ERROR, "zone-id-not-name"), (ERROR, "affinity-contradicts-zone")];
    let text = leaves("D-37", &[&[is_in(ZONE, &["use1-az6"])]], true, &by_id);
    assert_names(&text, &["pv-1", ZONE, "use1-az6", "give the zone's name"]);
    let mut known = facts(Some(A), VolumeState::InUse);
    known.attributes = vec![label(&("availability-zone-id", "use1-az6"))];
    let known = LabellingQuestion {
        evidence: VolumeEvidence::Found(known),
        ..question(required(&[&[is_in(ZONE, &["use1-az6", A])]]), false)
    };
    let answer =
        check("D-37, known", &known, &nodes(), finds(&[(ERROR, "zone-id-not-name"), (WARNING, "affinity-too-wide")]));
    assert_names(&answer.findings[0].reason.message, &["the zone's name is us-east-1a"]);
    // The key for ids holds ids.
    completes(
        "D-37",
        &[&[is_in("topology.k8s.aws/zone-id", &["use1-az6"])]],
        &[&[is_in("topology.k8s.aws/zone-id", &["use1-az6"]), in_zone()]],
        &[],
    );
}
