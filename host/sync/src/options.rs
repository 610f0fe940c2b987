//! What an operator decides about the live host.

use std::time::Duration;

use zonewarden_contract::types::Remedy;

use crate::rails::Patience;

/// Evidence older than so many intervals is unknown.
const STALE_INTERVALS: u32 = 3;

/// What an operator decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What is written, job by job.
    pub modes: Modes,
    /// How often what is asked.
    pub intervals: Intervals,
    /// How long things have to last before anything is done about them.
    pub patience: Patience,
}

/// Whether a job writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything is judged and told; nothing is written but events and metrics.
    #[default]
    Observe,
    /// What the rails permit is done.
    Enforce,
}

/// The jobs' modes, and the switches of the remedies that want their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Labels and node affinity of PersistentVolumes.
    pub label: Mode,
    /// VolumeAttachments, taints and pods.
    pub reconcile: Mode,
    /// Whether pods of an instance whose death is proven are force-deleted.
    pub delete_pods: bool,
    /// Whether VolumeAttachments that no pod used for long are deleted.
    pub delete_leaked: bool,
}

impl Modes {
    /// Whether a remedy is only told, and never carried out.
    pub(crate) fn only_tell(&self, remedy: Remedy) -> bool {
        let mode = match remedy {
            Remedy::SetLabels | Remedy::SetNodeAffinity => self.label,
            _ => self.reconcile,
        };
        mode == Mode::Observe
    }
}

/// How often what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// All volumes.
    pub volumes: Duration,
    /// All instances.
    pub instances: Duration,
    /// The suspects, and their Leases.
    pub suspects: Duration,
}

impl Default for Intervals {
    fn default() -> Self {
        Self { volumes: Duration::from_secs(60), instances: Duration::from_secs(15), suspects: Duration::from_secs(1) }
    }
}

impl Intervals {
    /// From which age on evidence about volumes, and about instances, counts as unknown.
    #[must_use]
    pub fn stale_seconds(&self) -> (u32, u32) {
        let stale = |interval: Duration| {
            u32::try_from(interval.as_secs()).unwrap_or(u32::MAX).max(1).saturating_mul(STALE_INTERVALS)
        };
        (stale(self.volumes), stale(self.instances))
    }
}
