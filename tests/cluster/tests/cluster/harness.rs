//! The harness proves itself: Kubernetes alone does on it what it does in a cluster.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use tokio::time::Instant;
use zonewarden_cluster_tests::scene::{CloudController, Scene};
use zonewarden_cluster_tests::stage::Stage;
use zonewarden_cluster_tests::waiting::{hold_for, wait_until};
use zonewarden_ec2_double::VolumeState;

use crate::on_stage;

#[tokio::test(flavor = "multi_thread")]
async fn kubernetes_alone_attaches_detaches_and_waits_for_the_dead() {
    on_stage(Duration::from_secs(90), async |stage| {
        tokio::try_join!(a_deleted_pod_lets_its_volume_go(stage), a_dead_machine_keeps_its_attachment(stage))?;
        Ok(())
    })
    .await;
}

async fn a_deleted_pod_lets_its_volume_go(stage: &Stage) -> Result<()> {
    let scene = Scene::set(stage, "deleted-pod", CloudController::Absent).await?;
    let app = scene.app().await?;
    let attachments = scene.attachments().await?;
    ensure!(attachments.len() == 1, "{} attachments", attachments.len());
    ensure!(attachments[0].spec.node_name == app.node, "attached to {}", attachments[0].spec.node_name);
    scene.delete_app().await?;
    wait_until("the volume is free and the attachment is gone", Duration::from_secs(80), async || {
        let left = scene.attachments().await?;
        ensure!(left.is_empty(), "the attachment is there");
        let state = stage.account.ec2.with(|world| world.volume(&scene.volume).map(|volume| volume.state.clone()));
        ensure!(state == Some(VolumeState::Available), "EC2 says {state:?}");
        Ok(())
    })
    .await?;
    scene.bystander_is_untouched().await
}

/// With nothing done the pod waits; a taint and the pod's deletion, in this order, bring it elsewhere within seconds.
async fn a_dead_machine_keeps_its_attachment(stage: &Stage) -> Result<()> {
    let mut scene = Scene::set(stage, "dead-machine", CloudController::Absent).await?;
    let victim = scene.shut_down_machine_of_app().await?;
    scene.terminate(&victim)?;
    hold_for("the dead machine keeps its pod and its attachment", Duration::from_secs(20), async || {
        let attachments = scene.attachments().await?;
        ensure!(
            attachments.iter().any(|attachment| attachment.spec.node_name == victim.node),
            "the attachment is gone"
        );
        let pod = scene.pods().get("app-0").await?;
        let bound = pod.spec.and_then(|spec| spec.node_name);
        ensure!(bound.as_ref() == Some(&victim.node), "the pod is bound to {bound:?}");
        Ok(())
    })
    .await?;
    let begun = Instant::now();
    let taint = json!({"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"});
    let patch = Patch::Strategic(json!({"spec": {"taints": [taint]}}));
    let nodes = Api::<Node>::all(stage.client.clone());
    nodes.patch(&victim.node, &PatchParams::default(), &patch).await?;
    scene.pods().delete("app-0", &DeleteParams::default().grace_period(0)).await?;
    let app = wait_until("the app runs elsewhere", Duration::from_secs(80), async || scene.app().await).await?;
    ensure!(app.node != victim.node, "the app runs on the dead machine");
    tracing::info!("tainted and deleted by hand: the app ran again after {:.1} s", begun.elapsed().as_secs_f32());
    scene.bystander_is_untouched().await.context("after the recovery")
}
