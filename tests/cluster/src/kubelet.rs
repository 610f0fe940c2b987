//! A kubelet: it registers its Node and CSINode, renews its Lease, mounts what its pods need and says so.
//!
//! It does what a real one does at the seams that a recovery depends on: `volumesInUse` names a volume before it is mounted and
//! until it is unmounted; a container starts only once `volumesAttached` lists its volumes and the machine sees the devices;
//! a Node is registered once in a kubelet's life, and one of its own name is adopted with the old providerID. It knows no
//! more of the rest than a test needs: no images, no probes, no grace period.

mod pods;
mod registration;
mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::background::Background;
use crate::fleet::Fleet;

/// How often a kubelet looks at what is to be done. It looks into memory, not at the API server.
const PACE: Duration = Duration::from_millis(200);
/// How long a Lease holds. It is renewed every quarter of that.
const LEASE_DURATION: Duration = Duration::from_secs(40);

/// The machine that a kubelet runs on.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The Node's name.
    pub node: String,
    /// The instance's id.
    pub instance: String,
    /// The zone that it is in.
    pub zone: String,
    /// Labels for the Node beside those that every one has.
    pub labels: BTreeMap<String, String>,
}

/// A running kubelet. Dropping it is the machine's death: nothing more is heard of it, and its mounts are gone with it.
pub struct Kubelet {
    machine: Machine,
    health: watch::Sender<Health>,
    _work: Background,
}

/// How a machine fares.
#[derive(Debug, Clone, Copy)]
struct Health {
    /// Whether it reaches the API server.
    connected: bool,
    /// Whether it says that it is ready.
    ready: bool,
}

impl Kubelet {
    /// Boots a machine.
    #[must_use]
    pub fn boot(fleet: Arc<Fleet>, machine: Machine) -> Self {
        let (health, told) = watch::channel(Health { connected: true, ready: true });
        let state = State {
            fleet,
            machine: machine.clone(),
            node_uid: None,
            renewed: None,
            running: BTreeMap::new(),
            told_waiting: BTreeSet::new(),
        };
        Self { machine, health, _work: Background::spawn(state.run(told)) }
    }

    /// Cuts the machine off the API server. Its containers run on.
    pub fn cut(&self) {
        self.health.send_modify(|health| health.connected = false);
    }

    /// Mends the network.
    pub fn restore(&self) {
        self.health.send_modify(|health| health.connected = true);
    }

    /// Lets it say that it is ready, or that it is not: its runtime is down, say, while containers run on.
    pub fn set_ready(&self, ready: bool) {
        self.health.send_modify(|health| health.ready = ready);
    }

    /// The machine that it runs on.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }
}

/// A pod whose containers run here.
struct Running {
    volumes: Vec<String>,
}

struct State {
    fleet: Arc<Fleet>,
    machine: Machine,
    /// The uid of the Node that it registered or adopted; `None` until then.
    node_uid: Option<String>,
    /// When its Lease was renewed last.
    renewed: Option<Instant>,
    /// By the pod's uid.
    running: BTreeMap<String, Running>,
    /// Uids of pods that were told to wait for their containers.
    told_waiting: BTreeSet<String>,
}

impl State {
    async fn run(mut self, health: watch::Receiver<Health>) {
        loop {
            let now = *health.borrow();
            if now.connected
                && let Err(error) = self.work(now.ready).await
            {
                // The API server may be away, or an object may have changed: the next look tells.
                tracing::debug!(node = self.machine.node, "{error:#}");
            }
            sleep(PACE).await;
        }
    }

    async fn work(&mut self, is_ready: bool) -> Result<()> {
        if self.node_uid.is_none() {
            self.register().await?;
        }
        if self.renewed.is_none_or(|renewed| renewed.elapsed() >= LEASE_DURATION / 4) {
            self.renew_lease().await?;
            self.renewed = Some(Instant::now());
        }
        let Some(node) = self.fleet.node(&self.machine.node) else { return Ok(()) };
        self.report_ready(&node, is_ready).await?;
        self.tend_pods(&node).await
    }
}
