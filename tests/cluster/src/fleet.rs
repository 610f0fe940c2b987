//! What all machines of one world share: one set of watches, so that fifty kubelets cost the API server no more than one.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod};
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

use crate::background::Background;
use crate::waiting::wait_until;

/// The CSI driver of EBS.
pub const DRIVER: &str = "ebs.csi.aws.com";

/// The block devices that machines see.
pub trait Disks: Send + Sync {
    /// Whether the machine sees the volume's device.
    fn sees(&self, instance: &str, volume: &str) -> bool;
    /// The machine has mounted the volume, or unmounted it.
    fn set_mounted(&self, instance: &str, volume: &str, mounted: bool);
}

/// The API server as the kubelets see it.
pub struct Fleet {
    pub(crate) client: Client,
    pub(crate) disks: Arc<dyn Disks>,
    pods: Store<Pod>,
    nodes: Store<Node>,
    claims: Store<PersistentVolumeClaim>,
    volumes: Store<PersistentVolume>,
    _watches: [Background; 4],
}

impl Fleet {
    /// Starts the watches and waits until they have seen everything once.
    ///
    /// # Errors
    /// Where the API server does not answer.
    pub async fn start(client: Client, disks: Arc<dyn Disks>) -> Result<Arc<Self>> {
        let (pods, pod_watch) = mirror(&client);
        let (nodes, node_watch) = mirror(&client);
        let (claims, claim_watch) = mirror(&client);
        let (volumes, volume_watch) = mirror(&client);
        wait_until("the kubelets' watches have begun", Duration::from_secs(30), async || {
            pods.wait_until_ready().await?;
            nodes.wait_until_ready().await?;
            claims.wait_until_ready().await?;
            Ok(volumes.wait_until_ready().await?)
        })
        .await?;
        let watches = [pod_watch, node_watch, claim_watch, volume_watch];
        Ok(Arc::new(Self { client, disks, pods, nodes, claims, volumes, _watches: watches }))
    }

    pub(crate) fn node(&self, name: &str) -> Option<Arc<Node>> {
        self.nodes.get(&ObjectRef::new(name))
    }

    pub(crate) fn pods_on(&self, node: &str) -> Vec<Arc<Pod>> {
        self.pods.state_filter(|pod| {
            pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|bound| bound == node)
        })
    }

    /// The EBS volumes that a pod mounts.
    pub(crate) fn volumes_of(&self, pod: &Pod) -> Result<Vec<String>> {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let sources = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        let claims = sources.filter_map(|source| source.persistent_volume_claim.as_ref());
        claims.map(|claim| self.handle_of(namespace, &claim.claim_name)).collect()
    }

    fn handle_of(&self, namespace: &str, claim: &str) -> Result<String> {
        let found = self.claims.get(&ObjectRef::new(claim).within(namespace));
        let found = found.with_context(|| format!("there is no claim {namespace}/{claim}"))?;
        let volume = found.spec.as_ref().and_then(|spec| spec.volume_name.as_deref());
        let volume = volume.with_context(|| format!("the claim {namespace}/{claim} is not bound"))?;
        let found = self.volumes.get(&ObjectRef::new(volume));
        let found = found.with_context(|| format!("there is no PersistentVolume {volume}"))?;
        let source = found.spec.as_ref().and_then(|spec| spec.csi.as_ref());
        let source = source.with_context(|| format!("the PersistentVolume {volume} has no CSI source"))?;
        ensure!(source.driver == DRIVER, "the PersistentVolume {volume} belongs to {}", source.driver);
        Ok(source.volume_handle.clone())
    }
}

fn mirror<K>(client: &Client) -> (Store<K>, Background)
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    let (reader, writer) = reflector::store();
    let events = watcher(Api::all(client.clone()), watcher::Config::default()).default_backoff().reflect(writer);
    (reader, Background::spawn(events.for_each(|_| std::future::ready(()))))
}
