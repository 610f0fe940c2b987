//! What the stricter policy does differently, and that it does nothing else differently.

use zonewarden_policy_ebs_strict::EbsStrict;
use zonewarden_sdk::contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_sdk::contract::labelling::{LabellingBasis, LabellingQuestion};
use zonewarden_sdk::contract::placement::{
    AttachHeadroom, ClassDecision, ClassVerdict, InlineVolume, NodeClasses, Place, PodQuestion, PodVolume,
    PodVolumeSource, RefusalOrigin, Verdicts,
};
use zonewarden_sdk::contract::types::{
    CsiSource, KubernetesVolumeId, Label, Problem, Reason, Setting, Topology, VolumeAffinity, VolumeEvidence,
    VolumeFacts, VolumeSource, VolumeState, Zone,
};
use zonewarden_sdk::rules::placement::Nodes;
use zonewarden_sdk::rules::settings::{UnlabelledNodes, VolumeIds};
use zonewarden_sdk::{Policy, Settings, rules};

const ID: &str = "vol-0123456789abcdef0";
const URL: &str = "aws://us-east-1a/vol-0123456789abcdef0";
const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const EBS: &str = "ebs.csi.aws.com";

fn strict() -> Settings {
    EbsStrict::settings(&[]).expect("its defaults are good")
}

fn setting(key: &str, value: &str) -> Setting {
    Setting { key: key.to_owned(), value: value.to_owned() }
}

fn text(id: &str) -> KubernetesVolumeId {
    KubernetesVolumeId { kubernetes_volume_id: id.to_owned() }
}

fn in_tree(id: &str) -> VolumeSource {
    VolumeSource::AwsElasticBlockStore(text(id))
}

fn label(key: &str, value: &str) -> Label {
    Label { key: key.to_owned(), value: value.to_owned() }
}

#[test]
fn its_defaults_are_strict_and_the_operator_may_say_otherwise() {
    let wanted =
        Settings { volume_ids: VolumeIds::Strict, unlabelled_nodes: UnlabelledNodes::Refuse, ..Settings::default() };
    assert_eq!(strict(), wanted);
    let given = [setting("volume-ids", "lenient"), setting("unlabelled-nodes", "auto")];
    assert_eq!(EbsStrict::settings(&given), Ok(Settings::default()));
}

#[test]
fn it_describes_itself_with_its_own_defaults() {
    let info = EbsStrict::describe(&strict());
    assert_eq!((info.name.as_str(), info.version.as_str()), ("ebs-strict", env!("CARGO_PKG_VERSION")));
    for default in [r#""default":"strict""#, r#""default":"refuse""#] {
        assert!(info.settings_schema.contains(default), "{default} is not in {}", info.settings_schema);
    }
}

fn identify(settings: &Settings, source: VolumeSource) -> VolumeIdentity {
    EbsStrict::identify_volume(settings, &VolumeQuestion { source, ec2_zone: None })
}

#[test]
fn d_3_an_id_that_ec2_can_not_know_is_rejected_in_either_mode() {
    let not_askable = |id: &str| {
        VolumeIdentity::Rejected(Problem {
            subject: "volume id".to_owned(),
            text: id.to_owned(),
            rule: "not-askable".to_owned(),
            message: format!("EC2 can't know a volume {id:?}"),
            accepted: vec!["vol- and 8 or 17 hexadecimal digits".to_owned()],
        })
    };
    for settings in [strict(), Settings::default()] {
        for (source, id) in [
            (in_tree("vol-1234"), "vol-1234"),
            (in_tree("aws:///vol-1234"), "vol-1234"),
            (VolumeSource::Csi(CsiSource { driver: EBS.to_owned(), volume_handle: text("vol-0") }), "vol-0"),
        ] {
            assert_eq!(identify(&settings, source), not_askable(id));
        }
    }
    assert_eq!(identify(&Settings::default(), in_tree("garbage")), not_askable("garbage"));
}

