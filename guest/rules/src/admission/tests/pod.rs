//! Pods that name volumes directly, and pod templates.

use zonewarden_bindings::placement::{InjectedAffinity, InlineVolume, PodVolume, PodVolumeSource};
use zonewarden_bindings::types::{Finding, Severity};

use super::*;
use crate::keys::SCHEDULING_GATE;

const POD: (&str, &str) = ("", "Pod");
const OTHER: &str = "vol-0aaaaaaaaaaaaaaa0";

fn volumes() -> Value {
    json!([
        { "name": "tmp", "emptyDir": {} },
        { "name": "data", "awsElasticBlockStore": { "volumeID": format!("aws://{A}/{ID}") } },
        { "name": "claimed", "persistentVolumeClaim": { "claimName": "c" } },
        { "name": "inline", "csi": { "driver": "ebs.csi.aws.com" } },
        { "name": "more", "awsElasticBlockStore": { "volumeID": OTHER, "readOnly": true } },
    ])
}

fn pod() -> Value {
    json!({ "metadata": { "name": "web-0" }, "spec": { "volumes": volumes() } })
}

fn with_terms(terms: &Value) -> Value {
    let mut object = pod();
    object["spec"]["affinity"] = json!({
        "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": terms } },
    });
    object
}

fn evidence() -> [VolumeEvidence; 2] {
    [in_zone(A), VolumeEvidence::Unknown]
}

fn create(object: &Value, injection: Injection) -> AdmissionAnswer {
    answer_of(&Settings::default(), &review("CREATE", POD, object), &evidence(), injection)
}

fn inject(terms: Vec<SelectorTerm>) -> Injection {
    let told = |severity, message: &str| Finding { severity, reason: reason("told", message) };
    let findings = vec![told(Severity::Warning, "mind this"), told(Severity::Info, "by the way")];
    Injection::Inject(InjectedAffinity { terms, reason: reason("zone-of-volume", "the volume is there"), findings })
}

#[test]
fn h_2_the_volumes_that_a_pod_names_directly_are_looked_up() {
    let wanted = vec![
        concerned("spec.volumes[1].awsElasticBlockStore.volumeID", in_tree(&format!("aws://{A}/{ID}"))),
        concerned("spec.volumes[4].awsElasticBlockStore.volumeID", in_tree(OTHER)),
    ];
    assert_eq!(concerns(&Settings::default(), &review("CREATE", POD, &pod())), Ok(wanted));
}

#[test]
fn c_10_h_3_the_affinity_that_the_rule_says_is_injected() {
    let operation = PatchOperation::SetPodAffinity(vec![zone_term(A)]);
    let answer = create(&pod(), inject(vec![zone_term(A)]));
    check("c 10", &answer, (true, "zone-of-volume"), &["mind this"], &[operation]);
    assert_eq!(answer.warnings, ["mind this"]);
}

#[test]
fn h2_reinvocation_sets_what_is_there_already_no_second_time() {
    let object = with_terms(&json!([{ "matchExpressions": [{ "key": ZONE, "operator": "In", "values": [A] }] }]));
    check("h2", &create(&object, inject(vec![zone_term(A)])), (true, "zone-of-volume"), &["mind this"], &[]);
    check("h2", &create(&object, nothing()), (true, "no-need"), &[], &[]);
}

#[test]
fn h_3_the_rule_is_asked_about_the_pods_own_terms_and_evidence() {
    for (object, terms, name) in [
        (pod(), None, "shop/web-0"),
        (with_terms(&json!([])), Some(vec![]), "shop/web-0"),
        (
            with_terms(&json!([{ "matchExpressions": [{ "key": ZONE, "operator": "In", "values": ["b"] }] }])),
            Some(vec![zone_term("b")]),
            "shop/web-0",
        ),
        (json!({ "metadata": { "generateName": "web-" }, "spec": { "volumes": volumes() } }), None, "shop/web-"),
    ] {
        let rules = Standard::new(Settings::default(), nothing());
        let text = review("CREATE", POD, &object);
        answer(&Settings::default(), &text, &evidence(), &nodes(), &rules).expect("readable");
        let inline = |name: &str, id: &str, evidence: VolumeEvidence| PodVolume {
            name: name.to_owned(),
            source: PodVolumeSource::Inline(InlineVolume { source: in_tree(id), evidence }),
        };
        let question = PodQuestion {
            pod: name.to_owned(),
            volumes: vec![
                inline("data", &format!("aws://{A}/{ID}"), in_zone(A)),
                inline("more", OTHER, VolumeEvidence::Unknown),
            ],
            topologies: Vec::new(),
            required_drivers: Vec::new(),
        };
        assert_eq!(rules.asked.into_inner(), [(question, terms)]);
    }
}

