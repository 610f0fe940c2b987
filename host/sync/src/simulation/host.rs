//! The whole host in the simulated world: its watches, its schedule, its telling and its counting.

use std::future::ready;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zonewarden_cluster::{Cluster, Kind};
use zonewarden_ec2::{Answer, BulkVerify, Question};
use zonewarden_engine::{ConfiguredPolicy, PolicySlot};

use super::ec2::Lens;
use super::runs::FEW;
use super::weather::{Event, Sky};
use super::world::{Tally, World};
use super::writes::Shared;
use crate::clock::{Clock, Moment, Now};
use crate::host::{Host, Parts};
use crate::options::Options;
use crate::remedies::Fence;

/// A host, and the world around it.
pub(super) struct Stand {
    pub(super) host: Host,
    pub(super) policy: Arc<PolicySlot>,
    world: Shared,
    cluster: Arc<Cluster>,
    leads: Arc<Leads>,
    sky: Sky,
}

/// EC2 as it is.
struct Ec2(Shared);

impl BulkVerify for Ec2 {
    fn verify<'a>(&'a self, question: &'a Question) -> Answer<'a> {
        Box::pin(ready(self.0.lock().sweep(question, &Lens::default())))
    }
}

#[derive(Default)]
struct Leads(AtomicBool);

impl Fence for Leads {
    fn holds(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Stand {
    pub(super) fn new(policy: ConfiguredPolicy, options: Options) -> Self {
        let world = Shared(Arc::new(Mutex::new(World::new(FEW))));
        let (cluster, policy) = (Arc::new(Cluster::new()), Arc::new(PolicySlot::new(policy)));
        let leads = Arc::new(Leads(AtomicBool::new(true)));
        let parts = Parts {
            cluster: Arc::clone(&cluster),
            api: Arc::new(world.clone()),
            ec2: Arc::new(Ec2(world.clone())),
            policy: Arc::clone(&policy),
            fence: Arc::clone(&leads) as Arc<dyn Fence>,
        };
        let host = Host::new(parts, options).on_clock(clock(&world));
        Self { host, policy, world, cluster, leads, sky: Sky::default() }
    }

    pub(super) fn lead(&self, leads: bool) {
        self.leads.0.store(leads, Ordering::Relaxed);
    }

    /// Something happens.
    pub(super) fn happen(&mut self, event: &Event) {
        self.world.lock().happen(event, &mut self.sky);
    }

    /// Goes on until a second.
    pub(super) async fn run_until(&mut self, second: u64) -> Tally {
        while self.world.lock().second < second {
            self.world.lock().step();
            let truth = self.world.lock().truth.clone();
            for kind in Kind::WATCHED {
                let names = truth.names(kind);
                self.cluster.reset(kind, names.iter().filter_map(|name| truth.object(kind, name)));
            }
            self.host.turn().await;
        }
        self.world.lock().tally.clone()
    }
}

/// The world's clock. No two moments are the same, as on any other.
fn clock(world: &Shared) -> Clock {
    let (world, looks) = (world.clone(), AtomicU64::new(0));
    Clock::of(move || {
        let world = world.lock();
        let seconds = Duration::from_secs(world.second);
        let since = Duration::from_micros(looks.fetch_add(1, Ordering::Relaxed));
        Now { moment: Moment(seconds + since), calendar: world.calendar() }
    })
}
