use super::*;
use SelectorOperator as Op;
use zonewarden_bindings::types::KubernetesVolumeId;

const EBS_ZONE: &str = "topology.ebs.csi.aws.com/zone";
const GA: &str = "topology.kubernetes.io/zone";
const BETA: &str = "failure-domain.beta.kubernetes.io/zone";
const GA_REGION: &str = "topology.kubernetes.io/region";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// A requirement, for short: key, operator, values.
type Short<'a> = (&'a str, Op, &'a [&'a str]);

fn required(terms: &[&[Short<'_>]]) -> VolumeAffinity {
    let requirement = |(key, operator, values): &Short<'_>| Requirement {
        key: (*key).to_owned(),
        operator: operator.clone(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let term = |requirements: &&[Short<'_>]| SelectorTerm {
        requirements: requirements.iter().map(requirement).collect(),
        has_match_fields: false,
    };
    VolumeAffinity::Required(terms.iter().map(term).collect())
}

fn labels(pairs: &[(&str, &str)]) -> Vec<Label> {
    pairs.iter().map(|(key, value)| Label { key: (*key).to_owned(), value: (*value).to_owned() }).collect()
}

fn check(row: &str, pairs: &[(&str, &str)], affinity: VolumeAffinity, wanted: &VolumeAffinity) {
    let topology = VolumeTopology { labels: labels(pairs), affinity };
    assert_eq!(&translate(&topology, EBS_ZONE), wanted, "{row}");
}

#[test]
fn f_56_a_zone_label_becomes_the_affinity_of_a_volume_without_one() {
    let a = required(&[&[(EBS_ZONE, Op::In, &["a"])]]);
    let ab = required(&[&[(EBS_ZONE, Op::In, &["a", "b"])]]);
    for (row, pairs, affinity, wanted) in [
        ("F-56 GA", &[(GA, "a")][..], VolumeAffinity::Unset, &a),
        ("F-56 beta", &[(BETA, "a")], VolumeAffinity::Unset, &a),
        ("F-56 GA before beta", &[(BETA, "b"), (GA, "a")], VolumeAffinity::Unset, &a),
        ("F-56 nodeAffinity: {}", &[(GA, "a")], VolumeAffinity::Unrestricted, &a),
        ("F-56 no term", &[(GA, "a")], VolumeAffinity::Required(vec![]), &a),
        (
            "F-56 region labels become nothing",
            &[(GA, "a"), (GA_REGION, "r"), (BETA_REGION, "r")],
            VolumeAffinity::Unset,
            &a,
        ),
        ("F-56 a set, sorted", &[(GA, "b__a__b")], VolumeAffinity::Unset, &ab),
        ("F-64 trimmed, empty parts left out", &[(GA, " a __")], VolumeAffinity::Unset, &a),
        ("F-64 empty part first", &[(GA, "__a")], VolumeAffinity::Unset, &a),
    ] {
        check(row, pairs, affinity, wanted);
    }
    check("F-56 nothing", &[], VolumeAffinity::Unset, &VolumeAffinity::Unset);
    check("F-56 region alone", &[(GA_REGION, "r")], VolumeAffinity::Unset, &VolumeAffinity::Unset);
    check("F-64 no zone at all", &[(GA, " __ ")], VolumeAffinity::Unset, &VolumeAffinity::Unset);
    check("F-64 no zone, no restriction", &[(GA, "")], VolumeAffinity::Unrestricted, &VolumeAffinity::Unrestricted);
    check("F-58 the CSI key as a label", &[(EBS_ZONE, "a")], VolumeAffinity::Unset, &VolumeAffinity::Unset);
}

#[test]
fn f_57_an_affinity_is_translated_key_by_key() {
    for (row, pairs, affinity, wanted) in [
        (
            "F-57 a term without a zone gets the label's",
            &[(GA, "a")][..],
            required(&[&[("k", Op::Exists, &[])], &[("l", Op::Exists, &[])]]),
            required(&[
                &[("k", Op::Exists, &[]), (EBS_ZONE, Op::In, &["a"])],
                &[("l", Op::Exists, &[]), (EBS_ZONE, Op::In, &["a"])],
            ]),
        ),
        (
            "F-57 where a zone key is present the label is ignored, in other terms too",
            &[(GA, "b")],
            required(&[&[(GA, Op::In, &["a"])], &[("k", Op::Exists, &[])]]),
            required(&[&[(EBS_ZONE, Op::In, &["a"])], &[("k", Op::Exists, &[])]]),
        ),
        (
            "F-57 both zone keys: only the GA one is replaced",
            &[],
            required(&[&[(BETA, Op::In, &["a"]), (GA, Op::In, &["a"])]]),
            required(&[&[(BETA, Op::In, &["a"]), (EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 a beta region key beside a beta zone key",
            &[],
            required(&[&[(BETA, Op::In, &["a"]), (BETA_REGION, Op::In, &["r"])]]),
            required(&[&[(EBS_ZONE, Op::In, &["a"]), (GA_REGION, Op::In, &["r"])]]),
        ),
        (
            "F-57 a beta region key beside a GA zone key stays",
            &[],
            required(&[&[(GA, Op::In, &["a"]), (BETA_REGION, Op::In, &["r"])]]),
            required(&[&[(EBS_ZONE, Op::In, &["a"]), (BETA_REGION, Op::In, &["r"])]]),
        ),
        (
            "F-57 a beta region key by a beta zone label",
            &[(BETA, "a")],
            required(&[&[(BETA_REGION, Op::In, &["r"])]]),
            required(&[&[(GA_REGION, Op::In, &["r"]), (EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 a beta region key beside both zone labels stays",
            &[(BETA, "a"), (GA, "a")],
            required(&[&[(BETA_REGION, Op::In, &["r"])]]),
            required(&[&[(BETA_REGION, Op::In, &["r"]), (EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 a beta region key without any zone stays",
            &[],
            required(&[&[(BETA_REGION, Op::In, &["r"])]]),
            required(&[&[(BETA_REGION, Op::In, &["r"])]]),
        ),
        (
            "F-57 the affinity's key counts before the labels'",
            &[(GA, "b")],
            required(&[&[(BETA, Op::In, &["a"])]]),
            required(&[&[(EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 a beta region key without values stays",
            &[(BETA, "a")],
            required(&[&[(BETA_REGION, Op::Exists, &[])]]),
            required(&[&[(BETA_REGION, Op::Exists, &[]), (EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 Exists has no values: the label is added",
            &[(GA, "a")],
            required(&[&[(GA, Op::Exists, &[])]]),
            required(&[&[(GA, Op::Exists, &[]), (EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 Exists under the GA key looks for the GA label only",
            &[(BETA, "a")],
            required(&[&[(GA, Op::Exists, &[])]]),
            required(&[&[(GA, Op::Exists, &[])]]),
        ),
        (
            "F-57 NotIn is replaced",
            &[(GA, "b")],
            required(&[&[(GA, Op::NotIn, &["a"])]]),
            required(&[&[(EBS_ZONE, Op::NotIn, &["a"])]]),
        ),
        (
            "F-57 an empty term gets the zone and may match then",
            &[(GA, "a")],
            required(&[&[]]),
            required(&[&[(EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 the CSI key stays",
            &[],
            required(&[&[(EBS_ZONE, Op::In, &["a"])]]),
            required(&[&[(EBS_ZONE, Op::In, &["a"])]]),
        ),
        (
            "F-57 the CSI key is no zone key here: the label is added beside it",
            &[(GA, "a")],
            required(&[&[(EBS_ZONE, Op::In, &["b"])]]),
            required(&[&[(EBS_ZONE, Op::In, &["b"]), (EBS_ZONE, Op::In, &["a"])]]),
        ),
    ] {
        check(row, pairs, affinity, &wanted);
    }
}

#[test]
fn b_6_the_plugins_that_are_translated() {
    let id = || KubernetesVolumeId { kubernetes_volume_id: "x".to_owned() };
    let ebs = Migration { plugin: "kubernetes.io/aws-ebs", driver: "ebs.csi.aws.com", zone_key: EBS_ZONE };
    let gce =
        Migration { plugin: "kubernetes.io/gce-pd", driver: "pd.csi.storage.gke.io", zone_key: "topology.gke.io/zone" };
    assert_eq!(Migration::of_source(&VolumeSource::AwsElasticBlockStore(id())), Some(ebs));
    assert_eq!(Migration::of_source(&VolumeSource::GcePersistentDisk(id())), Some(gce));
    assert_eq!(Migration::of_source(&VolumeSource::Other("hostPath".to_owned())), None);
    assert_eq!(Migration::of_plugin("kubernetes.io/aws-ebs"), Some(ebs));
    assert_eq!(Migration::of_plugin("kubernetes.io/gce-pd"), Some(gce));
    assert_eq!(Migration::of_plugin("ebs.csi.aws.com"), None);
    assert_eq!(Migration::of_driver("ebs.csi.aws.com"), Some(ebs));
    assert_eq!(Migration::of_driver("pd.csi.storage.gke.io"), Some(gce));
    assert_eq!(Migration::of_driver("kubernetes.io/aws-ebs"), None);
}

#[test]
fn b_14_zones_of_a_regional_gce_disk_must_share_a_region() {
    for (pairs, wanted) in [
        (&[][..], false),
        (&[(GA, "us-central1-a")], false),
        (&[(GA, "nonsense")], false),
        (&[(GA, "us-central1-a__us-central1-b")], false),
        (&[(GA, "us-central1-a__us-east1-b")], true),
        (&[(GA, "us-central1-a__nonsense")], true),
        (&[(GA, "us-central1-a__us-central1-b-c")], true),
        (&[(GA, "us-central1-a__")], true),
        (&[(BETA, "us-central1-a__us-east1-b"), (GA, "us-central1-a")], true),
        (&[(BETA, "us-central1-a"), (GA, "us-central1-a__us-east1-b")], false),
        (&[(BETA, ""), (GA, "us-central1-a__us-east1-b")], true),
    ] {
        assert_eq!(gce_zones_fail(&labels(pairs)), wanted, "{pairs:?}");
    }
}
