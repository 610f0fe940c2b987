//! PersistentVolumes at admission.

use proptest::prelude::*;
use zonewarden_bindings::types::{CsiSource, VolumeAffinity};

use super::*;
use crate::keys::{PROVISIONED_BY, ZONE_BETA};

const PV: (&str, &str) = ("", "PersistentVolume");

fn pv(spec: &Value) -> Value {
    json!({ "metadata": { "name": "pv-1" }, "spec": spec })
}

fn ebs(id: &str) -> Value {
    pv(
        &json!({ "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "awsElasticBlockStore": { "volumeID": id } }),
    )
}

fn create(object: &Value, evidence: VolumeEvidence) -> AdmissionAnswer {
    answer_of(&Settings::default(), &review("CREATE", PV, object), &[evidence], nothing())
}

fn labels() -> [PatchOperation; 2] {
    [PatchOperation::SetLabel(label(ZONE, A)), PatchOperation::SetLabel(label(REGION, "us-east-1"))]
}

fn labels_and_affinity() -> Vec<PatchOperation> {
    let mut operations = labels().to_vec();
    operations.push(PatchOperation::SetVolumeAffinity(vec![zone_term(A)]));
    operations
}

fn csi_source(handle: &str) -> VolumeSource {
    let volume_handle = KubernetesVolumeId { kubernetes_volume_id: handle.to_owned() };
    VolumeSource::Csi(CsiSource { driver: "ebs.csi.aws.com".to_owned(), volume_handle })
}

/// Rules that answer every question about a PersistentVolume alike, and remember it.
struct Fixed {
    answer: LabellingAnswer,
    asked: RefCell<Vec<(Vec<Topology>, LabellingQuestion)>>,
}

impl Rules for Fixed {
    fn identify(&self, question: &VolumeQuestion) -> VolumeIdentity {
        identify_volume(&Settings::default(), question)
    }

    fn label(&self, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer {
        self.asked.borrow_mut().push((topologies.to_vec(), question.clone()));
        self.answer.clone()
    }

    fn inject(&self, _pod: &PodQuestion, _terms: Option<&[SelectorTerm]>) -> Injection {
        nothing()
    }
}

#[test]
fn the_volume_to_look_up_is_the_one_that_the_source_names() {
    let csi = |driver: &str| pv(&json!({ "csi": { "driver": driver, "volumeHandle": ID } }));
    let source = csi_source(ID);
    for (object, wanted) in [
        (ebs(ID), vec![concerned("spec.awsElasticBlockStore.volumeID", in_tree(ID))]),
        (csi("ebs.csi.aws.com"), vec![concerned("spec.csi.volumeHandle", source)]),
        (csi("efs.csi.aws.com"), vec![]),
        (pv(&json!({ "gcePersistentDisk": { "pdName": "disk" } })), vec![]),
        (pv(&json!({ "hostPath": { "path": "/" } })), vec![]),
        (json!({}), vec![]),
    ] {
        for operation in ["CREATE", "UPDATE"] {
            assert_eq!(concerns(&Settings::default(), &review(operation, PV, &object)), Ok(wanted.clone()), "{object}");
        }
    }
}

/// Neither the text's order nor the parser's decides.
#[test]
fn of_two_sources_the_one_that_the_rules_know_best_counts() {
    let csi = r#""csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-1"}"#;
    let ours = r#""awsElasticBlockStore":{"volumeID":"vol-2"}"#;
    let gce = r#""gcePersistentDisk":{"pdName":"disk"}"#;
    let (azure, nfs) = (r#""azureDisk":{}"#, r#""nfs":{}"#);
    let mode = r#""volumeMode":"Block""#;
    for (sources, wanted) in [
        ([csi, ours], in_tree("vol-2")),
        ([azure, ours], in_tree("vol-2")),
        ([azure, csi], csi_source("vol-1")),
        ([gce, csi], csi_source("vol-1")),
        ([azure, gce], VolumeSource::GcePersistentDisk(KubernetesVolumeId { kubernetes_volume_id: "disk".to_owned() })),
        ([nfs, azure], VolumeSource::Other("azureDisk".to_owned())),
    ] {
        for [one, other] in [sources, [sources[1], sources[0]]] {
            let spec = serde_json::from_str(&format!("{{{mode},{one},{other}}}")).expect("JSON");
            let rules = Fixed {
                answer: label_volume(&Settings::default(), &[], &volume_of_nobody()),
                asked: RefCell::default(),
            };
            let text = review("CREATE", PV, &pv(&spec));
            let evidence =
                vec![VolumeEvidence::Unknown; concerns(&Settings::default(), &text).expect("a review").len()];
            answer(&Settings::default(), &text, &evidence, &nodes(), &rules).expect("readable");
            assert_eq!(rules.asked.into_inner()[0].1.source, wanted, "{one} {other}");
        }
    }
}

#[test]
fn labels_and_annotations_are_read_in_the_order_of_their_keys() {
    let pairs = json!({ "b": "1", "c": "2", "a": "3" });
    let mut object = ebs(ID);
    (object["metadata"]["labels"], object["metadata"]["annotations"]) = (pairs.clone(), pairs);
    let rules =
        Fixed { answer: label_volume(&Settings::default(), &[], &volume_of_nobody()), asked: RefCell::default() };
    answer(&Settings::default(), &review("CREATE", PV, &object), &[in_zone(A)], &nodes(), &rules).expect("readable");
    let question = &rules.asked.borrow()[0].1;
    let wanted = [label("a", "3"), label("b", "1"), label("c", "2")];
    assert_eq!((question.labels.as_slice(), question.annotations.as_slice()), (&wanted[..], &wanted[..]));
}

#[test]
fn c_1_f_9_a_new_volume_is_labelled_and_gets_its_affinity() {
    let answer = create(&ebs(ID), in_zone(A));
    check("c 1", &answer, (true, "zone-from-ec2"), &[], &labels_and_affinity());
}

#[test]
fn e13_ec2_is_needed_for_an_affinity_since_it_can_not_be_taken_back() {
    let answer = create(&ebs(&format!("aws://{A}/{ID}")), VolumeEvidence::Unknown);
    check("E13", &answer, (true, "zone-from-id"), &["PersistentVolume pv-1 gets no node affinity before"], &labels());
}

#[test]
fn c_2_c_3_what_the_provisioner_wrote_as_affinity_gives_the_labels() {
    let requirement = json!({ "key": ZONE, "operator": "In", "values": [A] });
    let object = pv(&json!({
        "csi": { "driver": "ebs.csi.aws.com", "volumeHandle": ID },
        "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [requirement] }] } },
    }));
    check("c 2", &create(&object, VolumeEvidence::Unknown), (true, "zone-from-affinity"), &[], &labels());
}

#[test]
fn d_35_an_affinity_that_excludes_the_zone_is_let_in_with_a_warning() {
    let requirement = json!({ "key": ZONE, "operator": "In", "values": ["us-east-1b"] });
    let mut object = ebs(ID);
    object["spec"]["nodeAffinity"] =
        json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [requirement] }] } });
    let warning = "the node affinity of PersistentVolume pv-1 excludes zone us-east-1a, in which EC2 has its volume:";
    check("D-35", &create(&object, in_zone(A)), (true, "zone-from-ec2"), &[warning], &labels());
}

