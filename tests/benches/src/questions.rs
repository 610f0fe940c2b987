//! The questions, as the contract's JSON: the guest's records and the host's are read from the same texts.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const ZONES: [&str; 3] = ["us-east-1a", "us-east-1b", "us-east-1c"];
const DRIVER: &str = "ebs.csi.aws.com";

/// Reads a question as records.
///
/// # Panics
/// Where the JSON is not what the contract says; the questions here are.
#[must_use]
pub fn read<T: DeserializeOwned>(question: Value) -> T {
    serde_json::from_value(question).expect("the question is the contract's JSON")
}

/// Five settings, as an operator may give them.
#[must_use]
pub fn settings() -> Value {
    let given = [
        ("volume-ids", "lenient"),
        ("csi-driver", DRIVER),
        ("unlabelled-nodes", "auto"),
        ("region-labels", "true"),
        ("quiet-seconds", "300"),
    ];
    given.iter().map(|(key, value)| label(key, value)).collect()
}

/// A pod with this many bound CSI volumes, all in the first zone, as the CSI provisioner makes them and labelled with their
/// zone.
#[must_use]
pub fn pod(volumes: usize) -> Value {
    let volumes: Vec<Value> = (0..volumes).map(pod_volume).collect();
    let topology = json!({ "labels": zone_labels(ZONES[0]), "affinity": affinity(ZONES[0]) });
    let topologies = if volumes.is_empty() { vec![] } else { vec![topology] };
    json!({ "pod": "shop/db-0", "volumes": volumes, "topologies": topologies, "required_drivers": [] })
}

fn pod_volume(number: usize) -> Value {
    let persistent_volume = json!({
        "name": format!("pvc-0d6f7c1e-6a52-4a52-9b0e-2f6f0c7a1b{number:02x}"),
        "source": csi(number),
        "topology": 0,
        "evidence": evidence(ZONES[0]),
    });
    let facts = json!({
        "deleting": false, "lost": false, "owned_by_pod": false, "bind_completed": true,
        "volume": { "Found": persistent_volume },
    });
    json!({ "name": format!("data-{number}"), "source": { "Claim": { "name": format!("data-{number}-db-0"), "ephemeral": false,
                                                                     "state": { "Found": facts } } } })
}

/// This many classes of nodes, zone by zone in turn: each zone is a place with three labels.
#[must_use]
pub fn nodes(classes: usize) -> Value {
    let place = |zone: &&str| {
        json!({
            "labels": [
                label("topology.ebs.csi.aws.com/zone", zone),
                label("topology.kubernetes.io/region", "us-east-1"),
                label("topology.kubernetes.io/zone", zone),
            ],
            "has_csi_node": true,
            "drivers": [DRIVER],
            "migrated_plugins": ["kubernetes.io/aws-ebs"],
        })
    };
    let places: Vec<Value> = ZONES.iter().take(classes).map(place).collect();
    let place_of = |class: usize| class % ZONES.len();
    let headroom = |class: usize| json!({ "Left": 3 - class / ZONES.len() % 4 });
    json!({
        "places": places,
        "classes": (0..classes).map(place_of).collect::<Vec<_>>(),
        "headroom": (0..classes).map(headroom).collect::<Vec<_>>(),
        "ties": [],
    })
}

/// Volumes to identify: in-tree spellings and CSI handles in turn.
#[must_use]
pub fn volumes(count: usize) -> Value {
    let volume = |number: usize| {
        let zone = ZONES[number % ZONES.len()];
        let source = if number.is_multiple_of(2) {
            csi(number)
        } else {
            json!({ "AwsElasticBlockStore": { "kubernetes_volume_id": format!("aws://{zone}/{}", volume_id(number)) } })
        };
        json!({ "source": source, "ec2_zone": null })
    };
    (0..count).map(volume).collect()
}

/// The label sets of a cluster in three zones.
#[must_use]
pub fn topologies() -> Value {
    let topology = |zone: &&str| json!({ "labels": zone_labels(zone) });
    ZONES.iter().map(topology).collect()
}

