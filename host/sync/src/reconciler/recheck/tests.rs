//! The last look before pods are deleted by force.

use std::time::Duration;

use zonewarden_cluster::{Kind, Object, parse};
use zonewarden_contract::types::{AwsVolumeId, Setting};
use zonewarden_engine::{ConfiguredPolicy, Engine};

use super::*;
use crate::clock::Moment;
use crate::leases::{LeaseRead, LeaseReads};
use crate::options::Options;
use crate::rails::switch::Rails;

const EBS: &str = "ebs.csi.aws.com";
const RENAMED: &str = "ebs.example.com";
const OTHER: &str = "other.example.com";

fn policy(driver: &str) -> ConfiguredPolicy {
    let engine = Engine::new(&zonewarden_engine::Options::default()).expect("an engine");
    let settings = vec![Setting { key: "csi-driver".to_owned(), value: driver.to_owned() }];
    let policy = engine.load(zonewarden_artifacts::EBS_COMPONENT).expect("a policy");
    policy.with_settings(settings).expect("good settings")
}

fn name(node: &str) -> NodeName {
    NodeName { node_name: node.to_owned() }
}

fn at(seconds: u64) -> Now {
    Now { moment: Moment(Duration::from_secs(seconds)), calendar: Timestamp::UNIX_EPOCH }
}

/// A host to which the kubelet of node-1 is silent, and another's is not.
fn mk_reconciler(policy: ConfiguredPolicy) -> Reconciler {
    let mut reconciler = Reconciler::new(policy, Options::default());
    let read = |second: i64| {
        let renewed = Timestamp::from_second(second).ok();
        Some(LeaseRead { uid: "lease".to_owned(), renewed, duration_seconds: Some(40) })
    };
    for second in (0..=30).step_by(10) {
        let reads = LeaseReads::from([(name("node-1"), read(0)), (name("node-2"), read(second))]);
        let moment = Moment(Duration::from_secs(second.unsigned_abs()));
        reconciler.take_leases(Some(&reads), moment);
    }
    reconciler
}

/// What is read afresh: a tainted Node with one pod, and the instances that its texts name.
fn mk_fresh(provider_id: &str, drivers: &[(&str, &str)]) -> Index {
    let registered: Vec<String> = drivers
        .iter()
        .map(|(driver, instance)| format!("{{name: {driver}, nodeID: {instance}, topologyKeys: []}}"))
        .collect();
    let text = format!(
        "
apiVersion: v1
kind: Node
metadata: {{name: node-1, uid: node-uid, annotations: {{zonewarden.io/out-of-service-taint: node-uid}}}}
spec: {{providerID: '{provider_id}', taints: [{{key: node.kubernetes.io/out-of-service, value: nodeshutdown, effect: NoExecute}}]}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{name: node-1}}
spec: {{drivers: [{}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web-0, namespace: default, uid: pod-uid, resourceVersion: '7'}}
spec: {{nodeName: node-1, containers: []}}
status: {{phase: Running}}
",
        registered.join(", ")
    );
    let loaded = parse(text.as_bytes(), "fresh.yaml");
    assert_eq!(loaded.problems, []);
    let mut fresh = loaded.index;
    if provider_id.is_empty() {
        let node = fresh.node("node-1").cloned().expect("it was just read");
        drop(fresh.apply(Object::Node(Node { provider_id: None, ..node })));
    }
    if drivers.is_empty() {
        fresh.delete(Kind::CsiNode, &ObjectName::new("", "node-1"));
    }
    fresh
}

fn force_delete() -> Act {
    let pair = (AwsVolumeId { aws_volume_id: "vol-1".to_owned() }, InstanceId { instance_id: "i-1".to_owned() });
    let deed = Deed::Pair {
        remedy: Remedy::ForceDeletePods,
        attachment: ObjectName::new("", "csi-1"),
        uid: "va-uid".to_owned(),
        pair,
        node: name("node-1"),
        node_uid: Some("node-uid".to_owned()),
    };
    let reason = Reason { code: "instance-dead".to_owned(), message: "dead".to_owned() };
    Act { deed, reason, regarding: Vec::new() }
}

#[test]
fn pods_are_not_deleted_where_any_text_of_the_node_names_another_instance() {
    let delete = Ok(Some(Write::DeletePod {
        pod: ObjectName::new("default", "web-0"),
        precondition: Precondition { uid: "pod-uid".to_owned(), resource_version: "7".to_owned() },
    }));
    let other = Err(Withheld("other-instance"));
    let old = "aws:///us-east-1a/i-1";
    let cases = [
        ("both texts name it", old, &[(EBS, "i-1")][..], &delete),
        ("the CSINode names another", old, &[(EBS, "i-2")], &other),
        ("the CSINode names one whose id begins alike", old, &[(EBS, "i-12")], &other),
        ("the provider id names another", "aws:///us-east-1a/i-2", &[(EBS, "i-1")], &other),
        ("there is no CSINode", old, &[], &delete),
        ("there is no provider id", "", &[(EBS, "i-1")], &delete),
        ("nothing names any", "", &[], &other),
        ("a driver that is not the policy's says nothing of it", old, &[(OTHER, "i-2")], &delete),
        ("a driver that is not the policy's can't vouch for it", "", &[(OTHER, "i-1")], &other),
    ];
    let mut reconciler = mk_reconciler(policy(EBS));
    for (what, provider_id, drivers, wanted) in cases {
        let fresh = mk_fresh(provider_id, drivers);
        assert_eq!(reconciler.next_write(&fresh, &force_delete(), &BTreeSet::new(), at(30)), *wanted, "{what}");
    }
    // Without the rail the new machine's pod would be gone.
    reconciler.rails = Rails::without(Rail::SameInstance);
    let fresh = mk_fresh(old, &[(EBS, "i-2")]);
    assert_eq!(reconciler.next_write(&fresh, &force_delete(), &BTreeSet::new(), at(30)), delete);
}

#[test]
fn d_45_the_renamed_driver_s_node_id_counts_and_the_usual_one_s_does_not() {
    let reconciler = mk_reconciler(policy(RENAMED));
    let ask = |drivers: &[(&str, &str)]| {
        let fresh = mk_fresh("aws:///us-east-1a/i-1", drivers);
        reconciler.next_write(&fresh, &force_delete(), &BTreeSet::new(), at(30)).map(|write| write.is_some())
    };
    assert_eq!(ask(&[(EBS, "i-2"), (RENAMED, "i-1")]), Ok(true));
    assert_eq!(ask(&[(EBS, "i-1"), (RENAMED, "i-2")]), Err(Withheld("other-instance")));
}
