//! The metrics: what each is, and the recorder that collects them for Prometheus.
//!
//! Whoever counts something does it by the `metrics` crate's macros and one of the names below.

use anyhow::{Context as _, Result};
use metrics::Recorder;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

/// Every metric with its description, in the order of the things that happen.
const DESCRIPTIONS: [(&str, &str); 24] = [
    ("zonewarden_ec2_requests_total", "Requests to EC2, by operation and by the code of the answer"),
    ("zonewarden_ec2_throttles_total", "Requests that EC2 throttled, by operation"),
    ("zonewarden_ec2_request_duration_seconds", "How long EC2 took to answer, by operation"),
    ("zonewarden_batch_splits_total", "Requests to EC2 that were cut into smaller ones, by reason"),
    ("zonewarden_parked_ids", "Ids that EC2 rejected and that are not asked about for now"),
    ("zonewarden_sweep_duration_seconds", "How long it took to ask EC2 about everything once"),
    ("zonewarden_sweep_volumes", "Volumes of the last sweep, by result: ok, missing, unknown, stale"),
    ("zonewarden_observation_age_seconds", "Age of what is known about the volumes, by statistic: max, p99"),
    ("zonewarden_drift", "Attachments that are not what Kubernetes believes, by type"),
    ("zonewarden_drift_detected_total", "Drifts that were found, by type"),
    ("zonewarden_drift_age_seconds", "How old a drift was when it ended, by type"),
    ("zonewarden_stuck_volume_seconds", "For how long a volume is stuck in a state; only the longest stuck ones"),
    ("zonewarden_remedies_total", "Remedies, by the drift's type, action, result, and whether only in dry run"),
    ("zonewarden_breaker_open", "Whether the circuit breaker keeps remedies back, by reason"),
    ("zonewarden_decisions_total", "Decisions of the policy, by hook and outcome"),
    ("zonewarden_decision_duration_seconds", "How long the policy took to decide, by hook"),
    ("zonewarden_wasm_traps_total", "Calls that the policy did not answer, by hook and kind of error"),
    (POLICY_SWAPS, "Attempts to let another policy or other settings decide, by result: ok, or what was wrong"),
    (POLICY_INFO, "1 for the policy that decides, by digest, name and version"),
    ("zonewarden_extender_requests_total", "Requests of the scheduler, by verb and outcome"),
    ("zonewarden_extender_request_duration_seconds", "How long it took to answer the scheduler, by verb"),
    ("zonewarden_webhook_requests_total", "Requests of the API server, by hook and outcome"),
    ("zonewarden_webhook_request_duration_seconds", "How long it took to answer the API server, by hook"),
    ("zonewarden_build_info", "1, by the program's version"),
];

/// Attempts to let another policy decide.
pub(crate) const POLICY_SWAPS: &str = "zonewarden_policy_swaps_total";
/// The policy that decides.
pub(crate) const POLICY_INFO: &str = "zonewarden_policy_info";

/// A call of the policy takes tens of microseconds, and a second at most.
const DECISION_SECONDS: [f64; 12] =
    [0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.01, 0.05, 0.25, 1.0];
/// A request over a network takes milliseconds, a sweep with throttling minutes.
const DURATION_SECONDS: [f64; 14] =
    [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];
/// A drift that is healed lasts half a minute, one that nobody minds lasts for days.
const AGE_SECONDS: [f64; 12] =
    [5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0];

/// Collects the metrics of the whole program from now on. Once a process.
pub(crate) fn install() -> Result<PrometheusHandle> {
    let recorder = recorder().context("the metrics can't be set up")?;
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).context("the metrics are collected already")?;
    metrics::gauge!("zonewarden_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}

/// A recorder that knows every metric's description and buckets.
pub(crate) fn recorder() -> Result<PrometheusRecorder, BuildError> {
    let decisions = Matcher::Full("zonewarden_decision_duration_seconds".to_owned());
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(decisions, &DECISION_SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_duration_seconds".to_owned()), &DURATION_SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_age_seconds".to_owned()), &AGE_SECONDS)?
        .build_recorder();
    for (name, description) in DESCRIPTIONS {
        // What kind of metric it is shows at its first use; the three ways to describe one are the same here.
        recorder.describe_gauge(name.into(), None, description.into());
    }
    Ok(recorder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_stands_once_under_the_program_s_prefix() {
        let names: BTreeSet<_> = DESCRIPTIONS.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), DESCRIPTIONS.len());
        assert!(names.iter().all(|name| name.starts_with("zonewarden_")), "{names:?}");
        assert!(DESCRIPTIONS.iter().all(|(_, text)| !text.is_empty() && !text.ends_with('.')));
    }

    #[test]
    fn a_metric_is_written_with_its_description_and_its_buckets() {
        let recorder = recorder().expect("the buckets are good");
        metrics::with_local_recorder(&recorder, || {
            metrics::counter!("zonewarden_ec2_throttles_total", "operation" => "DescribeVolumes").increment(2);
            metrics::histogram!("zonewarden_decision_duration_seconds", "hook" => "filter").record(0.000_03);
            metrics::histogram!("zonewarden_sweep_duration_seconds").record(2.0);
            metrics::histogram!("zonewarden_drift_age_seconds", "type" => "x").record(45.0);
        });
        let text = recorder.handle().render();
        for line in [
            "# HELP zonewarden_ec2_throttles_total Requests that EC2 throttled, by operation",
            "# TYPE zonewarden_ec2_throttles_total counter",
            "zonewarden_ec2_throttles_total{operation=\"DescribeVolumes\"} 2",
            "# TYPE zonewarden_decision_duration_seconds histogram",
            "zonewarden_decision_duration_seconds_bucket{hook=\"filter\",le=\"0.000025\"} 0",
            "zonewarden_decision_duration_seconds_bucket{hook=\"filter\",le=\"0.00005\"} 1",
            "zonewarden_sweep_duration_seconds_bucket{le=\"1\"} 0",
            "zonewarden_sweep_duration_seconds_bucket{le=\"5\"} 1",
            "zonewarden_drift_age_seconds_bucket{type=\"x\",le=\"30\"} 0",
            "zonewarden_drift_age_seconds_bucket{type=\"x\",le=\"60\"} 1",
        ] {
            assert!(text.lines().any(|written| written == line), "{line:?} is not in\n{text}");
        }
    }
}
