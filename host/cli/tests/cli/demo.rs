//! `zonewarden check` on the world of examples/demo: what is expected here was read off its files by hand.

use serde_json::{Value, json};

use crate::zonewarden;

mod pods;

const WEB: &str = "pvc-0d6f7c1e-6a52-4a52-9b0e-2f6f0c7a1b01";
const ORDERS: &str = "pvc-1b83f0a2-3c44-4d6e-8a5f-91c2d3e4f502";
const SEARCH: &str = "pvc-2c94a1b3-4d55-4e7f-9b60-a2d3e4f50613";
const QUEUE: &str = "pvc-3da5b2c4-5e66-4f80-8c71-b3e4f5061724";

fn demo() -> Value {
    let run = zonewarden(&["check", "--world", "examples/demo", "-o", "json"]);
    assert_eq!((run.code, &*run.err), (1, ""), "{}", run.out);
    run.report()
}

/// The one object of a section whose field has this value.
fn object(report: &Value, section: &str, field: &str, value: &str) -> Value {
    let objects = report[section].as_array().expect("a section is a list");
    let mut found = objects.iter().filter(|object| object[field] == value);
    let object = found.next().unwrap_or_else(|| panic!("there is no {value} among the {section}"));
    assert!(found.next().is_none(), "there are two {value} among the {section}");
    object.clone()
}

#[test]
fn the_counts_and_the_decider_are_told() {
    let report = demo();
    assert_eq!(
        report["summary"],
        json!({
            "volumes": 9, "volumesWithFindings": 8, "pods": 8, "podsWithFindings": 2,
            "attachments": 6, "attachmentsWithFindings": 4, "problems": 0,
        })
    );
    assert_eq!((&report["policy"]["name"], &report["policy"]["version"]), (&json!("ebs"), &json!("0.1.0")));
    let digest = report["policy"]["digest"].as_str().expect("the digest is a text");
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
    assert_eq!(report["problems"], json!([]));
    assert_eq!(
        crate::volumes(&report),
        ["archive", "backup", "cart-data", "legacy-uploads", WEB, ORDERS, SEARCH, QUEUE, "shared-assets"]
    );
}

#[test]
fn a_volume_without_labels_is_given_those_of_its_zone_and_its_affinity() {
    assert_eq!(
        object(&demo(), "volumes", "persistentVolume", "archive"),
        json!({
            "persistentVolume": "archive",
            "kubernetesVolumeId": "aws://us-east-1a/vol-0a1b2c3d4e5f60718",
            "awsVolumeId": "vol-0a1b2c3d4e5f60718",
            "zone": "us-east-1a",
            "region": "us-east-1",
            "basis": "ec2",
            "state": "in-use",
            "findings": [],
            "proposed": {
                "labels": {"topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": "us-east-1a"},
                "affinity": [[{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}]],
            },
            "reason": {
                "severity": "info",
                "code": "zone-from-ec2",
                "message": "EC2 has volume vol-0a1b2c3d4e5f60718 in zone us-east-1a",
            },
        })
    );
}

#[test]
fn a_volume_of_the_provisioner_keeps_its_affinity_and_gets_labels() {
    let report = demo();
    for (name, zone) in [(WEB, "us-east-1b"), (ORDERS, "us-east-1a"), (SEARCH, "us-east-1c"), (QUEUE, "us-east-1b")] {
        let volume = object(&report, "volumes", "persistentVolume", name);
        let labels = json!({"topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": zone});
        assert_eq!(volume["proposed"], json!({"labels": labels, "affinity": null}), "{name}");
        assert_eq!(volume["findings"], json!([]), "{name}");
    }
}

#[test]
fn a_volume_whose_label_contradicts_ec2_is_told_of_and_left_alone() {
    assert_eq!(
        object(&demo(), "volumes", "persistentVolume", "cart-data"),
        json!({
            "persistentVolume": "cart-data",
            "kubernetesVolumeId": "vol-0c4d5e6f708192a34",
            "awsVolumeId": "vol-0c4d5e6f708192a34",
            "zone": "us-east-1c",
            "region": "us-east-1",
            "basis": "ec2",
            "state": "available",
            "findings": [{
                "severity": "error",
                "code": "zone-mismatch",
                "message": "PersistentVolume cart-data says us-east-1a in label topology.kubernetes.io/zone, but EC2 \
                            has the volume in zone us-east-1c: correct the label",
            }],
            "proposed": {"labels": {}, "affinity": null},
            "reason": {
                "severity": "info",
                "code": "zone-from-ec2",
                "message": "EC2 has volume vol-0c4d5e6f708192a34 in zone us-east-1c",
            },
        })
    );
}

