//! What is told while scenarios play: they take minutes.

use std::io;

use tracing_subscriber::EnvFilter;

/// What is told without `RUST_LOG`: how scenarios end, and nothing of the calls that the doubles get.
const FILTER: &str = "zonewarden_cluster_tests=info,zonewarden_cluster_tests::csi=warn,cluster=info";

/// Tells on standard error how scenarios end; `RUST_LOG` asks for more. libtest does not swallow it, since it goes past the
/// macros that it listens to.
pub fn tell() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    // Of several tests in one process the first one sets it.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .without_time()
        .try_init();
}
