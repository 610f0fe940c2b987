//! A volume on an instance that is no Node of this cluster, and whose that instance is (D-53, D-54).

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::time::Duration;

use zonewarden_cluster::{Index, ObjectName, Precondition, Write, parse};
use zonewarden_contract::attachment::{Drift, Holder, Judgement, Verdict, VolumeReport};
use zonewarden_contract::types::{Reason, Remedy, Severity};
use zonewarden_ec2::Files;
use zonewarden_engine::{ConfiguredPolicy, Engine, Options};
use zonewarden_sync::{Act, Moment, Now, Reconciler, Scope, Survey, Withheld};

const NOW: &str = "2026-11-10T12:00:00Z";
const STRANGER: &str = "i-0000000000000f01";

/// Loading a policy takes longer than everything that is asked of it here: once for all tests.
fn policy(known: &OnceLock<ConfiguredPolicy>, component: &[u8]) -> ConfiguredPolicy {
    let load = || {
        let engine = Engine::new(&Options::default()).unwrap();
        engine.load(component).unwrap().with_settings(Vec::new()).unwrap()
    };
    known.get_or_init(load).clone()
}

fn ebs() -> ConfiguredPolicy {
    static POLICY: OnceLock<ConfiguredPolicy> = OnceLock::new();
    policy(&POLICY, zonewarden_artifacts::EBS_COMPONENT)
}

fn worst() -> ConfiguredPolicy {
    static POLICY: OnceLock<ConfiguredPolicy> = OnceLock::new();
    policy(&POLICY, zonewarden_artifacts::WORST_COMPONENT)
}

fn cluster(text: &str) -> Index {
    let loaded = parse(text.as_bytes(), "cluster.yaml");
    assert_eq!(loaded.problems, []);
    loaded.index
}

const NODES: [&str; 3] = ["a01", "a02", "a03"];

fn mk_nodes(names: &[&str]) -> String {
    let node = |name: &&str| {
        format!(
            "
apiVersion: v1
kind: Node
metadata: {{name: {name}}}
spec: {{providerID: 'aws:///us-east-1a/i-0000000000000{name}'}}
status: {{conditions: [{{type: Ready, status: 'True'}}]}}
---"
        )
    };
    names.iter().map(node).collect()
}

/// A volume that is attached to Node `a01`, as Kubernetes believes.
const VOLUME: &str = "
apiVersion: v1
kind: PersistentVolume
metadata: {name: data}
spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0000000000000000a}}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata:
  name: csi-1
  uid: csi-1
  resourceVersion: '7'
  creationTimestamp: '2026-11-10T10:00:00Z'
  annotations: {csi.alpha.kubernetes.io/node-id: i-0000000000000a01}
spec: {attacher: ebs.csi.aws.com, nodeName: a01, source: {persistentVolumeName: data}}
status: {attached: true}
---";

/// What EC2 says: the holder of the volume, and each instance with its state and the key of its tag.
fn ec2(holder: &str, instances: &[(&str, &str, &str)]) -> Files {
    let state = if holder.is_empty() { "available" } else { "in-use" };
    let held = if holder.is_empty() { String::new() } else { format!("{{InstanceId: {holder}, State: attached}}") };
    let mut text = format!(
        "Volumes:\n- {{VolumeId: vol-0000000000000000a, State: {state}, AvailabilityZone: us-east-1a, Attachments: [{held}]}}\n---\nReservations:\n- Instances:\n"
    );
    for (id, state, tag) in instances {
        text += &format!("  - {{InstanceId: {id}, State: {{Name: {state}}}, Tags: [{{Key: {tag}, Value: owned}}]}}\n");
    }
    let loaded = zonewarden_ec2::parse(text.as_bytes(), "ec2.yaml");
    assert_eq!(loaded.problems, []);
    Files { loaded, observed_at: NOW.parse().unwrap() }
}

/// The stranger holds the volume. These are the tags of the Nodes' instances, and the stranger's.
fn held_by_a_stranger(nodes: [&str; 3], stranger: &str) -> Files {
    let ids = ["i-0000000000000a01", "i-0000000000000a02", "i-0000000000000a03", STRANGER];
    let tags = nodes.into_iter().chain([stranger]);
    let instances: Vec<_> = ids.into_iter().zip(tags).map(|(id, tag)| (id, "running", tag)).collect();
    ec2(STRANGER, &instances)
}

fn told(code: &str, message: &str) -> Judgement {
    let pair = "volume vol-0000000000000000a (PersistentVolume data), instance i-0000000000000a01, Node a01, \
                VolumeAttachment csi-1";
    Judgement {
        verdict: Verdict::Drift(Drift::AttachedToForeignInstance),
        remedy: Remedy::Event,
        escalation: None,
        severity: Severity::Error,
        reason: Reason { code: code.to_owned(), message: format!("{pair}: {message}") },
    }
}

