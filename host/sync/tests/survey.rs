//! One look at small worlds, with the default policy in the engine.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use jiff::Timestamp;
use zonewarden_cluster::{Index, parse};
use zonewarden_contract::attachment::{Drift, Lease, NodeReport, Verdict, VolumeReport};
use zonewarden_contract::types::{Label, Remedy, VolumeEvidence, VolumeFacts, VolumeState, Zone};
use zonewarden_ec2::{Files, Question};
use zonewarden_engine::{ConfiguredPolicy, Engine, Options};
use zonewarden_sync::Survey;

mod survey {
    mod classes;
}

const NOW: &str = "2026-11-10T12:00:00Z";

fn policy() -> ConfiguredPolicy {
    let engine = Engine::new(&Options::default()).unwrap();
    engine.load(zonewarden_artifacts::EBS_COMPONENT).unwrap().with_settings(Vec::new()).unwrap()
}

fn cluster(text: &str) -> Index {
    let loaded = parse(text.as_bytes(), "cluster.yaml");
    assert_eq!(loaded.problems, []);
    loaded.index
}

fn ec2(text: &str) -> Files {
    let loaded = zonewarden_ec2::parse(text.as_bytes(), "ec2.yaml");
    assert_eq!(loaded.problems, []);
    Files { loaded, observed_at: NOW.parse().unwrap() }
}

fn survey<'a>(cluster: &'a Index, policy: &'a ConfiguredPolicy, ec2: &Files) -> Survey<'a> {
    let now: Timestamp = NOW.parse().unwrap();
    Survey::new(cluster, policy, now, |question| ec2.sweep(question)).unwrap()
}

fn mk_node(name: &str, zone: &str, limit: u32) -> String {
    format!(
        "
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}, topology.ebs.csi.aws.com/zone: {zone}, disk: {name}}}}}
spec: {{providerID: 'aws:///{zone}/i-0000000000000{name}'}}
status: {{conditions: [{{type: Ready, status: 'True'}}]}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{name: {name}}}
spec: {{drivers: [{{name: ebs.csi.aws.com, nodeID: i-0000000000000{name}, topologyKeys: [], allocatable: {{count: {limit}}}}}]}}
---"
    )
}

fn mk_claim(name: &str, volume: &str, zone: &str, key: &str) -> String {
    format!(
        "
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  csi: {{driver: ebs.csi.aws.com, volumeHandle: {volume}}}
  claimRef: {{namespace: default, name: {name}}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: {key}, operator: In, values: [{zone}]}}]}}]}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {name}, namespace: default, annotations: {{pv.kubernetes.io/bind-completed: 'yes'}}}}
spec: {{volumeName: {name}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
---"
    )
}

fn mk_pod(name: &str, claim: &str, node: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, uid: {name}}}
spec:
  nodeName: '{node}'
  volumes: [{{name: data, persistentVolumeClaim: {{claimName: {claim}}}}}]
status: {{phase: Pending}}
---"
    )
}

const VOLUME: &str = "vol-0000000000000000a";
const ZONE_KEY: &str = "topology.ebs.csi.aws.com/zone";

#[test]
fn a_policy_is_shown_the_attributes_that_it_reads_and_no_others() {
    let described = "
Volumes:
- VolumeId: vol-0000000000000000a
  State: available
  AvailabilityZone: us-east-1a
  AvailabilityZoneId: use1-az1
  OutpostArn: 'arn:aws:outposts:us-east-1:123456789012:outpost/op-1'
  VolumeType: gp3
";
    let (policy, ec2) = (policy(), ec2(described));
    let cluster = cluster(&mk_claim("data", VOLUME, "us-east-1a", ZONE_KEY));
    let survey = survey(&cluster, &policy, &ec2);
    let label = |key: &str, value: &str| Label { key: key.to_owned(), value: value.to_owned() };
    let shown = VolumeFacts {
        age_seconds: 0,
        state: VolumeState::Available,
        zone: Some(Zone { zone: "us-east-1a".to_owned() }),
        multi_attach: false,
        attributes: vec![
            label("availability-zone-id", "use1-az1"),
            label("outpost-arn", "arn:aws:outposts:us-east-1:123456789012:outpost/op-1"),
        ],
    };
    assert_eq!(survey.evidence(&cluster.volume("data").unwrap().source), VolumeEvidence::Found(shown));
}