#[test]
fn h_3_a_contradiction_is_refused_with_its_reason() {
    let text = "volume data is in us-east-1a and volume more in us-east-1b";
    let answer = create(&pod(), Injection::Contradiction(reason("volumes-in-two-zones", text)));
    check("H-3", &answer, (false, "volumes-in-two-zones"), &[], &[]);
    assert_eq!(answer.reason.message, text);
}

#[test]
fn h2_h_3_an_undecided_pod_is_let_in_with_a_warning_and_gated_where_that_is_wanted() {
    let undecided = || Injection::Undecided(reason("zone-unknown", "EC2 has to be asked first"));
    let warning = ["EC2 has to be asked first"];
    check("H-3", &create(&pod(), undecided()), (true, "zone-unknown"), &warning, &[]);
    let gating = Settings { gate_undecided_pods: true, ..Settings::default() };
    let gate = [PatchOperation::AddSchedulingGate(SCHEDULING_GATE.to_owned())];
    let answer = answer_of(&gating, &review("CREATE", POD, &pod()), &evidence(), undecided());
    check("h2", &answer, (true, "zone-unknown"), &warning, &gate);
    for (gates, operations) in [(json!([{ "name": "other" }]), &gate[..]), (json!([{ "name": SCHEDULING_GATE }]), &[])]
    {
        let mut object = pod();
        object["spec"]["schedulingGates"] = gates;
        let answer = answer_of(&gating, &review("CREATE", POD, &object), &evidence(), undecided());
        check("h2", &answer, (true, "zone-unknown"), &warning, operations);
    }
}