#[test]
fn d_53_d_54_the_tags_tell_another_cluster_s_instance_from_a_stranger() {
    const GREEN: &str = "kubernetes.io/cluster/green";
    const BLUE: &str = "kubernetes.io/cluster/blue";
    let other = Holder::OtherCluster("blue".to_owned());
    for (nodes, stranger, holder) in [
        ([GREEN; 3], BLUE, other.clone()),
        ([GREEN; 3], "Name", Holder::ForeignInstance),
        ([GREEN; 3], "kubernetes.io/cluster/", Holder::ForeignInstance),
        // An instance of this cluster that is no Node: a bastion, or a Node to be.
        ([GREEN; 3], GREEN, Holder::ForeignInstance),
        // One Node's tag is a mistake.
        ([GREEN, GREEN, BLUE], BLUE, other),
        // Nobody knows what this cluster is called.
        (["Name"; 3], BLUE, Holder::ForeignInstance),
        ([GREEN, BLUE, "Name"], BLUE, Holder::ForeignInstance),
    ] {
        let (policy, cluster) = (ebs(), cluster(&(mk_nodes(&NODES) + VOLUME)));
        let ec2 = held_by_a_stranger(nodes, stranger);
        let survey = Survey::new(&cluster, &policy, NOW.parse().unwrap(), |question| ec2.sweep(question)).unwrap();
        let judged = survey.attachments().unwrap();
        let VolumeReport::Found(volume) = &judged[0].observation.volume_report else { panic!() };
        assert_eq!(volume.attachments[0].holder, holder, "{nodes:?} {stranger}");
        let expected = match holder {
            Holder::OtherCluster(_) => told(
                "attached-to-other-cluster",
                "EC2 has the volume on i-0000000000000f01, which belongs to the cluster \"blue\"; release it there \
                 before this cluster uses it",
            ),
            _ => told(
                "attached-to-foreign-instance",
                "EC2 has the volume on i-0000000000000f01, which is no Node of this cluster; detach it there",
            ),
        };
        assert_eq!(judged[0].judgement, expected, "{nodes:?} {stranger}");
    }
}

#[test]
fn strangers_are_asked_about_once_more_and_only_where_there_are_any() {
    let (policy, cluster) = (ebs(), cluster(&(mk_nodes(&NODES) + VOLUME)));
    for (holder, wanted) in [(STRANGER, vec![3, 1]), ("i-0000000000000a02", vec![3]), ("", vec![3])] {
        let ec2 = ec2(holder, &[]);
        let mut asked = Vec::new();
        Survey::new(&cluster, &policy, NOW.parse().unwrap(), |question| {
            asked.push(question.instances.len());
            ec2.sweep(question)
        })
        .unwrap();
        assert_eq!(asked, wanted, "{holder:?}");
    }
}

/// Everything is asked each second from second 1 on, of what EC2 says at that second.
fn watch(policy: ConfiguredPolicy, cluster: &Index, ec2: impl Fn(u64) -> Files, last: u64) -> Seen {
    watch_with(&mut Reconciler::new(policy, zonewarden_sync::Options::default()), cluster, ec2, 0..=last)
}

fn at(second: u64, millis: u64) -> Now {
    let began: jiff::Timestamp = NOW.parse().unwrap();
    Now {
        moment: Moment(Duration::from_secs(second) + Duration::from_millis(millis)),
        calendar: began + Duration::from_secs(second),
    }
}

fn watch_with(
    reconciler: &mut Reconciler,
    cluster: &Index,
    ec2: impl Fn(u64) -> Files,
    seconds: RangeInclusive<u64>,
) -> Seen {
    let mut seen = Seen::default();
    for second in seconds {
        let now = |millis| at(second, millis);
        let plan = reconciler.look(cluster, now(0)).unwrap();
        let asked_about_it = plan.all.instances.iter().any(|instance| instance.instance_id == STRANGER);
        seen.asked.push(asked_about_it);
        reconciler.take(&plan.all, ec2(second).sweep(&plan.all), now(1).moment);
        for finding in reconciler.judge(cluster, now(2), Scope::Pairs).unwrap().findings {
            seen.codes.push(finding.reason.code);
            seen.acts.extend(finding.acts);
            seen.withheld.extend(finding.withheld);
        }
    }
    seen
}

#[derive(Default)]
struct Seen {
    /// At each second, whether the stranger was asked about.
    asked: Vec<bool>,
    codes: Vec<String>,
    acts: Vec<Act>,
    withheld: BTreeSet<(Remedy, Withheld)>,
}

