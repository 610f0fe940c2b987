//! What kubectl prints.

use std::io;

use serde_json::{Map, Value, json};

use super::{
    Size, instance_id, is_in_tree, is_terminated, is_waiting, node_name, node_of_volume, persistent_volume_name,
    volume_id, zone,
};

const DRIVER: &str = "ebs.csi.aws.com";
const CREATED: &str = "2026-11-03T09:11:20Z";

/// The object of this number in a list of the API server: the resource is as in its path. `None` behind the last one.
pub(super) fn numbered(size: Size, resource: &str, number: usize) -> Option<Value> {
    let (count, object, manager): (usize, &dyn Fn(Size, usize) -> Value, &str) = match resource {
        "persistentvolumes" => (size.volumes, &persistent_volume, "csi-provisioner"),
        "persistentvolumeclaims" => (size.volumes, &|_, number| claim(number), "kube-controller-manager"),
        "pods" => (size.pods, &pod, "kubelet"),
        "nodes" => (size.nodes, &node, "kubelet"),
        "volumeattachments" => (size.volumes, &volume_attachment, "csi-attacher"),
        "csinodes" => (size.nodes, &|_, number| csi_node(number), "kubelet"),
        "storageclasses" => (1, &|_, _| storage_class(), "kubectl"),
        "csidrivers" => (1, &|_, _| csi_driver(), "kubectl"),
        _ => return None,
    };
    (number < count).then(|| managed(object(size, number), manager))
}

/// Every object, kind by kind.
pub(super) fn all(size: Size, write: &mut dyn FnMut(Value) -> io::Result<()>) -> io::Result<()> {
    for volume in 0..size.volumes {
        write(managed(persistent_volume(size, volume), "csi-provisioner"))?;
    }
    for volume in 0..size.volumes {
        write(managed(claim(volume), "kube-controller-manager"))?;
    }
    for pod in 0..size.pods {
        write(managed(self::pod(size, pod), "kubelet"))?;
    }
    for node in 0..size.nodes {
        write(managed(self::node(size, node), "kubelet"))?;
    }
    for volume in (0..size.volumes).filter(|volume| !is_waiting(*volume)) {
        write(managed(volume_attachment(size, volume), "csi-attacher"))?;
    }
    for node in 0..size.nodes {
        write(managed(csi_node(node), "kubelet"))?;
    }
    write(storage_class())?;
    write(csi_driver())
}

fn storage_class() -> Value {
    json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "gp3", "uid": "sc-1" },
            "provisioner": DRIVER, "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer" })
}

fn csi_driver() -> Value {
    json!({ "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": { "name": DRIVER, "uid": "cd-1" },
            "spec": { "attachRequired": true, "podInfoOnMount": false } })
}

/// Gives an object managedFields, as `kubectl --show-managed-fields` prints them: of one manager, which owns all that is there.
fn managed(mut object: Value, manager: &str) -> Value {
    let fields: Map<String, Value> = ["metadata", "spec", "status"]
        .iter()
        .filter(|part| object.get(**part).is_some())
        .map(|part| (format!("f:{part}"), owned(&object[*part])))
        .collect();
    let entry = json!({ "apiVersion": object["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": manager,
                        "operation": "Update", "time": CREATED });
    object["metadata"]["managedFields"] = json!([entry]);
    object
}

fn owned(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| (format!("f:{key}"), owned(value))).collect(),
        _ => json!({}),
    }
}

fn namespace(number: usize) -> String {
    format!("team-{}", number % 40)
}

fn uid(kind: usize, number: usize) -> String {
    format!("{kind:08x}-6c1e-4f0a-9d27-{number:012x}")
}

fn persistent_volume(size: Size, number: usize) -> Value {
    let zone = zone(node_of_volume(size, number));
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "20Gi" },
        "claimRef": { "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": format!("data-app-{number}"),
                      "namespace": namespace(number), "resourceVersion": "184296", "uid": uid(2, number) },
        "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "gp3", "volumeMode": "Filesystem",
    });
    if is_in_tree(number) {
        let id = format!("aws://{zone}/{}", volume_id(number));
        spec["awsElasticBlockStore"] = json!({ "fsType": "ext4", "volumeID": id });
    } else {
        spec["csi"] = json!({ "driver": DRIVER, "fsType": "ext4", "volumeHandle": volume_id(number), "volumeAttributes":
            { "storage.kubernetes.io/csiProvisionerIdentity": "1762160000000-4021-ebs.csi.aws.com" } });
        spec["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [
            { "key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone] }] }] } });
    }
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {
            "annotations": { "pv.kubernetes.io/provisioned-by": DRIVER, "volume.kubernetes.io/provisioner-deletion-secret-name": "",
                             "volume.kubernetes.io/provisioner-deletion-secret-namespace": "" },
            "creationTimestamp": CREATED, "finalizers": ["external-provisioner.volume.kubernetes.io/finalizer",
            "kubernetes.io/pv-protection", "external-attacher/ebs-csi-aws-com"],
            "name": persistent_volume_name(number), "resourceVersion": "184259", "uid": uid(1, number),
        },
        "spec": spec,
        "status": { "lastPhaseTransitionTime": CREATED, "phase": "Bound" },
    })
}

