//! What a policy overrides reaches every way of asking it: the typed functions of `Component` and the functions by name.

use serde::Serialize;
use zonewarden_sdk::contract::admission::{AdmissionAnswer, ConcernedVolume};
use zonewarden_sdk::contract::attachment::{Judgement, Observation, Verdict};
use zonewarden_sdk::contract::identity::{NodeIdentity, NodeQuestion, VolumeIdentity, VolumeQuestion};
use zonewarden_sdk::contract::info::PolicyInfo;
use zonewarden_sdk::contract::labelling::{LabellingAnswer, LabellingBasis, LabellingQuestion};
use zonewarden_sdk::contract::placement::{
    ClassDecision, ClassScore, ClassVerdict, Injection, PodQuestion, RefusalOrigin, Verdicts,
};
use zonewarden_sdk::contract::types::{
    Error, Label, Problem, Reason, Remedy, SelectorTerm, Setting, Severity, Topology, VolumeEvidence, VolumeSource,
};
use zonewarden_sdk::contract::{admission, attachment, identity, info, json, labelling, placement};
use zonewarden_sdk::rules::placement::Nodes;
use zonewarden_sdk::{Component, Policy, Settings, evaluate, export_policy};

/// A policy that answers every question with the name of the method that was asked.
struct Echo;

export_policy!(Echo);

fn echo(method: &str) -> Reason {
    Reason { code: method.to_owned(), message: "overridden".to_owned() }
}

impl Policy for Echo {
    const NAME: &'static str = "echo";
    const VERSION: &'static str = "0.0.1";

    fn describe(_settings: &Settings) -> PolicyInfo {
        PolicyInfo {
            name: "describe".to_owned(),
            version: Self::VERSION.to_owned(),
            csi_drivers: Vec::new(),
            in_tree_plugins: Vec::new(),
            node_label_keys: Vec::new(),
            annotation_keys: Vec::new(),
            volume_attribute_keys: Vec::new(),
            settings_schema: "{}".to_owned(),
            remedies: vec![Remedy::Event],
        }
    }

    fn validate_settings(given: &[Setting]) -> Vec<Problem> {
        vec![Problem {
            subject: "validate_settings".to_owned(),
            text: given.len().to_string(),
            rule: "overridden".to_owned(),
            message: "overridden".to_owned(),
            accepted: Vec::new(),
        }]
    }

    fn identify_volume(_settings: &Settings, _question: &VolumeQuestion) -> VolumeIdentity {
        VolumeIdentity::Foreign(echo("identify_volume"))
    }

    fn identify_node(_settings: &Settings, _question: &NodeQuestion) -> NodeIdentity {
        NodeIdentity::Foreign(echo("identify_node"))
    }

