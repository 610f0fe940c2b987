//! What is counted. Labels come from closed sets; names are those of the documentation.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use zonewarden_contract::attachment::Verdict;
use zonewarden_contract::types::Remedy;
use zonewarden_ec2::{Evidence, Question, Sweep};

use crate::act::Finding;
use crate::remedies::Outcome;
use crate::schedule::Kind;

/// A sweep came back.
pub(crate) fn swept(kind: Kind, question: &Question, sweep: &Sweep, took: Duration) {
    histogram!("zonewarden_sweep_duration_seconds", "kind" => kind.name()).record(took.as_secs_f64());
    if question.volumes.is_empty() || kind != Kind::Volumes {
        return;
    }
    let mut counts = [("ok", 0_u32), ("missing", 0), ("unknown", 0)];
    for evidence in &sweep.volumes {
        counts[match evidence {
            Evidence::Found { .. } => 0,
            Evidence::Missing { .. } => 1,
            Evidence::Unknown(_) => 2,
        }]
        .1 += 1;
    }
    for (result, count) in counts {
        gauge!("zonewarden_sweep_volumes", "result" => result).set(count);
    }
}

/// What is drifting now.
pub(crate) fn drifts(findings: &[Finding]) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for finding in findings {
        if let Some(drift) = drift_of(finding) {
            *counts.entry(drift).or_default() += 1;
        }
    }
    for drift in crate::telling::DRIFTS {
        let name = name_of(&drift);
        let count = counts.get(&name).copied().unwrap_or_default();
        gauge!("zonewarden_drift", "type" => name).set(count);
    }
}

/// A finding was told, for the first time or again.
pub(crate) fn told(finding: &Finding) {
    if let Some(drift) = drift_of(finding) {
        counter!("zonewarden_drift_detected_total", "type" => drift).increment(1);
    }
}

/// A remedy was not carried out.
pub(crate) fn remedy(remedy: Remedy, result: &'static str, dry_run: bool) {
    let dry_run = if dry_run { "true" } else { "false" };
    counter!("zonewarden_remedies_total", "action" => name_of(&remedy), "result" => result, "dry_run" => dry_run)
        .increment(1);
}

/// A remedy was carried out, or tried.
pub(crate) fn outcome(what: Remedy, outcome: &Outcome) {
    match outcome {
        Outcome::Done(_) => remedy(what, "done", false),
        Outcome::Withheld(withheld) => remedy(what, withheld.0, false),
        Outcome::Failed(_) => remedy(what, "failed", false),
    }
}

/// The breaker is open, or not.
pub(crate) fn breaker(open: bool) {
    gauge!("zonewarden_breaker_open", "reason" => "mass-negative").set(u8::from(open));
}

/// The policy did not answer.
pub(crate) fn policy_failed(kind: &'static str) {
    counter!("zonewarden_wasm_traps_total", "hook" => "reconcile", "kind" => kind).increment(1);
}

fn drift_of(finding: &Finding) -> Option<String> {
    match &finding.verdict {
        Some(Verdict::Drift(drift)) => Some(name_of(drift)),
        Some(Verdict::InSync | Verdict::InProgress | Verdict::Unknown | Verdict::Unstable) | None => None,
    }
}

/// The contract's own name of a case: `instance-terminated`.
fn name_of<T: std::fmt::Debug>(case: &T) -> String {
    let mut name = String::new();
    for char in format!("{case:?}").rsplit("::").next().unwrap_or_default().chars() {
        if char.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(char.to_ascii_lowercase());
    }
    name
}
