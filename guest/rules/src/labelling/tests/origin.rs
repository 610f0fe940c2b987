//! Where the zone is known from.

use zonewarden_bindings::identity::{VolumeIdentity, VolumeQuestion};

use super::*;
use crate::identity::identify_volume;
use crate::keys::{PROVISIONED_BY, ZONE_BETA, ZONE_EBS_CSI};
use crate::settings::VolumeIds;

const BOTH: [Pair; 2] = [(ZONE, A), (REGION, "us-east-1")];

fn unknown(source: VolumeSource) -> LabellingQuestion {
    LabellingQuestion { source, evidence: VolumeEvidence::Unknown, ..pv() }
}

fn found(facts: VolumeFacts) -> LabellingQuestion {
    LabellingQuestion { evidence: VolumeEvidence::Found(facts), ..pv() }
}

#[test]
fn e13_c_1_f_12_ec2s_zone_gives_labels_and_affinity() {
    let wanted = || Wanted { labels: BOTH.to_vec(), affinity: zone_on(ZONE, A), ..nothing_to_set() };
    let answer = check("E13", &pv(), &nodes(), wanted());
    assert_eq!(answer.reason.message, "EC2 has volume vol-0123456789abcdef0 in zone us-east-1a");
    let bare_csi = LabellingQuestion { source: csi("ebs.csi.aws.com", ID), ..pv() };
    check("c 1, CSI", &bare_csi, &nodes(), wanted());
    for state in [VolumeState::Creating, VolumeState::Available, VolumeState::Other("optimizing".to_owned())] {
        check("E13", &found(facts(Some(A), state)), &nodes(), wanted());
    }
    check("c 1, creating", &LabellingQuestion { creating: true, ..pv() }, &nodes(), wanted());
}

#[test]
fn d_38_the_answer_tells_the_zone_and_its_region_as_far_as_the_basis_does() {
    let local = "us-west-2-lax-1a";
    for (question, zone, region) in [
        (pv(), Some(A), Some("us-east-1")),
        (found(facts(Some(local), VolumeState::Available)), Some(local), Some("us-west-2")),
        (found(facts(Some("mars1-x"), VolumeState::Available)), Some("mars1-x"), None),
        (unknown(in_tree(&format!("aws://{B}/{ID}"))), Some(B), Some("us-east-1")),
        (unknown(in_tree(ID)), None, None),
        (found(facts(Some(A), VolumeState::Deleted)), None, None),
        (LabellingQuestion { source: VolumeSource::Other("nfs".to_owned()), ..pv() }, None, None),
    ] {
        let answer = label_volume(&Settings::default(), &nodes(), &question);
        assert_eq!(answer.zone.map(|zone| zone.zone).as_deref(), zone, "{:?}", question.source);
        assert_eq!(answer.region.map(|region| region.region).as_deref(), region, "{:?}", question.source);
    }
}

#[test]
fn f_2_the_provisioner_is_not_believed() {
    let annotations = vec![label(&(PROVISIONED_BY, "ebs.csi.aws.com"))];
    let wrong = LabellingQuestion { annotations, ..labelled(&[(ZONE, B), (REGION, "us-east-1")]) };
    let findings = vec![(Severity::Error, "zone-mismatch")];
    check("F-2", &wrong, &nodes(), Wanted { findings, ..nothing_to_set() });
}

#[test]
fn f_3_f_4_d_6_volumes_of_others_and_placeholders_get_nothing() {
    for (source, code) in [
        (csi("efs.csi.aws.com", "fs-1"), "other-driver"),
        (csi("ebs.csi.aws.com", "local-ebs://x"), "node-local-volume"),
        (VolumeSource::Other("hostPath".to_owned()), "other-source"),
        (in_tree("placeholder-for-provisioning"), "placeholder"),
    ] {
        let question = LabellingQuestion { source: source.clone(), ..labelled(&[(ZONE, "")]) };
        let answer = check("F-3 F-4", &question, &nodes(), nothing(code));
        let asked = VolumeQuestion { source, ec2_zone: None };
        assert_eq!(identify_volume(&Settings::default(), &asked), VolumeIdentity::Foreign(answer.reason));
    }
}

#[test]
fn f_6_an_id_that_breaks_a_rule_is_a_finding() {
    let question = LabellingQuestion { source: in_tree("aws://vol-1234"), ..pv() };
    let findings = vec![(Severity::Error, "format-id-as-zone")];
    let answer = check("F-6", &question, &nodes(), Wanted { findings, ..nothing("format-id-as-zone") });
    assert_names(&answer.findings[0].reason.message, &["\"aws://vol-1234\""]);
    assert_eq!(answer.findings[0].reason, answer.reason);
    let strict = Settings { volume_ids: VolumeIds::Strict, ..Settings::default() };
    let question = LabellingQuestion { source: in_tree("vol-xyz"), ..pv() };
    check_with(
        &strict,
        "F-6",
        &question,
        &nodes(),
        Wanted { findings: vec![(Severity::Error, "not-hex")], ..nothing("not-hex") },
    );
}