    fn label_volume(_settings: &Settings, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer {
        LabellingAnswer {
            basis: LabellingBasis::Ec2,
            zone: None,
            region: None,
            labels: vec![Label { key: question.persistent_volume.clone(), value: topologies.len().to_string() }],
            affinity: None,
            findings: Vec::new(),
            reason: echo("label_volume"),
        }
    }

    fn filter(_settings: &Settings, _pod: &PodQuestion, nodes: &Nodes<'_>) -> Verdicts {
        let verdict =
            ClassVerdict { decision: ClassDecision::Refused, origin: RefusalOrigin::Zonewarden, reasons: vec![0] };
        Verdicts { reasons: vec![echo("filter")], classes: vec![verdict; nodes.classes().len()] }
    }

    fn score(_settings: &Settings, _pod: &PodQuestion, nodes: &Nodes<'_>) -> Vec<ClassScore> {
        nodes.classes().iter().map(|_| ClassScore { score: 7, reason: echo("score") }).collect()
    }

    fn inject(_settings: &Settings, pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Injection {
        Injection::Nothing(Reason { code: "inject".to_owned(), message: format!("{} {terms:?}", pod.pod) })
    }

    fn judge(_settings: &Settings, _observation: &Observation) -> Judgement {
        Judgement {
            verdict: Verdict::Unstable,
            remedy: Remedy::Event,
            escalation: None,
            severity: Severity::Warning,
            reason: echo("judge"),
        }
    }

    fn concerns(_settings: &Settings, review: &str) -> Result<Vec<ConcernedVolume>, Error> {
        Ok(vec![ConcernedVolume { field: "concerns".to_owned(), source: VolumeSource::Other(review.to_owned()) }])
    }

    fn answer(
        _settings: &Settings,
        review: &str,
        evidence: &[VolumeEvidence],
        topologies: &[Topology],
    ) -> Result<AdmissionAnswer, Error> {
        let warning = format!("{review} {} {}", evidence.len(), topologies.len());
        Ok(AdmissionAnswer { allowed: false, reason: echo("answer"), warnings: vec![warning], operations: Vec::new() })
    }
}

const PLACE: &str = r#"{"labels":[],"has_csi_node":true,"drivers":[],"migrated_plugins":[]}"#;
const POD: &str = r#"{"pod":"shop/web-0","volumes":[],"topologies":[],"required_drivers":[]}"#;

/// Classes of these places.
fn nodes(classes: &str) -> String {
    format!(r#"{{"places":[{PLACE}],"classes":[{classes}],"headroom":[],"ties":[]}}"#)
}
const VOLUME: &str = r#"{"source":{"Other":"nfs"}}"#;
const NODE: &str = r#"{"node":{"node_name":"node-1"}}"#;
const PERSISTENT_VOLUME: &str = r#"{"persistent_volume":"pv-1","source":{"Other":"nfs"},"labels":[],"owned_labels":[],"annotations":[],"affinity":"Unset","evidence":"Unknown","creating":true}"#;
const OBSERVATION: &str = r#"{"volume":{"aws_volume_id":"vol-1"},"persistent_volume_missing":false,"attach_required":true,"volume_report":"Unknown","instance_report":"Unknown","node":"Unknown","usage":{"pods_on_node":0,"started_on_node":0,"pods_elsewhere":0,"unused_seconds":0,"bound_to_node":0},"attributes":[]}"#;

/// Each function with its arguments but for the settings, and the answer.
fn questions() -> [(&'static str, String, String); 11] {
    let reason = |method: &str| format!(r#"{{"code":"{method}","message":"overridden"}}"#);
    let verdict = r#"{"decision":"Refused","origin":"Zonewarden","reasons":[0]}"#;
    let verdicts = format!(r#"{{"reasons":[{}],"classes":[{verdict},{verdict}]}}"#, reason("filter"));
    let score = format!(r#"{{"score":7,"reason":{}}}"#, reason("score"));
    [
        (
            "info.describe",
            String::new(),
            r#"{"name":"describe","version":"0.0.1","csi_drivers":[],"in_tree_plugins":[],"node_label_keys":[],"annotation_keys":[],"volume_attribute_keys":[],"settings_schema":"{}","remedies":["Event"]}"#.to_owned(),
        ),
        (
            "info.validate-settings",
            String::new(),
            r#"[{"subject":"validate_settings","text":"0","rule":"overridden","message":"overridden","accepted":[]}]"#.to_owned(),
        ),
        (
            "identity.identify-volumes",
            format!(r#","volumes":[{VOLUME},{VOLUME}]"#),
            format!(r#"[{{"Foreign":{0}}},{{"Foreign":{0}}}]"#, reason("identify_volume")),
        ),
        (
            "identity.identify-nodes",
            format!(r#","nodes":[{NODE}]"#),
            format!(r#"[{{"Foreign":{}}}]"#, reason("identify_node")),
        ),
        (
            "labelling.label-volumes",
            format!(r#","topologies":[{{"labels":[]}}],"volumes":[{PERSISTENT_VOLUME}]"#),
            format!(
                r#"[{{"basis":"Ec2","zone":null,"region":null,"labels":[{{"key":"pv-1","value":"1"}}],"affinity":null,"findings":[],"reason":{}}}]"#,
                reason("label_volume")
            ),
        ),
        ("placement.filter", format!(r#","pod":{POD},"nodes":{}"#, nodes("0,0")), verdicts),
        ("placement.score", format!(r#","pod":{POD},"nodes":{}"#, nodes("0")), format!("[{score}]")),
        (
            "placement.inject",
            format!(r#","pod":{POD},"terms":[]"#),
            r#"{"Nothing":{"code":"inject","message":"shop/web-0 Some([])"}}"#.to_owned(),
        ),
        (
            "attachment.judge",
            format!(r#","observations":[{OBSERVATION}]"#),
            format!(
                r#"[{{"verdict":"Unstable","remedy":"Event","escalation":null,"severity":"Warning","reason":{}}}]"#,
                reason("judge")
            ),
        ),
        (
            "admission.concerns",
            r#","review":"text""#.to_owned(),
            r#"[{"field":"concerns","source":{"Other":"text"}}]"#.to_owned(),
        ),
        (
            "admission.answer",
            r#","review":"text","evidence":["Unknown","Unknown"],"topologies":[{"labels":[]}]"#.to_owned(),
            format!(
                r#"{{"allowed":false,"reason":{},"warnings":["text 2 1"],"operations":[]}}"#,
                reason("answer")
            ),
        ),
    ]
}

#[test]
fn each_function_by_its_name_asks_the_policys_own_method() {
    for (function, arguments, wanted) in questions() {
        let request = format!(r#"{{"function":"{function}","arguments":{{"settings":[]{arguments}}}}}"#);
        assert_eq!(evaluate::<Echo>(&request), Ok(wanted.clone()), "{function}");
        assert_eq!(<Component<Echo> as json::Guest>::evaluate(request), Ok(wanted), "{function}");
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect(text)
}

/// Asks the typed function of this name.
fn ask_typed(function: &str) -> String {
    use admission::Guest as _;
    use attachment::Guest as _;
    use identity::Guest as _;
    use info::Guest as _;
    use labelling::Guest as _;
    use placement::Guest as _;
    type C = Component<Echo>;

    fn written<T: Serialize>(answer: Result<T, Error>) -> String {
        serde_json::to_string(&answer.expect("an answer")).expect("JSON")
    }
    let (settings, empty) = (Vec::new(), || Topology { labels: Vec::new() });
    match function {
        "info.describe" => written(C::describe(settings)),
        "info.validate-settings" => written(Ok(C::validate_settings(settings))),
        "identity.identify-volumes" => written(C::identify_volumes(settings, vec![read(VOLUME), read(VOLUME)])),
        "identity.identify-nodes" => written(C::identify_nodes(settings, vec![read(NODE)])),
        "labelling.label-volumes" => written(C::label_volumes(settings, vec![empty()], vec![read(PERSISTENT_VOLUME)])),
        "placement.filter" => written(C::filter(settings, read(POD), read(&nodes("0,0")))),
        "placement.score" => written(C::score(settings, read(POD), read(&nodes("0")))),
        "placement.inject" => written(C::inject(settings, read(POD), Some(Vec::new()))),
        "attachment.judge" => written(C::judge(settings, vec![read(OBSERVATION)])),
        "admission.concerns" => written(C::concerns(settings, "text".to_owned())),
        "admission.answer" => {
            let evidence = vec![VolumeEvidence::Unknown, VolumeEvidence::Unknown];
            written(C::answer(settings, "text".to_owned(), evidence, vec![empty()]))
        }
        _ => panic!("{function} is no function of the contract"),
    }
}

#[test]
fn each_typed_function_asks_the_policys_own_method() {
    for (function, _, wanted) in questions() {
        assert_eq!(ask_typed(function), wanted, "{function}");
    }
}
