//! What happens to machines and volumes in a scenario.

use anyhow::{Context as _, Result};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::{DeleteParams, ListParams};
use tokio::time::Instant;

use super::{APP, Scene, containers, objects};
use crate::rbac::{self, apply_object};

/// A machine that died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// Its Node.
    pub node: String,
    /// Its instance.
    pub instance: String,
}

impl Scene<'_> {
    /// The machine of `app` goes off, and EC2 says `shutting-down`.
    ///
    /// # Errors
    /// Where `app` does not run.
    pub async fn shut_down_machine_of_app(&mut self) -> Result<Victim> {
        let node = self.app().await.context("before the death")?.node;
        let instance = self.instance(&node)?;
        self.machines.remove(&node);
        self.stage.account.begin_termination(&instance)?;
        Ok(Victim { node, instance })
    }

    /// EC2 says `terminated`, and the volumes are free. The time of it; what the rescuer did before is a failure, since a machine
    /// that is shutting down may still write.
    ///
    /// # Errors
    /// Where anything was touched before.
    pub fn terminate(&self, victim: &Victim) -> Result<Instant> {
        self.nothing_was_touched().context("before EC2 said that the instance is terminated")?;
        let at = Instant::now();
        self.stage.account.finish_termination(&victim.instance)?;
        self.stage.account.release(&victim.instance);
        Ok(at)
    }

    /// Deletes a Node, as a person or an autoscaler does.
    ///
    /// # Errors
    /// Where the API server refuses it.
    pub async fn delete_node(&self, node: &str) -> Result<()> {
        self.nodes().delete(node, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Takes `app`'s volume off its machine without a word to Kubernetes.
    pub fn detach_behind_the_back(&self) {
        self.stage.account.ec2.with(|world| world.put_detached(&self.volume));
    }

    /// Deletes the workload `app`, and lets its pod go.
    ///
    /// # Errors
    /// Where the API server refuses it.
    pub async fn delete_app(&self) -> Result<()> {
        let sets = Api::<StatefulSet>::namespaced(self.client.clone(), &self.name);
        sets.delete(APP, &DeleteParams::background()).await?;
        Ok(())
    }

    /// Makes a pod of its own with `app`'s claim, on one machine.
    ///
    /// # Errors
    /// Where the API server refuses it.
    pub async fn add_pod(&self, name: &str, node: &str) -> Result<()> {
        apply_object(&self.client, objects::pod(&self.name, name, APP, node)).await
    }

    /// Whether a pod's containers wait, as its kubelet tells it.
    ///
    /// # Errors
    /// Where there is no such pod.
    pub async fn waits(&self, pod: &str) -> Result<bool> {
        let pod = self.pods().get(pod).await?;
        let waiting = |state: &k8s_openapi::api::core::v1::ContainerState| state.waiting.is_some();
        Ok(containers(&pod).any(|container| container.state.as_ref().is_some_and(waiting)))
    }

    /// What the rescuer told people about the scene's objects, as `REASON: note`. Events about PersistentVolumes and Nodes, which
    /// have no namespace, are in `default`.
    ///
    /// # Errors
    /// Where the API server does not answer.
    pub async fn told(&self) -> Result<Vec<String>> {
        let events = Api::<Event>::all(self.client.clone()).list(&ListParams::default()).await?;
        let ours = events.items.into_iter().filter(|event| {
            let from_rescuer = event.reporting_controller.as_deref().is_some_and(|name| name.contains(rbac::USER));
            let regarding = event.regarding.as_ref();
            let of_namespace =
                regarding.and_then(|object| object.namespace.as_ref()).is_some_and(|it| *it == self.name);
            let name = regarding.and_then(|object| object.name.as_deref()).unwrap_or_default();
            from_rescuer && (of_namespace || name.starts_with(&format!("{}-", self.name)))
        });
        Ok(ours
            .map(|event| format!("{}: {}", event.reason.unwrap_or_default(), event.note.unwrap_or_default()))
            .collect())
    }
}
