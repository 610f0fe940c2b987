//! The metrics: what each is, and the recorder that collects them for Prometheus.
//!
//! Whoever counts something does it by the `metrics` crate's macros and one of the names below.

use anyhow::{Context as _, Result};
use metrics::Recorder;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

mod registry;
mod stuck;

use registry::METRICS;
pub(crate) use registry::{POLICY_INFO, POLICY_SWAPS};
pub(crate) use stuck::render as stuck_volumes;

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
    for metric in METRICS {
        // What kind of metric it is shows at its first use; the three ways to describe one are the same here.
        recorder.describe_gauge(metric.name.into(), None, metric.meaning.into());
    }
    Ok(recorder)
}

#[cfg(test)]
mod tests {
    use super::*;
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
            "# HELP zonewarden_ec2_throttles_total Requests that EC2 throttled",
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
