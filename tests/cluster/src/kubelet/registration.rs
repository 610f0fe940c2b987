//! The Node, the CSINode and the Lease of a kubelet.

use anyhow::{Context as _, Result};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::storage::v1::CSINode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{LEASE_DURATION, State};
use crate::fleet::DRIVER;

/// Where kubelets keep their Leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";
/// Volumes that fit on a machine.
const ATTACH_LIMIT: u32 = 26;

impl State {
    /// Makes the Node, or adopts the one of this name; then the CSINode.
    pub(super) async fn register(&mut self) -> Result<()> {
        let nodes = Api::<Node>::all(self.fleet.client.clone());
        let node = match nodes.create(&PostParams::default(), &parse(self.node())?).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => self.adopt(&nodes).await?,
            made => made?,
        };
        let uid = node.uid().context("a Node of the API server has a uid")?;
        self.register_driver(&uid).await?;
        self.node_uid = Some(uid);
        Ok(())
    }

    /// The labels and the annotations become ours; `spec.providerID` never changes once it is set.
    async fn adopt(&self, nodes: &Api<Node>) -> Result<Node> {
        let ours = self.node();
        let patch = json!({
            "metadata": {"labels": ours["metadata"]["labels"], "annotations": ours["metadata"]["annotations"]},
        });
        nodes.patch(&self.machine.node, &PatchParams::default(), &Patch::Merge(patch)).await?;
        let status = json!({"status": ours["status"]});
        Ok(nodes.patch_status(&self.machine.node, &PatchParams::default(), &Patch::Strategic(status)).await?)
    }

    /// An entry of the driver with another node id can't be changed: a kubelet takes it off and registers the driver afresh. A
    /// CSINode that belongs to an earlier Node is deleted first.
    async fn register_driver(&self, node_uid: &str) -> Result<()> {
        let csi_nodes = Api::<CSINode>::all(self.fleet.client.clone());
        let name = &self.machine.node;
        if let Some(found) = csi_nodes.get_opt(name).await? {
            let is_ours = found.owner_references().iter().any(|owner| owner.uid == node_uid);
            if is_ours {
                let drop_drivers = Patch::Merge(json!({"spec": {"drivers": []}}));
                csi_nodes.patch(name, &PatchParams::default(), &drop_drivers).await?;
                let drivers = Patch::Merge(json!({"spec": {"drivers": [self.driver()]}}));
                csi_nodes.patch(name, &PatchParams::default(), &drivers).await?;
                return Ok(());
            }
            csi_nodes.delete(name, &DeleteParams::default()).await?;
        }
        let csi_node = json!({
            "metadata": {
                "name": name,
                "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"},
                "ownerReferences": [self.owner(node_uid)],
            },
            "spec": {"drivers": [self.driver()]},
        });
        csi_nodes.create(&PostParams::default(), &parse(csi_node)?).await?;
        Ok(())
    }

    /// A Lease that is gone is made again only while the Node is there; a Node that was just registered is.
    pub(super) async fn renew_lease(&self) -> Result<()> {
        let leases = Api::<Lease>::namespaced(self.fleet.client.clone(), LEASE_NAMESPACE);
        let (name, now) = (&self.machine.node, MicroTime(Timestamp::now()));
        let renewal = json!({"spec": {"holderIdentity": name, "renewTime": now}});
        match leases.patch(name, &PatchParams::default(), &Patch::Merge(renewal)).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            renewed => return Ok(renewed.map(|_| ())?),
        }
        let node_is_there = self.renewed.is_none() || self.fleet.node(name).is_some();
        let Some(uid) = self.node_uid.as_ref().filter(|_| node_is_there) else { return Ok(()) };
        let lease = json!({
            "metadata": {"name": name, "ownerReferences": [self.owner(uid)]},
            "spec": {"holderIdentity": name, "renewTime": now, "leaseDurationSeconds": LEASE_DURATION.as_secs()},
        });
        leases.create(&PostParams::default(), &parse(lease)?).await?;
        Ok(())
    }

    fn owner(&self, node_uid: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Node", "name": self.machine.node, "uid": node_uid})
    }

    fn driver(&self) -> Value {
        json!({
            "name": DRIVER,
            "nodeID": self.machine.instance,
            "topologyKeys": ["topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"],
            "allocatable": {"count": ATTACH_LIMIT},
        })
    }

    fn node(&self) -> Value {
        let machine = &self.machine;
        let region = machine.zone.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        let mut labels = json!({
            "kubernetes.io/hostname": machine.node,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": "m6i.large",
            "topology.kubernetes.io/region": region,
            "topology.kubernetes.io/zone": machine.zone,
            "topology.ebs.csi.aws.com/zone": machine.zone,
        });
        for (key, value) in &machine.labels {
            labels[key] = json!(value);
        }
        json!({
            "metadata": {
                "name": machine.node,
                "labels": labels,
                "annotations": {
                    // Without it no VolumeAttachment is ever made for the Node.
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                    "csi.volume.kubernetes.io/nodeid": json!({DRIVER: machine.instance}).to_string(),
                },
            },
            "spec": {"providerID": format!("aws:///{}/{}", machine.zone, machine.instance)},
            "status": super::status::of_node(machine),
        })
    }
}

/// A Kubernetes object from its JSON.
fn parse<K: DeserializeOwned>(object: Value) -> Result<K> {
    serde_json::from_value(object).context("the object is well formed")
}
