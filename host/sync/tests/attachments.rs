//! Which VolumeAttachments are judged, by which driver attaches what.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use zonewarden_cluster::{Index, parse};
use zonewarden_contract::attachment::{NodeReport, Usage, Verdict};
use zonewarden_contract::types::{Remedy, Setting};
use zonewarden_ec2::Files;
use zonewarden_engine::{ConfiguredPolicy, Engine, Options};
use zonewarden_sync::Survey;

const NOW: &str = "2026-11-10T12:00:00Z";
const EBS: &str = "ebs.csi.aws.com";
const RENAMED: &str = "ebs.example.com";
const OTHER: &str = "other.example.com";

const EC2: &str = "
Volumes:
- VolumeId: vol-0000000000000000a
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

fn policy(driver: &str) -> ConfiguredPolicy {
    let engine = Engine::new(&Options::default()).unwrap();
    let settings = vec![Setting { key: "csi-driver".to_owned(), value: driver.to_owned() }];
    engine.load(zonewarden_artifacts::EBS_COMPONENT).unwrap().with_settings(settings).unwrap()
}

fn cluster(parts: &[String]) -> Index {
    let loaded = parse(parts.join("\n---\n").as_bytes(), "cluster.yaml");
    assert_eq!(loaded.problems, []);
    loaded.index
}

/// A Node with a CSI driver, which has the volume in use.
fn mk_node(driver: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Node
metadata: {{name: a01}}
spec: {{providerID: 'aws:///us-east-1a/i-0000000000000a01'}}
status: {{conditions: [{{type: Ready, status: 'True'}}], volumesInUse: ['kubernetes.io/csi/{driver}^vol-0000000000000000a']}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{name: a01}}
spec: {{drivers: [{{name: {driver}, nodeID: i-0000000000000a01, topologyKeys: []}}]}}"
    )
}

fn mk_volume(source: &str) -> String {
    format!("apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: data}}\nspec: {{{source}}}")
}

fn csi(driver: &str) -> String {
    format!("csi: {{driver: {driver}, volumeHandle: vol-0000000000000000a}}")
}

const IN_TREE: &str = "awsElasticBlockStore: {volumeID: 'aws://us-east-1a/vol-0000000000000000a'}";
const BY_NAME: &str = "persistentVolumeName: data";

fn mk_attachment(attacher: &str, source: &str) -> String {
    format!(
        "
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {{name: csi-1, creationTimestamp: '2026-11-10T10:00:00Z', annotations: {{csi.alpha.kubernetes.io/node-id: i-0000000000000a01}}}}
spec: {{attacher: {attacher}, nodeName: a01, source: {{{source}}}}}
status: {{attached: true}}"
    )
}

/// A pod that names the volume itself.
fn mk_pod(name: &str, node: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, uid: {name}}}
spec: {{nodeName: '{node}', volumes: [{{name: data, {IN_TREE}}}]}}
status: {{phase: Running, containerStatuses: [{{name: c, ready: true, restartCount: 0, image: i, imageID: i, started: true, state: {{running: {{}}}}}}]}}"
    )
}

/// What is made of a world: for each VolumeAttachment whether it lists the volume as in use, and the verdict.
fn judged(driver: &str, parts: &[String]) -> Vec<(bool, Verdict)> {
    let (policy, cluster) = (policy(driver), cluster(parts));
    let loaded = zonewarden_ec2::parse(EC2.as_bytes(), "ec2.yaml");
    let ec2 = Files { loaded, observed_at: NOW.parse().unwrap() };
    let survey = Survey::new(&cluster, &policy, NOW.parse().unwrap(), |question| ec2.sweep(question)).unwrap();
    let judged = survey.attachments().unwrap();
    let ours = judged.iter().filter(|pair| pair.attachment.is_some());
    ours.map(|pair| {
        let NodeReport::Present(node) = &pair.observation.node else { panic!("the Node is there") };
        (node.volume_in_use, pair.judgement.verdict)
    })
    .collect()
}

