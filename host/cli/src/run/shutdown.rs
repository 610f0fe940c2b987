//! How the program ends: a signal asks for it, and every loop hears of it.

use std::io;

use tokio::sync::watch;

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
