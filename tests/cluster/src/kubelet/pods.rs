//! A kubelet's pods: mounted, started, ended, unmounted.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, ResourceExt as _};
use serde_json::json;

use super::{Running, State};
use crate::fleet::DRIVER;

impl State {
    /// Ends what is to end, says which volumes are in use, and starts what can start; in this order, so that a pod is gone from
    /// the API server only after its volumes are unmounted and are no longer told as in use.
    pub(super) async fn tend_pods(&mut self, node: &Node) -> Result<()> {
        let pods = self.fleet.pods_on(&self.machine.node);
        let finished = |pod: &Arc<Pod>| matches!(phase(pod), "Succeeded" | "Failed");
        let (leaving, staying): (Vec<_>, Vec<_>) =
            pods.into_iter().partition(|pod| pod.metadata.deletion_timestamp.is_some() || finished(pod));
        self.end_all_but(&staying);
        let wanted = self.wanted_volumes(&staying);
        self.report_volumes_in_use(node, &wanted).await?;
        for pod in leaving.iter().filter(|pod| pod.metadata.deletion_timestamp.is_some()) {
            self.forget(pod).await?;
        }
        for pod in &staying {
            self.tend(node, pod).await?;
        }
        Ok(())
    }

    /// Pods that are leaving, and those that were deleted by force while their containers ran.
    fn end_all_but(&mut self, staying: &[Arc<Pod>]) {
        let stays: BTreeSet<_> = staying.iter().filter_map(|pod| pod.metadata.uid.as_deref()).collect();
        let (instance, disks) = (&self.machine.instance, &self.fleet.disks);
        self.running.retain(|uid, running| {
            let stays = stays.contains(uid.as_str());
            if !stays {
                running.volumes.iter().for_each(|volume| disks.set_mounted(instance, volume, false));
            }
            stays
        });
        self.told_waiting.retain(|uid| stays.contains(uid.as_str()));
    }

    /// What pods that stay mount or are about to mount.
    fn wanted_volumes(&self, staying: &[Arc<Pod>]) -> BTreeSet<String> {
        staying
            .iter()
            .flat_map(|pod| self.fleet.volumes_of(pod).unwrap_or_default())
            .map(|volume| unique_name(&volume))
            .collect()
    }

    async fn report_volumes_in_use(&self, node: &Node, wanted: &BTreeSet<String>) -> Result<()> {
        let told = node.status.iter().flat_map(|status| status.volumes_in_use.iter().flatten());
        if told.cloned().collect::<BTreeSet<_>>() == *wanted {
            return Ok(());
        }
        self.patch_node_status(json!({"volumesInUse": wanted})).await
    }

    async fn tend(&mut self, node: &Node, pod: &Pod) -> Result<()> {
        let Some(uid) = pod.metadata.uid.clone() else { return Ok(()) };
        if self.running.contains_key(&uid) {
            return Ok(());
        }
        if !self.told_waiting.contains(&uid) {
            self.report_waiting(pod).await?;
            self.told_waiting.insert(uid.clone());
        }
        let volumes = self.fleet.volumes_of(pod)?;
        if !volumes.iter().all(|volume| self.can_mount(node, volume)) {
            return Ok(());
        }
        let instance = &self.machine.instance;
        volumes.iter().for_each(|volume| self.fleet.disks.set_mounted(instance, volume, true));
        self.report_running(pod).await?;
        self.running.insert(uid, Running { volumes });
        Ok(())
    }

    /// Told as in use, told to be attached, and really there: what `volumesAttached` says of the machine that bore the name
    /// before helps nobody.
    fn can_mount(&self, node: &Node, volume: &str) -> bool {
        let (name, status) = (unique_name(volume), node.status.as_ref());
        let in_use = status.and_then(|status| status.volumes_in_use.as_ref());
        let attached = status.and_then(|status| status.volumes_attached.as_ref());
        in_use.is_some_and(|volumes| volumes.contains(&name))
            && attached.is_some_and(|volumes| volumes.iter().any(|attached| attached.name == name))
            && self.fleet.disks.sees(&self.machine.instance, volume)
    }

    /// The last word about a pod that ended.
    async fn forget(&self, pod: &Pod) -> Result<()> {
        let pods = Api::<Pod>::namespaced(self.fleet.client.clone(), &pod.namespace().unwrap_or_default());
        let same = Preconditions { uid: pod.uid(), resource_version: None };
        let params = DeleteParams::default().grace_period(0).preconditions(same);
        match pods.delete(&pod.name_any(), &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
            deleted => Ok(deleted.map(|_| ())?),
        }
    }
}

/// The name that kubelets and the attach-detach controller give to a volume.
fn unique_name(volume: &str) -> String {
    format!("kubernetes.io/csi/{DRIVER}^{volume}")
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}
