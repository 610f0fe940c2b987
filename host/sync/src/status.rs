//! How the host fares, for whoever tells others.

use std::time::Instant;

/// How the host fares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    /// Whether this replica polls and writes.
    pub leads: bool,
    /// When the loop came round last.
    pub ticked: Option<Instant>,
    /// The age of the oldest evidence about a volume, in seconds; `None` where one was never answered.
    pub oldest_evidence: Option<u32>,
}