#[test]
fn a_volume_of_another_driver_is_named_and_left_alone() {
    assert_eq!(
        object(&demo(), "volumes", "persistentVolume", "shared-assets"),
        json!({
            "persistentVolume": "shared-assets",
            "kubernetesVolumeId": "fs-0f1e2d3c4b5a69788",
            "awsVolumeId": null,
            "zone": null,
            "region": null,
            "basis": "nothing",
            "state": null,
            "findings": [],
            "proposed": {"labels": {}, "affinity": null},
            "reason": {
                "severity": "info",
                "code": "other-driver",
                "message": "the CSI driver \"efs.csi.aws.com\" is not the one that this policy handles",
            },
        })
    );
}

/// An attachment without its name, whose digits say nothing, and without its reason, which holds an age; the reason
/// names the pair by all its ids.
fn attachment(report: &Value, volume: &str) -> Value {
    let mut attachment = object(report, "attachments", "persistentVolume", volume);
    let fields = attachment.as_object_mut().expect("an attachment is an object");
    let [name, reason] = ["volumeAttachment", "reason"].map(|key| match fields.remove(key) {
        Some(Value::String(text)) => text,
        other => panic!("{key} is no text: {other:?}"),
    });
    for key in ["persistentVolume", "awsVolumeId", "node", "instance"] {
        let value = attachment[key].as_str().expect("it has ids");
        assert!(reason.contains(value) && reason.contains(&name), "{reason} lacks {value} or {name}");
    }
    attachment
}

#[test]
fn each_attachment_has_its_verdict_and_its_remedy() {
    let report = demo();
    let expected = |ids: [&str; 4], verdict: [Option<&str>; 4], severity: &str, code: &str| {
        let [volume, aws, node, instance] = ids;
        let [kind, drift, remedy, escalation] = verdict;
        json!({
            "persistentVolume": volume, "awsVolumeId": aws, "node": format!("ip-10-0-{node}.ec2.internal"),
            "instance": instance, "verdict": kind, "drift": drift, "remedy": remedy, "escalation": escalation,
            "severity": severity, "code": code,
        })
    };
    let in_sync = [Some("in-sync"), None, Some("none"), None];
    let drift = |drift, remedy, escalation| [Some("drift"), Some(drift), Some(remedy), escalation];
    for (ids, verdict, severity, code) in [
        ([WEB, "vol-0b5e21f0a1c2d3e40", "2-21", "i-0b21e5f7091234567"], in_sync, "info", "attached"),
        (["archive", "vol-0a1b2c3d4e5f60718", "1-11", "i-0a11c3d5e7f901234"], in_sync, "info", "attached"),
        // E1: the instance is terminated, its kubelet silent, and its Node still there.
        (
            [ORDERS, "vol-0a77d0c4b1e2f3a51", "1-12", "i-0a12d4e6f80123456"],
            drift("instance-terminated", "add-out-of-service-taint", Some("force-delete-pods")),
            "error",
            "instance-dead",
        ),
        // The volume is attached nowhere, and a pod waits for it.
        (
            [SEARCH, "vol-0c31f2e3d4c5b6a72", "3-31", "i-0c31071b2c3456789"],
            drift("detached-waiting", "delete-detached-attachment", None),
            "error",
            "detached-waiting",
        ),
        // The Node came back under its name as another instance; the old one is stopped, not dead.
        (
            [QUEUE, "vol-0b90a1b2c3d4e5f63", "2-22", "i-0b22000011112222f"],
            drift("same-name-node", "event", None),
            "warning",
            "same-name-node",
        ),
        // The volume is in another zone than the node.
        (
            ["cart-data", "vol-0c4d5e6f708192a34", "1-11", "i-0a11c3d5e7f901234"],
            drift("stuck-attaching", "event", None),
            "warning",
            "attach-not-started",
        ),
    ] {
        assert_eq!(attachment(&report, ids[0]), expected(ids, verdict, severity, code));
    }
}
