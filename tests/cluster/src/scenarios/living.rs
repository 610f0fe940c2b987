//! The machine lives, whatever it looks like from outside. Nothing may be touched.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Node;
use tokio::time::sleep;
use zonewarden_ec2_double::{Action, Fault, InstanceState, Span, VolumeState};

use super::{Outcome, Scenario};
use crate::control_plane::Part;
use crate::scene::{CloudController, Placed, Scene};
use crate::stage::Stage;
use crate::waiting::{hold_for, wait_until};

/// Longer than it takes until a Node is taken for not ready, and shorter than until its pods are evicted.
const LONG_ENOUGH: Duration = Duration::from_secs(80);
/// How long the API server is away.
const AWAY: Duration = Duration::from_secs(60);

/// Those that go at the same time on one stage.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "not-ready",
        about: "the kubelet says that it is not ready, and renews its Lease",
        play: |stage| Box::pin(not_ready(stage)),
    },
    Scenario {
        name: "network-cut",
        about: "nothing is heard of the machine for more than a minute",
        play: |stage| Box::pin(network_cut(stage)),
    },
    Scenario {
        name: "kubelet-speaks",
        about: "EC2 says terminated by both APIs, and the kubelet renews its Lease",
        play: |stage| Box::pin(kubelet_speaks(stage)),
    },
];

/// Those that concern a whole stage, one after the other.
pub const OF_THE_WHOLE_STAGE: &[Scenario] = &[
    Scenario { name: "nonsense", about: "EC2 answers nonsense", play: |stage| Box::pin(nonsense(stage)) },
    Scenario {
        name: "no-api-server",
        about: "the API server is away for a minute, and EC2 says terminated in the meantime",
        play: |stage| Box::pin(no_api_server(stage)),
    },
];

async fn not_ready(stage: &Stage) -> Result<Outcome> {
    let scene = Scene::set(stage, "not-ready", CloudController::There).await?;
    let app = scene.app().await?;
    scene.kubelet(&app.node)?.set_ready(false);
    wait_for_ready(&scene, &app, "False").await?;
    unharmed_for(&scene, &app, LONG_ENOUGH).await?;
    scene.kubelet(&app.node)?.set_ready(true);
    wait_for_ready(&scene, &app, "True").await?;
    unharmed_for(&scene, &app, Duration::from_secs(5)).await
}

async fn network_cut(stage: &Stage) -> Result<Outcome> {
    let scene = Scene::set(stage, "network-cut", CloudController::There).await?;
    let app = scene.app().await?;
    scene.kubelet(&app.node)?.cut();
    unharmed_for(&scene, &app, LONG_ENOUGH).await?;
    wait_for_ready(&scene, &app, "Unknown").await?;
    scene.kubelet(&app.node)?.restore();
    wait_for_ready(&scene, &app, "True").await?;
    unharmed_for(&scene, &app, Duration::from_secs(5)).await
}

async fn kubelet_speaks(stage: &Stage) -> Result<Outcome> {
    let scene = Scene::set(stage, "kubelet-speaks", CloudController::Absent).await?;
    let app = scene.app().await?;
    say_that_it_is_dead(&scene, &app, LONG_ENOUGH)?;
    unharmed_for(&scene, &app, LONG_ENOUGH).await
}

async fn nonsense(stage: &Stage) -> Result<Outcome> {
    let scene = Scene::set(stage, "nonsense", CloudController::Absent).await?;
    let app = scene.app().await?;
    for action in [Action::DescribeInstances, Action::DescribeVolumes] {
        stage.account.ec2.fault_when(action, |number| Some(Fault::Nonsense(number)));
    }
    let unharmed = unharmed_for(&scene, &app, LONG_ENOUGH).await;
    stage.account.ec2.clear_faults();
    unharmed
}

/// A lost API server silences every kubelet at once: that proves no death.
async fn no_api_server(stage: &Stage) -> Result<Outcome> {
    let scene = Scene::set(stage, "no-api-server", CloudController::Absent).await?;
    let app = scene.app().await?;
    say_that_it_is_dead(&scene, &app, AWAY + Duration::from_secs(30))?;
    stage.plane.stop(Part::ApiServer);
    sleep(AWAY).await;
    stage.plane.start_again(Part::ApiServer).await?;
    unharmed_for(&scene, &app, Duration::from_secs(40)).await
}

/// EC2 lies by both of its APIs.
fn say_that_it_is_dead(scene: &Scene<'_>, app: &Placed, time: Duration) -> Result<()> {
    let (ec2, instance) = (&scene.stage().account.ec2, scene.instance(&app.node)?);
    ec2.lie_about_instance(&instance, Span::For(time), |instance| {
        instance.state = InstanceState::Terminated;
        instance.block_devices = Some(Vec::new());
    });
    ec2.lie_about_volume(&scene.volume, Span::For(time), |volume| {
        volume.attachments.clear();
        volume.state = VolumeState::Available;
    });
    Ok(())
}

/// The same pod, its attachment, nothing done.
async fn unharmed_for(scene: &Scene<'_>, app: &Placed, time: Duration) -> Result<Outcome> {
    hold_for("the machine lives and nothing is touched", time, async || {
        scene.nothing_was_touched()?;
        scene.is_still(app).await
    })
    .await?;
    scene.bystander_is_untouched().await?;
    Ok(Outcome::Unharmed)
}

async fn wait_for_ready(scene: &Scene<'_>, app: &Placed, status: &str) -> Result<()> {
    let what = format!("the Node's condition Ready is {status}");
    wait_until(&what, Duration::from_secs(60), async || {
        let node = scene.nodes().get(&app.node).await?;
        let now = ready(&node).context("the Node has a condition Ready")?;
        ensure!(now == status, "it is {now}");
        Ok(())
    })
    .await
}

fn ready(node: &Node) -> Option<String> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    Some(conditions.iter().find(|condition| condition.type_ == "Ready")?.status.clone())
}
