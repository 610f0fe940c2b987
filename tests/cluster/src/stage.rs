//! A whole world: the control plane, EC2, the CSI controller, the cloud controller, and who comes to the rescue.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use kube::Client;
use zonewarden_ec2_double::Double;

use crate::account::Account;
use crate::attachments::Attachments;
use crate::audit::AuditLog;
use crate::background::Background;
use crate::binaries::Binaries;
use crate::cloud_controller;
use crate::control_plane::ControlPlane;
use crate::csi::Controller;
use crate::fleet::Fleet;
use crate::kubelet::Kubelet;
use crate::rbac;
use crate::rescuer::{AtWork, Mode, Rescuer};
use crate::scene;

/// A world that is running. Scenes are set on it.
pub struct Stage {
    // In the order in which they end: first who writes, last what is written to.
    rescuer: AtWork,
    program_mode: Option<Mode>,
    kept_alive: Mutex<Vec<Kubelet>>,
    _cloud_controller: Background,
    pub(crate) attachments: Attachments,
    pub(crate) fleet: Arc<Fleet>,
    _csi: Controller,
    /// A client that may do everything.
    pub client: Client,
    /// The AWS account.
    pub account: Account,
    /// What the rescuer asked of the API server.
    pub audit: AuditLog,
    /// The control plane.
    pub plane: ControlPlane,
    /// For how long a scenario waits for a recovery.
    pub patience: Duration,
}

impl Stage {
    /// Starts a world in which this rescuer works.
    ///
    /// # Errors
    /// Where a part of it does not start.
    pub async fn start(binaries: Binaries, rescuer: &Rescuer, patience: Duration) -> Result<Self> {
        let plane = ControlPlane::start(binaries).await?;
        let client = plane.client("test").await?;
        for object in scene::of_cluster() {
            rbac::apply_object(&client, object).await?;
        }
        rbac::apply(&client).await?;
        let account = Account { ec2: Double::start().await };
        let socket = plane.folder().join("csi.sock");
        let csi = Controller::start(account.ec2.clone(), &socket).await.context("the CSI controller")?;
        plane.start_attacher(&socket)?;
        let fleet = Fleet::start(plane.client("kubelets").await?, Arc::new(account.clone())).await?;
        let cloud_controller = cloud_controller::start(plane.client("cloud-controller").await?, account.clone());
        let attachments = Attachments::watch(client.clone());
        let audit = AuditLog::new(plane.audit_log(), rbac::USER);
        let program_mode = match rescuer {
            Rescuer::Program(program) => Some(program.mode),
            Rescuer::None | Rescuer::Script => None,
        };
        let rescuer = rescuer.start(&plane, &account).await.context("the rescuer")?;
        Ok(Self {
            rescuer,
            program_mode,
            kept_alive: Mutex::default(),
            _cloud_controller: cloud_controller,
            attachments,
            fleet,
            _csi: csi,
            client,
            account,
            audit,
            plane,
            patience,
        })
    }

    /// The ends of all logs, for a failure.
    #[must_use]
    pub fn tails(&self) -> String {
        format!("{}{}", self.plane.tails(), self.rescuer.tail())
    }

    /// Where the rescuer serves its health and its metrics; `None` where it is no program.
    #[must_use]
    pub fn rescuer_address(&self) -> Option<SocketAddr> {
        self.rescuer.address()
    }

    /// What the program under test does about what it finds; `None` where the rescuer is no program.
    #[must_use]
    pub fn program_mode(&self) -> Option<Mode> {
        self.program_mode
    }

    /// Lets machines live on until the world ends.
    pub(crate) fn keep_alive(&self, machines: impl Iterator<Item = Kubelet>) {
        self.kept_alive.lock().unwrap_or_else(PoisonError::into_inner).extend(machines);
    }
}
