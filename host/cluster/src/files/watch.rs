//! A world of files that lives: read again where it changed.
//!
//! Who edits a file leaves it broken, empty or away for a moment. So a file that can't be read keeps what it gave before, and
//! is told as a problem; one that is empty, or gone from its folder, loses its objects when it still is at the next look.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use zonewarden_documents::{Code, Place, Problem, source};

use super::{EXTENSIONS, Loaded, nothing_in, parse};
use crate::objects::Kind;
use crate::reading::{Reading, describe};
use crate::store::{Cluster, Listing};

/// A file system's clock may be as coarse as this: a younger file may have changed again without its time showing it.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// The files of a world, and what they gave when they could be read last.
#[derive(Debug)]
pub struct FileWatch {
    origin: Origin,
    cluster: Arc<Cluster>,
    files: BTreeMap<PathBuf, File>,
    /// The files in the order in which they are used.
    order: Vec<PathBuf>,
    problems: Vec<Problem>,
    has_stored: bool,
}

#[derive(Debug)]
enum Origin {
    Folder(PathBuf),
    Files(Vec<PathBuf>),
}

#[derive(Debug, Default)]
struct File {
    /// Time and size; `None` where they say nothing.
    stamp: Option<(SystemTime, u64)>,
    digest: Option<u64>,
    /// What it gave when it could be read last.
    given: Loaded,
    /// What is wrong with it now.
    problems: Vec<Problem>,
    /// Whether it was empty at the last look.
    is_empty: bool,
    /// Whether it was gone from its folder at the last look.
    is_away: bool,
}

impl FileWatch {
    /// The files of a folder that have one of [`EXTENSIONS`], in the order of their names, whichever there are.
    pub fn folder(folder: impl Into<PathBuf>, cluster: Arc<Cluster>) -> Self {
        Self::new(Origin::Folder(folder.into()), cluster)
    }

    /// These files; `-`, standard input, is read once.
    pub fn files(paths: impl IntoIterator<Item = PathBuf>, cluster: Arc<Cluster>) -> Self {
        Self::new(Origin::Files(paths.into_iter().collect()), cluster)
    }

    fn new(origin: Origin, cluster: Arc<Cluster>) -> Self {
        Self { origin, cluster, files: BTreeMap::new(), order: Vec::new(), problems: Vec::new(), has_stored: false }
    }

    /// Looks at the files, and puts what changed into the store; the first time, everything. Returns whether anything changed,
    /// be it a problem. A folder that can't be listed keeps its files; before it ever could be, nothing is known.
    pub fn tick(&mut self) -> bool {
        let (is_listed, mut has_changed, mut problems) = match self.list() {
            Ok(has_lost) => (true, has_lost, Vec::new()),
            Err(problem) => (false, false, vec![problem]),
        };
        for path in &self.order {
            has_changed |= self.files.entry(path.clone()).or_default().look(path);
        }
        if let (Origin::Folder(folder), true, true) = (&self.origin, is_listed, self.order.is_empty()) {
            problems.push(nothing_in(folder));
        }
        let files = self.order.iter().filter_map(|path| self.files.get(path));
        problems.extend(files.flat_map(|file| file.problems.clone()));
        has_changed |= problems != self.problems || (is_listed && !self.has_stored);
        self.problems = problems;
        if has_changed && (is_listed || self.has_stored) {
            self.has_stored = true;
            self.store();
        } else if has_changed {
            self.cluster.complain(self.problems.clone());
        }
        has_changed
    }

    /// Lists the files anew; returns whether one is gone for good.
    fn list(&mut self) -> Result<bool, Problem> {
        let mut present = match &self.origin {
            Origin::Files(paths) => {
                self.order.clone_from(paths);
                return Ok(false);
            }
            Origin::Folder(folder) => source::files_in(folder, EXTENSIONS)?,
        };
        let known = self.files.len();
        let mut away = Vec::new();
        self.files.retain(|path, file| {
            let was_away = std::mem::replace(&mut file.is_away, !present.contains(path));
            if file.is_away && !was_away {
                away.push(path.clone());
            }
            !(file.is_away && was_away)
        });
        present.append(&mut away);
        present.sort();
        self.order = present;
        Ok(self.files.len() < known)
    }

    /// Puts everything into the store, which finds out what differs.
    fn store(&self) {
        let mut problems = self.problems.clone();
        for kind in Kind::ALL {
            let mut listing = Listing::new(kind);
            for path in &self.order {
                let Some(file) = self.files.get(path) else { continue };
                for name in listing.share(&file.given.index) {
                    let place = Place::file(path.to_string_lossy());
                    let message = "stands in an earlier file too; this one is used";
                    problems.push(Problem::warning(Code::Duplicate, place, message).in_object(describe(kind, &name)));
                }
                let unreadable = file.given.unreadable.iter().filter(|(other, _)| *other == kind);
                unreadable.for_each(|(_, name)| listing.take(Reading::unreadable(kind, name.clone())));
            }
            self.cluster.refill(listing);
        }
        self.cluster.complain(problems);
    }
}

impl File {
    /// Reads the file again where it may have changed; returns whether it gave something else than before.
    fn look(&mut self, path: &Path) -> bool {
        if path.as_os_str() == source::STANDARD_INPUT && self.digest.is_some() {
            return false;
        }
        let stamp = stamp(path);
        if stamp.is_some() && stamp == self.stamp && self.digest.is_some() {
            return false;
        }
        let bytes = match source::read(path) {
            Ok(bytes) => bytes,
            Err(problem) => {
                (self.stamp, self.digest) = (None, None);
                self.problems = vec![self.kept(problem)];
                return false;
            }
        };
        let digest = digest(&bytes);
        self.stamp = stamp;
        if self.digest == Some(digest) {
            return false;
        }
        self.take(parse(&bytes, &path.to_string_lossy()), digest)
    }

    /// Takes what the file gives now, unless it is broken, or just became empty.
    fn take(&mut self, loaded: Loaded, digest: u64) -> bool {
        let is_empty = loaded.counts.is_empty() && loaded.unreadable.is_empty();
        let is_new_empty = is_empty && !self.is_empty && !self.given.counts.is_empty();
        self.is_empty = is_empty;
        if is_new_empty {
            (self.stamp, self.digest) = (None, None);
            return false;
        }
        self.digest = Some(digest);
        if let Some(problem) = loaded.problems.iter().find(|problem| problem.costs_a_document()) {
            self.problems = vec![self.kept(problem.clone())];
            // Of a file that was never whole, what can be read is better than nothing.
            if !self.given.counts.is_empty() {
                return false;
            }
        }
        self.problems.clone_from(&loaded.problems);
        self.given = loaded;
        true
    }

    fn kept(&self, problem: Problem) -> Problem {
        if self.given.counts.is_empty() {
            return problem;
        }
        let message = format!("{}; what it gave before is used", problem.message);
        Problem { message, ..problem }
    }
}

/// Time and size of a file that is old enough for them to tell a change.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    let modified = metadata.modified().ok()?;
    let age = SystemTime::now().duration_since(modified).ok()?;
    (age > COARSEST_CLOCK).then_some((modified, metadata.len()))
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
