//! `zonewarden run`: the host, and what surrounds it while it serves: its world, its policy's files, its health, its metrics,
//! its logs, its end.

mod health;
mod logging;
mod metrics;
mod policy_files;
mod serve;
mod shutdown;
pub(crate) mod sources;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use zonewarden_cluster::api::{Event, Reference};
use zonewarden_cluster::{Kind, Write};
use zonewarden_engine::PolicySlot;
use zonewarden_sync::{Host, Modes, Options};

use crate::args::run::{Mode, RunArgs};
use crate::{config, decider};
use health::{Health, Heartbeat, Part};
use policy_files::{Notice, PolicyFiles};
use shutdown::{End, Shutdown, Signals};

/// A turn of the loop reads Leases and writes remedies, each with timeouts of its own.
const TURN: Duration = Duration::from_secs(120);
/// How often the health is brought up to date.
const HEALTH_EVERY: Duration = Duration::from_secs(1);
/// What is left to do at the end is given so long.
const GRACE: Duration = Duration::from_secs(10);
/// So many events about the policy wait for an API server that is away; what comes then stands in the log only.
const NOTICES: usize = 16;

/// Runs until a signal ends it.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    logging::install(&args.log)?;
    let metrics = metrics::install()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(args, metrics))?;
    runtime.shutdown_timeout(GRACE);
    Ok(ExitCode::SUCCESS)
}

async fn serve(args: &RunArgs, metrics: metrics_exporter_prometheus::PrometheusHandle) -> Result<()> {
    let mut signals = Signals::install().context("signals can't be waited for")?;
    let (stop, shutdown) = shutdown::channel();
    let listener = TcpListener::bind(args.listen).await.with_context(|| format!("--listen {}", args.listen))?;
    let health = Health::default();
    let engine = decider::engine(&args.decider)?;
    let settings = config::settings(args.decider.settings.as_deref())?;
    let policy =
        decider::policy_of(&engine, &args.decider)?.with_settings(settings).context("the policy can't be used")?;
    let slot = Arc::new(PolicySlot::new(policy));
    let mut tasks = JoinSet::new();
    let sources = sources::of(args, &health, &shutdown, &mut tasks).await?;

    let (notices, told) = mpsc::channel(NOTICES);
    let notify = Box::new(move |notice| drop(notices.try_send(notice)));
    let files = PolicyFiles::of(&args.decider, engine, Arc::clone(&slot), health.part("policy"), notify)?;
    if let Some(files) = files {
        let beat = health.heartbeat("policy-files", TURN);
        tasks.spawn(policy_files::watch(files, args.policy_poll_interval, beat, shutdown.clone()));
        let lease = Reference { kind: Kind::Lease, name: sources.lease.clone(), uid: String::new() };
        tasks.spawn(tell(told, lease, Arc::clone(&sources.parts.api)));
    }

    let options = options(args, sources.on_files);
    let intervals = options.intervals;
    let host = Host::new(sources.with(slot), options).naming_stuck_volumes(args.stuck_volume_series);
    let watching = Watching {
        status: host.status(),
        evidence: health.part("evidence"),
        beat: health.heartbeat("reconcile", TURN),
        limit: intervals.stale_seconds().0,
    };
    tasks.spawn(watching.run(shutdown.clone()));
    let page = serve::Page { metrics, status: host.status() };
    tasks.spawn(host.run(shutdown.clone().requested()));
    let mut serving = tokio::spawn(serve::run(listener, health, page, shutdown.clone()));

    let end = shutdown::first_end(signals.next(), &mut tasks, &mut serving).await;
    stop.now();
    match end {
        End::Signal(signal) => {
            tracing::info!(signal, "ends");
            wait_for_rest(tasks, Some(serving), &mut signals).await
        }
        End::Part(error) => wait_for_rest(tasks, Some(serving), &mut signals).await.and(Err(error)),
        End::Serving(error) => wait_for_rest(tasks, None, &mut signals).await.and(Err(error)),
    }
}

/// Waits until what was begun is done, for as long as that may take.
async fn wait_for_rest(
    mut tasks: JoinSet<()>,
    serving: Option<JoinHandle<io::Result<()>>>,
    signals: &mut Signals,
) -> Result<()> {
    let ended = async {
        while tasks.join_next().await.is_some() {}
        match serving {
            Some(serving) => Ok(serving.await??),
            None => Ok(()),
        }
    };
    tokio::select! {
        ended = ended => ended,
        () = tokio::time::sleep(GRACE) => {
            tracing::warn!("what was begun did not end in time");
            Ok(())
        }
        signal = signals.next() => {
            tracing::warn!(signal, "ends at once, whatever was begun");
            Ok(())
        }
    }
}

fn options(args: &RunArgs, on_files: bool) -> Options {
    let mode = |mode: Mode| match mode {
        Mode::Enforce if !on_files => zonewarden_sync::Mode::Enforce,
        Mode::Enforce | Mode::Observe => zonewarden_sync::Mode::Observe,
    };
    Options {
        modes: Modes {
            label: mode(args.modes.label()),
            reconcile: mode(args.modes.reconcile()),
            delete_pods: args.modes.delete_pods,
            delete_leaked: args.modes.delete_leaked_attachments,
        },
        intervals: args.polling.intervals(),
        patience: zonewarden_sync::Patience {
            quiet_seconds: u32::try_from(args.quiet_period.as_secs()).unwrap_or(u32::MAX),
            ..zonewarden_sync::Patience::default()
        },
    }
}

/// Writes the events that the policy's files give rise to.
async fn tell(mut told: mpsc::Receiver<Notice>, lease: Reference, api: Arc<dyn zonewarden_cluster::Api>) {
    while let Some(Notice { is_warning, reason, note }) = told.recv().await {
        let event = Event {
            regarding: lease.clone(),
            related: None,
            warning: is_warning,
            reason: reason.to_owned(),
            action: "SwapPolicy".to_owned(),
            note,
            time: Timestamp::now(),
        };
        if let Err(error) = api.write(&Write::Event(event)).await {
            tracing::debug!(%error, "the event about the policy can't be written");
        }
    }
}

/// Brings the health up to date with how the host fares.
struct Watching {
    status: tokio::sync::watch::Receiver<zonewarden_sync::Status>,
    evidence: Part,
    beat: Heartbeat,
    limit: u32,
}

impl Watching {
    async fn run(self, shutdown: Shutdown) {
        let mut seen: Option<Instant> = None;
        loop {
            tokio::select! {
                () = tokio::time::sleep(HEALTH_EVERY) => {}
                () = shutdown.clone().requested() => return,
            }
            let status = self.status.borrow().clone();
            if status.ticked != seen {
                seen = status.ticked;
                self.beat.beat();
            }
            match (status.leads, status.oldest_evidence) {
                (false, _) => self.evidence.ready_but("this replica does not hold the Lease, and asks EC2 nothing"),
                (true, Some(seconds)) if seconds <= self.limit => self.evidence.ready(),
                (true, Some(seconds)) => {
                    let text = format!("a volume was last read {seconds} s ago, and {} s are allowed", self.limit);
                    self.evidence.not_ready(text);
                }
                (true, None) => self.evidence.not_ready("EC2 has not answered about every volume yet"),
            }
        }
    }
}
