//! An instance dies.

use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::time::{Instant, sleep};
use zonewarden_ec2_double::{InstanceState, Span};

use super::{Outcome, Scenario};
use crate::scene::{CloudController, Scene, Victim, ZONE};
use crate::stage::Stage;
use crate::waiting::{hold_for, wait_until};

/// How long an instance says `shutting-down`.
const SHUTTING_DOWN: Duration = Duration::from_secs(4);
/// How long one says it whose end takes its time: until well after its Node is no longer ready.
const SHUTTING_DOWN_LONG: Duration = Duration::from_secs(70);
/// How much later than the end of an instance EC2 says that its volume is free, where it lags.
const LAG: Duration = Duration::from_secs(20);

/// All of them.
pub const ALL: &[Scenario] = &[
    Scenario { name: "node-stays", about: "the Node stays", play: |stage| Box::pin(node_stays(stage)) },
    Scenario {
        name: "node-deleted-by-loop",
        about: "the cloud controller's loop deletes the Node",
        play: |stage| Box::pin(node_deleted_by_loop(stage)),
    },
    Scenario {
        name: "node-deleted-at-once",
        about: "the Node is deleted at once",
        play: |stage| Box::pin(node_deleted_at_once(stage)),
    },
    Scenario {
        name: "same-name",
        about: "a new machine comes back under the same name, and the pod is to mount again",
        play: |stage| Box::pin(same_name(stage)),
    },
    Scenario {
        name: "only-shutting-down",
        about: "the instance says shutting-down for more than a minute",
        play: |stage| Box::pin(only_shutting_down(stage)),
    },
    Scenario { name: "ec2-lags", about: "EC2 frees the volume late", play: |stage| Box::pin(ec2_lags(stage)) },
    Scenario {
        name: "ec2-lies-once",
        about: "EC2 says terminated once while the machine lives; later it dies, and one answer goes back in time",
        play: |stage| Box::pin(ec2_lies_once(stage)),
    },
];

async fn node_stays(stage: &Stage) -> Result<Outcome> {
    let mut scene = Scene::set(stage, "node-stays", CloudController::Absent).await?;
    let victim = scene.shut_down_machine_of_app().await?;
    sleep(SHUTTING_DOWN).await;
    let terminated = scene.terminate(&victim)?;
    recovery(&scene, &victim, terminated).await
}

async fn node_deleted_by_loop(stage: &Stage) -> Result<Outcome> {
    let mut scene = Scene::set(stage, "node-deleted-by-loop", CloudController::There).await?;
    let victim = scene.shut_down_machine_of_app().await?;
    sleep(SHUTTING_DOWN).await;
    let terminated = scene.terminate(&victim)?;
    recovery(&scene, &victim, terminated).await
}

async fn node_deleted_at_once(stage: &Stage) -> Result<Outcome> {
    let mut scene = Scene::set(stage, "node-deleted-at-once", CloudController::Absent).await?;
    let victim = scene.shut_down_machine_of_app().await?;
    sleep(SHUTTING_DOWN).await;
    let terminated = scene.terminate(&victim)?;
    scene.delete_node(&victim.node).await?;
    recovery(&scene, &victim, terminated).await
}

/// The new kubelet adopts the Node before anybody can have proven the death: its pod is still bound there, `volumesAttached`
/// still lists the volume, and EC2 has it attached nowhere. This is what the in-tree sync of attached volumes was made for.
async fn same_name(stage: &Stage) -> Result<Outcome> {
    let mut scene = Scene::set(stage, "same-name", CloudController::Absent).await?;
    let victim = scene.shut_down_machine_of_app().await?;
    sleep(SHUTTING_DOWN).await;
    let terminated = scene.terminate(&victim)?;
    sleep(Duration::from_secs(1)).await;
    scene.boot(&victim.node, ZONE);
    let outcome = recovery(&scene, &victim, terminated).await?;
    scene.only_the_attachment_was_touched(&victim.node).context("a living machine bears the name")?;
    Ok(outcome)
}

/// What is done before `terminated` is a failure; see [`Scene::terminate`].
async fn only_shutting_down(stage: &Stage) -> Result<Outcome> {
    let mut scene = Scene::set(stage, "only-shutting-down", CloudController::There).await?;
    let victim = scene.shut_down_machine_of_app().await?;
    hold_for("nothing is touched", SHUTTING_DOWN_LONG, async || scene.nothing_was_touched()).await?;
    let terminated = scene.terminate(&victim)?;
    recovery(&scene, &victim, terminated).await
}

/// DescribeInstances says `terminated` while DescribeVolumes still shows the volume attached.
async fn ec2_lags(stage: &Stage) -> Result<Outcome> {
    let mut scene = Scene::set(stage, "ec2-lags", CloudController::Absent).await?;
    let victim = scene.shut_down_machine_of_app().await?;
    sleep(SHUTTING_DOWN).await;
    scene.nothing_was_touched()?;
    let terminated = Instant::now();
    stage.account.finish_termination(&victim.instance)?;
    sleep(LAG).await;
    stage.account.release(&victim.instance);
    recovery(&scene, &victim, terminated).await
}

async fn ec2_lies_once(stage: &Stage) -> Result<Outcome> {
    let mut scene = Scene::set(stage, "ec2-lies-once", CloudController::Absent).await?;
    let app = scene.app().await?;
    let instance = scene.instance(&app.node)?;
    let (ec2, volume) = (&stage.account.ec2, scene.volume.clone());
    ec2.lie_about_instance(&instance, Span::Calls(1), |instance| instance.state = InstanceState::Terminated);
    ec2.lie_about_volume(&volume, Span::Calls(1), |volume| volume.attachments.clear());
    hold_for("nothing is touched", Duration::from_secs(25), async || {
        scene.nothing_was_touched()?;
        scene.app().await.map(drop)
    })
    .await?;
    let victim = scene.shut_down_machine_of_app().await?;
    sleep(SHUTTING_DOWN).await;
    let terminated = scene.terminate(&victim)?;
    ec2.lie_about_instance(&victim.instance, Span::Calls(1), |instance| instance.state = InstanceState::Running);
    recovery(&scene, &victim, terminated).await
}

/// The time until the app runs again, elsewhere or on a new machine.
async fn recovery(scene: &Scene<'_>, victim: &Victim, terminated: Instant) -> Result<Outcome> {
    let patience = scene.stage().patience.saturating_sub(terminated.elapsed());
    let again = wait_until("the app runs again", patience, async || scene.app().await).await;
    let away = terminated.elapsed();
    scene.only_the_dead_was_touched(&victim.node)?;
    scene.bystander_is_untouched().await?;
    match again {
        Ok(_) => Ok(Outcome::RanAgain(away)),
        Err(reason) => {
            stage_answers(scene).await.with_context(|| format!("{reason:#}"))?;
            tracing::info!("{reason:#}");
            Ok(Outcome::StayedAway)
        }
    }
}

/// An app that stayed away because the control plane broke is no finding about recovery.
async fn stage_answers(scene: &Scene<'_>) -> Result<()> {
    scene.stage().plane.all_run()?;
    scene.attachments().await.map(drop)
}
