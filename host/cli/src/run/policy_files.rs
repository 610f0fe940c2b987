//! Watches the files of `--policy` and `--settings`, and lets what is in them decide where it is good.
//!
//! The files are opened anew at each look, so that a file that is written, one that is moved into place, and the changed
//! symlink of a mounted ConfigMap are all the same. What was refused is tried again once the content is another. Looking,
//! compiling and trying are done on threads that may block; who asks the policy meanwhile is never held up.

mod content;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use metrics::{counter, gauge};
use tokio::time::MissedTickBehavior;
use zonewarden_engine::{ConfiguredPolicy, Engine, PolicySlot, Swapped};

use self::content::{Content, Failure};
use super::health::{Heartbeat, Part};
use super::metrics::{POLICY_INFO, POLICY_SWAPS};
use super::shutdown::Shutdown;
use crate::args::DeciderArgs;
use crate::output::one_line;

/// The most bytes that the text of an event may have.
const NOTE_BYTES: usize = 1024;
/// The most characters of a policy's own texts that become the value of a label.
const LABEL_CHARS: usize = 64;

/// What people should be told by an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// Whether something is wrong.
    pub(crate) is_warning: bool,
    /// The event's reason.
    pub(crate) reason: &'static str,
    /// The event's text, of [`NOTE_BYTES`] at most.
    pub(crate) note: String,
}

/// Has people told. It is called on a thread that may block, and should not for long.
pub(crate) type Notify = Box<dyn Fn(Notice) + Send + Sync>;

/// The files of the policy and its settings, and what becomes of them.
pub(crate) struct PolicyFiles {
    policy: Option<PathBuf>,
    settings: Option<PathBuf>,
    engine: Engine,
    slot: Arc<PolicySlot>,
    part: Part,
    notify: Notify,
    last: Mutex<Last>,
}

/// What is not to be done twice.
#[derive(Debug, Default)]
struct Last {
    /// What was tried last, by its digests; `None` where it is worth another try.
    tried: Option<String>,
    /// What people were told last; `None` where nothing is wrong.
    told: Option<String>,
}

impl PolicyFiles {
    /// The files that the flags name; `None` where they name none, so that there is nothing to watch. `slot` holds the policy
    /// that was read from them at the start, which makes the part ready.
    pub(crate) fn of(
        args: &DeciderArgs,
        engine: Engine,
        slot: Arc<PolicySlot>,
        part: Part,
        notify: Notify,
    ) -> Result<Option<Self>> {
        let (policy, settings) = (args.policy.clone(), args.settings.clone());
        if settings.as_deref() == Some(Path::new("-")) {
            bail!("--settings -: standard input can't be watched; give a file");
        }
        show(&slot.current(), true);
        part.ready();
        if policy.is_none() && settings.is_none() {
            return Ok(None);
        }
        Ok(Some(Self { policy, settings, engine, slot, part, notify, last: Mutex::default() }))
    }

    /// Looks at the files once, and swaps where they are others than before. Blocks while it compiles.
    fn look(&self) {
        let found = self.read();
        let mark = content::mark(&found);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.tried.as_ref() == Some(&mark) {
            return;
        }
        // Two files are not read at once, and a file is not written at once: what is changing is left for the next look.
        if content::mark(&self.read()) != mark {
            return;
        }
        // Before it is tried: what makes the compiler panic is not tried again either.
        last.tried = Some(mark);
        let before = self.slot.current();
        let outcome = found.and_then(|content| content.swap_in(&self.slot, &self.engine));
        if let Err(failure) = &outcome {
            if failure.is_transient {
                last.tried = None;
            }
            return self.refused(failure, &mut last.told);
        }
        last.told = None;
        self.part.ready();
        if let Ok(Swapped::Replaced(generation)) = outcome {
            self.replaced(&before, generation);
        }
    }

    fn read(&self) -> Result<Content<'_>, Failure> {
        Content::read(self.policy.as_deref(), self.settings.as_deref(), self.engine.limits().component_bytes)
    }

    fn replaced(&self, before: &ConfiguredPolicy, generation: u64) {
        let policy = self.slot.current();
        counter!(POLICY_SWAPS, "result" => "ok").increment(1);
        show(before, false);
        show(&policy, true);
        tracing::info!(
            policy = policy.digest(),
            before = before.digest(),
            name = label(&policy.info().name),
            version = label(&policy.info().version),
            generation,
            "another policy decides, or the same one under other settings"
        );
        let note = format!(
            "the policy {} {} ({}) decides now, with {} settings",
            label(&policy.info().name),
            label(&policy.info().version),
            short(policy.digest()),
            policy.settings().len()
        );
        (self.notify)(Notice { is_warning: false, reason: "PolicySwapped", note: cut(&note, NOTE_BYTES) });
    }

    /// What is tried again and again for a machine that is too busy is told once.
    fn refused(&self, failure: &Failure, told: &mut Option<String>) {
        counter!(POLICY_SWAPS, "result" => failure.result).increment(1);
        let current = self.slot.current();
        let text = format!(
            "{}: refused: {}; the one with digest {} still decides",
            failure.file,
            one_line(&failure.why),
            short(current.digest())
        );
        if told.replace(text.clone()).as_ref() == Some(&text) {
            return;
        }
        tracing::warn!(policy = current.digest(), code = failure.result, file = failure.file, "{text}");
        self.part.ready_but(cut(&text, NOTE_BYTES));
        (self.notify)(Notice { is_warning: true, reason: "PolicyRefused", note: cut(&text, NOTE_BYTES) });
    }
}

/// Looks at the files at each interval until the end is asked for.
pub(crate) async fn watch(files: PolicyFiles, interval: Duration, heartbeat: Heartbeat, shutdown: Shutdown) {
    let files = Arc::new(files);
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let looked = async {
            ticks.tick().await;
            let files = Arc::clone(&files);
            tokio::task::spawn_blocking(move || files.look()).await
        };
        tokio::select! {
            looked = looked => if looked.is_err() {
                counter!(POLICY_SWAPS, "result" => "panic").increment(1);
                tracing::error!(code = "panic", "looking at the policy's files broke off; the policy that decided still does");
            },
            () = shutdown.clone().requested() => return,
        }
        heartbeat.beat();
    }
}

/// Says by a metric that a policy decides, or no longer does.
fn show(policy: &ConfiguredPolicy, decides: bool) {
    let info = policy.info();
    let labels =
        [("digest", policy.digest().to_owned()), ("name", label(&info.name)), ("version", label(&info.version))];
    gauge!(POLICY_INFO, &labels).set(if decides { 1.0 } else { 0.0 });
}

/// A text of the policy's own, which can be any, as a label.
fn label(text: &str) -> String {
    one_line(text).chars().take(LABEL_CHARS).collect()
}

/// A digest, as far as people compare it.
fn short(digest: &str) -> String {
    format!("sha256:{}", digest.get(..12).unwrap_or(digest))
}

/// The beginning of a text that has at most so many bytes.
fn cut(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests;
