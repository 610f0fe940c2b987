//! How long things have to last before something is done about them.

/// An attachment younger than this, or in its generation for less, is left alone, but for a proven death.
const QUIET_SECONDS: u32 = 300;
/// Two reads that lie this far apart are two sweeps.
const CONSISTENT_SECONDS: u32 = 10;
/// For so long no pod may have used a volume before its VolumeAttachment counts as leaked.
const LEAKED_SECONDS: u32 = 600;

/// How long things have to last. Only tests shorten them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The quiet period: an entry that is younger is not judged, but for a proven death.
    pub quiet_seconds: u32,
    /// How far apart the reads of two sweeps have to be.
    pub consistent_seconds: u32,
    /// For how long nobody may have used a volume before its VolumeAttachment counts as leaked.
    pub leaked_seconds: u32,
}

impl Patience {
    /// For how long a host that has just begun holds back what it found: until even what shows itself last has shown itself,
    /// and a quiet period longer.
    pub(crate) const fn settle_seconds(&self) -> u32 {
        self.leaked_seconds.saturating_add(self.quiet_seconds)
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { quiet_seconds: QUIET_SECONDS, consistent_seconds: CONSISTENT_SECONDS, leaked_seconds: LEAKED_SECONDS }
    }
}