#[test]
fn f_6_what_ec2_does_not_know_or_have_is_let_in() {
    check("F-6 throttled", &create(&ebs(ID), VolumeEvidence::Unknown), (true, "zone-unknown"), &[], &[]);
    let answer = create(&ebs(ID), VolumeEvidence::Missing(1));
    check("F-6 missing", &answer, (true, "volume-missing"), &["EC2 has no volume vol-0123456789abcdef0"], &[]);
}

#[test]
fn b_3_a_malformed_id_is_refused_in_strict_mode_and_warned_of_in_lenient() {
    let text = |operation: &str| review(operation, PV, &ebs("aws://us-east-1a/VOL-1"));
    let answer = answer_of(&strict(), &text("CREATE"), &[VolumeEvidence::Unknown], nothing());
    check("strict", &answer, (false, "format-prefix-case"), &[], &[]);
    assert!(answer.reason.message.contains("aws://us-east-1a/VOL-1"), "{}", answer.reason.message);
    let warning = ["\"aws://us-east-1a/VOL-1\" is no volume id"];
    let answer = answer_of(&Settings::default(), &text("CREATE"), &[VolumeEvidence::Unknown], nothing());
    check("lenient", &answer, (true, "format-prefix-case"), &warning, &[]);
    let answer = answer_of(&strict(), &text("UPDATE"), &[VolumeEvidence::Unknown], nothing());
    check("strict, update", &answer, (true, "format-prefix-case"), &warning, &[]);
    let answer = answer_of(&strict(), &review("CREATE", PV, &ebs(ID)), &[in_zone(A)], nothing());
    check("strict, good", &answer, (true, "zone-from-ec2"), &[], &labels_and_affinity());
}

