//! A live world: the API server and EC2.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::task::JoinSet;
use zonewarden_cluster::live::{Client, Leadership, Terms, unique_identity};
use zonewarden_cluster::{Cluster, ObjectName};
use zonewarden_ec2::aws::{self, Ec2};
use zonewarden_sync::Fence;

use super::{Sources, Unwired};
use crate::args::LiveArgs;
use crate::args::run::RunArgs;
use crate::run::health::Health;
use crate::run::shutdown::Shutdown;

/// How often the health is brought up to date.
const HEALTH_EVERY: Duration = Duration::from_secs(1);

struct Held(Leadership);

impl Fence for Held {
    fn holds(&self) -> bool {
        self.0.fence().is_ok()
    }
}

/// The client of the API server that the flags name.
pub(crate) async fn client(args: &LiveArgs) -> Result<Client> {
    let client = Client::connect(args.kubeconfig.as_deref(), args.context.as_deref()).await;
    client.context("no API server can be named")
}

/// EC2 as the flags name it.
pub(crate) async fn ec2(args: &LiveArgs) -> Result<Ec2> {
    let options = aws::Options {
        region: args.region.clone(),
        endpoint_url: args.endpoint_url.clone(),
        profile: args.profile.clone(),
        ..aws::Options::default()
    };
    Ec2::connect(&options).await.context("EC2 can't be named")
}

pub(super) async fn connect(
    args: &RunArgs,
    health: &Health,
    shutdown: &Shutdown,
    tasks: &mut JoinSet<()>,
) -> Result<Sources> {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "zonewarden".to_owned());
    let client = client(&args.world.live).await?.reporting_as(&host);
    let ec2 = ec2(&args.world.live).await?;
    let namespace = args.lease.lease_namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
    let lease = ObjectName::new(&namespace, &args.lease.lease_name);
    let (candidate, leadership) = Leadership::candidate(&client, lease.clone(), Terms::new(unique_identity(&host)));
    tasks.spawn(candidate.run(shutdown.clone().requested()));

    let cluster = Arc::new(Cluster::new());
    let (watching, stop) = (client.watch(&cluster), shutdown.clone());
    tasks.spawn(async move {
        tokio::select! {
            () = watching => {}
            () = stop.requested() => {}
        }
    });
    let (store, stop, caches) = (Arc::clone(&cluster), shutdown.clone(), health.part("caches"));
    tasks.spawn(async move {
        loop {
            let (filling, interrupted) = (store.filling(), store.interruptions());
            match (filling.is_empty(), interrupted.iter().next()) {
                (true, None) => caches.ready(),
                (true, Some((kind, why))) => caches.ready_but(format!("the watch of {kind} is interrupted: {why}")),
                (false, Some((kind, why))) => caches.not_ready(format!("{kind} can't be read: {why}")),
                (false, None) => caches.not_ready(format!("still reading {filling:?}")),
            }
            tokio::select! {
                () = tokio::time::sleep(HEALTH_EVERY) => {}
                () = stop.clone().requested() => return,
            }
        }
    });
    let parts = Unwired { cluster, api: Arc::new(client), ec2: Arc::new(ec2), fence: Arc::new(Held(leadership)) };
    Ok(Sources { parts, on_files: false, lease })
}