#[test]
fn d_45_an_attachment_belongs_to_its_volume_s_own_driver_and_to_the_driver_of_the_settings() {
    let (mine, other, renamed) = (csi(EBS), csi(OTHER), csi(RENAMED));
    let (in_sync, none): (&[_], &[_]) = (&[(true, Verdict::InSync)], &[]);
    let cases = [
        ("ours", EBS, EBS, mine.as_str(), in_sync),
        ("another driver's attachment of our volume", EBS, OTHER, &mine, none),
        ("another driver's volume", EBS, OTHER, &other, none),
        ("our attachment of another driver's volume", EBS, EBS, &other, none),
        ("the renamed driver, not configured", EBS, RENAMED, &renamed, none),
        ("the renamed driver, configured", RENAMED, RENAMED, &renamed, in_sync),
        ("the usual driver beside the renamed one", RENAMED, EBS, &mine, none),
        ("an in-tree volume, whose attacher is the migration's", EBS, EBS, IN_TREE, in_sync),
        ("an in-tree volume beside the renamed driver", RENAMED, EBS, IN_TREE, in_sync),
    ];
    for (what, configured, attacher, source, wanted) in cases {
        let parts = [mk_node(attacher), mk_volume(source), mk_attachment(attacher, BY_NAME)];
        assert_eq!(judged(configured, &parts), wanted, "{what}");
    }
}

#[test]
fn d_45_a_volume_that_is_gone_concerns_the_driver_of_the_settings_only() {
    for (configured, attacher, wanted) in [(EBS, EBS, 1), (EBS, OTHER, 0), (RENAMED, EBS, 0), (RENAMED, RENAMED, 1)] {
        let parts = [mk_node(attacher), mk_attachment(attacher, BY_NAME)];
        assert_eq!(judged(configured, &parts).len(), wanted, "{configured} {attacher}");
    }
}

#[test]
fn d_45_whether_an_attachment_is_needed_is_asked_of_the_renamed_driver() {
    let driver = format!(
        "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {{name: {RENAMED}}}\nspec: {{attachRequired: false}}"
    );
    let (policy, parts) = (policy(RENAMED), [mk_node(RENAMED), mk_volume(&csi(RENAMED)), driver]);
    let cluster = cluster(&[&parts[..], &[mk_attachment(RENAMED, BY_NAME)]].concat());
    let loaded = zonewarden_ec2::parse(EC2.as_bytes(), "ec2.yaml");
    let ec2 = Files { loaded, observed_at: NOW.parse().unwrap() };
    let survey = Survey::new(&cluster, &policy, NOW.parse().unwrap(), |question| ec2.sweep(question)).unwrap();
    assert!(!survey.attachments().unwrap()[0].observation.attach_required);
}

#[test]
fn d_44_an_inline_volume_is_known_by_its_spec_and_used_by_the_pods_that_name_it() {
    let inline = format!("inlineVolumeSpec: {{{}, accessModes: [ReadWriteOnce]}}", csi(EBS));
    let parts = [mk_node(EBS), mk_attachment(EBS, &inline), mk_pod("here", "a01"), mk_pod("there", "b01")];
    let (policy, cluster) = (policy(EBS), cluster(&parts));
    let loaded = zonewarden_ec2::parse(EC2.as_bytes(), "ec2.yaml");
    let ec2 = Files { loaded, observed_at: NOW.parse().unwrap() };
    let survey = Survey::new(&cluster, &policy, NOW.parse().unwrap(), |question| ec2.sweep(question)).unwrap();
    let judged = survey.attachments().unwrap();
    assert_eq!(judged.len(), 1);
    let observation = &judged[0].observation;
    assert_eq!(observation.volume.aws_volume_id, "vol-0000000000000000a");
    assert_eq!((observation.persistent_volume.as_deref(), observation.persistent_volume_missing), (None, false));
    let used = Usage { pods_on_node: 1, started_on_node: 1, pods_elsewhere: 1, unused_seconds: 0, bound_to_node: 1 };
    assert_eq!(observation.usage, used);
    assert_eq!((judged[0].judgement.verdict, judged[0].judgement.remedy), (Verdict::InSync, Remedy::None));
}
