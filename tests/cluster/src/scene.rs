//! The place where a scenario plays: a namespace of its own, three machines in two zones, and two workloads with a volume each.
//!
//! `app` is what a scenario is about. `bystander` runs on the other machine of the same zone: whatever happens, nobody may touch
//! it. Scenes share the control plane and do not see each other.

mod acts;
mod objects;
mod steps;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::{ContainerStatus, Node, Pod};
use k8s_openapi::api::storage::v1::VolumeAttachment;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt as _};

use crate::cloud_controller;
use crate::kubelet::{Kubelet, Machine};
use crate::rbac::apply_object;
use crate::stage::Stage;
use crate::waiting::wait_until;

pub use acts::{About, Act};
pub use objects::SCENE_LABEL;
pub(crate) use objects::of_cluster;
pub use steps::Victim;

/// The zone of the volumes, with two machines.
pub const ZONE: &str = "us-east-1a";
/// A zone where no volume is, with one machine.
pub const OTHER_ZONE: &str = "us-east-1b";
/// The StatefulSet that a scenario is about.
pub const APP: &str = "app";
/// The StatefulSet that nobody may touch.
pub const BYSTANDER: &str = "bystander";
/// How long it may take until a scene is set; machines under load take their time.
const PATIENCE: Duration = Duration::from_secs(90);

/// Whether a cloud controller looks after the Nodes of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloudController {
    /// It deletes the Nodes of dead instances once they are not ready.
    There,
    /// Nodes stay until somebody deletes them.
    Absent,
}

/// A running pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The Node that it runs on.
    pub node: String,
    /// The pod's uid.
    pub uid: String,
}

/// A scene that is set: both workloads run.
pub struct Scene<'stage> {
    stage: &'stage Stage,
    name: String,
    cloud_controller: CloudController,
    client: Client,
    machines: BTreeMap<String, Kubelet>,
    /// The volume of `app`.
    pub volume: String,
    bystander: Placed,
}

impl<'stage> Scene<'stage> {
    /// Sets a scene. The name is that of its namespace and begins those of its Nodes.
    ///
    /// # Errors
    /// Where the workloads do not come to run.
    pub async fn set(stage: &'stage Stage, name: &str, cloud_controller: CloudController) -> Result<Self> {
        let client = stage.client.clone();
        apply_object(&client, objects::namespace(name)).await?;
        let volume = stage.account.create_volume(ZONE);
        let bystander = Placed { node: String::new(), uid: String::new() };
        let (machines, name) = (BTreeMap::new(), name.to_owned());
        let mut scene = Self { stage, name, cloud_controller, client, machines, volume, bystander };
        for (suffix, zone) in [("a1", ZONE), ("a2", ZONE), ("b1", OTHER_ZONE)] {
            scene.boot(&format!("{}-{suffix}", scene.name), zone);
        }
        scene.add_workload(APP, &scene.volume, None).await?;
        let app = scene.app().await?;
        let other = scene.machines.keys().find(|node| **node != app.node && node.contains("-a"));
        let other = other.context("there are two machines in the zone")?.clone();
        scene.add_workload(BYSTANDER, &stage.account.create_volume(ZONE), Some(&other)).await?;
        scene.bystander = scene.running(BYSTANDER).await?;
        ensure!(scene.bystander.node == other, "the bystander runs on {}", scene.bystander.node);
        Ok(scene)
    }

    async fn add_workload(&self, workload: &str, volume: &str, node: Option<&str>) -> Result<()> {
        let scene = &self.name;
        for object in [
            objects::volume(scene, workload, volume, ZONE),
            objects::claim(scene, workload),
            objects::stateful_set(scene, workload, node),
        ] {
            apply_object(&self.client, object).await?;
        }
        let what = format!("{scene}: {workload}-0 runs");
        wait_until(&what, PATIENCE, async || self.running(workload).await).await.map(drop)
    }

    /// Starts an instance and boots its machine under this Node's name.
    pub fn boot(&mut self, node: &str, zone: &str) {
        let mut labels = BTreeMap::from([(SCENE_LABEL.to_owned(), self.name.clone())]);
        if self.cloud_controller == CloudController::There {
            labels.insert(cloud_controller::LABEL.to_owned(), "true".to_owned());
        }
        let instance = self.stage.account.launch(node, zone);
        let machine = Machine { node: node.to_owned(), instance, zone: zone.to_owned(), labels };
        self.machines.insert(node.to_owned(), Kubelet::boot(self.stage.fleet.clone(), machine));
    }

