//! What happens to machines and volumes, end to end.
//!
//! A scenario sets its own scene on a stage, lets something happen, and tells how long the app was away. It fails where anything
//! that lives was touched, whoever the rescuer is. Whether the time is good is for the caller to judge: it depends on the rescuer.

pub mod at_rest;
pub mod deaths;
pub mod detached;
pub mod living;

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use futures::future::join_all;

use crate::stage::Stage;

/// How a scenario ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The app ran again, so long after EC2 had said `terminated`, or after the volume had been detached.
    RanAgain(Duration),
    /// The app did not run again for as long as the stage's patience.
    StayedAway,
    /// The machine lived, and everything stayed as it was.
    Unharmed,
}

/// A scenario on its way.
pub type Play<'stage> = Pin<Box<dyn Future<Output = Result<Outcome>> + Send + 'stage>>;

/// A scenario.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name, which is that of its namespace too.
    pub name: &'static str,
    /// What it is about, in words.
    pub about: &'static str,
    /// Plays it.
    pub play: for<'stage> fn(&'stage Stage) -> Play<'stage>,
}

/// A scenario that was played.
pub struct Played {
    /// The scenario's name.
    pub name: &'static str,
    /// How it ended.
    pub outcome: Outcome,
}

/// Plays scenarios at the same time on one stage.
///
/// # Errors
/// Where one fails: all failures, and the ends of all logs.
pub async fn play_all(stage: &Stage, scenarios: &[Scenario]) -> Result<Vec<Played>> {
    let plays = scenarios.iter().map(async |scenario| {
        let begun = Instant::now();
        let result = (scenario.play)(stage).await;
        let took = begun.elapsed().as_secs();
        match &result {
            Ok(outcome) => tracing::info!("{}: {outcome:?}, {took} s in all", scenario.name),
            Err(error) => tracing::error!("{}: {error:#}, {took} s in all", scenario.name),
        }
        result.map(|outcome| Played { name: scenario.name, outcome }).context(scenario.name)
    });
    let (mut played, mut failures) = (Vec::new(), Vec::new());
    for result in join_all(plays).await {
        match result {
            Ok(one) => played.push(one),
            Err(error) => failures.push(format!("{error:#}")),
        }
    }
    stage.plane.all_run()?;
    if !failures.is_empty() {
        bail!("{}\n{}", failures.join("\n"), stage.tails());
    }
    Ok(played)
}
