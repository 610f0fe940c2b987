//! What a policy gets that overrides nothing, or little.

use serde_json::json;
use zonewarden_sdk::contract::admission::{Guest as _, PatchOperation};
use zonewarden_sdk::contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_sdk::contract::info::Guest as _;
use zonewarden_sdk::contract::labelling::{LabellingAnswer, LabellingBasis, LabellingQuestion};
use zonewarden_sdk::contract::placement::{Injection, PodQuestion};
use zonewarden_sdk::contract::types::{
    Error, Label, Problem, Reason, Remedy, SelectorTerm, Setting, Topology, VolumeEvidence,
};
use zonewarden_sdk::rules::settings::VolumeIds;
use zonewarden_sdk::{Component, Policy, Settings};

fn setting(key: &str, value: &str) -> Setting {
    Setting { key: key.to_owned(), value: value.to_owned() }
}

/// Strict about ids unless the operator says otherwise.
struct StrictByDefault;

impl Policy for StrictByDefault {
    const NAME: &'static str = "strict-by-default";
    const VERSION: &'static str = "1.2.3";
    const DEFAULTS: &'static [(&'static str, &'static str)] = &[("volume-ids", "strict")];
}

#[test]
fn a_policys_defaults_hold_where_the_operator_says_nothing() {
    let read = |given: &[Setting]| StrictByDefault::settings(given).map(|settings| settings.volume_ids);
    assert_eq!(read(&[]), Ok(VolumeIds::Strict));
    assert_eq!(read(&[setting("zone-hints", "false")]), Ok(VolumeIds::Strict));
    assert_eq!(read(&[setting("volume-ids", "lenient")]), Ok(VolumeIds::Lenient));
}

#[test]
fn a_policy_describes_itself_by_name_and_version_and_reads_the_settings_for_it() {
    let own_driver = vec![setting("csi-driver", "ebs.example.com")];
    let info = Component::<StrictByDefault>::describe(own_driver).expect("good settings");
    assert_eq!((info.name.as_str(), info.version.as_str()), ("strict-by-default", "1.2.3"));
    assert_eq!(info.csi_drivers, ["ebs.example.com"]);
    assert_eq!(info.in_tree_plugins, ["kubernetes.io/aws-ebs"]);
    assert_eq!(info.annotation_keys, ["pv.kubernetes.io/provisioned-by"]);
    assert_eq!(info.volume_attribute_keys, ["availability-zone-id", "outpost-arn"]);
    assert!(info.node_label_keys.contains(&"topology.kubernetes.io/zone".to_owned()));
    assert!(info.remedies.starts_with(&[Remedy::SetLabels, Remedy::SetNodeAffinity]));
    let schema: serde_json::Value = serde_json::from_str(&info.settings_schema).expect("JSON");
    assert_eq!(schema["properties"]["volume-ids"]["default"], "strict");
}

#[test]
fn settings_that_are_not_good_are_an_error_and_told_one_by_one() {
    let given = || vec![setting("speed", "high"), setting("volume-ids", "odd")];
    let problems: Vec<Problem> = Component::<StrictByDefault>::validate_settings(given());
    assert_eq!(problems.iter().map(|problem| problem.text.as_str()).collect::<Vec<_>>(), ["speed", "odd"]);
    assert_eq!(Component::<StrictByDefault>::describe(given()), Err(Error::Settings(problems)));
    assert_eq!(Component::<StrictByDefault>::validate_settings(vec![setting("volume-ids", "lenient")]), []);
}

/// Overrides what admission asks for, and nothing of admission itself.
struct OwnRules;

impl Policy for OwnRules {
    const NAME: &'static str = "own-rules";
    const VERSION: &'static str = "0.0.1";

    fn identify_volume(_settings: &Settings, question: &VolumeQuestion) -> VolumeIdentity {
        VolumeIdentity::Rejected(Problem {
            subject: "volume id".to_owned(),
            text: format!("{:?}", question.source),
            rule: "own-identity".to_owned(),
            message: "no id is good enough".to_owned(),
            accepted: Vec::new(),
        })
    }

    fn label_volume(_settings: &Settings, _topologies: &[Topology], _question: &LabellingQuestion) -> LabellingAnswer {
        LabellingAnswer {
            basis: LabellingBasis::Ec2,
            zone: None,
            region: None,
            labels: vec![Label { key: "own".to_owned(), value: "label".to_owned() }],
            affinity: None,
            findings: Vec::new(),
            reason: Reason { code: "own-labelling".to_owned(), message: "labelled".to_owned() },
        }
    }

    fn inject(_settings: &Settings, _pod: &PodQuestion, _terms: Option<&[SelectorTerm]>) -> Injection {
        Injection::Contradiction(Reason { code: "own-injection".to_owned(), message: "nowhere".to_owned() })
    }
}

fn review(kind: &str, spec: &serde_json::Value) -> String {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "operation": "CREATE",
            "kind": { "group": "", "version": "v1", "kind": kind },
            "object": { "metadata": { "name": "x" }, "spec": spec },
        },
    })
    .to_string()
}

#[test]
fn admission_asks_the_policys_own_rules() {
    let volume = json!({ "volumeID": "vol-1" });
    let persistent_volume = review("PersistentVolume", &json!({ "awsElasticBlockStore": volume }));
    let pod = review("Pod", &json!({ "volumes": [{ "name": "v", "awsElasticBlockStore": volume }] }));
    let ask = |settings: &[Setting], review: &str| {
        let answer = Component::<OwnRules>::answer(
            settings.to_vec(),
            review.to_owned(),
            vec![VolumeEvidence::Unknown],
            Vec::new(),
        );
        let answer = answer.expect("a review");
        (answer.allowed, answer.reason.code, answer.operations)
    };
    let label = PatchOperation::SetLabel(Label { key: "own".to_owned(), value: "label".to_owned() });
    assert_eq!(ask(&[], &persistent_volume), (true, "own-labelling".to_owned(), vec![label]));
    assert_eq!(ask(&[], &pod), (false, "own-injection".to_owned(), Vec::new()));
    let strict = [setting("volume-ids", "strict")];
    assert_eq!(ask(&strict, &persistent_volume), (false, "own-identity".to_owned(), Vec::new()));
    assert_eq!(ask(&strict, &pod), (false, "own-identity".to_owned(), Vec::new()));
}