fn claim(number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {
            "annotations": { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes",
                             "volume.kubernetes.io/storage-provisioner": DRIVER },
            "creationTimestamp": CREATED, "finalizers": ["kubernetes.io/pvc-protection"],
            "labels": { "app": format!("app-{number}") }, "name": format!("data-app-{number}"),
            "namespace": namespace(number), "resourceVersion": "184301", "uid": uid(2, number),
        },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "20Gi" } },
                  "storageClassName": "gp3", "volumeMode": "Filesystem", "volumeName": persistent_volume_name(number) },
        "status": { "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "20Gi" }, "phase": "Bound" },
    })
}

fn pod(size: Size, number: usize) -> Value {
    let has_claim = number < size.volumes;
    let waits = has_claim && is_waiting(number);
    let node = if has_claim { node_of_volume(size, number) } else { number % size.nodes };
    let token = json!({ "name": "kube-api-access-x7k2p", "projected": { "defaultMode": 420, "sources": [
        { "serviceAccountToken": { "expirationSeconds": 3607, "path": "token" } },
        { "configMap": { "items": [{ "key": "ca.crt", "path": "ca.crt" }], "name": "kube-root-ca.crt" } },
        { "downwardAPI": { "items": [{ "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" },
                                      "path": "namespace" }] } }] } });
    let config = json!({ "configMap": { "defaultMode": 420, "name": "app" }, "name": "config" });
    let data = json!({ "name": "data", "persistentVolumeClaim": { "claimName": format!("data-app-{number}") } });
    let mut spec = json!({
        "containers": [container(has_claim)], "dnsPolicy": "ClusterFirst", "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority", "priority": 0, "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "securityContext": {}, "serviceAccount": "default",
        "serviceAccountName": "default", "terminationGracePeriodSeconds": 30,
        "tolerations": [
            { "effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300 },
            { "effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300 },
        ],
        "volumes": if has_claim { json!([config, data, token]) } else { json!([config, token]) },
    });
    if !waits {
        spec["nodeName"] = json!(node_name(node));
    }
    let name = format!("app-{number}-0");
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "creationTimestamp": CREATED, "generateName": format!("app-{number}-"),
            "labels": { "app": format!("app-{number}"), "apps.kubernetes.io/pod-index": "0",
                        "controller-revision-hash": "app-7c9d6f5b8d", "statefulset.kubernetes.io/pod-name": name },
            "name": name, "namespace": namespace(number),
            "ownerReferences": [{ "apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true,
                                  "kind": "StatefulSet", "name": format!("app-{number}"), "uid": uid(9, number) }],
            "resourceVersion": "184851", "uid": uid(3, number),
        },
        "spec": spec,
        "status": if waits { waiting_status() } else { running_status() },
    })
}

