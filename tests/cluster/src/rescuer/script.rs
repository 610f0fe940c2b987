//! What an administrator might write in an afternoon: every second, ask EC2, believe it, and clear up after the dead.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::storage::v1::VolumeAttachment;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::json;
use tokio::time::sleep;

use crate::background::Background;
use crate::fleet::DRIVER;
use crate::http_get::post_form;

const PERIOD: Duration = Duration::from_secs(1);
/// Where the external attacher notes the instance that it attached to.
const NODE_ID: &str = "csi.alpha.kubernetes.io/node-id";

/// Starts it.
pub(super) fn start(client: Client, ec2: SocketAddr) -> Background {
    Background::spawn(async move {
        let script = Script { client, ec2 };
        loop {
            sleep(PERIOD).await;
            if let Err(error) = script.look().await {
                tracing::debug!("the script: {error:#}");
            }
        }
    })
}

struct Script {
    client: Client,
    ec2: SocketAddr,
}

impl Script {
    async fn look(&self) -> Result<()> {
        let nodes = Api::<Node>::all(self.client.clone()).list(&ListParams::default()).await?;
        let attachments = Api::<VolumeAttachment>::all(self.client.clone()).list(&ListParams::default()).await?;
        // An attachment tells the instance of a Node that is gone.
        let mut instances: BTreeMap<String, String> = attachments
            .iter()
            .filter_map(|attachment| {
                Some((attachment.annotations().get(NODE_ID)?.clone(), attachment.spec.node_name.clone()))
            })
            .collect();
        instances.extend(nodes.iter().filter_map(|node| {
            let provider_id = node.spec.as_ref()?.provider_id.as_deref()?;
            Some((provider_id.rsplit('/').next()?.to_owned(), node.name_any()))
        }));
        let states = self.states(&instances).await?;
        for (instance, node) in &instances {
            if states.get(instance).is_some_and(|state| state == "terminated") {
                let found = nodes.iter().find(|found| found.name_any() == *node);
                self.clear_up(node, found, &attachments.items).await?;
            }
        }
        self.heal(&attachments.items).await
    }

    /// Taint, pods, and where the Node is gone the attachments too.
    async fn clear_up(&self, name: &str, node: Option<&Node>, attachments: &[VolumeAttachment]) -> Result<()> {
        if let Some(node) = node {
            let taint =
                json!({"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"});
            let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
            if !taints.clone().any(|there| there.key == "node.kubernetes.io/out-of-service") {
                let patch = Patch::Strategic(json!({"spec": {"taints": [taint]}}));
                Api::<Node>::all(self.client.clone()).patch(name, &PatchParams::default(), &patch).await?;
            }
        }
        let bound = ListParams::default().fields(&format!("spec.nodeName={name}"));
        for pod in Api::<Pod>::all(self.client.clone()).list(&bound).await? {
            let pods = Api::<Pod>::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
            pods.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await?;
        }
        if node.is_none() {
            for attachment in attachments.iter().filter(|attachment| attachment.spec.node_name == name) {
                self.delete_attachment(attachment).await?;
            }
        }
        Ok(())
    }

    /// Attachments that EC2 knows nothing of, where a pod on the Node waits.
    async fn heal(&self, attachments: &[VolumeAttachment]) -> Result<()> {
        for attachment in attachments.iter().filter(|attachment| attachment.metadata.deletion_timestamp.is_none()) {
            let told = attachment.status.as_ref().is_some_and(|status| status.attached);
            let volume = attachment.spec.source.persistent_volume_name.clone().unwrap_or_default();
            if told
                && attachment.spec.attacher == DRIVER
                && self.is_free(&volume).await?
                && self.pod_waits(attachment).await?
            {
                self.delete_attachment(attachment).await?;
            }
        }
        Ok(())
    }

    async fn pod_waits(&self, attachment: &VolumeAttachment) -> Result<bool> {
        let bound = ListParams::default().fields(&format!("spec.nodeName={}", attachment.spec.node_name));
        let pods = Api::<Pod>::all(self.client.clone()).list(&bound).await?;
        let mut phases = pods.iter().filter_map(|pod| pod.status.as_ref()?.phase.as_deref());
        Ok(phases.any(|phase| phase == "Pending"))
    }

    async fn delete_attachment(&self, attachment: &VolumeAttachment) -> Result<()> {
        if attachment.metadata.deletion_timestamp.is_none() {
            let attachments = Api::<VolumeAttachment>::all(self.client.clone());
            attachments.delete(&attachment.name_any(), &DeleteParams::default()).await?;
        }
        Ok(())
    }

    async fn is_free(&self, volume: &str) -> Result<bool> {
        use k8s_openapi::api::core::v1::PersistentVolume;
        let found = Api::<PersistentVolume>::all(self.client.clone()).get(volume).await?;
        let source = found.spec.and_then(|spec| spec.csi);
        let handle = source.map(|source| source.volume_handle).unwrap_or_default();
        let (status, body) = self.ask(&format!("Action=DescribeVolumes&VolumeId.1={handle}")).await?;
        Ok(status == 200 && body.contains("<status>available</status>"))
    }

    /// The states of instances, as far as the answer tells them.
    async fn states(&self, instances: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>> {
        let ids = instances.keys().enumerate().map(|(index, id)| format!("&InstanceId.{}={id}", index + 1));
        let (status, body) = self.ask(&format!("Action=DescribeInstances{}", ids.collect::<String>())).await?;
        ensure!(status == 200, "EC2 says {status}: {body}");
        let items = body.split("<instanceId>").skip(1);
        let state = |item: &str| {
            let id = item.split('<').next()?.to_owned();
            let state = item.split("<instanceState>").nth(1)?.split("<name>").nth(1)?.split('<').next()?;
            Some((id, state.to_owned()))
        };
        Ok(items.filter_map(state).collect())
    }

    async fn ask(&self, question: &str) -> Result<(u16, String)> {
        post_form(self.ec2, &format!("{question}&Version=2016-11-15")).await
    }
}
