//! A folder for one run, which goes when the run ends.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

/// A folder for logs, sockets and keys. With `ZONEWARDEN_LOGS=DIR` it is made in there and stays.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// What removes it.
    _temporary: Option<TempDir>,
}

impl Folder {
    /// Makes one.
    ///
    /// # Errors
    /// Where it can't be made.
    pub fn new(name: &str) -> Result<Self> {
        let prefix = format!("zonewarden-{name}-");
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(&prefix);
        let Some(kept) = env::var_os("ZONEWARDEN_LOGS") else {
            let temporary = builder.tempdir().context("no temporary folder can be made")?;
            return Ok(Self { path: temporary.path().to_owned(), _temporary: Some(temporary) });
        };
        let kept = builder.tempdir_in(kept).context("no folder can be made in ZONEWARDEN_LOGS")?;
        Ok(Self { path: kept.keep(), _temporary: None })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
