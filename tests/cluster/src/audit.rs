//! Who did what, as the API server's own audit log tells it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// The audit log of a control plane, as far as it is about one user.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    user: &'static str,
    read: Mutex<ReadSoFar>,
}

/// Scenarios look several times a second: what was read once is kept.
#[derive(Debug, Default)]
struct ReadSoFar {
    bytes: u64,
    entries: Vec<Entry>,
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: String,
    /// The kind of object in the plural, with the part of it where there is one: `pods`, `nodes/status`.
    pub resource: String,
    /// The object's namespace, empty where it has none.
    pub namespace: String,
    /// The object's name, empty where none was asked for.
    pub name: String,
    /// The HTTP status of the answer.
    pub code: u16,
    /// When it came.
    pub at: Timestamp,
    /// What was written; only told of the program under test.
    pub body: Option<Value>,
}

impl Entry {
    /// Whether it changed something.
    #[must_use]
    pub fn wrote(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch") && (200..300).contains(&self.code)
    }
}

impl AuditLog {
    /// Reads the log at this place.
    #[must_use]
    pub fn new(path: PathBuf, user: &'static str) -> Self {
        Self { path, user, read: Mutex::default() }
    }

    /// All requests of the user so far, in the order in which they were answered. The API server writes a line before it
    /// answers, so none is missing.
    ///
    /// # Errors
    /// Where the log can't be read.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = File::open(&self.path).with_context(|| format!("{} can't be read", self.path.display()))?;
        file.seek(SeekFrom::Start(read.bytes))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // What follows the last line break is still being written.
        for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            read.bytes += u64::try_from(line.len())?;
            let line = std::str::from_utf8(line).context("the audit log is UTF-8")?;
            if !line.contains(self.user) {
                continue;
            }
            let line: Line = serde_json::from_str(line).context("the audit log holds JSON")?;
            if line.user.username == self.user && line.stage != "ResponseStarted" {
                read.entries.push(line.into());
            }
        }
        Ok(read.entries.clone())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    stage: String,
    verb: String,
    user: User,
    #[serde(default)]
    object_ref: ObjectRef,
    response_status: Option<ResponseStatus>,
    request_object: Option<Value>,
    request_received_timestamp: Timestamp,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ObjectRef {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

impl From<Line> for Entry {
    fn from(line: Line) -> Self {
        let ObjectRef { mut resource, subresource, namespace, name } = line.object_ref;
        if !subresource.is_empty() {
            resource = format!("{resource}/{subresource}");
        }
        Self {
            verb: line.verb,
            resource,
            namespace,
            name,
            code: line.response_status.map_or(0, |status| status.code),
            at: line.request_received_timestamp,
            body: line.request_object,
        }
    }
}
