//! A double of the cloud controller's node loop: it deletes Nodes that are not ready and whose instance is gone, and taints those
//! whose instance is stopped.

use std::time::Duration;

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Node;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::json;
use tokio::time::sleep;
use zonewarden_ec2_double::InstanceState;

use crate::account::Account;
use crate::background::Background;

/// The Nodes with this label are looked after; the others belong to a cluster without a cloud controller.
pub const LABEL: &str = "test.zonewarden.io/cloud-controller";
/// How often it looks.
const PERIOD: Duration = Duration::from_secs(5);
const SHUTDOWN_TAINT: &str = "node.cloudprovider.kubernetes.io/shutdown";

/// Starts the loop.
#[must_use]
pub fn start(client: Client, account: Account) -> Background {
    Background::spawn(async move {
        let nodes = Api::<Node>::all(client);
        loop {
            sleep(PERIOD).await;
            if let Err(error) = look_after(&nodes, &account).await {
                tracing::debug!("the cloud controller: {error:#}");
            }
        }
    })
}

async fn look_after(nodes: &Api<Node>, account: &Account) -> Result<()> {
    for node in nodes.list(&ListParams::default().labels(LABEL)).await? {
        if is_ready(&node) {
            continue;
        }
        let provider_id = node.spec.as_ref().and_then(|spec| spec.provider_id.as_deref());
        let instance = provider_id.and_then(|id| id.rsplit('/').next()).context("the Node has a provider id")?;
        match account.state(instance) {
            None | Some(InstanceState::Terminated) => {
                nodes.delete(&node.name_any(), &DeleteParams::default()).await?;
            }
            Some(InstanceState::Stopped) => taint(nodes, &node).await?,
            Some(_) => {}
        }
    }
    Ok(())
}

fn is_ready(node: &Node) -> bool {
    let mut conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

async fn taint(nodes: &Api<Node>, node: &Node) -> Result<()> {
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    if taints.clone().any(|taint| taint.key == SHUTDOWN_TAINT) {
        return Ok(());
    }
    // The key is what strategic merging goes by: the other taints stay.
    let patch = json!({"spec": {"taints": [{"key": SHUTDOWN_TAINT, "effect": "NoSchedule"}]}});
    nodes.patch(&node.name_any(), &PatchParams::default(), &Patch::Strategic(patch)).await?;
    Ok(())
}
