//! The envelope, and what is let in unchanged.

use proptest::prelude::*;

use super::*;

const PV: (&str, &str) = ("", "PersistentVolume");

fn ask(text: &str) -> Result<AdmissionAnswer, Error> {
    let rules = Standard::new(Settings::default(), nothing());
    answer(&Settings::default(), text, &[], &nodes(), &rules)
}

fn pv_object() -> Value {
    json!({ "metadata": { "name": "pv-1" }, "spec": { "awsElasticBlockStore": { "volumeID": ID } } })
}

#[test]
fn a_text_that_is_no_admission_review_is_an_error() {
    let wrong_version = review("CREATE", PV, &pv_object()).replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!("{{\"a\":{}", "{\"a\":".repeat(200_000));
    let valid_but_deep = review("CREATE", PV, &json!("@")).replace("\"@\"", &nested);
    let truncated = review("CREATE", PV, &pv_object());
    for (text, rule) in [
        ("", "not-json"),
        ("kind: AdmissionReview", "not-json"),
        (&truncated[..truncated.len() - 1], "not-json"),
        (nested.as_str(), "not-json"),
        (deep.as_str(), "not-json"),
        (valid_but_deep.as_str(), "not-json"),
        ("[]", "not-an-admission-review"),
        ("null", "not-an-admission-review"),
        ("{}", "not-an-admission-review"),
        (r#"{"apiVersion":1}"#, "not-an-admission-review"),
        (r#"{"apiVersion":"admission.k8s.io/v1","kind":"Review"}"#, "not-an-admission-review"),
        (r#"{"apiVersion":"v1","kind":"AdmissionReview"}"#, "not-an-admission-review"),
        (wrong_version.as_str(), "not-an-admission-review"),
        (r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#, "not-an-admission-review"),
        (r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[]}"#, "not-an-admission-review"),
        (
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"CREATE"}}"#,
            "not-an-admission-review",
        ),
        (
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"kind":{"kind":"Pod"}}}"#,
            "not-an-admission-review",
        ),
    ] {
        let Err(Error::Question(problem)) = ask(text) else { panic!("{text:.80} is read") };
        assert_eq!((problem.subject.as_str(), problem.rule.as_str()), ("review", rule), "{text:.80}");
        assert!(text.starts_with(&problem.text) && problem.text.len() == text.len().min(256), "{text:.80}");
        assert_eq!(problem.accepted, ["an AdmissionReview of admission.k8s.io/v1 as JSON"]);
        assert_eq!(concerns(&Settings::default(), text), Err(Error::Question(problem)));
    }
}

#[test]
fn the_error_tells_what_is_wrong() {
    let message = |text: &str| match ask(text) {
        Err(Error::Question(problem)) => problem.message,
        other => panic!("{other:?}"),
    };
    assert!(message("[]").contains("the JSON is not an object"));
    assert!(message("{").contains("is not JSON: EOF"));
    let version = review("CREATE", PV, &json!({})).replace("admission.k8s.io/v1", "v9");
    assert!(message(&version).contains("\"v9\""));
    let operation = review("CREATE", PV, &json!({})).replace("\"CREATE\"", "7");
    assert!(message(&operation).contains("request.operation is not a text"));
}

#[test]
fn what_the_rules_do_not_handle_is_let_in_unchanged() {
    let sub_resource =
        review("UPDATE", PV, &pv_object()).replace("\"oldObject\"", "\"subResource\":\"status\",\"oldObject\"");
    for text in [
        review("DELETE", PV, &Value::Null),
        review("CONNECT", ("", "Pod"), &json!({})),
        review(
            "UPDATE",
            ("", "Pod"),
            &json!({ "spec": { "volumes": [{ "awsElasticBlockStore": { "volumeID": ID } }] } }),
        ),
        review("CREATE", ("", "ConfigMap"), &json!({})),
        review("CREATE", ("example.com", "PersistentVolume"), &pv_object()),
        review("CREATE", ("example.com", "Deployment"), &json!({})),
        sub_resource,
    ] {
        assert_eq!(concerns(&Settings::default(), &text), Ok(Vec::new()), "{text}");
        let answer = answer_of(&Settings::default(), &text, &[], nothing());
        check(&text, &answer, (true, "not-handled"), &[], &[]);
    }
    let answer = answer_of(&Settings::default(), &review("DELETE", PV, &Value::Null), &[], nothing());
    assert_eq!(answer.reason.message, "DELETE of PersistentVolume does not concern any volume's zone");
}