#[test]
fn f_1_an_update_changes_nothing_and_warns() {
    let mut object = ebs(ID);
    let text = |object: &Value| review("UPDATE", PV, object);
    let answer = answer_of(&Settings::default(), &text(&object), &[in_zone(A)], nothing());
    check("F-1", &answer, (true, "zone-from-ec2"), &[], &[]);
    object["metadata"]["labels"] = json!({ ZONE: "us-east-1b" });
    let answer = answer_of(&Settings::default(), &text(&object), &[in_zone(A)], nothing());
    let warning = "PersistentVolume pv-1 says us-east-1b in label topology.kubernetes.io/zone";
    check("F-1", &answer, (true, "zone-from-ec2"), &[warning], &[]);
}

#[test]
fn f_3_other_volumes_are_let_in_unchanged() {
    for (spec, code) in [
        (json!({ "hostPath": { "path": "/" } }), "other-source"),
        (json!({ "gcePersistentDisk": { "pdName": "d" } }), "other-plugin"),
        (json!({ "csi": { "driver": "efs.csi.aws.com", "volumeHandle": "fs-1" } }), "other-driver"),
        (json!({}), "other-source"),
    ] {
        let answer = answer_of(&Settings::default(), &review("CREATE", PV, &pv(&spec)), &[], nothing());
        check("F-3", &answer, (true, code), &[], &[]);
    }
}

#[test]
fn the_whole_object_reaches_the_rule_and_the_rules_answer_is_carried_out() {
    let object = json!({
        "metadata": { "generateName": "pv-", "labels": { "a": "1", ZONE: A }, "annotations": { PROVISIONED_BY: "x" } },
        "spec": {
            "awsElasticBlockStore": { "volumeID": ID },
            "nodeAffinity": { "required": { "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        { "key": "k1", "operator": "In", "values": ["1", "2"] },
                        { "key": "k2", "operator": "NotIn", "values": ["1"] },
                        { "key": "k3", "operator": "Exists" },
                        { "key": "k4", "operator": "DoesNotExist", "values": null },
                        { "key": "k5", "operator": "Gt", "values": ["1"] },
                        { "key": "k6", "operator": "Lt", "values": ["1"] },
                        { "key": "k7", "operator": "Near" },
                    ],
                    "matchFields": [],
                },
                { "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["n"] }] },
            ] } },
        },
    });
    let requirement = |key: &str, operator, values: &[&str]| Requirement {
        key: key.to_owned(),
        operator,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let requirements = vec![
        requirement("k1", SelectorOperator::In, &["1", "2"]),
        requirement("k2", SelectorOperator::NotIn, &["1"]),
        requirement("k3", SelectorOperator::Exists, &[]),
        requirement("k4", SelectorOperator::DoesNotExist, &[]),
        requirement("k5", SelectorOperator::Gt, &["1"]),
        requirement("k6", SelectorOperator::Lt, &["1"]),
        requirement("k7", SelectorOperator::Other("Near".to_owned()), &[]),
    ];
    let terms = vec![
        SelectorTerm { requirements, has_match_fields: false },
        SelectorTerm { requirements: Vec::new(), has_match_fields: true },
    ];
    let rules = Fixed {
        answer: LabellingAnswer {
            zone: None,
            region: None,
            basis: zonewarden_bindings::labelling::LabellingBasis::Ec2,
            labels: vec![label(ZONE, A), label("b", "2")],
            affinity: Some(vec![zone_term("b")]),
            findings: Vec::new(),
            reason: reason("own-rule", "since it is so"),
        },
        asked: RefCell::default(),
    };
    let text = review("CREATE", PV, &object);
    let answer = answer(&Settings::default(), &text, &[in_zone(A)], &nodes(), &rules).expect("readable");
    // A label that the object has already is not set again.
    let operations =
        [PatchOperation::SetLabel(label("b", "2")), PatchOperation::SetVolumeAffinity(vec![zone_term("b")])];
    check("override", &answer, (true, "own-rule"), &[], &operations);
    let question = LabellingQuestion {
        persistent_volume: "pv-".to_owned(),
        source: in_tree(ID),
        labels: vec![label("a", "1"), label(ZONE, A)],
        owned_labels: Vec::new(),
        annotations: vec![label(PROVISIONED_BY, "x")],
        affinity: VolumeAffinity::Required(terms),
        evidence: in_zone(A),
        creating: true,
    };
    assert_eq!(rules.asked.into_inner(), [(nodes(), question)]);
}