/// PersistentVolumes to label: every other one lacks everything.
#[must_use]
pub fn persistent_volumes(count: usize) -> Value {
    let volume = |number: usize| {
        let zone = ZONES[number % ZONES.len()];
        let bare = number.is_multiple_of(2);
        json!({
            "persistent_volume": format!("pvc-0d6f7c1e-6a52-4a52-9b0e-2f6f0c7a{number:04x}"),
            "source": csi(number),
            "labels": if bare { json!([]) } else { zone_labels(zone) },
            "owned_labels": [],
            "annotations": [label("pv.kubernetes.io/provisioned-by", DRIVER)],
            "affinity": if bare { json!("Unset") } else { affinity(zone) },
            "evidence": evidence(zone),
            "creating": false,
        })
    };
    (0..count).map(volume).collect()
}

/// Pairs to judge: attached on both sides, but for each tenth, whose instance is terminated.
#[must_use]
pub fn observations(count: usize) -> Value {
    (0..count).map(observation).collect()
}

fn observation(number: usize) -> Value {
    let instance = json!({ "instance_id": format!("i-0fedcba98765{number:05x}") });
    let node = json!({ "node_name": format!("ip-10-0-{}-{}.ec2.internal", number / 250, number % 250) });
    let dead = number % 10 == 9;
    json!({
        "volume": { "aws_volume_id": volume_id(number) },
        "instance": instance,
        "persistent_volume": format!("pvc-0d6f7c1e-6a52-4a52-9b0e-2f6f0c7a{number:04x}"),
        "persistent_volume_missing": false,
        "attach_required": true,
        "attachment": {
            "name": format!("csi-99d27017076ce0fb98dd5942f6f17d1a8c2083174ea3b855ca3dc9f55af2{number:04x}"),
            "node": node, "attached": true, "age_seconds": 4000, "deleting_seconds": null, "attach_error": null,
            "detach_error": null, "detach_error_seconds": 0, "device": "/dev/xvdaa",
        },
        "volume_report": { "Found": {
            "age_seconds": 5, "state": "InUse", "multi_attach": false,
            "attachments": [{ "instance": instance, "holder": "ThisInstance", "state": "Attached", "seconds": 3990,
                              "device": "/dev/xvdaa" }],
            "reads": 60, "consistent_seconds": 3600,
        } },
        "instance_report": { "Found": {
            "age_seconds": 5, "state": if dead { "Terminated" } else { "Running" }, "mapping": "Attached", "reads": 60,
            "consistent_seconds": 3600,
        } },
        "node": { "Present": {
            "age_seconds": 9000, "instance": instance, "ready": !dead,
            "lease": if dead { json!({ "Silent": 300 }) } else { json!("Renewed") }, "taint": "Absent",
            "volume_in_use": true, "volume_attached": true,
        } },
        "usage": { "pods_on_node": 1, "started_on_node": 1, "pods_elsewhere": 0, "unused_seconds": 0, "bound_to_node": 7 },
        "attributes": [],
    })
}

fn label(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": value })
}

fn volume_id(number: usize) -> String {
    format!("vol-0a1b2c3d4e5f{number:05x}")
}

fn csi(number: usize) -> Value {
    json!({ "Csi": { "driver": DRIVER, "volume_handle": { "kubernetes_volume_id": volume_id(number) } } })
}

fn zone_labels(zone: &str) -> Value {
    json!([label("topology.kubernetes.io/region", "us-east-1"), label("topology.kubernetes.io/zone", zone)])
}

fn affinity(zone: &str) -> Value {
    let requirement = json!({ "key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": [zone] });
    json!({ "Required": [{ "requirements": [requirement], "has_match_fields": false }] })
}

fn evidence(zone: &str) -> Value {
    let attributes = json!([label("availability-zone-id", "use1-az1")]);
    json!({ "Found": { "age_seconds": 5, "state": "Available", "zone": { "zone": zone }, "multi_attach": false,
                       "attributes": attributes } })
}