#[test]
fn an_object_that_can_not_be_read_is_let_in_with_a_warning_that_names_the_field() {
    let pod = ("", "Pod");
    let ebs =
        |id: Value| json!({ "spec": { "volumes": [{ "name": "v", "awsElasticBlockStore": { "volumeID": id } }] } });
    for (kind, object, message) in [
        (PV, json!([]), "the JSON is not an object"),
        (PV, json!({ "spec": 7 }), "spec is not an object"),
        (PV, json!({ "metadata": { "name": 7 } }), "metadata.name is not a text"),
        (PV, json!({ "metadata": { "labels": { "a": 1 } } }), "metadata.labels.a is not a text"),
        (PV, json!({ "metadata": { "annotations": [] } }), "metadata.annotations is not an object"),
        (
            PV,
            json!({ "spec": { "csi": { "driver": "d", "volumeHandle": {} } } }),
            "spec.csi.volumeHandle is not a text",
        ),
        (PV, json!({ "spec": { "nodeAffinity": { "required": 1 } } }), "spec.nodeAffinity.required is not an object"),
        (
            PV,
            json!({ "spec": { "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [{ "values": [1] }] }] } } } }),
            "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0] is not a text",
        ),
        (pod, json!({ "spec": { "volumes": {} } }), "spec.volumes is not a list"),
        (pod, json!({ "spec": { "volumes": ["a"] } }), "spec.volumes[0] is not an object"),
        (pod, ebs(json!(1)), "spec.volumes[0].awsElasticBlockStore.volumeID is not a text"),
        (pod, json!({ "spec": { "schedulingGates": [{ "name": 1 }] } }), "spec.schedulingGates[0].name is not a text"),
        (pod, json!({ "spec": { "nodeName": [] } }), "spec.nodeName is not a text"),
        (("batch", "Job"), json!({ "spec": { "template": "t" } }), "spec.template is not an object"),
    ] {
        let text = review("CREATE", kind, &object);
        assert_eq!(concerns(&Settings::default(), &text), Ok(Vec::new()), "{message}");
        let answer = answer_of(&Settings::default(), &text, &[], nothing());
        check(message, &answer, (true, "object-unreadable"), &["Zonewarden can't read the object: "], &[]);
        assert_eq!(answer.reason.message, message);
    }
}

#[test]
fn evidence_of_another_length_is_an_error() {
    let text = review("CREATE", PV, &pv_object());
    let rules = Standard::new(Settings::default(), nothing());
    for given in [0, 2] {
        let evidence = vec![VolumeEvidence::Unknown; given];
        let Err(Error::Question(problem)) = answer(&Settings::default(), &text, &evidence, &nodes(), &rules) else {
            panic!("{given} is accepted")
        };
        assert_eq!((problem.subject.as_str(), problem.rule.as_str()), ("evidence", "evidence-length"));
        assert_eq!(problem.text, given.to_string());
        assert_eq!(problem.message, format!("the review concerns 1 volume and comes with evidence about {given}"));
        assert_eq!(problem.accepted, ["evidence about 1 volume"]);
    }
    let volume = json!({ "name": "v", "awsElasticBlockStore": { "volumeID": ID } });
    let text = review("CREATE", ("", "Pod"), &json!({ "spec": { "volumes": [volume, volume] } }));
    let Err(Error::Question(problem)) = answer(&Settings::default(), &text, &[], &nodes(), &rules) else {
        panic!("no evidence is accepted")
    };
    assert_eq!(problem.message, "the review concerns 2 volumes and comes with evidence about 0");
    assert_eq!(problem.accepted, ["evidence about 2 volumes"]);
}

/// JSON of the shapes that a review has, with anything at its leaves.
fn fragment() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec!["", ID, "aws://", A, "In", "metadata.name", "CREATE"]).prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "metadata",
        "name",
        "labels",
        "spec",
        "volumes",
        "awsElasticBlockStore",
        "volumeID",
        "csi",
        "driver",
        "volumeHandle",
        "nodeAffinity",
        "required",
        "nodeSelectorTerms",
        "matchExpressions",
        "matchFields",
        "key",
        "operator",
        "values",
        "affinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "schedulingGates",
        "nodeName",
        "template",
    ]);
    leaf.prop_recursive(8, 64, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        prop_assert!(matches!(ask(&text), Err(Error::Question(_))));
    }

    #[test]
    fn any_object_is_answered(
        object in fragment(),
        kind in prop::sample::select(vec![PV, ("", "Pod"), ("apps", "Deployment"), ("batch", "CronJob")]),
        operation in prop::sample::select(vec!["CREATE", "UPDATE", "DELETE"]),
    ) {
        let text = review(operation, kind, &object);
        let concerned = concerns(&Settings::default(), &text).expect("a review");
        let evidence = vec![in_zone(A); concerned.len()];
        let answer = answer_of(&Settings::default(), &text, &evidence, nothing());
        prop_assert!(answer.allowed);
        prop_assert!(answer.warnings.iter().all(|warning| warning.chars().count() <= 120));
    }
}
