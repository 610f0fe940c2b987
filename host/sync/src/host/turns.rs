//! The host's loop, turn by turn, for tests that make the time pass themselves.

use tokio::sync::mpsc;

use super::Host;
use crate::clock::Clock;

impl Host {
    /// The same, by another clock.
    pub(crate) fn on_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// One tick, and everything that EC2 answers to it.
    pub(crate) async fn turn(&mut self) {
        let (sender, mut answers) = mpsc::channel(8);
        self.tick(&sender).await;
        drop(sender);
        while let Some(answer) = answers.recv().await {
            self.take(answer).await;
        }
    }

    /// How the policy failed last, where it has not answered since.
    pub(crate) fn complaint(&self) -> Option<&'static str> {
        self.complained
    }
}
