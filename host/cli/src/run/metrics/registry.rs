//! Every metric: its name, its kind, its labels, its meaning. `docs/metrics.md` says the same.

use Kind::{Counter, Gauge, Histogram};

/// What kind of metric it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// How often which value came.
    Histogram,
}

/// One metric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    #[cfg_attr(not(test), allow(dead_code, reason = "the documentation is held against it"))]
    pub(super) kind: Kind,
    #[cfg_attr(not(test), allow(dead_code, reason = "the documentation is held against it"))]
    pub(super) labels: &'static [&'static str],
    pub(super) meaning: &'static str,
}

const fn metric(name: &'static str, kind: Kind, labels: &'static [&'static str], meaning: &'static str) -> Metric {
    Metric { name, kind, labels, meaning }
}

/// Attempts to let another policy decide.
pub(crate) const POLICY_SWAPS: &str = "zonewarden_policy_swaps_total";
/// The policy that decides.
pub(crate) const POLICY_INFO: &str = "zonewarden_policy_info";
/// The volumes that are stuck, one by one.
pub(super) const STUCK: &str = "zonewarden_stuck_volume_seconds";

/// Every metric, in the order of the things that happen.
pub(super) const METRICS: [Metric; 23] = [
    metric("zonewarden_build_info", Gauge, &["version"], "1, by the program's version"),
    metric("zonewarden_leader", Gauge, &[], "1 where this replica polls EC2 and writes, 0 where another one does"),
    metric(
        "zonewarden_watch_restarts_total",
        Counter,
        &["kind", "reason"],
        "Watches that began anew, by kind of object",
    ),
    metric("zonewarden_objects_skipped_total", Counter, &["kind"], "Objects of the API server that could not be read"),
    metric(
        "zonewarden_ec2_requests_total",
        Counter,
        &["operation", "code"],
        "Requests to EC2, retries included, by EC2's code or ok",
    ),
    metric("zonewarden_ec2_throttles_total", Counter, &["operation"], "Requests that EC2 throttled"),
    metric("zonewarden_ec2_request_duration_seconds", Histogram, &["operation"], "How long EC2 took to answer"),
    metric(
        "zonewarden_batch_splits_total",
        Counter,
        &["reason"],
        "Requests to EC2 that were cut into smaller ones, for ids that it rejected",
    ),
    metric("zonewarden_parked_ids", Gauge, &["operation"], "Ids that EC2 rejects and that are left out of the batches"),
    metric(
        "zonewarden_sweep_duration_seconds",
        Histogram,
        &["kind"],
        "How long it took to ask EC2 about everything once, by what was asked about",
    ),
    metric(
        "zonewarden_sweep_volumes",
        Gauge,
        &["result"],
        "Volumes of the last sweep, by what it learnt of them; of stale ones nothing, and what was known before still counts",
    ),
    metric(
        "zonewarden_observation_age_seconds",
        Gauge,
        &["statistic"],
        "Age of what is known about the volumes: the greatest, and the 99th of a hundred",
    ),
    metric(
        "zonewarden_decisions_total",
        Counter,
        &["hook", "outcome"],
        "Decisions of the policy, by what was asked and how it decided; failed where it did not",
    ),
    metric(
        "zonewarden_decision_duration_seconds",
        Histogram,
        &["hook"],
        "How long the policy took to answer about up to 250 things at once",
    ),
    metric(
        "zonewarden_wasm_traps_total",
        Counter,
        &["hook", "kind"],
        "Calls that the policy did not answer, by kind of error",
    ),
    metric(
        POLICY_SWAPS,
        Counter,
        &["result"],
        "Attempts to let another policy or other settings decide: ok, or what was wrong",
    ),
    metric(
        POLICY_INFO,
        Gauge,
        &["digest", "name", "version"],
        "1 for the policy that decides, 0 for those that did before",
    ),
    metric("zonewarden_drift", Gauge, &["type"], "Attachments that are not what Kubernetes believes"),
    metric("zonewarden_drift_detected_total", Counter, &["type"], "Drifts that were found, each once"),
    metric("zonewarden_drift_age_seconds", Histogram, &["type"], "How old a drift was when it ended"),
    metric(
        STUCK,
        Gauge,
        &["volume_id", "instance_id", "state", "persistentvolume"],
        "For how long a volume is stuck on its way; the longest stuck ones only, and only while they are",
    ),
    metric(
        "zonewarden_remedies_total",
        Counter,
        &["type", "action", "result", "dry_run"],
        "Remedies that were proposed, by drift and by what became of them: done, failed, or why not",
    ),
    metric("zonewarden_breaker_open", Gauge, &["reason"], "Whether the circuit breaker keeps remedies back"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_stands_once_under_the_program_s_prefix() {
        let names: BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        assert!(names.iter().all(|name| name.starts_with("zonewarden_")), "{names:?}");
        assert!(METRICS.iter().all(|metric| !metric.meaning.is_empty() && !metric.meaning.ends_with('.')));
    }

    #[test]
    fn names_tell_the_kind_as_prometheus_has_it() {
        for Metric { name, kind, .. } in METRICS {
            assert_eq!(name.ends_with("_total"), kind == Counter, "{name}");
            assert_eq!(
                name.ends_with("_duration_seconds") || name == "zonewarden_drift_age_seconds",
                kind == Histogram,
                "{name}"
            );
        }
    }

    #[test]
    fn the_documentation_lists_every_metric_and_no_other() {
        // Cargo runs tests in their package's folder.
        let docs = std::fs::read_to_string("../../docs/metrics.md").expect("docs/metrics.md is there");
        let listed: Vec<&str> = docs.lines().filter(|line| line.starts_with("| `zonewarden_")).collect();
        let rows: Vec<String> = METRICS
            .iter()
            .map(|Metric { name, kind, labels, meaning }| {
                let kind = format!("{kind:?}").to_lowercase();
                let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
                format!("| `{name}` | {kind} | {} | {meaning} |", labels.join(", "))
            })
            .collect();
        assert_eq!(listed, rows);
    }
}
