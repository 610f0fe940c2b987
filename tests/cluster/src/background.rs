//! Work beside the test, which ends with whoever holds it.

use std::future::Future;

use tokio::task::JoinHandle;

/// A task that ends when this is dropped.
#[derive(Debug)]
pub struct Background(JoinHandle<()>);

impl Background {
    /// Starts it.
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.0.abort();
    }
}
