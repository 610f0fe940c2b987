//! Waiting for a real program to do something, with a failure that tells what was still missing.

use std::future::Future;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio::time::{Instant, sleep, timeout};

/// How often is asked.
const PACE: Duration = Duration::from_millis(250);
/// How long one asking may take; the API server may be away.
const PATIENCE_FOR_ONE: Duration = Duration::from_secs(5);

/// Asks until the answer is `Ok`. An `Err` means "not yet" and says why; the last one is told when patience ends.
///
/// # Errors
/// Where it does not come within the time.
pub async fn wait_until<T, F>(what: &str, patience: Duration, mut ask: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let deadline = Instant::now() + patience;
    loop {
        let answer = timeout(PATIENCE_FOR_ONE, ask()).await;
        let reason = match answer {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(reason)) => reason,
            Err(_) => anyhow!("no answer within {} s", PATIENCE_FOR_ONE.as_secs()),
        };
        if Instant::now() >= deadline {
            return Err(anyhow!("not within {} s: {what}; at last: {reason:#}", patience.as_secs()));
        }
        sleep(PACE).await;
    }
}

/// Asks for the whole time and fails at the first `Err`, which says what is not as it has to stay.
///
/// # Errors
/// Where something changes within the time.
pub async fn hold_for<F>(what: &str, time: Duration, mut ask: impl FnMut() -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    let start = Instant::now();
    while start.elapsed() < time {
        if let Err(reason) = ask().await {
            return Err(anyhow!("after {} s it no longer holds that {what}: {reason:#}", start.elapsed().as_secs()));
        }
        sleep(PACE).await;
    }
    Ok(())
}
