//! How the program ends: a signal asks for it, and every loop hears of it.

use std::io;

use anyhow::{Error, anyhow};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle, JoinSet};

/// Asks everybody to end. Dropping it asks too: nobody is left who could ask later.
#[derive(Debug)]
pub(crate) struct Stop(watch::Sender<bool>);

/// Hears of the end. Clones hear the same.
#[derive(Debug, Clone)]
pub(crate) struct Shutdown(watch::Receiver<bool>);

/// The two ends.
pub(crate) fn channel() -> (Stop, Shutdown) {
    let (sender, receiver) = watch::channel(false);
    (Stop(sender), Shutdown(receiver))
}

impl Stop {
    /// Asks everybody to end.
    pub(crate) fn now(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Waits until the end is asked for.
    pub(crate) async fn requested(mut self) {
        // An error says that the other end is gone, which means the same.
        let _ = self.0.wait_for(|requested| *requested).await;
    }

    /// Whether the end was asked for.
    #[cfg(test)]
    pub(crate) fn is_requested(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }
}

/// What ends the program.
#[derive(Debug)]
pub(crate) enum End {
    /// A signal of this name.
    Signal(&'static str),
    /// A part that ended without being asked to, and how. A watch or a Lease that nobody keeps up any more would leave the
    /// rest to decide on what is no longer true, so the whole is better begun anew.
    Part(Error),
    /// The server of health and metrics, likewise.
    Serving(Error),
}

/// Waits for what ends the program first.
pub(crate) async fn first_end(
    signal: impl Future<Output = &'static str>,
    parts: &mut JoinSet<()>,
    serving: &mut JoinHandle<io::Result<()>>,
) -> End {
    let how = |ended: Result<(), JoinError>| match ended {
        Ok(()) => anyhow!("a part of the host ended by itself"),
        Err(error) => Error::new(error).context("a part of the host broke off"),
    };
    tokio::select! {
        signal = signal => End::Signal(signal),
        Some(ended) = parts.join_next() => End::Part(how(ended)),
        served = serving => End::Serving(match served {
            Ok(Ok(())) => anyhow!("the server of health and metrics ended by itself"),
            Ok(Err(error)) => Error::new(error).context("health and metrics can't be served"),
            Err(error) => how(Err(error)),
        }),
    }
}

/// The signals that ask for the end: SIGTERM, which Kubernetes sends, and SIGINT, which a terminal sends.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Takes the signals over from the system, which would end the program at once.
    pub(crate) fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next one and says which it was. Call it again to hear of somebody who can't wait.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Where there are no signals, there is still the keyboard.
    pub(crate) fn install() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits until somebody presses Ctrl-C.
    pub(crate) async fn next(&mut self) -> &'static str {
        let _ = tokio::signal::ctrl_c().await;
        "Ctrl-C"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_hears_of_the_end_and_so_does_who_comes_late() {
        let (stop, shutdown) = channel();
        assert!(!shutdown.is_requested());
        let waiting = tokio::spawn(shutdown.clone().requested());
        stop.now();
        waiting.await.expect("the task does not panic");
        assert!(shutdown.is_requested());
        shutdown.requested().await;
    }

    #[tokio::test]
    async fn where_nobody_is_left_to_ask_the_end_is_there() {
        let (stop, shutdown) = channel();
        drop(stop);
        assert!(shutdown.is_requested());
        shutdown.requested().await;
    }

    /// What ends first where these parts and this server run, and a signal comes or none does.
    async fn first(
        part: impl Future<Output = ()> + Send + 'static,
        serving: impl Future<Output = io::Result<()>> + Send + 'static,
        signal: Option<&'static str>,
    ) -> (&'static str, String) {
        let mut parts = JoinSet::new();
        parts.spawn(std::future::pending());
        parts.spawn(part);
        let signal = async {
            match signal {
                Some(signal) => signal,
                None => std::future::pending().await,
            }
        };
        match first_end(signal, &mut parts, &mut tokio::spawn(serving)).await {
            End::Signal(signal) => ("signal", signal.to_owned()),
            End::Part(error) => ("part", format!("{error:#}")),
            End::Serving(error) => ("serving", format!("{error:#}")),
        }
    }

    #[tokio::test]
    async fn a_part_that_ends_unasked_ends_the_program_and_says_how() {
        use std::future::pending;
        assert_eq!(first(pending(), pending(), Some("SIGTERM")).await, ("signal", "SIGTERM".to_owned()));
        let ended = first(async {}, pending(), None).await;
        assert_eq!(ended, ("part", "a part of the host ended by itself".to_owned()));
        let (what, how) = first(async { panic!("the watch is confused") }, pending(), None).await;
        assert_eq!(what, "part");
        assert!(how.starts_with("a part of the host broke off: task "), "{how}");
        assert!(how.contains("the watch is confused"), "{how}");
        let served = first(pending(), async { Ok(()) }, None).await;
        assert_eq!(served, ("serving", "the server of health and metrics ended by itself".to_owned()));
        let refused = first(pending(), async { Err(io::Error::other("no more sockets")) }, None).await;
        assert_eq!(refused, ("serving", "health and metrics can't be served: no more sockets".to_owned()));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_signal_asks_and_does_not_kill() {
        let mut signals = Signals::install().expect("signals can be taken over");
        for (name, signal) in [("-TERM", "SIGTERM"), ("-INT", "SIGINT")] {
            let process = std::process::id().to_string();
            let sent = std::process::Command::new("kill").args([name, &process]).status().expect("kill runs");
            assert!(sent.success());
            assert_eq!(signals.next().await, signal);
        }
    }
}
