//! How the host fares, for whoever tells others.

use std::sync::Arc;
use std::time::Instant;

use crate::stuck::StuckVolume;

/// How the host fares.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Whether this replica polls and writes.
    pub leads: bool,
    /// When the loop came round last.
    pub ticked: Option<Instant>,
    /// The age of the oldest evidence about a volume, in seconds; `None` where one was never answered.
    pub oldest_evidence: Option<u32>,
    /// The volumes that are stuck, the longest stuck first: as many as the host was asked to name.
    pub stuck: Arc<[StuckVolume]>,
}
