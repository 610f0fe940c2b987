//! Instances die and live on a real control plane. One binary: its tests share the machine, two stages at a time.

use std::time::Duration;

use anyhow::Result;
use zonewarden_cluster_tests::binaries::Binaries;
use zonewarden_cluster_tests::progress;
use zonewarden_cluster_tests::rescuer::Rescuer;
use zonewarden_cluster_tests::stage::Stage;

mod cluster {
    mod alone;
    mod harness;
    mod looking;
    mod program;
    mod script;
    mod writes;
}

/// Plays in a world of Kubernetes alone. What goes wrong is told with the last lines of every program's log.
async fn on_stage(patience: Duration, play: impl AsyncFnOnce(&Stage) -> Result<()>) {
    let Some(stage) = stage(&Rescuer::None, patience).await else { return };
    if let Err(error) = play(&stage).await {
        panic!("{error:#}\n{}", stage.tails());
    }
}

/// A world with this rescuer; `None` where the machine lacks a control plane, which was told.
async fn stage(rescuer: &Rescuer, patience: Duration) -> Option<Stage> {
    progress::tell();
    // Building may take minutes, and looking at versions starts programs.
    let found = tokio::task::spawn_blocking(|| Binaries::find("every scenario on a real control plane"));
    let binaries = found.await.expect("looking does not panic")?;
    Some(Stage::start(binaries, rescuer, patience).await.unwrap_or_else(|error| panic!("{error:#}")))
}