#[test]
fn an_affinity_that_is_empty_is_told_from_one_that_is_not_there() {
    for (affinity, wanted) in [
        (Value::Null, VolumeAffinity::Unset),
        (json!({}), VolumeAffinity::Unrestricted),
        (json!({ "required": null }), VolumeAffinity::Unrestricted),
        (json!({ "required": {} }), VolumeAffinity::Required(Vec::new())),
        (json!({ "required": { "nodeSelectorTerms": [] } }), VolumeAffinity::Required(Vec::new())),
    ] {
        let mut object = ebs(ID);
        object["spec"]["nodeAffinity"] = affinity;
        let rules =
            Fixed { answer: label_volume(&Settings::default(), &[], &volume_of_nobody()), asked: RefCell::default() };
        let text = review("UPDATE", PV, &object);
        answer(&Settings::default(), &text, &[in_zone(A)], &nodes(), &rules).expect("readable");
        let asked = rules.asked.into_inner();
        assert_eq!(asked[0].1.affinity, wanted);
        assert_eq!(asked[0].1.persistent_volume, "pv-1");
        assert!(!asked[0].1.creating);
    }
}

fn volume_of_nobody() -> LabellingQuestion {
    LabellingQuestion {
        persistent_volume: "pv-1".to_owned(),
        source: VolumeSource::Other("nfs".to_owned()),
        labels: Vec::new(),
        owned_labels: Vec::new(),
        annotations: Vec::new(),
        affinity: VolumeAffinity::Unset,
        evidence: VolumeEvidence::Unknown,
        creating: true,
    }
}

/// The object as the operations make it.
fn apply(object: &Value, operations: &[PatchOperation]) -> Value {
    let mut object = object.clone();
    for operation in operations {
        match operation {
            PatchOperation::SetLabel(label) => object["metadata"]["labels"][&label.key] = json!(label.value),
            PatchOperation::SetVolumeAffinity(terms) => {
                let requirement = |requirement: &Requirement| {
                    let operator = if requirement.operator == SelectorOperator::In { "In" } else { "Exists" };
                    json!({ "key": requirement.key, "operator": operator, "values": requirement.values })
                };
                let term = |term: &SelectorTerm| json!({ "matchExpressions": term.requirements.iter().map(requirement).collect::<Vec<_>>() });
                let terms: Vec<Value> = terms.iter().map(term).collect();
                object["spec"]["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": terms } });
            }
            PatchOperation::SetPodAffinity(_) | PatchOperation::AddSchedulingGate(_) => panic!("{operation:?}"),
        }
    }
    object
}

proptest! {
    #[test]
    fn reinvoked_on_the_changed_object_it_changes_nothing_more(
        id in prop::sample::select(vec![ID, "aws://us-east-1a/vol-1", "aws://us-east-1b/vol-1"]),
        labels in prop::collection::btree_map(
            prop::sample::select(vec![ZONE, REGION, ZONE_BETA]),
            prop::sample::select(vec![A, "us-east-1b", "us-east-1", ""]),
            0..3,
        ),
        affinity in prop::sample::select(vec![
            Value::Null,
            json!({}),
            json!({ "required": { "nodeSelectorTerms": [] } }),
            json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [{ "key": "os", "operator": "Exists" }] }, {}] } }),
            json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [{ "key": ZONE, "operator": "In", "values": ["us-east-1b"] }] }] } }),
        ]),
        evidence in prop::sample::select(vec![in_zone(A), VolumeEvidence::Unknown, VolumeEvidence::Missing(1)]),
    ) {
        let mut object = ebs(id);
        object["metadata"]["labels"] = json!(labels);
        object["spec"]["nodeAffinity"] = affinity;
        let first = create(&object, evidence.clone());
        let second = create(&apply(&object, &first.operations), evidence);
        prop_assert_eq!(second.operations, Vec::new());
    }
}
