//! What the whole host does, tells and counts.

use std::time::Duration;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use zonewarden_engine::ConfiguredPolicy;

use super::host::Stand;
use super::runs::{EBS, PATIENT, engine, options, policy, settings};
use super::weather::Event::*;
use crate::options::{Mode, Modes, Options};

/// The sum over the series of a metric that have all of these labels.
fn counted(handle: &PrometheusHandle, metric: &str, labels: &[&str]) -> u64 {
    let text = handle.render();
    let series =
        text.lines().filter(|line| line.starts_with(metric) && labels.iter().all(|label| line.contains(label)));
    series.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// A policy that breaks down when it is asked about a dead instance, in a way that the pod's number chooses.
fn fragile(deadline: Duration) -> ConfiguredPolicy {
    let policy = engine(deadline).load(zonewarden_artifacts::FRAGILE_COMPONENT).expect("a policy");
    policy.with_settings(settings()).expect("good settings")
}

async fn no_decision(node: usize, kind: &str, deadline: Duration) {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _recorded = metrics::set_default_local_recorder(&recorder);
    let failures = || counted(&handle, "zonewarden_wasm_traps_total", &[&format!("kind=\"{kind}\"")]);

    let mut stand = Stand::new(fragile(deadline), options());
    stand.run_until(30).await;
    // On a busy machine a call may take longer than the shortest deadline.
    assert!(deadline < PATIENT || stand.host.complaint().is_none(), "{kind}");
    stand.happen(&Kill(node, 2));
    let tally = stand.run_until(53).await;
    assert_eq!((tally.violations, tally.right.len()), (Vec::new(), 0), "{kind}");
    assert_eq!(stand.host.complaint(), Some(kind));
    assert!(failures() > 10, "{kind}: {}", failures());
    assert_eq!(counted(&handle, "zonewarden_remedies_total", &[]), 0, "{kind}");

    // The proof stands since the fiftieth second, so the very next round with a good policy decides.
    stand.policy.try_swap(&engine(PATIENT), EBS, settings()).expect("a good policy");
    let failed = failures();
    let tally = stand.run_until(54).await;
    assert_eq!((tally.violations, tally.right.get("taint on")), (Vec::new(), Some(&1)), "{kind}");
    assert_eq!((stand.host.complaint(), failures()), (None, failed), "{kind}");
    let done = counted(&handle, "zonewarden_remedies_total", &["add-out-of-service-taint", "result=\"done\""]);
    assert_eq!(done, 1, "{kind}");
}

#[tokio::test]
async fn d_59_a_policy_that_traps_decides_nothing_and_the_next_one_does() {
    no_decision(1, "trap", PATIENT).await;
}

#[tokio::test]
async fn d_59_a_policy_that_does_not_end_decides_nothing_and_the_next_one_does() {
    no_decision(2, "deadline", Duration::from_millis(250)).await;
}

#[tokio::test]
async fn d_59_a_policy_that_answers_too_much_decides_nothing_and_the_next_one_does() {
    no_decision(3, "oversized-answer", PATIENT).await;
}

#[tokio::test]
async fn a_decision_that_stands_is_counted_once() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _recorded = metrics::set_default_local_recorder(&recorder);
    let remedies = |labels: &[&str]| counted(&handle, "zonewarden_remedies_total", labels);

    let observing = Options { modes: Modes { reconcile: Mode::Observe, ..options().modes }, ..options() };
    let mut stand = Stand::new(policy(EBS), observing);
    stand.run_until(30).await;
    stand.happen(&Kill(1, 2));
    for second in [60, 100] {
        assert_eq!(stand.run_until(second).await.right.len(), 0);
        for action in ["add-out-of-service-taint", "force-delete-pods"] {
            assert_eq!(remedies(&[action, "result=\"observe-mode\"", "dry_run=\"true\""]), 1, "{action}, {second}");
        }
        assert_eq!(remedies(&[]), 2, "{second}");
    }
    // Another death is another decision.
    stand.happen(&Kill(2, 2));
    stand.run_until(140).await;
    assert_eq!(remedies(&["result=\"observe-mode\""]), 4);
    assert_eq!(remedies(&[]), 4);
}

#[tokio::test]
async fn a_remedy_that_the_rails_withhold_is_counted_once() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _recorded = metrics::set_default_local_recorder(&recorder);

    let careful = Options { modes: Modes { delete_pods: false, ..options().modes }, ..options() };
    let mut stand = Stand::new(policy(EBS), careful);
    stand.run_until(30).await;
    stand.happen(&Kill(1, 2));
    stand.run_until(90).await;
    // Once with the taint, and once when it is there: these are two decisions.
    let withheld = counted(&handle, "zonewarden_remedies_total", &["force-delete-pods", "result=\"switch-off\""]);
    assert_eq!(withheld, 2);
    let done = counted(&handle, "zonewarden_remedies_total", &["add-out-of-service-taint", "result=\"done\""]);
    assert_eq!(done, 1);
}

/// While somebody else leads nobody looks here, so what was seen before that proves nothing about the time between.
#[tokio::test]
async fn whoever_leads_again_begins_anew() {
    let mut stand = Stand::new(policy(EBS), options());
    stand.happen(&Slow(1));
    stand.run_until(40).await;
    stand.happen(&ScaleDown(1));
    stand.run_until(60).await;
    stand.lead(false);
    stand.run_until(80).await;
    stand.lead(true);
    assert_eq!(stand.run_until(115).await.right.len(), 0, "nobody has seen the volume unused for forty seconds");
    assert_eq!(stand.run_until(150).await.right.get("leaked deleted"), Some(&1));
}