#[test]
fn ec2_is_asked_once_and_never_about_an_id_that_it_would_reject() {
    let policy = policy();
    let mut text = mk_node("a01", "us-east-1a", 25);
    text += &mk_claim("good", VOLUME, "us-east-1a", ZONE_KEY);
    text += &mk_claim("twin", VOLUME, "us-east-1a", ZONE_KEY);
    text += &mk_claim("odd", "vol-1234", "us-east-1a", ZONE_KEY);
    let cluster = cluster(&text);
    let mut asked = Question::default();
    let empty = ec2("Volumes: []");
    let now = NOW.parse().unwrap();
    Survey::new(&cluster, &policy, now, |question| {
        asked = question.clone();
        empty.sweep(question)
    })
    .unwrap();
    let volumes: Vec<_> = asked.volumes.iter().map(|volume| volume.aws_volume_id.as_str()).collect();
    let instances: Vec<_> = asked.instances.iter().map(|instance| instance.instance_id.as_str()).collect();
    assert_eq!((volumes, instances), (vec![VOLUME], vec!["i-0000000000000a01"]));
}

const ATTACHED: &str = "
Volumes:
- VolumeId: vol-0000000000000000a
  State: in-use
  AvailabilityZone: us-east-1a
  Attachments: [{InstanceId: i-0000000000000a01, State: attached, AttachTime: '2026-11-10T10:00:00Z'}]
- VolumeId: vol-000000000000000ff
  State: in-use
  AvailabilityZone: us-east-1a
  Attachments: [{InstanceId: i-0000000000000a01, State: attached, AttachTime: '2026-11-10T10:00:00Z'}]
---
Reservations:
- Instances:
  - InstanceId: i-0000000000000a01
    State: {Name: running}
    BlockDeviceMappings: [{DeviceName: /dev/xvdaa, Ebs: {VolumeId: vol-0000000000000000a, Status: attached}}]
";

#[test]
fn an_attachment_that_only_ec2_knows_is_found_and_an_instance_s_own_disk_is_left_alone() {
    let (policy, ec2) = (policy(), ec2(ATTACHED));
    let cluster = cluster(&(mk_node("a01", "us-east-1a", 25) + &mk_claim("data", VOLUME, "us-east-1a", ZONE_KEY)));
    let survey = survey(&cluster, &policy, &ec2);
    let judged = survey.attachments().unwrap();
    assert_eq!(judged.len(), 1);
    assert!(judged[0].attachment.is_none());
    assert_eq!(judged[0].observation.volume.aws_volume_id, VOLUME);
    assert_eq!(judged[0].judgement.verdict, Verdict::Drift(Drift::OrphanAttachment));
    assert_eq!(judged[0].judgement.remedy, Remedy::Event);
}

const ATTACHMENT: &str = "
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, creationTimestamp: '2026-11-10T10:00:00Z', annotations: {csi.alpha.kubernetes.io/node-id: i-0000000000000a01}}
spec: {attacher: ebs.csi.aws.com, nodeName: a01, source: {persistentVolumeName: data}}
status: {attached: true}
---";

#[test]
fn what_no_listing_holds_is_unknown_and_never_gone() {
    let (policy, ec2) = (policy(), ec2("Volumes: []"));
    let text = mk_node("a01", "us-east-1a", 25) + &mk_claim("data", VOLUME, "us-east-1a", ZONE_KEY) + ATTACHMENT;
    let cluster = cluster(&text);
    let survey = survey(&cluster, &policy, &ec2);
    let judged = survey.attachments().unwrap();
    assert_eq!(judged[0].observation.volume_report, VolumeReport::Unknown);
    assert_eq!((&judged[0].judgement.verdict, judged[0].judgement.remedy), (&Verdict::Unknown, Remedy::None));
}

#[test]
fn a_lease_is_held_against_the_newest_of_the_others() {
    let (policy, ec2) = (policy(), ec2(ATTACHED));
    let lease = |name: &str, second: u32| {
        format!(
            "
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {{name: {name}, namespace: kube-node-lease}}
spec: {{renewTime: '2026-11-10T11:59:{second:02}.5Z', leaseDurationSeconds: 40}}
---"
        )
    };
    let world = mk_node("a01", "us-east-1a", 25) + &mk_claim("data", VOLUME, "us-east-1a", ZONE_KEY) + ATTACHMENT;
    for (leases, wanted) in [
        (lease("a01", 40) + &lease("b01", 54), Lease::Renewed),
        (lease("a01", 40) + &lease("b01", 55), Lease::Silent(15)),
        (lease("a01", 55) + &lease("b01", 40), Lease::Renewed),
        (lease("a01", 40), Lease::Unknown),
        (lease("b01", 40), Lease::Unknown),
    ] {
        let cluster = cluster(&(world.clone() + &leases));
        let survey = survey(&cluster, &policy, &ec2);
        let NodeReport::Present(node) = &survey.attachments().unwrap()[0].observation.node else { panic!() };
        assert_eq!(node.lease, wanted, "{leases}");
    }
}
