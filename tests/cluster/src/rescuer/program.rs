//! The program under test, as a user starts it.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::account::{Account, REGION};
use crate::control_plane::ports::free_port;
use crate::http_get::get;
use crate::process::Process;
use crate::rbac;
use crate::waiting::wait_until;

/// How long it may take until it is ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the program does about what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It tells.
    Observe,
    /// It acts.
    Enforce,
}

/// The program and its flags.
#[derive(Debug, Clone)]
pub struct Program {
    /// `--mode`.
    pub mode: Mode,
    /// `--delete-pods`.
    pub delete_pods: bool,
    /// `--instance-interval`.
    pub instance_interval: Duration,
    /// `--volume-interval`.
    pub volume_interval: Duration,
    /// `--quiet-period`.
    pub quiet_period: Duration,
}

impl Program {
    /// With the intervals that it has by default. Only the quiet period is shorter: a scene is no five minutes old.
    #[must_use]
    pub fn new(mode: Mode, delete_pods: bool) -> Self {
        Self {
            mode,
            delete_pods,
            instance_interval: Duration::from_secs(15),
            volume_interval: Duration::from_secs(60),
            quiet_period: Duration::from_secs(5),
        }
    }

    /// Starts it and waits until it is ready.
    pub(super) async fn start(
        &self,
        kubeconfig: &Path,
        account: &Account,
        folder: &Path,
    ) -> Result<(Process, SocketAddr)> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
        let mut command = Command::new(binary()?);
        command.args(["run", "--region", REGION, "--endpoint-url", &account.ec2.endpoint()]);
        command.arg("--kubeconfig").arg(kubeconfig);
        command.args(["--listen", &address.to_string()]);
        command.args(["--mode", if self.mode == Mode::Enforce { "enforce" } else { "observe" }]);
        for (flag, time) in [
            ("--instance-interval", self.instance_interval),
            ("--volume-interval", self.volume_interval),
            ("--quiet-period", self.quiet_period),
        ] {
            command.args([flag, &format!("{}s", time.as_secs())]);
        }
        // The policy has a quiet period of its own, since it decides what an attachment's age means.
        let settings = folder.join("settings.yaml");
        std::fs::write(&settings, format!("quiet-seconds: \"{}\"\n", self.quiet_period.as_secs()))?;
        command.arg("--settings").arg(&settings);
        command.args(["--lease-namespace", rbac::NAMESPACE]);
        if self.delete_pods {
            command.arg("--delete-pods");
        }
        command.envs([("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")]);
        command.envs([("AWS_EC2_METADATA_DISABLED", "true"), ("RUST_LOG", "info")]);
        let log = folder.join("zonewarden.log");
        let mut process = Process::start(rbac::USER, &mut command, &log)?;
        let ready = wait_until("zonewarden is ready", PATIENCE, async || {
            let (status, body) = get(address, "/readyz").await?;
            ensure!(status == 200, "/readyz says {status}: {body}");
            Ok(())
        });
        let ready = ready.await;
        process.still_runs()?;
        ready.with_context(|| process.tail())?;
        Ok((process, address))
    }
}

/// The program under test: `ZONEWARDEN_BIN`, else the one that the same build made, two folders above the test.
///
/// # Errors
/// Where there is none.
pub fn binary() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os("ZONEWARDEN_BIN") {
        return Ok(chosen.into());
    }
    let test = env::current_exe().context("a test knows its own path")?;
    let beside = test.ancestors().skip(1).map(|folder| folder.join("zonewarden")).take(2).find(|path| path.is_file());
    beside.with_context(|| {
        format!("no zonewarden beside {}: cargo build -p zonewarden-cli, or name one in ZONEWARDEN_BIN", test.display())
    })
}