#[test]
fn f_6_d_30_a_volume_that_ec2_does_not_have_or_is_deleting_gets_nothing() {
    let missing = LabellingQuestion { evidence: VolumeEvidence::Missing(3), ..labelled(&[(ZONE, "")]) };
    let findings = vec![(Severity::Error, "volume-missing")];
    let answer = check("F-6", &missing, &nodes(), Wanted { findings, ..nothing("volume-missing") });
    assert_names(&answer.reason.message, &[ID, "pv-1"]);
    assert_eq!(answer.findings[0].reason, answer.reason);
    for (state, code) in [
        (VolumeState::Deleting, "volume-deleting"),
        (VolumeState::Deleted, "volume-deleted"),
        (VolumeState::Error, "volume-failed"),
    ] {
        let findings = vec![(Severity::Error, code)];
        let answer = check("E13", &found(facts(Some(A), state)), &nodes(), Wanted { findings, ..nothing(code) });
        assert_names(&answer.reason.message, &[ID, "pv-1"]);
    }
}

#[test]
fn f_12_ec2_without_a_usable_zone_is_told_and_the_hint_counts() {
    for zone in [None, Some(""), Some("us east")] {
        let question = LabellingQuestion {
            source: in_tree(&format!("aws://{A}/{ID}")),
            evidence: VolumeEvidence::Found(facts(zone, VolumeState::Available)),
            ..pv()
        };
        let answer = label_volume(&Settings::default(), &nodes(), &question);
        assert_eq!((answer.basis, answer.reason.code.as_str()), (LabellingBasis::Hint, "zone-from-id"));
        let last = answer.findings.last().expect("a finding");
        assert_eq!((last.severity, last.reason.code.as_str()), (Severity::Warning, "ec2-zone-unusable"));
        assert_names(&last.reason.message, &[ID, zone.unwrap_or_default()]);
    }
}

#[test]
fn h_3_without_ec2_the_ids_own_zone_is_a_hint() {
    let question = unknown(in_tree(&format!("aws://{A}/{ID}")));
    let wanted = || Wanted {
        basis: LabellingBasis::Hint,
        labels: BOTH.to_vec(),
        affinity: zone_on(ZONE, A),
        reason: "zone-from-id",
        ..nothing_to_set()
    };
    let answer = check("H-3", &question, &nodes(), wanted());
    assert_names(&answer.reason.message, &["volume id", "pv-1", A, ID]);
    let off = Settings { zone_hints: false, ..Settings::default() };
    let answer = check_with(&off, "H-3, off", &question, &nodes(), nothing("zone-unknown"));
    assert_names(&answer.reason.message, &["pv-1", ID]);
    check("H-3, none", &unknown(in_tree(ID)), &nodes(), nothing("zone-unknown"));
}

#[test]
fn d_34_where_the_ids_zone_differs_ec2_wins() {
    let question = LabellingQuestion { source: in_tree(&format!("aws://{B}/{ID}")), ..pv() };
    let findings = vec![(Severity::Warning, "zone-mismatch")];
    let wanted = Wanted { labels: BOTH.to_vec(), affinity: zone_on(ZONE, A), findings, ..nothing_to_set() };
    let answer = check("D-34", &question, &nodes(), wanted);
    assert_names(&answer.findings[0].reason.message, &[A, B]);
}

#[test]
fn c_2_c_3_what_the_provisioner_wrote_as_affinity_gives_the_label() {
    for key in [ZONE_EBS_CSI, ZONE, ZONE_BETA] {
        let question = LabellingQuestion {
            affinity: required(&[&[is_in(key, &[A])], &[]]),
            ..unknown(csi("ebs.csi.aws.com", ID))
        };
        let findings = match key {
            ZONE_EBS_CSI => vec!["affinity-term-empty", "affinity-key-not-on-nodes"],
            _ => vec!["affinity-term-empty"],
        };
        let findings = findings.into_iter().map(|code| (Severity::Warning, code)).collect();
        let wanted = Wanted {
            basis: LabellingBasis::Hint,
            labels: BOTH.to_vec(),
            findings,
            reason: "zone-from-affinity",
            ..nothing_to_set()
        };
        let answer = check("c 2 c 3", &question, &nodes(), wanted);
        assert_names(&answer.reason.message, &["node affinity", "pv-1", A, ID]);
    }
}

