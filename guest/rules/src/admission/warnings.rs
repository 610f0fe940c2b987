//! The short warnings that an object's author is shown.

use zonewarden_bindings::types::{Finding, Severity};

/// Longer warnings may be cut off by the API server, and at a worse place.
const MOST_CHARACTERS: usize = 120;

/// Warnings, each told once.
#[derive(Default)]
pub(super) struct Warnings(Vec<String>);

impl Warnings {
    pub(super) fn add(&mut self, message: &str) {
        let warning = shorten(message);
        if !self.0.contains(&warning) {
            self.0.push(warning);
        }
    }

    /// Adds what something has to be done about.
    pub(super) fn add_findings(&mut self, findings: &[Finding]) {
        for finding in findings.iter().filter(|finding| finding.severity != Severity::Info) {
            self.add(&finding.reason.message);
        }
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.0
    }
}

/// The message in 120 characters or less, cut at a word. A warning travels in an HTTP header, so it holds no line ends.
fn shorten(message: &str) -> String {
    let text: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() <= MOST_CHARACTERS {
        return text;
    }
    let head: String = text.chars().take(MOST_CHARACTERS - 1).collect();
    // Where the cut falls right behind a word, that word is whole.
    let behind_word = text[head.len()..].starts_with(' ');
    let end = if behind_word { head.len() } else { head.rfind(' ').unwrap_or(head.len()) };
    format!("{}…", head[..end].trim_end_matches([' ', ',', ':', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_warning_is_cut_at_a_word() {
        let word = "abcdefgh ";
        let cases = [
            ("short".to_owned(), "short".to_owned()),
            ("a\nb\tc".to_owned(), "a b c".to_owned()),
            ("x".repeat(120), "x".repeat(120)),
            ("x".repeat(121), format!("{}…", "x".repeat(119))),
            ("ü".repeat(121), format!("{}…", "ü".repeat(119))),
            // 13 words of 9 characters are 117; the 14th does not fit.
            (word.repeat(14), format!("{}…", word.repeat(13).trim_end())),
            // The word ends exactly where the cut is.
            (format!("{} tail", "y".repeat(119)), format!("{}…", "y".repeat(119))),
            (format!("{}: {}", "y".repeat(100), "z".repeat(30)), format!("{}…", "y".repeat(100))),
        ];
        for (message, wanted) in cases {
            assert_eq!(shorten(&message), wanted);
            assert!(shorten(&message).chars().count() <= 120);
        }
    }

    #[test]
    fn a_warning_is_told_once_and_what_needs_nothing_done_is_not_told() {
        let finding = |severity, message: &str| crate::answer::finding(severity, "code", message);
        let mut warnings = Warnings::default();
        warnings.add_findings(&[
            finding(Severity::Warning, "one"),
            finding(Severity::Info, "two"),
            finding(Severity::Error, "three"),
            finding(Severity::Error, "one"),
        ]);
        assert_eq!(warnings.into_list(), ["one", "three"]);
    }
}