#[test]
fn every_other_id_is_read_by_the_standard_rules() {
    let rule = |source| match identify(&strict(), source) {
        VolumeIdentity::Identified(volume) => volume.volume.aws_volume_id,
        VolumeIdentity::Foreign(reason) => reason.code,
        VolumeIdentity::Rejected(problem) => problem.rule,
    };
    for (source, wanted) in [
        (in_tree(ID), ID),
        (in_tree(URL), ID),
        (in_tree("vol-1234abcd"), "vol-1234abcd"),
        (in_tree("vol-xyz"), "not-hex"),
        (in_tree("aws://z/i-1"), "format-prefix"),
        (VolumeSource::Other("nfs".to_owned()), "other-source"),
    ] {
        assert_eq!(rule(source), wanted);
    }
}

fn question(evidence: VolumeEvidence) -> LabellingQuestion {
    LabellingQuestion {
        persistent_volume: "pv-1".to_owned(),
        source: in_tree(URL),
        labels: Vec::new(),
        owned_labels: Vec::new(),
        annotations: Vec::new(),
        affinity: VolumeAffinity::Unset,
        evidence,
        creating: true,
    }
}

fn in_zone(zone: &str) -> VolumeEvidence {
    let zone = Some(Zone { zone: zone.to_owned() });
    let state = VolumeState::Available;
    VolumeEvidence::Found(VolumeFacts { age_seconds: 1, state, zone, multi_attach: false, attributes: Vec::new() })
}

fn nodes() -> [Topology; 1] {
    [Topology { labels: vec![label(REGION, "us-east-1"), label(ZONE, "us-east-1a")] }]
}

#[test]
fn e13_a_hint_is_told_and_sets_nothing() {
    let answer = EbsStrict::label_volume(&strict(), &nodes(), &question(VolumeEvidence::Unknown));
    assert_eq!((answer.labels, answer.affinity), (Vec::new(), None));
    assert_eq!((answer.basis, answer.reason.code.as_str()), (LabellingBasis::Hint, "zone-from-id"));
    assert_eq!(answer.zone, Some(Zone { zone: "us-east-1a".to_owned() }));
}

#[test]
fn f_1_what_ec2_says_is_set_as_by_the_standard_rules() {
    let answer = EbsStrict::label_volume(&strict(), &nodes(), &question(in_zone("us-east-1a")));
    assert_eq!(answer.basis, LabellingBasis::Ec2);
    assert_eq!(answer.labels, [label(ZONE, "us-east-1a"), label(REGION, "us-east-1")]);
    assert!(answer.affinity.is_some());
    for evidence in [in_zone("us-east-1a"), VolumeEvidence::Missing(1)] {
        let question = question(evidence);
        let standard = rules::labelling::label_volume(&strict(), &nodes(), &question);
        assert_eq!(EbsStrict::label_volume(&strict(), &nodes(), &question), standard);
    }
}

fn place(zone: &str, drivers: &[&str]) -> Place {
    Place {
        labels: if zone.is_empty() { Vec::new() } else { vec![label(ZONE, zone)] },
        has_csi_node: true,
        drivers: drivers.iter().map(|driver| (*driver).to_owned()).collect(),
        migrated_plugins: Vec::new(),
    }
}

/// Classes by their place and their headroom.
fn classes(places: &[Place], classes: &[(u32, &[AttachHeadroom])]) -> NodeClasses {
    NodeClasses {
        places: places.to_vec(),
        classes: classes.iter().map(|(place, _)| *place).collect(),
        headroom: classes.iter().flat_map(|(_, headroom)| *headroom).copied().collect(),
        ties: Vec::new(),
    }
}

fn filter(pod: &PodQuestion, nodes: &NodeClasses) -> Verdicts {
    EbsStrict::filter(&strict(), pod, &Nodes::new(nodes).expect("the classes fit their places"))
}

/// The code of a verdict's first reason.
fn code<'a>(verdicts: &'a Verdicts, verdict: &ClassVerdict) -> &'a str {
    &verdicts.reasons[verdict.reasons[0] as usize].code
}