#[test]
fn c_2_an_affinity_that_does_not_name_one_zone_is_no_hint() {
    let exists = requirement(ZONE, SelectorOperator::Exists, &[]);
    for terms in [
        &[&[is_in(ZONE, &[A, B])] as &[Requirement]] as &[&[Requirement]],
        &[&[is_in(ZONE, &[A])], &[is_in(ZONE, &[B])]],
        &[&[is_in(ZONE, &[A])], &[is_in("kubernetes.io/os", &["linux"])]],
        &[&[is_in(ZONE, &[A]), is_in(ZONE_EBS_CSI, &[B])]],
        &[&[is_in(ZONE, &[])]],
        &[&[exists]],
        &[&[is_in(ZONE, &["us east"])]],
        &[&[]],
        &[],
    ] {
        let question = LabellingQuestion { affinity: required(terms), ..unknown(csi("ebs.csi.aws.com", ID)) };
        check("c 2", &question, &nodes(), nothing("zone-unknown"));
    }
    let question = LabellingQuestion {
        affinity: required(&[&[is_in(ZONE, &["use1-az6"])]]),
        ..unknown(csi("ebs.csi.aws.com", ID))
    };
    let findings = vec![(Severity::Error, "zone-id-not-name")];
    let answer = check("D-37", &question, &nodes(), Wanted { findings, ..nothing("zone-unknown") });
    assert_names(&answer.findings[0].reason.message, &["pv-1", ZONE, "use1-az6", "give the zone's name"]);
}

#[test]
fn c_2_a_term_with_match_fields_alone_says_no_zone() {
    let mut terms = vec![term(&[is_in(ZONE, &[A])]), term(&[])];
    terms[1].has_match_fields = true;
    let question = LabellingQuestion { affinity: VolumeAffinity::Required(terms), ..unknown(in_tree(ID)) };
    check("c 2", &question, &nodes(), nothing("zone-unknown"));
}

#[test]
fn hints_that_differ_are_none() {
    let id = in_tree(&format!("aws://{A}/{ID}"));
    let question = LabellingQuestion { affinity: required(&[&[is_in(ZONE, &[B])]]), ..unknown(id.clone()) };
    let findings = vec![(Severity::Warning, "zone-hints-differ")];
    let answer = check("affinity", &question, &nodes(), Wanted { findings, ..nothing("zone-unknown") });
    assert_names(&answer.findings[0].reason.message, &["pv-1", A, B, ID]);
    let agree = LabellingQuestion { affinity: required(&[&[is_in(ZONE, &[A])]]), ..unknown(id.clone()) };
    let wanted =
        Wanted { basis: LabellingBasis::Hint, labels: BOTH.to_vec(), reason: "zone-from-affinity", ..nothing_to_set() };
    check("agree", &agree, &nodes(), wanted);
    let label = LabellingQuestion { labels: vec![label(&(ZONE, B))], creating: true, ..unknown(id.clone()) };
    let hint = || Wanted { basis: LabellingBasis::Hint, reason: "zone-from-id", ..nothing_to_set() };
    let findings = vec![(Severity::Warning, "zone-hints-differ")];
    let answer = check("label", &label, &nodes(), Wanted { findings, ..hint() });
    assert_names(&answer.findings[0].reason.message, &["pv-1", A, B, ZONE, "hints"]);
    let elsewhere = LabellingQuestion { affinity: required(&[&[is_in(ZONE, &[B, "us-east-1c"])]]), ..unknown(id) };
    let findings = vec![(Severity::Warning, "affinity-contradicts-zone")];
    let answer = check("wider affinity", &elsewhere, &nodes(), Wanted { findings, ..hint() });
    assert_names(&answer.findings[0].reason.message, &["pv-1", A, "hints"]);
}

#[test]
fn d_38_an_outposts_volume_and_the_zones_of_other_shapes() {
    let mut outpost = facts(Some(A), VolumeState::Available);
    outpost.attributes = vec![label(&("outpost-arn", "arn:aws:outposts:us-east-1:1:outpost/op-1"))];
    let findings = vec![(Severity::Warning, "volume-on-outpost")];
    let wanted = Wanted { labels: BOTH.to_vec(), affinity: zone_on(ZONE, A), findings, ..nothing_to_set() };
    let answer = check("D-38", &found(outpost.clone()), &nodes(), wanted);
    assert_names(&answer.findings[0].reason.message, &[ID, "outpost/op-1"]);
    outpost.attributes[0].value.clear();
    let wanted = Wanted { labels: BOTH.to_vec(), affinity: zone_on(ZONE, A), ..nothing_to_set() };
    check("D-38, none", &found(outpost), &nodes(), wanted);

    let local = "us-west-2-lax-1a";
    let hosts = [node(&[(REGION, "us-west-2"), (ZONE, local)])];
    let labels = vec![(ZONE, local), (REGION, "us-west-2")];
    let wanted = Wanted { labels, affinity: zone_on(ZONE, local), ..nothing_to_set() };
    check("D-38, local", &found(facts(Some(local), VolumeState::Available)), &hosts, wanted);
    let odd = [node(&[(REGION, "mars"), (ZONE, "mars1-x")])];
    let wanted = Wanted { labels: vec![(ZONE, "mars1-x")], affinity: zone_on(ZONE, "mars1-x"), ..nothing_to_set() };
    check("D-38, unknown shape", &found(facts(Some("mars1-x"), VolumeState::Available)), &odd, wanted);
}
