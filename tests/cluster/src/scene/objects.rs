//! The objects of a scene, as an administrator would write them.

use serde_json::{Value, json};

use crate::fleet::DRIVER;

/// The class of all claims.
const STORAGE_CLASS: &str = "ebs";
/// The label that all machines of one scene have.
pub const SCENE_LABEL: &str = "test.zonewarden.io/scene";

/// What every world has.
pub(crate) fn of_cluster() -> [Value; 2] {
    let driver = json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {"attachRequired": true, "podInfoOnMount": false},
    });
    let class = json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": STORAGE_CLASS},
        "provisioner": DRIVER,
        "volumeBindingMode": "Immediate",
    });
    [driver, class]
}

pub(super) fn namespace(scene: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": scene}})
}

/// A volume that is there already, for one claim.
pub(super) fn volume(scene: &str, workload: &str, handle: &str, zone: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume_name(scene, workload)},
        "spec": {
            "capacity": {"storage": "20Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": STORAGE_CLASS,
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": scene, "name": workload},
            "csi": {"driver": DRIVER, "volumeHandle": handle, "fsType": "ext4"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{
                "matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}],
            }]}},
        },
    })
}

pub(super) fn volume_name(scene: &str, workload: &str) -> String {
    format!("{scene}-{workload}")
}

pub(super) fn claim(scene: &str, workload: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": scene, "name": workload},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": STORAGE_CLASS,
            "volumeName": volume_name(scene, workload),
            "resources": {"requests": {"storage": "20Gi"}},
        },
    })
}

/// One replica on the scene's machines, or on one of them.
pub(super) fn stateful_set(scene: &str, workload: &str, node: Option<&str>) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"namespace": scene, "name": workload},
        "spec": {
            "serviceName": workload,
            "replicas": 1,
            "selector": {"matchLabels": {"app": workload}},
            "template": {"metadata": {"labels": {"app": workload}}, "spec": pod_spec(scene, workload, node)},
        },
    })
}

/// A pod of its own with the claim of a workload.
pub(super) fn pod(scene: &str, name: &str, workload: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": scene, "name": name},
        "spec": pod_spec(scene, workload, Some(node)),
    })
}

fn pod_spec(scene: &str, claim: &str, node: Option<&str>) -> Value {
    let mut selector = json!({SCENE_LABEL: scene});
    if let Some(node) = node {
        selector["kubernetes.io/hostname"] = json!(node);
    }
    json!({
        "nodeSelector": selector,
        "containers": [{
            "name": "main",
            "image": "registry.k8s.io/pause:3.10",
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        }],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}],
    })
}
