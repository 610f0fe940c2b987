//! How answers look: tables, YAML, error chains. The one place that writes to the standard streams.

use std::error::Error;
use std::io::Write as _;

use anyhow::{Context as _, Result};
use serde::Serialize;

/// Writes to standard output. A reader that went away (`| head`) is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a line to standard error.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Rows as columns. The last column is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> Result<String> {
    let mut writer = tabwriter::TabWriter::new(Vec::new()).padding(2);
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| one_line(cell)).collect();
        writeln!(writer, "{}", cells.join("\t"))?;
    }
    let bytes = writer.into_inner().map_err(|error| anyhow::anyhow!("{error}"))?;
    String::from_utf8(bytes).context("a table of texts is text")
}

/// A text from outside never breaks a line, a column or a terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// A value as YAML.
pub(crate) fn yaml(value: &impl Serialize) -> Result<String> {
    serde_saphyr::to_string(value).context("the answer can't be written as YAML")
}

/// An error with its causes, outermost first.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The name of a contract's case, as people write it: `AddOutOfServiceTaint` is `add-out-of-service-taint`.
pub(crate) fn kebab(case: &impl Serialize) -> String {
    let name = match serde_json::to_value(case) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(serde_json::Value::Object(map)) => map.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use zonewarden_contract::attachment::{Drift, Verdict};
    use zonewarden_contract::types::Remedy;

    use super::*;

    #[test]
    fn a_case_is_written_as_in_the_contract() {
        assert_eq!(kebab(&Remedy::AddOutOfServiceTaint), "add-out-of-service-taint");
        assert_eq!(kebab(&Verdict::InSync), "in-sync");
        assert_eq!(kebab(&Verdict::Drift(Drift::OrphanAttachment)), "drift");
    }

    #[test]
    fn a_text_from_outside_stays_in_its_cell() -> Result<()> {
        let rows = [vec!["A".to_owned(), "B".to_owned()], vec!["vol-1\n".to_owned(), "x\ty\u{1b}[31m".to_owned()]];
        assert_eq!(table(&rows)?, "A        B\nvol-1\\n  x\\ty\\u{1b}[31m\n");
        Ok(())
    }

    #[test]
    fn an_error_is_told_with_its_causes() {
        let error = anyhow::anyhow!("no such file").context("pvs.yaml can't be read");
        assert_eq!(chain(error.as_ref()), "pvs.yaml can't be read: no such file");
    }
}