fn container(has_claim: bool) -> Value {
    let variable =
        |name: &str| json!({ "name": name, "valueFrom": { "secretKeyRef": { "key": name, "name": "app" } } });
    let mut mounts = vec![
        json!({ "mountPath": "/etc/app", "name": "config" }),
        json!({ "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access-x7k2p", "readOnly": true }),
    ];
    if has_claim {
        mounts.push(json!({ "mountPath": "/data", "name": "data" }));
    }
    let probe = json!({ "failureThreshold": 3, "httpGet": { "path": "/healthz", "port": 8080, "scheme": "HTTP" },
                        "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1 });
    json!({
        "args": ["--config", "/etc/app/config.yaml", "--listen", ":8080"], "env": [variable("DB_USER"), variable("DB_PASS"),
        { "name": "LOG_LEVEL", "value": "info" }],
        "image": "registry.example.com/shop/app:1.4.2", "imagePullPolicy": "IfNotPresent", "livenessProbe": probe,
        "name": "main", "ports": [{ "containerPort": 8080, "name": "http", "protocol": "TCP" }], "readinessProbe": probe,
        "resources": { "limits": { "memory": "256Mi" }, "requests": { "cpu": "100m", "memory": "128Mi" } },
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "volumeMounts": mounts,
    })
}

fn condition(kind: &str, status: &str) -> Value {
    json!({ "lastProbeTime": null, "lastTransitionTime": CREATED, "status": status, "type": kind })
}

fn waiting_status() -> Value {
    json!({ "conditions": [condition("PodScheduled", "False")], "phase": "Pending", "qosClass": "Burstable" })
}

fn running_status() -> Value {
    json!({
        "conditions": [condition("PodReadyToStartContainers", "True"), condition("Initialized", "True"),
                       condition("Ready", "True"), condition("ContainersReady", "True"), condition("PodScheduled", "True")],
        "containerStatuses": [{
            "containerID": "containerd://9b1f0c5d7e3f4a5b6c7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
            "image": "registry.example.com/shop/app:1.4.2", "imageID": "registry.example.com/shop/app@sha256:0d6f7c1e6a524a52",
            "lastState": {}, "name": "main", "ready": true, "restartCount": 0, "started": true,
            "state": { "running": { "startedAt": CREATED } },
        }],
        "hostIP": "10.0.1.11", "hostIPs": [{ "ip": "10.0.1.11" }], "phase": "Running", "podIP": "10.0.1.12",
        "podIPs": [{ "ip": "10.0.1.12" }], "qosClass": "Burstable", "startTime": CREATED,
    })
}

fn node(size: Size, number: usize) -> Value {
    let (name, zone) = (node_name(number), zone(number));
    let held: Vec<String> = (0..size.volumes)
        .filter(|volume| node_of_volume(size, *volume) == number && !is_waiting(*volume))
        .map(|volume| format!("kubernetes.io/csi/{DRIVER}^{}", volume_id(volume)))
        .collect();
    let attached: Vec<Value> = held.iter().map(|name| json!({ "devicePath": "", "name": name })).collect();
    let ready = if is_terminated(number) { "Unknown" } else { "True" };
    let condition = |kind: &str, status: &str| {
        json!({ "lastHeartbeatTime": CREATED, "lastTransitionTime": CREATED, "message": format!("kubelet reports {kind}"),
                "reason": format!("Kubelet{kind}"), "status": status, "type": kind })
    };
    let image = |number: usize| {
        json!({ "names": [format!("registry.example.com/shop/image-{number}@sha256:0d6f7c1e6a524a529b0e2f6f0c7a1b01"),
                          format!("registry.example.com/shop/image-{number}:1.4.2")], "sizeBytes": 31_873_100 + number })
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "annotations": { "csi.volume.kubernetes.io/nodeid": format!("{{\"{DRIVER}\":\"{}\"}}", instance_id(number)),
                             "node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
            "creationTimestamp": CREATED,
            "labels": {
                "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "m6i.large",
                "topology.ebs.csi.aws.com/zone": zone, "topology.k8s.aws/zone-id": "use1-az6",
                "topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": zone,
            },
            "name": name, "resourceVersion": "184037", "uid": uid(4, number),
        },
        "spec": { "providerID": format!("aws:///{zone}/{}", instance_id(number)) },
        "status": {
            "addresses": [{ "address": "10.0.1.11", "type": "InternalIP" }, { "address": name, "type": "Hostname" }],
            "allocatable": { "cpu": "1930m", "memory": "7031196Ki", "pods": "29" },
            "capacity": { "cpu": "2", "memory": "7734684Ki", "pods": "29" },
            "conditions": [condition("MemoryPressure", "False"), condition("DiskPressure", "False"),
                           condition("PIDPressure", "False"), condition("Ready", ready)],
            "images": (0..50).map(image).collect::<Vec<_>>(),
            "nodeInfo": { "architecture": "amd64", "kubeletVersion": "v1.37.2", "operatingSystem": "linux" },
            "volumesAttached": attached, "volumesInUse": held,
        },
    })
}

fn volume_attachment(size: Size, number: usize) -> Value {
    let node = node_of_volume(size, number);
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
        "metadata": {
            "annotations": { "csi.alpha.kubernetes.io/node-id": instance_id(node) }, "creationTimestamp": CREATED,
            "finalizers": ["external-attacher/ebs-csi-aws-com"],
            "name": format!("csi-99d27017076ce0fb98dd5942f6f17d1a8c2083174ea3b855ca3dc9f5{number:08x}"),
            "resourceVersion": "185147", "uid": uid(5, number),
        },
        "spec": { "attacher": DRIVER, "nodeName": node_name(node),
                  "source": { "persistentVolumeName": persistent_volume_name(number) } },
        "status": { "attached": true, "attachmentMetadata": { "devicePath": "/dev/xvdaa" } },
    })
}

fn csi_node(number: usize) -> Value {
    let driver = json!({ "allocatable": { "count": if number.is_multiple_of(2) { 25 } else { 27 } }, "name": DRIVER,
                         "nodeID": instance_id(number),
                         "topologyKeys": ["kubernetes.io/os", "topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"] });
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
        "metadata": {
            "annotations": { "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/gce-pd" },
            "creationTimestamp": CREATED, "name": node_name(number), "resourceVersion": "185369", "uid": uid(6, number),
        },
        "spec": { "drivers": [driver] },
    })
}
