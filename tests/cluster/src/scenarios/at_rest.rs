//! Nothing happens: what the rescuer asks of the API server all the same.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use tokio::time::sleep;

use crate::audit::Entry;
use crate::rbac;
use crate::scene::{CloudController, Scene};
use crate::stage::Stage;

/// How long a rescuer may take until it has seen what is new.
const SETTLING: Duration = Duration::from_secs(20);

/// The requests within a time in which nothing happens, beside watches and the rescuer's own Lease. At rest there are no
/// suspects, and so no kubelet's Lease is read.
///
/// # Errors
/// Where no scene comes about, or anything that lives was touched.
pub async fn requests(stage: &Stage, time: Duration) -> Result<Vec<Entry>> {
    let scene = Scene::set(stage, "at-rest", CloudController::There).await?;
    sleep(SETTLING).await;
    let begun = Timestamp::now();
    sleep(time).await;
    scene.nothing_was_touched()?;
    scene.bystander_is_untouched().await?;
    let is_due =
        |entry: &Entry| entry.verb == "watch" || (entry.resource == "leases" && entry.namespace == rbac::NAMESPACE);
    let entries = stage.audit.entries()?;
    Ok(entries.into_iter().filter(|entry| entry.at >= begun && !is_due(entry)).collect())
}
