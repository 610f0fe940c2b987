//! A volume is detached behind Kubernetes' back; the machine lives.

use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::time::Instant;

use super::{Outcome, Scenario};
use crate::rescuer::Mode;
use crate::scene::{CloudController, Scene};
use crate::stage::Stage;
use crate::waiting::{hold_for, wait_until};

/// Long enough for several sweeps of the volumes.
const LONG_ENOUGH: Duration = Duration::from_secs(100);

/// All of them.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "detached-under-a-pod",
        about: "the pod runs on: it is told and not touched",
        play: |stage| Box::pin(under_a_running_pod(stage)),
    },
    Scenario {
        name: "detached-then-again",
        about: "the pod is made again on the same machine: it waits for a volume that Kubernetes takes for attached",
        play: |stage| Box::pin(then_again_on_the_same_machine(stage)),
    },
];

async fn under_a_running_pod(stage: &Stage) -> Result<Outcome> {
    let scene = Scene::set(stage, "detached-under-a-pod", CloudController::Absent).await?;
    let app = scene.pods().get("app-0").await?.metadata.uid;
    scene.detach_behind_the_back();
    hold_for("nothing is touched", LONG_ENOUGH, async || {
        scene.nothing_was_touched()?;
        let now = scene.pods().get("app-0").await?.metadata.uid;
        ensure!(now == app, "the pod is another one");
        Ok(())
    })
    .await?;
    if stage.program_mode() == Some(Mode::Enforce) {
        let told = scene.told().await?;
        ensure!(!told.is_empty(), "nobody was told that the pod's volume is gone");
    }
    scene.bystander_is_untouched().await?;
    Ok(Outcome::Unharmed)
}

/// A second pod with the claim keeps the VolumeAttachment from going with the first one.
async fn then_again_on_the_same_machine(stage: &Stage) -> Result<Outcome> {
    let scene = Scene::set(stage, "detached-then-again", CloudController::Absent).await?;
    let app = scene.app().await?;
    scene.detach_behind_the_back();
    let detached = Instant::now();
    scene.add_pod("again", &app.node).await?;
    wait_until("the second pod waits for its containers", Duration::from_secs(30), async || {
        ensure!(scene.waits("again").await?, "it does not yet");
        Ok(())
    })
    .await?;
    scene.delete_app().await?;
    wait_until("the first pod is gone", Duration::from_secs(30), async || {
        ensure!(scene.pods().get_opt("app-0").await?.is_none(), "it is still there");
        Ok(())
    })
    .await?;
    let patience = stage.patience.saturating_sub(detached.elapsed());
    let again = wait_until("the second pod runs", patience, async || scene.pod_runs("again").await).await;
    let away = detached.elapsed();
    scene.bystander_is_untouched().await?;
    scene.only_the_attachment_was_touched(&app.node)?;
    Ok(if again.is_ok() { Outcome::RanAgain(away) } else { Outcome::StayedAway })
}