#[test]
fn f_63_a_node_whose_headroom_nobody_knows_is_refused_and_every_other_verdict_stays() {
    let inline = InlineVolume { source: in_tree(ID), evidence: in_zone("us-east-1a") };
    let volume = PodVolume { name: "data".to_owned(), source: PodVolumeSource::Inline(inline) };
    let pod = PodQuestion {
        pod: "shop/web-0".to_owned(),
        volumes: vec![volume],
        topologies: Vec::new(),
        required_drivers: Vec::new(),
    };
    let unknown = AttachHeadroom::Unknown;
    let places = [
        place("us-east-1a", &[EBS]),
        place("us-east-1b", &[EBS]),
        place("us-east-1a", &[EBS, "x"]),
        place("us-east-1a", &[]),
    ];
    let nodes = classes(
        &places,
        &[
            (0, &[unknown]),
            (0, &[AttachHeadroom::Left(1)]),
            (0, &[AttachHeadroom::Left(0)]),
            (1, &[unknown]),
            (2, &[AttachHeadroom::Unlimited, unknown]),
            (3, &[]),
        ],
    );
    let verdicts = filter(&pod, &nodes);
    let reason = verdicts.classes[0].reasons[0];
    let refused =
        ClassVerdict { decision: ClassDecision::Refused, origin: RefusalOrigin::Zonewarden, reasons: vec![reason] };
    assert_eq!((&verdicts.classes[0], &verdicts.classes[4]), (&refused, &refused));
    let wanted = Reason {
        code: "headroom-unknown".to_owned(),
        message: "nobody knows how many more volumes these nodes can attach".to_owned(),
    };
    assert_eq!(verdicts.reasons[reason as usize], wanted);
    let told: Vec<_> = verdicts.classes.iter().map(|verdict| (verdict.decision, code(&verdicts, verdict))).collect();
    let wanted = [
        (ClassDecision::Refused, "headroom-unknown"),
        (ClassDecision::Feasible, "fits"),
        (ClassDecision::Refused, "attach-limit"),
        (ClassDecision::Unresolvable, "ec2-zone-mismatch"),
        (ClassDecision::Refused, "headroom-unknown"),
        (ClassDecision::Feasible, "fits"),
    ];
    assert_eq!(told, wanted);
}

#[test]
fn f_40_a_node_of_no_zone_is_refused_by_default() {
    let inline = InlineVolume { source: in_tree(ID), evidence: in_zone("us-east-1a") };
    let volume = PodVolume { name: "data".to_owned(), source: PodVolumeSource::Inline(inline) };
    let pod = PodQuestion {
        pod: "shop/web-0".to_owned(),
        volumes: vec![volume],
        topologies: Vec::new(),
        required_drivers: Vec::new(),
    };
    let verdicts = filter(&pod, &classes(&[place("", &[EBS])], &[(0, &[AttachHeadroom::Unlimited])]));
    let [verdict] = verdicts.classes.as_slice() else { panic!("one class gets one verdict: {verdicts:?}") };
    assert_eq!((verdict.decision, code(&verdicts, verdict)), (ClassDecision::Unresolvable, "unlabelled-node"));
}

#[test]
fn b_3_admission_refuses_what_its_own_rule_rejects() {
    let review = |id: &str| {
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"operation":"CREATE","kind":{{"group":"","version":"v1","kind":"PersistentVolume"}},"object":{{"metadata":{{"name":"pv-1"}},"spec":{{"awsElasticBlockStore":{{"volumeID":"{id}"}}}}}}}}}}"#
        )
    };
    let ask = |id: &str| {
        let answer = EbsStrict::answer(&strict(), &review(id), &[in_zone("us-east-1a")], &nodes()).expect("a review");
        (answer.allowed, answer.reason.code)
    };
    assert_eq!(ask("vol-1234"), (false, "not-askable".to_owned()));
    assert_eq!(ask(ID), (true, "zone-from-ec2".to_owned()));
}