    /// Where `app` runs.
    ///
    /// # Errors
    /// Where it does not.
    pub async fn app(&self) -> Result<Placed> {
        self.running(APP).await
    }

    /// Fails where `app` is not the same pod on the same machine, with the attachment that it had all along.
    ///
    /// # Errors
    /// Where that is so.
    pub async fn is_still(&self, app: &Placed) -> Result<()> {
        let now = self.app().await?;
        ensure!(now == *app, "the app was {app:?} and is {now:?}");
        let attachments = self.attachments().await?;
        let [attachment] = attachments.as_slice() else { bail!("there are {} attachments", attachments.len()) };
        ensure!(attachment.metadata.deletion_timestamp.is_none(), "the attachment is being deleted");
        ensure!(
            attachment.status.as_ref().is_some_and(|status| status.attached),
            "the attachment says that it is none"
        );
        Ok(())
    }

    async fn running(&self, workload: &str) -> Result<Placed> {
        self.pod_runs(&format!("{workload}-0")).await
    }

    /// Where a pod runs: told by its status, on a machine that lives and sees its volume. A status that is left over
    /// from a dead machine does not count.
    ///
    /// # Errors
    /// Where it does not run.
    pub async fn pod_runs(&self, name: &str) -> Result<Placed> {
        let pod = self.pods().get_opt(name).await?.with_context(|| format!("there is no pod {name}"))?;
        let node = node_of(&pod).with_context(|| format!("{name} is bound to no Node"))?;
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default();
        ensure!(pod.metadata.deletion_timestamp.is_none(), "{name} on {node} is being deleted");
        ensure!(phase == "Running" && containers(&pod).all(runs), "{name} on {node} is {phase}");
        let machine = self.machines.get(&node).with_context(|| format!("the machine of {node} is dead"))?.machine();
        for volume in self.stage.fleet.volumes_of(&pod)? {
            let sees = self.stage.fleet.disks.sees(&machine.instance, &volume);
            ensure!(sees, "{name} on {node} runs, but {} does not see {volume}", machine.instance);
        }
        Ok(Placed { node, uid: pod.uid().unwrap_or_default() })
    }

    /// The VolumeAttachments of `app`'s volume.
    ///
    /// # Errors
    /// Where the API server does not answer.
    pub async fn attachments(&self) -> Result<Vec<VolumeAttachment>> {
        let volume = objects::volume_name(&self.name, APP);
        let all = Api::<VolumeAttachment>::all(self.client.clone()).list(&ListParams::default()).await?;
        let ours = |attachment: &VolumeAttachment| {
            attachment.spec.source.persistent_volume_name.as_deref().is_some_and(|name| name == volume)
        };
        Ok(all.items.into_iter().filter(ours).collect())
    }

    /// The instance of a machine that lives.
    ///
    /// # Errors
    /// Where there is no machine under this Node's name.
    pub fn instance(&self, node: &str) -> Result<String> {
        Ok(self.kubelet(node)?.machine().instance.clone())
    }

    /// The kubelet of a machine that lives.
    ///
    /// # Errors
    /// Where there is no machine under this Node's name.
    pub fn kubelet(&self, node: &str) -> Result<&Kubelet> {
        self.machines.get(node).with_context(|| format!("there is no living machine {node}"))
    }

    /// The world that the scene is in.
    #[must_use]
    pub fn stage(&self) -> &'stage Stage {
        self.stage
    }

    /// The pods of the scene.
    #[must_use]
    pub fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.name)
    }

    /// All Nodes.
    #[must_use]
    pub fn nodes(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }

    /// Fails where the bystander is not the same pod on the same machine, running, as at the start.
    ///
    /// # Errors
    /// Where that is so.
    pub async fn bystander_is_untouched(&self) -> Result<()> {
        let now = self.running(BYSTANDER).await.context("the bystander")?;
        if now != self.bystander {
            bail!("the bystander was {:?} and is {now:?}", self.bystander);
        }
        Ok(())
    }
}

impl Drop for Scene<'_> {
    /// Machines that live go on living until the world ends: a dying one would be another scenario.
    fn drop(&mut self) {
        self.stage.keep_alive(std::mem::take(&mut self.machines).into_values());
    }
}

fn node_of(pod: &Pod) -> Option<String> {
    pod.spec.as_ref()?.node_name.clone()
}

fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten())
}

fn runs(container: &ContainerStatus) -> bool {
    container.state.as_ref().is_some_and(|state| state.running.is_some())
}
