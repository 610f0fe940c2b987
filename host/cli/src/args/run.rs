//! What `zonewarden run` can be told.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::duration::interval;
use super::{DeciderArgs, WorldArgs};

/// The flags of the host.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    #[command(flatten)]
    pub(crate) decider: DeciderArgs,
    /// How often --policy and --settings are looked at for changes
    #[arg(long, env = "ZONEWARDEN_POLICY_POLL_INTERVAL", value_name = "DURATION", value_parser = interval, default_value = "2s")]
    pub(crate) policy_poll_interval: Duration,
    #[command(flatten)]
    pub(crate) modes: ModeArgs,
    #[command(flatten)]
    pub(crate) polling: PollingArgs,
    /// How old an attachment has to be before anything is done about it, but for a proven death
    #[arg(long, env = "ZONEWARDEN_QUIET_PERIOD", value_name = "DURATION", value_parser = interval, default_value = "5m")]
    pub(crate) quiet_period: Duration,
    #[command(flatten)]
    pub(crate) lease: LeaseArgs,
    /// Where /metrics, /healthz and /readyz are served
    #[arg(long, env = "ZONEWARDEN_LISTEN", value_name = "ADDRESS:PORT", value_parser = listen, default_value = "0.0.0.0:8080")]
    pub(crate) listen: SocketAddr,
    /// How many stuck volumes have a series of their own in /metrics, the longest stuck ones; 0 for none
    #[arg(long, env = "ZONEWARDEN_STUCK_VOLUME_SERIES", value_name = "NUMBER", default_value_t = 50)]
    pub(crate) stuck_volume_series: usize,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Whether a job writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Judge and report; write nothing but events and metrics
    Observe,
    /// Carry out what was decided
    Enforce,
}

/// What each job may do.
#[derive(Debug, Args)]
pub(crate) struct ModeArgs {
    /// What every job may do that no flag of its own is given for
    #[arg(long, env = "ZONEWARDEN_MODE", value_enum, default_value_t = Mode::Observe)]
    mode: Mode,
    /// Whether labels and node affinity are written to PersistentVolumes
    #[arg(long, env = "ZONEWARDEN_LABEL_MODE", value_enum)]
    label_mode: Option<Mode>,
    /// Whether remedies for attachments are carried out
    #[arg(long, env = "ZONEWARDEN_RECONCILE_MODE", value_enum)]
    reconcile_mode: Option<Mode>,
    /// Where reconcile enforces: force-delete the pods of an instance whose death is proven
    #[arg(long, env = "ZONEWARDEN_DELETE_PODS")]
    pub(crate) delete_pods: bool,
    /// Where reconcile enforces: delete VolumeAttachments that no pod has needed for ten minutes
    #[arg(long, env = "ZONEWARDEN_DELETE_LEAKED_ATTACHMENTS")]
    pub(crate) delete_leaked_attachments: bool,
}

impl ModeArgs {
    /// What the job label may do.
    pub(crate) fn label(&self) -> Mode {
        self.label_mode.unwrap_or(self.mode)
    }

    /// What the job reconcile may do.
    pub(crate) fn reconcile(&self) -> Mode {
        self.reconcile_mode.unwrap_or(self.mode)
    }
}

/// How often EC2 is asked.
#[derive(Debug, Args)]
pub(crate) struct PollingArgs {
    /// How often EC2 is asked about all volumes
    #[arg(long, env = "ZONEWARDEN_VOLUME_INTERVAL", value_name = "DURATION", value_parser = interval, default_value = "60s")]
    pub(crate) volume_interval: Duration,
    /// How often EC2 is asked about all instances
    #[arg(long, env = "ZONEWARDEN_INSTANCE_INTERVAL", value_name = "DURATION", value_parser = interval, default_value = "15s")]
    pub(crate) instance_interval: Duration,
    /// How often EC2 is asked about instances that may have died
    #[arg(long, env = "ZONEWARDEN_SUSPECT_INTERVAL", value_name = "DURATION", value_parser = interval, default_value = "1s")]
    pub(crate) suspect_interval: Duration,
}

impl PollingArgs {
    /// The intervals of the host.
    pub(crate) fn intervals(&self) -> zonewarden_sync::Intervals {
        zonewarden_sync::Intervals {
            volumes: self.volume_interval,
            instances: self.instance_interval,
            suspects: self.suspect_interval,
        }
    }
}

/// Which Lease tells the replica that polls and writes.
#[derive(Debug, Args)]
pub(crate) struct LeaseArgs {
    /// The namespace of the Lease that the leader holds; else the pod's own, else default
    #[arg(long, env = "ZONEWARDEN_LEASE_NAMESPACE", value_name = "NAMESPACE")]
    pub(crate) lease_namespace: Option<String>,
    /// The name of that Lease
    #[arg(long, env = "ZONEWARDEN_LEASE_NAME", value_name = "NAME", default_value = "zonewarden")]
    pub(crate) lease_name: String,
}

/// How logs look.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// How log lines are written, on standard error
    #[arg(long, env = "ZONEWARDEN_LOG_FORMAT", value_enum, default_value_t = LogFormat::Auto)]
    pub(crate) log_format: LogFormat,
    /// Which log lines are written: a level, or levels of modules as info,zonewarden_sync=debug; else RUST_LOG, else info
    #[arg(long, env = "ZONEWARDEN_LOG_LEVEL", value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
}

/// The forms of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text on a terminal, JSON elsewhere
    Auto,
    /// Text
    Text,
    /// One JSON object a line
    Json,
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "an address and a port are meant, as 0.0.0.0:8080, 127.0.0.1:9090 or [::]:8080".to_owned())
}

#[cfg(test)]
mod tests;
