//! What is counted. Labels come from closed sets; names are those of `docs/metrics.md`.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use zonewarden_contract::attachment::{Drift, Verdict};
use zonewarden_contract::types::Remedy;
use zonewarden_ec2::{Evidence, Question, Sweep};

use crate::act::Finding;
use crate::clock::Moment;
use crate::reconciler::Scope;
use crate::remedies::Outcome;
use crate::schedule::Kind;
use crate::telling::DRIFTS;

mod asked;
mod drifts;

pub(crate) use asked::{Hook, asked};
use drifts::Drifts;

/// What has to be remembered from look to look to be counted.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    drifts: Drifts,
}

impl Ledger {
    /// Counts what a look found. One at the suspects tells nothing of the others.
    pub(crate) fn looked(&mut self, scope: Scope, findings: &[Finding], now: Moment) {
        let is_whole = scope != Scope::Suspects;
        let turn = self.drifts.take(findings, is_whole, now);
        for drift in turn.begun {
            counter!("zonewarden_drift_detected_total", "type" => name_of(&drift)).increment(1);
        }
        for (drift, age) in turn.ended {
            histogram!("zonewarden_drift_age_seconds", "type" => name_of(&drift)).record(age.as_secs_f64());
        }
        if is_whole {
            drifting(findings);
        }
    }

    /// Another replica looks from here on: what this one saw last is no news of the world.
    pub(crate) fn rest(&mut self) {
        *self = Self::default();
        drifting(&[]);
        breaker(false);
        volumes(&Volumes::default());
        observed(&[]);
    }
}

/// What a sweep over all volumes learnt of them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Volumes {
    ok: u32,
    missing: u32,
    unknown: u32,
    stale: u32,
}

/// A sweep came back. Of `stale` volumes nothing was learnt, and what was known before still counts.
pub(crate) fn swept(kind: Kind, question: &Question, sweep: &Sweep, took: Duration, stale: u32) {
    histogram!("zonewarden_sweep_duration_seconds", "kind" => kind.name()).record(took.as_secs_f64());
    if question.volumes.is_empty() || kind != Kind::Volumes {
        return;
    }
    let mut counts = Volumes { stale, ..Volumes::default() };
    for evidence in &sweep.volumes {
        match evidence {
            Evidence::Found { .. } => counts.ok += 1,
            Evidence::Missing { .. } => counts.missing += 1,
            Evidence::Unknown(_) => counts.unknown += 1,
        }
    }
    counts.unknown = counts.unknown.saturating_sub(stale);
    volumes(&counts);
}

fn volumes(counts: &Volumes) {
    let Volumes { ok, missing, unknown, stale } = *counts;
    for (result, count) in [("ok", ok), ("missing", missing), ("unknown", unknown), ("stale", stale)] {
        gauge!("zonewarden_sweep_volumes", "result" => result).set(count);
    }
}

/// The age of what is known of each volume, in seconds. One that was never answered has none.
pub(crate) fn observed(ages: &[Option<u32>]) {
    let mut known: Vec<u32> = ages.iter().flatten().copied().collect();
    let max = known.iter().max().copied().unwrap_or_default();
    let p99 = match (known.len() * 99).div_ceil(100) {
        0 => 0,
        rank => *known.select_nth_unstable(rank - 1).1,
    };
    for (statistic, age) in [("max", max), ("p99", p99)] {
        gauge!("zonewarden_observation_age_seconds", "statistic" => statistic).set(age);
    }
}

/// What is drifting now.
fn drifting(findings: &[Finding]) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for drift in findings.iter().filter_map(drift_of) {
        *counts.entry(name_of(&drift)).or_default() += 1;
    }
    for drift in DRIFTS {
        let name = name_of(&drift);
        let count = counts.get(&name).copied().unwrap_or_default();
        gauge!("zonewarden_drift", "type" => name).set(count);
    }
}

/// A remedy was proposed for a drift: what became of it.
pub(crate) fn remedy(drift: Option<Drift>, remedy: Remedy, result: &'static str, dry_run: bool) {
    let drift = drift.map_or_else(|| "none".to_owned(), |drift| name_of(&drift));
    let dry_run = if dry_run { "true" } else { "false" };
    counter!(
        "zonewarden_remedies_total",
        "type" => drift, "action" => name_of(&remedy), "result" => result, "dry_run" => dry_run
    )
    .increment(1);
}

/// A remedy was carried out, or tried.
pub(crate) fn outcome(drift: Option<Drift>, what: Remedy, outcome: &Outcome) {
    match outcome {
        Outcome::Done(_) => remedy(drift, what, "done", false),
        Outcome::Withheld(withheld) => remedy(drift, what, withheld.0, false),
        Outcome::Failed(_) => remedy(drift, what, "failed", false),
    }
}

/// The breaker is open, or not.
pub(crate) fn breaker(open: bool) {
    gauge!("zonewarden_breaker_open", "reason" => "mass-negative").set(u8::from(open));
}

/// The drift that a finding is about.
pub(crate) fn drift_of(finding: &Finding) -> Option<Drift> {
    match finding.verdict? {
        Verdict::Drift(drift) => Some(drift),
        Verdict::InSync | Verdict::InProgress | Verdict::Unknown | Verdict::Unstable => None,
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

#[cfg(test)]
mod tests;