#[test]
fn d_54_the_live_host_asks_who_holds_a_volume_and_goes_on_knowing_it() {
    let cluster = cluster(&(mk_nodes(&NODES) + VOLUME));
    let ec2 = |second| match second {
        0..5 => held_by_a_stranger(["kubernetes.io/cluster/green"; 3], "kubernetes.io/cluster/blue"),
        // No instance is described any more, for longer than such evidence counts.
        _ => ec2(STRANGER, &[]),
    };
    let seen = watch(ebs(), &cluster, ec2, 60);
    assert_eq!(seen.asked[..4], [false, true, true, true]);
    assert_eq!(seen.codes[0], "attached-to-foreign-instance", "its tags are not known yet");
    assert!(seen.codes[1..].iter().all(|code| code == "attached-to-other-cluster"), "{:?}", seen.codes);
    assert_eq!((seen.acts, seen.withheld), (vec![], BTreeSet::new()));
}

#[test]
fn d_53_d_54_no_policy_can_have_anything_done_about_a_volume_that_is_held_outside() {
    // The Node is gone and its instance dead: all that a VolumeAttachment's deletion needs.
    let (policy, cluster) = (worst(), cluster(&(mk_nodes(&NODES[1..]) + VOLUME)));
    let world = |holder: &str, stranger: &str| {
        let green = "kubernetes.io/cluster/green";
        ec2(
            holder,
            &[
                ("i-0000000000000a01", "terminated", green),
                ("i-0000000000000a02", "running", green),
                ("i-0000000000000a03", "running", green),
                (STRANGER, "running", stranger),
            ],
        )
    };
    let free = watch(policy.clone(), &cluster, |_| world("", "Name"), 20);
    assert!(!free.acts.is_empty(), "{:?}", free.withheld);
    for (tag, code) in [("Name", "held-outside-the-cluster"), ("kubernetes.io/cluster/blue", "held-by-another-cluster")]
    {
        let seen = watch(policy.clone(), &cluster, |_| world(STRANGER, tag), 20);
        assert_eq!(seen.acts, []);
        for remedy in [Remedy::DeleteDeadAttachment, Remedy::ForceDeletePods, Remedy::DeleteLeakedAttachment] {
            assert!(seen.withheld.contains(&(remedy, Withheld(code))), "{remedy:?} {:?}", seen.withheld);
        }
    }
}

/// A volume with Multi-Attach, by the instance that has it, and the Nodes' instances. That of `a01` is dead.
fn shared(holder: &str) -> Files {
    let mut text = format!(
        "Volumes:\n- {{VolumeId: vol-0000000000000000a, State: in-use, MultiAttachEnabled: true, Attachments: [{{InstanceId: {holder}, State: attached}}]}}\n---\nReservations:\n- Instances:\n"
    );
    let tag = |cluster: &str| format!("Tags: [{{Key: kubernetes.io/cluster/{cluster}, Value: owned}}]");
    for (id, state, cluster) in [
        ("a01", "terminated", "green"),
        ("a02", "running", "green"),
        ("a03", "running", "green"),
        ("f01", "running", "blue"),
    ] {
        text += &format!("  - {{InstanceId: i-0000000000000{id}, State: {{Name: {state}}}, {}}}\n", tag(cluster));
    }
    let loaded = zonewarden_ec2::parse(text.as_bytes(), "ec2.yaml");
    assert_eq!(loaded.problems, []);
    Files { loaded, observed_at: NOW.parse().unwrap() }
}

#[test]
fn d_54_d_55_the_last_look_knows_our_own_nodes_from_another_cluster_s() {
    let second = VOLUME.replace("csi-1", "csi-2").replace("a01", "a02");
    let second = second.split_once("---\n").unwrap().1;
    let cluster_with_both = cluster(&(mk_nodes(&NODES[1..]) + VOLUME + "\n" + second));
    let mut reconciler = Reconciler::new(ebs(), zonewarden_sync::Options::default());
    let seen = watch_with(&mut reconciler, &cluster_with_both, |_| shared("i-0000000000000a02"), 0..=20);
    let act = seen.acts.last().unwrap();
    assert_eq!(act.deed.remedy(), Remedy::DeleteDeadAttachment);
    // What is read afresh is what the act is about, and no other Node.
    let fresh = cluster(VOLUME);
    let write = Write::DeleteAttachment {
        attachment: ObjectName::new("", "csi-1"),
        precondition: Precondition { uid: "csi-1".to_owned(), resource_version: "7".to_owned() },
    };
    assert_eq!(reconciler.next_write(&fresh, act, &BTreeSet::new(), at(20, 3)), Ok(Some(write)));
    watch_with(&mut reconciler, &cluster_with_both, |_| shared(STRANGER), 21..=40);
    let withheld = Err(Withheld("held-by-another-cluster"));
    assert_eq!(reconciler.next_write(&fresh, act, &BTreeSet::new(), at(40, 3)), withheld);
}