#[test]
fn h2_pods_that_others_place_are_left_alone() {
    let mut named = pod();
    named["spec"]["nodeName"] = json!("node-1");
    let of_daemon_set = with_terms(&json!([
        { "matchExpressions": [{ "key": "a", "operator": "Exists" }] },
        { "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["node-1"] }] },
    ]));
    for (object, code, text) in [
        (named, "node-name-set", "pod shop/web-0 names its node node-1 itself"),
        (
            of_daemon_set,
            "bound-to-node",
            "pod shop/web-0 is bound to one node by matchFields, as the pods of a DaemonSet are",
        ),
    ] {
        let text_of_review = review("CREATE", POD, &object);
        assert_eq!(concerns(&Settings::default(), &text_of_review), Ok(Vec::new()));
        let answer = answer_of(&Settings::default(), &text_of_review, &[], inject(vec![zone_term(A)]));
        check("h2", &answer, (true, code), &[], &[]);
        assert_eq!(answer.reason.message, text);
    }
    let other_field =
        with_terms(&json!([{ "matchFields": [{ "key": "metadata.uid", "operator": "In", "values": ["u"] }] }]));
    let operation = PatchOperation::SetPodAffinity(vec![zone_term(A)]);
    check(
        "h2",
        &create(&other_field, inject(vec![zone_term(A)])),
        (true, "zone-of-volume"),
        &["mind this"],
        &[operation],
    );
}

#[test]
fn a_pod_that_names_no_volume_directly_is_let_in_unchanged() {
    let object = json!({ "metadata": { "name": "web-0" }, "spec": { "volumes": [{ "name": "tmp", "emptyDir": {} }] } });
    for object in [object, json!({ "metadata": { "name": "web-0" } })] {
        let answer = answer_of(&Settings::default(), &review("CREATE", POD, &object), &[], inject(vec![]));
        check("H-1", &answer, (true, "no-direct-volume"), &[], &[]);
        assert!(answer.reason.message.contains("shop/web-0"));
    }
}

#[test]
fn b_3_a_malformed_id_is_refused_in_strict_mode_and_warned_of_in_lenient() {
    let object = |node: &str| {
        let volumes = json!([{ "name": "data", "awsElasticBlockStore": { "volumeID": "vol-xyz/" } }]);
        json!({ "metadata": { "name": "web-0" }, "spec": { "volumes": volumes, "nodeName": node } })
    };
    let text = review("CREATE", POD, &object(""));
    let answer = answer_of(&strict(), &text, &[VolumeEvidence::Unknown], nothing());
    check("strict", &answer, (false, "slash-in-id"), &[], &[]);
    assert!(answer.reason.message.contains("\"vol-xyz/\""));
    check(
        "strict, node named",
        &answer_of(&strict(), &review("CREATE", POD, &object("n")), &[], nothing()),
        (false, "slash-in-id"),
        &[],
        &[],
    );
    let broken = text.replace("vol-xyz/", "aws://vol-1");
    let answer = answer_of(&Settings::default(), &broken, &[VolumeEvidence::Unknown], nothing());
    check("lenient", &answer, (true, "no-need"), &["\"aws://vol-1\" is no volume id"], &[]);
}

#[test]
fn h_3_pod_templates_are_warned_about_and_never_changed() {
    let spec = json!({ "volumes": volumes() });
    let by_spec = json!({ "spec": { "template": { "spec": spec } } });
    let by_job = json!({ "spec": { "jobTemplate": { "spec": { "template": { "spec": spec } } } } });
    for (kind, object, path) in [
        (("apps", "Deployment"), &by_spec, "spec.template.spec"),
        (("apps", "StatefulSet"), &by_spec, "spec.template.spec"),
        (("apps", "DaemonSet"), &by_spec, "spec.template.spec"),
        (("apps", "ReplicaSet"), &by_spec, "spec.template.spec"),
        (("", "ReplicationController"), &by_spec, "spec.template.spec"),
        (("batch", "Job"), &by_spec, "spec.template.spec"),
        (("batch", "CronJob"), &by_job, "spec.jobTemplate.spec.template.spec"),
        (("", "PodTemplate"), &json!({ "template": { "spec": spec } }), "template.spec"),
    ] {
        for operation in ["CREATE", "UPDATE"] {
            let text = review(operation, kind, object);
            let wanted = vec![
                concerned(
                    &format!("{path}.volumes[1].awsElasticBlockStore.volumeID"),
                    in_tree(&format!("aws://{A}/{ID}")),
                ),
                concerned(&format!("{path}.volumes[4].awsElasticBlockStore.volumeID"), in_tree(OTHER)),
            ];
            assert_eq!(concerns(&Settings::default(), &text), Ok(wanted), "{kind:?}");
            let answer = answer_of(&strict(), &text, &evidence(), inject(vec![zone_term(A)]));
            let warnings = [
                format!("volume data names {ID} ({A}) directly: use a PersistentVolumeClaim"),
                format!("volume more names {OTHER} directly: use a PersistentVolumeClaim"),
            ];
            check("H-3", &answer, (true, "pod-template"), &[&warnings[0], &warnings[1]], &[]);
            assert_eq!(answer.warnings, warnings, "{kind:?}");
        }
    }
}

#[test]
fn h_3_a_template_with_a_broken_id_or_a_placeholder_or_another_zone() {
    let template = |id: &str| {
        let volumes = json!([{ "name": "v", "awsElasticBlockStore": { "volumeID": id } }]);
        review("CREATE", ("apps", "Deployment"), &json!({ "spec": { "template": { "spec": { "volumes": volumes } } } }))
    };
    let ask = |id: &str| answer_of(&strict(), &template(id), &[in_zone(A)], nothing());
    let by_name = template(ID).replace("\"v\"", "\"postgres-data-primary\"");
    let answer = answer_of(&strict(), &by_name, &[in_zone("us-west-2-lax-1a")], nothing());
    let whole = "volume postgres-data-primary names vol-0123456789abcdef0 (us-west-2-lax-1a) directly: use a PersistentVolumeClaim";
    assert_eq!(answer.warnings, [whole]);
    check("broken", &ask("aws://vol-1"), (true, "pod-template"), &["\"aws://vol-1\" is no volume id"], &[]);
    check("placeholder", &ask("placeholder-for-provisioning"), (true, "pod-template"), &[], &[]);
    let elsewhere =
        [&format!("volume v names {ID} ({A}) directly: use a PersistentVolumeClaim"), "volume id \"aws://us-east-1b/"];
    check("D-34", &ask(&format!("aws://us-east-1b/{ID}")), (true, "pod-template"), &elsewhere, &[]);
}
