//! What a kubelet says of itself and of its pods.

use anyhow::Result;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::{Machine, State};

/// The status that a Node is registered with.
pub(super) fn of_node(machine: &Machine) -> Value {
    let resources = json!({"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"});
    json!({
        "capacity": resources,
        "allocatable": resources,
        "addresses": [
            {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "Hostname", "address": machine.node},
        ],
        "conditions": [ready(true)],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": machine.instance,
            "containerRuntimeVersion": "containerd://2.1.0",
            "kernelVersion": "6.12.0",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.37.2",
            "machineID": machine.instance,
            "operatingSystem": "linux",
            "osImage": "Amazon Linux 2023",
            "systemUUID": machine.instance,
        },
    })
}

fn ready(is_ready: bool) -> Value {
    let now = Time(Timestamp::now());
    let (status, reason, message) = match is_ready {
        true => ("True", "KubeletReady", "kubelet is posting ready status"),
        false => ("False", "KubeletNotReady", "container runtime is down"),
    };
    json!({
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    })
}

impl State {
    /// Says whether the machine is ready where the Node says anything else.
    pub(super) async fn report_ready(&self, node: &Node, is_ready: bool) -> Result<()> {
        let told = if is_ready { "True" } else { "False" };
        let mut conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
        if conditions.any(|condition| condition.type_ == "Ready" && condition.status == told) {
            return Ok(());
        }
        self.patch_node_status(json!({"conditions": [ready(is_ready)]})).await
    }

    pub(super) async fn patch_node_status(&self, status: Value) -> Result<()> {
        let nodes = Api::<Node>::all(self.fleet.client.clone());
        let patch = Patch::Strategic(json!({"status": status}));
        nodes.patch_status(&self.machine.node, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// The pod's containers wait for its volumes.
    pub(super) async fn report_waiting(&self, pod: &Pod) -> Result<()> {
        let state = json!({"waiting": {"reason": "ContainerCreating"}});
        self.patch_pod_status(
            pod,
            json!({
                "phase": "Pending",
                "startTime": Time(Timestamp::now()),
                "conditions": [
                    {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
                    {"type": "ContainersReady", "status": "False", "reason": "ContainersNotReady"},
                ],
                "containerStatuses": containers(pod, false, &state),
            }),
        )
        .await
    }

    /// The pod's containers run.
    pub(super) async fn report_running(&self, pod: &Pod) -> Result<()> {
        let state = json!({"running": {"startedAt": Time(Timestamp::now())}});
        self.patch_pod_status(
            pod,
            json!({
                "phase": "Running",
                "podIP": "10.1.0.1",
                "conditions": [
                    {"type": "Initialized", "status": "True"},
                    {"type": "Ready", "status": "True", "reason": null},
                    {"type": "ContainersReady", "status": "True", "reason": null},
                ],
                "containerStatuses": containers(pod, true, &state),
            }),
        )
        .await
    }

    /// The uid goes with it: a pod of the same name that came since is another one.
    async fn patch_pod_status(&self, pod: &Pod, status: Value) -> Result<()> {
        let (namespace, name) = (pod.metadata.namespace.as_deref(), pod.metadata.name.as_deref());
        let pods = Api::<Pod>::namespaced(self.fleet.client.clone(), namespace.unwrap_or_default());
        let patch = Patch::Strategic(json!({"metadata": {"uid": pod.metadata.uid}, "status": status}));
        pods.patch_status(name.unwrap_or_default(), &PatchParams::default(), &patch).await?;
        Ok(())
    }
}

fn containers(pod: &Pod, runs: bool, state: &Value) -> Vec<Value> {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let status = containers.map(|container| {
        json!({
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": runs,
            "started": runs,
            "restartCount": 0,
            // Of the three kinds of state one is set; the others are taken off.
            "state": {"waiting": state.get("waiting"), "running": state.get("running"), "terminated": null},
        })
    });
    status.collect()
}
