//! Who comes to the rescue in a world: nobody, the program under test, or a script that knows no caution.

mod program;
mod script;

use std::net::SocketAddr;

use anyhow::Result;

use crate::account::Account;
use crate::background::Background;
use crate::control_plane::{ControlPlane, client_of};
use crate::process::Process;
use crate::rbac;

pub use program::{Mode, Program, binary};

/// Who is to come to the rescue.
#[derive(Debug, Clone)]
pub enum Rescuer {
    /// Kubernetes is alone.
    None,
    /// A script that asks EC2 every second and believes every answer at once. It shows that the scenarios can be rescued, and
    /// that those in which the machine lives catch one who is fooled.
    Script,
    /// `zonewarden run`.
    Program(Program),
}

/// A rescuer at work; dropping it ends it.
pub enum AtWork {
    /// Nobody.
    None,
    /// The script.
    Script(Background),
    /// The program, and where it serves.
    Program(Process, SocketAddr),
}

impl Rescuer {
    /// Starts it, under an account that may do what `deploy/rbac.yaml` grants.
    ///
    /// # Errors
    /// Where it does not start.
    pub async fn start(&self, plane: &ControlPlane, account: &Account) -> Result<AtWork> {
        match self {
            Self::None => Ok(AtWork::None),
            Self::Script => {
                let client = client_of(&plane.kubeconfig(rbac::USER, false)?).await?;
                Ok(AtWork::Script(script::start(client, account.ec2.address())))
            }
            Self::Program(program) => {
                let kubeconfig = plane.kubeconfig(rbac::USER, false)?;
                let (process, address) = program.start(&kubeconfig, account, plane.folder()).await?;
                Ok(AtWork::Program(process, address))
            }
        }
    }
}

impl AtWork {
    /// The end of its log.
    #[must_use]
    pub fn tail(&self) -> String {
        match self {
            Self::None | Self::Script(_) => String::new(),
            Self::Program(process, _) => process.tail(),
        }
    }

    /// Where it serves its health and its metrics.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::None | Self::Script(_) => None,
            Self::Program(_, address) => Some(*address),
        }
    }
}
