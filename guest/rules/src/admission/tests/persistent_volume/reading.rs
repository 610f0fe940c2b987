//! What of a PersistentVolume reaches the rules, and that their answer is carried out.

use super::*;

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
