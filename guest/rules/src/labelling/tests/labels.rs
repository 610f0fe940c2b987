//! Labels: missing, wrong, unreadable, doubled.

use super::*;
use crate::keys::{REGION_BETA, ZONE_BETA, ZONE_EBS_CSI};

const ERROR: Severity = Severity::Error;
const WARNING: Severity = Severity::Warning;

fn creating(labels: &[Pair]) -> LabellingQuestion {
    LabellingQuestion { creating: true, ..labelled(labels) }
}

fn owned(labels: &[Pair], keys: &[&str]) -> LabellingQuestion {
    LabellingQuestion { owned_labels: keys.iter().map(|key| (*key).to_owned()).collect(), ..labelled(labels) }
}

/// Labels to set, and the affinity that goes with a volume whose labels are in order.
fn sets(labels: &[Pair], findings: &[(Severity, &'static str)]) -> Wanted {
    Wanted { labels: labels.to_vec(), affinity: zone_on(ZONE, A), findings: findings.to_vec(), ..nothing_to_set() }
}

/// What is found where a wrong label stays: then the affinity is left alone too (E14).
fn finds(findings: &[(Severity, &'static str)]) -> Wanted {
    Wanted { findings: findings.to_vec(), ..nothing_to_set() }
}

#[test]
fn d_31_the_region_label_needs_nodes_that_all_carry_it() {
    let zone = [(ZONE, A)];
    let both = [(ZONE, A), (REGION, "us-east-1")];
    let labelled = || node(&[(REGION, "us-east-1"), (ZONE, A)]);
    let bare = || node(&[(ZONE, A)]);
    let rows: [(&str, Vec<Topology>, &[Pair]); 9] = [
        ("all nodes of the zone", vec![labelled()], &both),
        ("no node of the zone", vec![bare()], &zone),
        ("one node of the zone lacks it", vec![labelled(), bare()], &zone),
        ("a node of another zone lacks it", vec![labelled(), node(&[(ZONE, B)])], &both),
        (
            "only the beta key, to which a GA label does not fall back",
            vec![node(&[(REGION_BETA, "us-east-1"), (ZONE, A)])],
            &zone,
        ),
        ("another value", vec![node(&[(REGION, "eu-west-1"), (ZONE, A)])], &zone),
        ("no nodes known", vec![], &zone),
        ("no node in the zone, others carry it", vec![node(&[(REGION, "us-east-1"), (ZONE, B)])], &both),
        ("no node in the zone, others lack it", vec![node(&[(ZONE, B)])], &zone),
    ];
    for (row, nodes, labels) in rows {
        check(&format!("D-31 {row}"), &pv(), &nodes, sets(labels, &[]));
    }
    let off = Settings { region_labels: false, ..Settings::default() };
    check_with(&off, "D-31 off", &pv(), &nodes(), sets(&zone, &[]));
}

#[test]
fn d_31_a_node_of_the_zone_by_the_csi_key_alone_counts() {
    let hosts = [node(&[(REGION, "us-east-1"), (ZONE, A)]), node(&[(ZONE_EBS_CSI, A)])];
    check("D-31", &pv(), &hosts, sets(&[(ZONE, A)], &[]));
}

#[test]
fn f_41_f_60_a_zone_label_that_keeps_the_pod_from_every_node_is_not_set() {
    let csi_only = || node(&[(ZONE_EBS_CSI, A)]);
    let with_region = || node(&[(REGION, "us-east-1"), (ZONE_EBS_CSI, A)]);
    let zone: &[Pair] = &[(ZONE, A)];
    let rows: [(&str, Vec<Topology>, &[Pair], &str); 6] = [
        ("no node known", vec![], zone, ZONE),
        ("nodes without any of the four keys pass", vec![csi_only()], zone, ZONE_EBS_CSI),
        ("a region label alone ends that", vec![with_region()], &[(REGION, "us-east-1")], ZONE_EBS_CSI),
        ("one node is left", vec![with_region(), csi_only()], zone, ZONE_EBS_CSI),
        ("beta nodes", vec![node(&[(ZONE_BETA, A)])], &[], ZONE_BETA),
        ("beta nodes of another zone", vec![node(&[(ZONE_BETA, B)])], zone, ZONE_BETA),
    ];
    for (row, nodes, labels, key) in rows {
        let findings = if labels == zone { vec![] } else { vec![(WARNING, "zone-label-withheld")] };
        let wanted = Wanted { labels: labels.to_vec(), affinity: zone_on(key, A), findings, ..nothing_to_set() };
        let answer = check(row, &pv(), &nodes, wanted);
        answer.findings.iter().for_each(|finding| assert_names(&finding.reason.message, &["pv-1", ZONE, A]));
    }
}

#[test]
fn d_32_a_right_beta_label_counts_as_the_label() {
    check("D-32", &labelled(&[(ZONE_BETA, A), (REGION_BETA, "us-east-1")]), &nodes(), sets(&[], &[]));
    check("GA and beta", &labelled(&[(ZONE, A), (ZONE_BETA, A)]), &nodes(), sets(&[(REGION, "us-east-1")], &[]));
    check(
        "F-58 the CSI key is no label",
        &labelled(&[(ZONE_EBS_CSI, B)]),
        &nodes(),
        sets(&[(ZONE, A), (REGION, "us-east-1")], &[]),
    );
}

#[test]
fn kk_97080_a_region_label_alone_gets_its_zone() {
    check("KK#97080", &labelled(&[(REGION, "us-east-1")]), &nodes(), sets(&[(ZONE, A)], &[]));
}

#[test]
fn kk_82830_right_labels_still_get_their_affinity() {
    check("KK#82830", &labelled(&[(ZONE, A), (REGION, "us-east-1")]), &nodes(), sets(&[], &[]));
}

#[test]
fn e14_a_wrong_label_of_somebody_else_stays_and_is_told() {
    for key in [ZONE, ZONE_BETA] {
        let answer = check("E14", &labelled(&[(key, B)]), &nodes(), finds(&[(ERROR, "zone-mismatch")]));
        assert_names(&answer.findings[0].reason.message, &["pv-1", key, B, "EC2", A]);
    }
    let others = owned(&[(ZONE, B)], &[ZONE_BETA, REGION]);
    check("E14, other keys are ours", &others, &nodes(), finds(&[(ERROR, "zone-mismatch")]));
    let answer = check(
        "E14, region",
        &labelled(&[(ZONE, A), (REGION, "eu-west-1")]),
        &nodes(),
        finds(&[(ERROR, "region-mismatch")]),
    );
    assert_names(&answer.findings[0].reason.message, &["pv-1", REGION, "eu-west-1", A]);
}

#[test]
fn e14_a_wrong_region_is_told_beside_a_wrong_zone_and_mended_where_it_is_ours() {
    let both = [(ERROR, "zone-mismatch"), (ERROR, "region-mismatch")];
    check("E14", &labelled(&[(ZONE, B), (REGION, "eu-west-1")]), &nodes(), finds(&both));
    let ours = owned(&[(ZONE, B), (REGION, "eu-west-1")], &[REGION]);
    let found = [(ERROR, "zone-mismatch"), (WARNING, "label-corrected")];
    check("E14", &ours, &nodes(), Wanted { labels: vec![(REGION, "us-east-1")], ..finds(&found) });
}

#[test]
fn e14_f_7_a_wrong_label_of_ours_or_of_a_new_object_is_corrected() {
    let region = (REGION, "us-east-1");
    for key in [ZONE, ZONE_BETA] {
        let wanted = || sets(&[(key, A)], &[(WARNING, "label-corrected")]);
        let answer = check("E14", &owned(&[(key, B), region], &[key]), &nodes(), wanted());
        assert_names(&answer.findings[0].reason.message, &["pv-1", key, B, A]);
        check("F-7", &creating(&[(key, B), region]), &nodes(), wanted());
    }
    // A stale beta label beside a right GA label makes the volume unschedulable.
    let stale = creating(&[(ZONE, A), (ZONE_BETA, B), region]);
    check("F-7 F-42", &stale, &nodes(), sets(&[(ZONE_BETA, A)], &[(WARNING, "label-corrected")]));
    let wanted = sets(&[(REGION, "us-east-1")], &[(WARNING, "label-corrected")]);
    check("region", &creating(&[(ZONE, A), (REGION, "eu-west-1")]), &nodes(), wanted);
}

#[test]
fn e14_a_hint_corrects_nothing() {
    let question = LabellingQuestion {
        source: in_tree(&format!("aws://{A}/{ID}")),
        evidence: VolumeEvidence::Unknown,
        ..owned(&[(ZONE, B)], &[ZONE])
    };
    let wanted =
        Wanted { basis: LabellingBasis::Hint, reason: "zone-from-id", ..finds(&[(WARNING, "zone-hints-differ")]) };
    check("E14", &question, &nodes(), wanted);
}

#[test]
fn e14_a_hint_that_a_region_label_contradicts_is_not_written() {
    let question = LabellingQuestion {
        source: in_tree(&format!("aws://{A}/{ID}")),
        evidence: VolumeEvidence::Unknown,
        ..creating(&[(REGION, "eu-west-1")])
    };
    let wanted =
        Wanted { basis: LabellingBasis::Hint, reason: "zone-from-id", ..finds(&[(WARNING, "zone-hints-differ")]) };
    check("E14", &question, &nodes(), wanted);
}

#[test]
fn f_42_labels_that_disagree_are_one_error_that_names_both() {
    let question = labelled(&[(ZONE, A), (ZONE_BETA, B)]);
    let answer = check("F-42", &question, &nodes(), finds(&[(ERROR, "labels-disagree")]));
    assert_names(&answer.findings[0].reason.message, &["pv-1", ZONE, A, ZONE_BETA, B, "EC2"]);
    let unproven =
        LabellingQuestion { evidence: VolumeEvidence::Unknown, ..labelled(&[(REGION, "a"), (REGION_BETA, "b")]) };
    let wanted = Wanted { findings: vec![(ERROR, "labels-disagree")], ..nothing("zone-unknown") };
    check("F-42, region, without EC2", &unproven, &nodes(), wanted);
    let both_wrong = labelled(&[(ZONE, B), (ZONE_BETA, "us-east-1c")]);
    check("F-42, both wrong", &both_wrong, &nodes(), finds(&[(ERROR, "labels-disagree")]));
    let alike = labelled(&[(ZONE, B), (ZONE_BETA, B)]);
    check("E14, both wrong alike", &alike, &nodes(), finds(&[(ERROR, "zone-mismatch"), (ERROR, "zone-mismatch")]));
    // The GA label is ours and is corrected; the beta label stays and now disagrees with it.
    let half = owned(&[(ZONE, B), (ZONE_BETA, B)], &[ZONE]);
    let wanted =
        Wanted { labels: vec![(ZONE, A)], ..finds(&[(WARNING, "label-corrected"), (ERROR, "labels-disagree")]) };
    check("F-42, one is ours", &half, &nodes(), wanted);
}

#[test]
fn f_20_f_21_sets_are_compared_as_sets() {
    // Two writers, one set: no disagreement, but no EBS volume is in two zones (D-33).
    let question = labelled(&[(ZONE, "us-east-1a__us-east-1b"), (ZONE_BETA, "us-east-1b__us-east-1a")]);
    let twice = [(WARNING, "multi-zone-label"), (WARNING, "multi-zone-label")];
    check("F-21", &question, &nodes(), sets(&[(REGION, "us-east-1")], &twice));
    check(
        "F-20, one zone twice",
        &labelled(&[(ZONE, "us-east-1a__us-east-1a")]),
        &nodes(),
        sets(&[(REGION, "us-east-1")], &[]),
    );
}

#[test]
fn d_33_a_multi_zone_label_is_told_and_never_rewritten() {
    let multiple = "us-east-1a__us-east-1b";
    let right = sets(&[(REGION, "us-east-1")], &[(WARNING, "multi-zone-label")]);
    let answer = check("D-33", &labelled(&[(ZONE, multiple)]), &nodes(), right);
    assert_names(&answer.findings[0].reason.message, &["pv-1", ZONE, multiple, "EC2", A]);
    let without = "us-east-1b__us-east-1c";
    check("D-33, without the zone", &creating(&[(ZONE, without)]), &nodes(), finds(&[(ERROR, "multi-zone-label")]));
    check("D-33, ours", &owned(&[(ZONE, without)], &[ZONE]), &nodes(), finds(&[(ERROR, "multi-zone-label")]));
    let twice = labelled(&[(ZONE, without), (ZONE_BETA, without)]);
    let both = [(ERROR, "multi-zone-label"), (ERROR, "multi-zone-label")];
    check("D-33, in both spellings", &twice, &nodes(), finds(&both));
    let unproven = LabellingQuestion { evidence: VolumeEvidence::Unknown, ..labelled(&[(ZONE, without)]) };
    let wanted = Wanted { findings: vec![(WARNING, "multi-zone-label")], ..nothing("zone-unknown") };
    check("D-33, without EC2", &unproven, &nodes(), wanted);
    let regions = labelled(&[(ZONE, A), (REGION, "us-east-1__us-east-2")]);
    check("D-33, regions", &regions, &nodes(), sets(&[], &[(WARNING, "multi-region-label")]));
}

#[test]
fn f_20_f_39_a_label_that_can_not_be_read_is_told_and_a_new_one_corrected() {
    let region = (REGION, "us-east-1");
    for value in ["", "us-east-1a__", "__us-east-1a"] {
        let answer =
            check("F-39", &labelled(&[(ZONE, value), region]), &nodes(), sets(&[], &[(WARNING, "label-unreadable")]));
        assert_names(&answer.findings[0].reason.message, &["pv-1", ZONE, &format!("{value:?}"), "zone"]);
        let corrected = || sets(&[(ZONE, A)], &[(WARNING, "label-corrected")]);
        check("F-20", &creating(&[(ZONE, value), region]), &nodes(), corrected());
        check("F-20", &owned(&[(ZONE, value), region], &[ZONE]), &nodes(), corrected());
        let new_beta = creating(&[(ZONE_BETA, value), region]);
        check("F-20, beta", &new_beta, &nodes(), sets(&[(ZONE_BETA, A)], &[(WARNING, "label-corrected")]));
        let beta = labelled(&[(ZONE_BETA, value), region]);
        check("F-39, beta", &beta, &nodes(), sets(&[(ZONE, A)], &[(WARNING, "label-unreadable")]));
        let unproven = LabellingQuestion { evidence: VolumeEvidence::Unknown, ..labelled(&[(ZONE, value)]) };
        let wanted = Wanted { findings: vec![(WARNING, "label-unreadable")], ..nothing("zone-unknown") };
        check("F-39, without EC2", &unproven, &nodes(), wanted);
    }
}

#[test]
fn kk_124525_an_empty_region_label_is_not_made_worse() {
    let question = creating(&[(ZONE, A), (REGION, "")]);
    check("KK#124525", &question, &nodes(), sets(&[(REGION, "us-east-1")], &[(WARNING, "label-corrected")]));
    // The scheduler ignores the empty label; the right one would keep the pod from nodes without a region.
    let answer = check("KK#124525 D-31", &question, &[node(&[(ZONE, A)])], sets(&[], &[(WARNING, "label-unreadable")]));
    assert_names(&answer.findings[0].reason.message, &["region"]);
}

#[test]
fn d_37_a_zones_id_is_no_name() {
    let answer = check("D-37", &labelled(&[(ZONE, "use1-az6")]), &nodes(), finds(&[(ERROR, "zone-id-not-name")]));
    assert_names(
        &answer.findings[0].reason.message,
        &["pv-1", ZONE, "use1-az6", "EC2 has the volume in zone us-east-1a"],
    );
    let mut known = facts(Some(A), VolumeState::InUse);
    known.attributes = vec![label(&("availability-zone-id", "use1-az6"))];
    let question = LabellingQuestion { evidence: VolumeEvidence::Found(known), ..labelled(&[(ZONE, "use1-az6")]) };
    let answer = check("D-37, known", &question, &nodes(), finds(&[(ERROR, "zone-id-not-name")]));
    assert_names(&answer.findings[0].reason.message, &["the zone's name is us-east-1a"]);
    let unproven = LabellingQuestion { evidence: VolumeEvidence::Unknown, ..labelled(&[(ZONE, "use1-az6")]) };
    let wanted = Wanted { findings: vec![(ERROR, "zone-id-not-name")], ..nothing("zone-unknown") };
    let answer = check("D-37, without EC2", &unproven, &nodes(), wanted);
    assert_names(&answer.findings[0].reason.message, &["give the zone's name"]);
    let wanted = sets(&[(ZONE, A), (REGION, "us-east-1")], &[(WARNING, "label-corrected")]);
    check("D-37, new", &creating(&[(ZONE, "use1-az6")]), &nodes(), wanted);
}
