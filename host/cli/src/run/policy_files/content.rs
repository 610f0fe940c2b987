//! What stands in the files, and whether it may decide.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use zonewarden_engine::{Engine, PolicySlot, Swapped, digest};

use crate::output::chain;
use crate::{config, decider};

/// The most bytes that settings may have: a hundred times what all settings with long values take.
const SETTINGS_BYTES: usize = 1 << 20;

/// A policy and its settings, byte for byte.
pub(super) struct Content<'a> {
    policy: Cow<'static, [u8]>,
    policy_file: Option<&'a Path>,
    settings: Option<(&'a Path, Vec<u8>)>,
}

/// Why the files are not what decides.
#[derive(Debug)]
pub(super) struct Failure {
    /// What the metric calls it: `read`, `settings`, `smoke`, or the kind of the engine's error.
    pub(super) result: &'static str,
    /// The file that is to blame.
    pub(super) file: String,
    /// What is wrong.
    pub(super) why: String,
    /// Whether the same content may do on another try.
    pub(super) is_transient: bool,
}

impl<'a> Content<'a> {
    /// Reads the files that there are. Without a policy it is the built-in one, without settings there are none.
    pub(super) fn read(
        policy_file: Option<&'a Path>,
        settings_file: Option<&'a Path>,
        policy_bytes: usize,
    ) -> Result<Self, Failure> {
        let policy = match policy_file {
            // A byte more than may be: the engine then says that it is too large.
            Some(file) => Cow::Owned(bytes_of(file, policy_bytes.saturating_add(1))?),
            None => Cow::Borrowed(decider::DEFAULT_POLICY),
        };
        let settings = match settings_file {
            Some(file) => {
                let bytes = bytes_of(file, SETTINGS_BYTES + 1)?;
                if bytes.len() > SETTINGS_BYTES {
                    return Err(unreadable(file, format!("has more than {SETTINGS_BYTES} bytes")));
                }
                Some((file, bytes))
            }
            None => None,
        };
        Ok(Self { policy, policy_file, settings })
    }

    /// Lets the content decide, where it is good.
    pub(super) fn swap_in(self, slot: &PolicySlot, engine: &Engine) -> Result<Swapped, Failure> {
        let settings = match &self.settings {
            Some((file, bytes)) => config::settings_of_bytes(file, bytes).map_err(|error| Failure {
                result: "settings",
                file: file.display().to_string(),
                why: chain(error.as_ref()),
                is_transient: false,
            })?,
            None => Vec::new(),
        };
        slot.try_swap(engine, &self.policy, settings).map_err(|error| {
            let of_settings = self.settings.as_ref().map(|(file, _)| *file);
            let by_settings = error.kind() == "settings";
            let file = if by_settings { of_settings.or(self.policy_file) } else { self.policy_file.or(of_settings) };
            Failure {
                result: error.kind(),
                file: file.map(|file| file.display().to_string()).unwrap_or_default(),
                why: chain(&error),
                is_transient: error.is_transient(),
            }
        })
    }
}

/// What tells one state of the files from another.
pub(super) fn mark(found: &Result<Content<'_>, Failure>) -> String {
    match found {
        Ok(Content { policy, settings, .. }) => {
            let settings = settings.as_ref().map(|(_, bytes)| digest(bytes)).unwrap_or_default();
            format!("{} {settings}", digest(policy))
        }
        Err(Failure { file, why, .. }) => format!("{file}: {why}"),
    }
}

/// Reads a file up to a length.
fn bytes_of(file: &Path, limit: usize) -> Result<Vec<u8>, Failure> {
    let read = || -> io::Result<Vec<u8>> {
        // Opening a pipe would wait for somebody who writes into it.
        if !std::fs::metadata(file)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let mut bytes = Vec::new();
        File::open(file)?.take(u64::try_from(limit).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| unreadable(file, format!("can't be read: {error}")))
}

fn unreadable(file: &Path, why: String) -> Failure {
    Failure { result: "read", file: file.display().to_string(), why, is_transient: false }
}
