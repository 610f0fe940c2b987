//! Short ways to write reasons, findings and problems.

use zonewarden_bindings::types::{Finding, Problem, Reason, Severity};

/// A reason.
pub(crate) fn reason(code: &str, message: impl Into<String>) -> Reason {
    Reason { code: code.to_owned(), message: message.into() }
}

/// A finding.
pub(crate) fn finding(severity: Severity, code: &str, message: impl Into<String>) -> Finding {
    Finding { severity, reason: reason(code, message) }
}

/// A problem.
pub(crate) fn problem(subject: &str, text: &str, rule: &str, message: impl Into<String>, accepted: &[&str]) -> Problem {
    Problem {
        subject: subject.to_owned(),
        text: text.to_owned(),
        rule: rule.to_owned(),
        message: message.into(),
        accepted: accepted.iter().map(|form| (*form).to_owned()).collect(),
    }
}
