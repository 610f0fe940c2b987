//! Small structured files: settings, configuration, cases.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use serde_json::Value;
use zonewarden_documents::{Text, source};

/// Reads a file that holds one YAML or JSON document.
pub(crate) fn structured(file: &Path) -> Result<Value> {
    let bytes = source::read(file).map_err(|problem| anyhow!("{problem}"))?;
    structured_bytes(file, &bytes)
}

/// Reads the bytes of a file that holds one YAML or JSON document.
pub(crate) fn structured_bytes(file: &Path, bytes: &[u8]) -> Result<Value> {
    let problem = |problem: zonewarden_documents::Problem| anyhow!("{problem}");
    let text = Text::new(&file.to_string_lossy(), bytes);
    let mut documents = text.documents().into_iter();
    let Some(document) = documents.next() else { bail!("{}: there is nothing in it", file.display()) };
    if documents.next().is_some() {
        bail!("{}: one document is meant, and there are more", file.display());
    }
    let document = document.map_err(problem)?;
    document.piece.read::<Value>(&[]).map_err(|fault| problem(document.problem(fault)))
}
