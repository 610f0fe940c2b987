//! Where the host's facts come from, and where it writes: an API server and EC2, or files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use jiff::Timestamp;
use tokio::task::JoinSet;
use zonewarden_cluster::files::{FileWatch, FilesApi};
use zonewarden_cluster::{Api, Cluster, ObjectName};
use zonewarden_ec2::{Answer, BulkVerify, Code, Files, Loaded, Problem, Question};
use zonewarden_engine::PolicySlot;
use zonewarden_sync::{Fence, Parts};

use super::health::Health;
use super::shutdown::Shutdown;
use crate::args::WorldArgs;
use crate::args::run::RunArgs;

#[cfg(all(feature = "aws", feature = "live"))]
pub(crate) mod live;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A look reads a gigabyte at most.
const LOOK_WITHIN: Duration = Duration::from_secs(120);

/// The host's parts, but for its policy.
pub(super) struct Sources {
    pub(super) parts: Unwired,
    /// Whether the world is on files, which are never written.
    pub(super) on_files: bool,
    /// The Lease that replicas compete for, which stands for this program where events are about it.
    pub(super) lease: ObjectName,
}

/// The host's parts, but for its policy.
pub(super) struct Unwired {
    pub(super) cluster: Arc<Cluster>,
    pub(super) api: Arc<dyn Api>,
    ec2: Arc<dyn BulkVerify>,
    fence: Arc<dyn Fence>,
}

impl Sources {
    pub(super) fn with(self, policy: Arc<PolicySlot>) -> Parts {
        let Unwired { cluster, api, ec2, fence } = self.parts;
        Parts { cluster, api, ec2, policy, fence }
    }
}

/// The sources that the flags name. What keeps them up to date runs among `tasks`.
pub(super) async fn of(
    args: &RunArgs,
    health: &Health,
    shutdown: &Shutdown,
    tasks: &mut JoinSet<()>,
) -> Result<Sources> {
    if args.world.world.is_some() || !args.world.cluster.is_empty() {
        return Ok(on_files(&args.world, args, health, shutdown, tasks));
    }
    #[cfg(all(feature = "aws", feature = "live"))]
    return live::connect(args, health, shutdown, tasks).await;
    #[cfg(not(all(feature = "aws", feature = "live")))]
    Err(crate::world::lacking())
}

/// Whoever reads files has nobody beside him.
struct Alone;

impl Fence for Alone {
    fn holds(&self) -> bool {
        true
    }
}

/// EC2's files, which are read again where they changed.
struct LiveFiles {
    paths: Vec<PathBuf>,
    files: RwLock<Files>,
    /// Each file's time and size when it was last read; `None` before that.
    stamps: Mutex<Option<Vec<Stamp>>>,
}

/// A file's time and size; `None` for one that can't be looked at.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl BulkVerify for LiveFiles {
    fn verify<'a>(&'a self, question: &'a Question) -> Answer<'a> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        Box::pin(std::future::ready(files.sweep(question)))
    }
}

impl LiveFiles {
    fn new(paths: Vec<PathBuf>) -> Self {
        let empty = Files { loaded: Loaded::default(), observed_at: Timestamp::now() };
        Self { paths, files: RwLock::new(empty), stamps: Mutex::default() }
    }

    /// Reads the files where they changed. They are as true now as when they were read.
    fn look(&self) {
        let stamps = self.paths.iter().map(|path| stamp(path)).collect();
        let mut seen = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == Some(Vec::clone(&stamps)) {
            self.files.write().unwrap_or_else(PoisonError::into_inner).observed_at = Timestamp::now();
            return;
        }
        *seen = Some(stamps);
        let loaded = zonewarden_ec2::load(&self.paths);
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        files.observed_at = Timestamp::now();
        if loaded.problems != files.loaded.problems {
            for problem in &loaded.problems {
                tracing::warn!("{problem}");
            }
        }
        if is_unfinished(&loaded, &files.loaded) {
            files.loaded.problems = loaded.problems;
        } else {
            files.loaded = loaded;
        }
    }
}

/// Whether somebody is about to write a file: until then, what the files gave before is better than what they give now. Of
/// files that gave nothing before, whatever can be read is better than nothing.
fn is_unfinished(now: &Loaded, before: &Loaded) -> bool {
    let is_away = |problem: &Problem| {
        matches!(problem.code, Code::FileMissing | Code::Empty) && !before.problems.contains(problem)
    };
    let is_moment = |problem: &Problem| problem.costs_a_document() || is_away(problem);
    let held_something = !before.volumes.is_empty() || !before.instances.is_empty();
    held_something && now.problems.iter().any(is_moment)
}

fn on_files(
    world: &WorldArgs,
    args: &RunArgs,
    health: &Health,
    shutdown: &Shutdown,
    tasks: &mut JoinSet<()>,
) -> Sources {
    let cluster = Arc::new(Cluster::new());
    let (mut watch, paths) = match &world.world {
        Some(folder) => (
            FileWatch::folder(folder.join("cluster"), Arc::clone(&cluster)),
            ["volumes", "instances"].map(|name| folder.join("ec2").join(format!("{name}.json"))).to_vec(),
        ),
        None => (
            FileWatch::files(world.cluster.clone(), Arc::clone(&cluster)),
            world.volumes.iter().chain(&world.instances).cloned().collect(),
        ),
    };
    let ec2 = Arc::new(LiveFiles::new(paths));
    let beat = health.heartbeat("files", LOOK_WITHIN);
    let (looking, stop, caches) = (Arc::clone(&ec2), shutdown.clone(), health.part("caches"));
    let store = Arc::clone(&cluster);
    tasks.spawn(async move {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = stop.clone().requested() => return,
            }
            let (files, mut watching) = (Arc::clone(&looking), watch);
            let looked = tokio::task::spawn_blocking(move || {
                watching.tick();
                files.look();
                watching
            });
            match looked.await {
                Ok(watching) => watch = watching,
                Err(error) => {
                    tracing::error!(%error, "looking at the files broke off; what they gave last stays");
                    return;
                }
            }
            beat.beat();
            let filling = store.filling();
            if filling.is_empty() {
                caches.ready();
            } else {
                caches.not_ready(format!("the files of {filling:?} can't be read yet"));
            }
        }
    });
    let parts = Unwired { api: Arc::new(FilesApi::new(Arc::clone(&cluster))), ec2, fence: Arc::new(Alone), cluster };
    Sources { parts, on_files: true, lease: ObjectName::new("default", &args.lease.lease_name) }
}

#[cfg(test)]
mod tests;
