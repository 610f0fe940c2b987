//! A Kubernetes of one's own: etcd, the API server, the controllers, the scheduler and the external attacher, all real.
//!
//! Each control plane has its own folder, ports and certificate authority, so that several run at once. A part can be stopped
//! and started again. What they print is in the folder, and its end is in the errors of this module.

pub mod certificates;
mod flags;
pub(crate) mod ports;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

use crate::binaries::Binaries;
use crate::folder::Folder;
use crate::process::Process;
use crate::waiting::wait_until;
use certificates::{Authority, KeyFiles, service_account_key};
use ports::Ports;

/// The group that may do everything.
const MASTERS: &str = "system:masters";
/// How long a part may take until it serves; a machine under load takes its time.
const PATIENCE: Duration = Duration::from_secs(90);

/// A program of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The store.
    Etcd,
    /// The API server.
    ApiServer,
    /// The controllers: attach-detach, node lifecycle, pod garbage collection, those of workloads.
    ControllerManager,
    /// The scheduler.
    Scheduler,
    /// The one that turns VolumeAttachments into calls of the CSI driver.
    Attacher,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Attacher => "csi-attacher",
        }
    }
}

/// The key material that the parts are started with.
struct Keys {
    serving: KeyFiles,
    clients_ca: PathBuf,
    front_proxy_ca: PathBuf,
    front_proxy: KeyFiles,
    service_accounts: KeyFiles,
}

/// A running control plane. Dropping it ends every part and removes its folder.
pub struct ControlPlane {
    // Before the folder: what runs ends before what it writes to goes.
    parts: Mutex<BTreeMap<Part, Process>>,
    binaries: Binaries,
    ports: Ports,
    keys: Keys,
    authority: Authority,
    folder: Folder,
}

impl ControlPlane {
    /// Starts all parts but the attacher, which needs a CSI driver.
    ///
    /// # Errors
    /// Where a part ends or does not serve in time; the ends of all logs are in the error.
    pub async fn start(binaries: Binaries) -> Result<Self> {
        let folder = Folder::new("control-plane")?;
        let authority = Authority::new("ca", folder.path())?;
        let front_proxy = Authority::new("front-proxy-ca", folder.path())?;
        let keys = Keys {
            serving: authority.server("kube-apiserver")?,
            clients_ca: authority.certificate.clone(),
            front_proxy_ca: front_proxy.certificate.clone(),
            front_proxy: front_proxy.client("front-proxy-client", None)?,
            service_accounts: service_account_key(folder.path())?,
        };
        fs::write(folder.path().join("audit-policy.yaml"), flags::AUDIT_POLICY)
            .context("the folder can be written to")?;
        let parts = Mutex::default();
        let plane = Self { parts, binaries, ports: Ports::choose()?, keys, authority, folder };
        let started = plane.start_parts().await;
        started.with_context(|| plane.tails()).map(|()| plane)
    }

    async fn start_parts(&self) -> Result<()> {
        for part in [Part::Etcd, Part::ApiServer] {
            self.launch(part, None)?;
        }
        self.wait_until_ready().await?;
        for part in [Part::ControllerManager, Part::Scheduler] {
            self.launch(part, None)?;
        }
        Ok(())
    }

    /// Starts the external attacher on a CSI driver's socket.
    ///
    /// # Errors
    /// Where it can't be started.
    pub fn start_attacher(&self, socket: &Path) -> Result<()> {
        self.launch(Part::Attacher, Some(socket))
    }

    /// Ends a part, as a crash does.
    pub fn stop(&self, part: Part) {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).remove(&part);
    }

    /// Starts a stopped part again, and waits until the API server answers.
    ///
    /// # Errors
    /// Where it does not serve in time.
    pub async fn start_again(&self, part: Part) -> Result<()> {
        self.launch(part, None)?;
        self.wait_until_ready().await
    }

    fn launch(&self, part: Part, socket: Option<&Path>) -> Result<()> {
        let (binaries, folder, ports, keys) = (&self.binaries, self.folder.path(), &self.ports, &self.keys);
        let mut command = match part {
            Part::Etcd => flags::etcd(&binaries.etcd, folder, ports),
            Part::ApiServer => flags::api_server(&binaries.api_server, folder, ports, keys),
            Part::ControllerManager => {
                flags::controller_manager(&binaries.controller_manager, &self.kubeconfig(part.name(), true)?, keys)
            }
            Part::Scheduler => flags::scheduler(&binaries.scheduler, &self.kubeconfig(part.name(), true)?),
            Part::Attacher => {
                let socket = socket.context("the attacher needs the socket of a driver")?;
                flags::attacher(&binaries.attacher, &self.kubeconfig(part.name(), true)?, socket)
            }
        };
        let log = folder.join(format!("{}.log", part.name()));
        let process = Process::start(part.name(), &mut command, &log)?;
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).insert(part, process);
        Ok(())
    }

    async fn wait_until_ready(&self) -> Result<()> {
        let client = self.client("test").await?;
        let ready = wait_until("the API server is ready", PATIENCE, async || {
            // What has ended will not become ready: waiting is over, and the reason is told below.
            if self.all_run().is_err() {
                return Ok(());
            }
            let request = http::Request::get("/readyz").body(Vec::new())?;
            client.request_text(request).await.map(|_| ()).context("/readyz")
        });
        ready.await?;
        self.all_run()
    }

    /// Fails where a part has ended that was not stopped, with the end of its log.
    ///
    /// # Errors
    /// Where one has ended.
    pub fn all_run(&self) -> Result<()> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.values_mut().try_for_each(Process::still_runs)
    }

    /// The ends of all logs.
    #[must_use]
    pub fn tails(&self) -> String {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.values().map(Process::tail).collect()
    }

    /// Writes a kubeconfig for a user of this name; `may_do_all` puts it into the group that may do everything.
    ///
    /// # Errors
    /// Where the folder can't be written to.
    pub fn kubeconfig(&self, user: &str, may_do_all: bool) -> Result<PathBuf> {
        let files = self.authority.client(user, may_do_all.then_some(MASTERS))?;
        let server = format!("https://127.0.0.1:{}", self.ports.api_server);
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "clusters": [{
                "name": "test",
                "cluster": {"server": server, "certificate-authority": self.authority.certificate},
            }],
            "users": [{
                "name": user,
                "user": {"client-certificate": files.certificate, "client-key": files.key},
            }],
        });
        let path = self.folder.path().join(format!("{user}.kubeconfig"));
        fs::write(&path, config.to_string()).with_context(|| format!("{} can't be written", path.display()))?;
        Ok(path)
    }

    /// A client that may do everything, under a name that the audit log tells apart.
    ///
    /// # Errors
    /// Where the folder can't be written to.
    pub async fn client(&self, user: &str) -> Result<Client> {
        client_of(&self.kubeconfig(user, true)?).await
    }

    /// Where the API server tells who did what.
    #[must_use]
    pub fn audit_log(&self) -> PathBuf {
        self.folder.path().join("audit.log")
    }

    /// Where logs go.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// A client by a kubeconfig.
///
/// # Errors
/// Where the file can't be read.
pub async fn client_of(kubeconfig: &Path) -> Result<Client> {
    let config =
        Config::from_custom_kubeconfig(Kubeconfig::read_from(kubeconfig)?, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
