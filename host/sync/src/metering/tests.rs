//! What stands on the page of metrics after each thing that is counted.

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use zonewarden_contract::types::{AwsVolumeId, Reason, Severity};
use zonewarden_ec2::UnknownCause;
use zonewarden_engine::Error;

use super::*;

fn at(seconds: u64) -> Moment {
    Moment(Duration::from_secs(seconds))
}

fn finding(subject: &str, verdict: Option<Verdict>) -> Finding {
    Finding {
        subject: subject.to_owned(),
        verdict,
        severity: Severity::Warning,
        reason: Reason { code: "c".to_owned(), message: "m".to_owned() },
        death: false,
        told: true,
        regarding: Vec::new(),
        acts: Vec::new(),
        withheld: Vec::new(),
    }
}

const DETACHING: Verdict = Verdict::Drift(Drift::StuckDetaching);
const DEAD: Verdict = Verdict::Drift(Drift::InstanceTerminated);

/// The lines of the page that are not 0, in their order by the alphabet, without the buckets of histograms.
fn lines(recorder: &PrometheusRecorder) -> Vec<String> {
    let page = recorder.handle().render();
    let lines = page.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines: Vec<_> = lines.filter(|line| !line.contains("_bucket{") && !line.ends_with(" 0")).collect();
    lines.sort_unstable();
    lines.into_iter().map(str::to_owned).collect()
}

fn recorder() -> PrometheusRecorder {
    PrometheusBuilder::new().set_buckets(&[1.0, 1_000.0]).expect("buckets").build_recorder()
}

#[test]
fn a_drift_is_counted_when_it_begins_and_aged_when_it_ends() {
    let (recorder, mut ledger) = (recorder(), Ledger::default());
    metrics::with_local_recorder(&recorder, || {
        ledger.looked(Scope::All, &[finding("a", Some(DETACHING)), finding("b", Some(Verdict::InSync))], at(10));
        ledger.looked(Scope::Pairs, &[finding("a", Some(DETACHING)), finding("b", Some(DEAD))], at(25));
    });
    let both = [
        r#"zonewarden_drift_detected_total{type="instance-terminated"} 1"#,
        r#"zonewarden_drift_detected_total{type="stuck-detaching"} 1"#,
    ];
    let now = [r#"zonewarden_drift{type="instance-terminated"} 1"#, r#"zonewarden_drift{type="stuck-detaching"} 1"#];
    assert_eq!(lines(&recorder), [both, now].concat());
    metrics::with_local_recorder(&recorder, || {
        // The suspects' look sees the one end; it tells nothing of the other.
        ledger.looked(Scope::Suspects, &[finding("b", Some(Verdict::InProgress))], at(30));
        ledger.looked(Scope::All, &[finding("a", Some(Verdict::Unknown))], at(70));
        ledger.looked(Scope::All, &[], at(110));
    });
    let ended = [
        r#"zonewarden_drift_age_seconds_count{type="instance-terminated"} 1"#,
        r#"zonewarden_drift_age_seconds_count{type="stuck-detaching"} 1"#,
        r#"zonewarden_drift_age_seconds_sum{type="instance-terminated"} 5"#,
        r#"zonewarden_drift_age_seconds_sum{type="stuck-detaching"} 100"#,
    ];
    assert_eq!(lines(&recorder), [&ended[..], &both].concat());
}

#[test]
fn a_drift_that_becomes_another_has_ended_and_one_of_which_nothing_is_known_goes_on() {
    let mut drifts = Drifts::default();
    let mut take = |found: &[Finding], seconds| {
        let turn = drifts.take(found, true, at(seconds));
        (turn.begun, turn.ended)
    };
    assert_eq!(take(&[finding("a", Some(DETACHING))], 1), (vec![Drift::StuckDetaching], vec![]));
    assert_eq!(take(&[finding("a", Some(Verdict::Unstable))], 2), (vec![], vec![]));
    assert_eq!(take(&[finding("a", Some(Verdict::Unknown))], 3), (vec![], vec![]));
    assert_eq!(take(&[finding("a", Some(DETACHING))], 4), (vec![], vec![]));
    let ended = vec![(Drift::StuckDetaching, Duration::from_secs(8))];
    assert_eq!(take(&[finding("a", Some(DEAD))], 9), (vec![Drift::InstanceTerminated], ended));
    // What a PersistentVolume lacks is no drift.
    let ended = vec![(Drift::InstanceTerminated, Duration::from_secs(2))];
    assert_eq!(take(&[finding("a", None)], 11), (vec![], ended));
    assert_eq!(take(&[], 12), (vec![], vec![]));
}

#[test]
fn a_sweep_counts_what_it_learnt_and_what_still_counts_from_before() {
    let recorder = recorder();
    let ids = (0..6).map(|number| AwsVolumeId { aws_volume_id: format!("vol-{number}") });
    let question = Question { volumes: ids.collect(), ..Question::default() };
    let missing = Evidence::Missing { observed_at: jiff::Timestamp::UNIX_EPOCH, absent_by_filter: true };
    let unknown = || Evidence::Unknown(UnknownCause::Throttled);
    let volumes = vec![missing.clone(), missing, unknown(), unknown(), unknown(), unknown()];
    let sweep = Sweep { volumes, ..Sweep::default() };
    metrics::with_local_recorder(&recorder, || {
        swept(Kind::Volumes, &question, &sweep, Duration::from_secs(3), 1);
        // What the suspects' question tells is no sweep.
        swept(Kind::Suspects, &question, &sweep, Duration::from_secs(1), 0);
    });
    let expected = [
        r#"zonewarden_sweep_duration_seconds_count{kind="suspects"} 1"#,
        r#"zonewarden_sweep_duration_seconds_count{kind="volumes"} 1"#,
        r#"zonewarden_sweep_duration_seconds_sum{kind="suspects"} 1"#,
        r#"zonewarden_sweep_duration_seconds_sum{kind="volumes"} 3"#,
        r#"zonewarden_sweep_volumes{result="missing"} 2"#,
        r#"zonewarden_sweep_volumes{result="stale"} 1"#,
        r#"zonewarden_sweep_volumes{result="unknown"} 3"#,
    ];
    assert_eq!(lines(&recorder), expected);
}

#[test]
fn the_ages_of_what_is_known_are_told_by_their_greatest_and_their_99th_of_a_hundred() {
    let told = |ages: &[Option<u32>]| {
        let recorder = recorder();
        metrics::with_local_recorder(&recorder, || observed(ages));
        lines(&recorder)
    };
    let line =
        |statistic: &str, age: u32| format!("zonewarden_observation_age_seconds{{statistic=\"{statistic}\"}} {age}");
    assert_eq!(told(&[]), Vec::<String>::new());
    assert_eq!(told(&[None]), Vec::<String>::new());
    assert_eq!(told(&[Some(7), None]), [line("max", 7), line("p99", 7)]);
    let hundred: Vec<_> = (1..=100).rev().map(Some).collect();
    assert_eq!(told(&hundred), [line("max", 100), line("p99", 99)]);
    let two_hundred: Vec<_> = (1..=200).map(Some).collect();
    assert_eq!(told(&two_hundred), [line("max", 200), line("p99", 198)]);
}

#[test]
fn whoever_leads_no_more_shows_nothing_of_what_it_saw() {
    let (recorder, mut ledger) = (recorder(), Ledger::default());
    let question = Question { volumes: vec![AwsVolumeId { aws_volume_id: "vol-1".to_owned() }], ..Question::default() };
    let sweep = Sweep { volumes: vec![Evidence::Unknown(UnknownCause::Denied)], ..Sweep::default() };
    metrics::with_local_recorder(&recorder, || {
        swept(Kind::Volumes, &question, &sweep, Duration::from_secs(2), 0);
        observed(&[Some(9)]);
        breaker(true);
        ledger.looked(Scope::All, &[finding("a", Some(DEAD))], at(10));
    });
    let kept = [
        r#"zonewarden_drift_detected_total{type="instance-terminated"} 1"#,
        r#"zonewarden_sweep_duration_seconds_count{kind="volumes"} 1"#,
        r#"zonewarden_sweep_duration_seconds_sum{kind="volumes"} 2"#,
    ];
    assert_eq!(lines(&recorder).len(), kept.len() + 5);
    metrics::with_local_recorder(&recorder, || {
        ledger.rest();
        // It leads again: what it finds is new to it, and nothing ended meanwhile that it saw.
        ledger.looked(Scope::All, &[], at(500));
    });
    assert_eq!(lines(&recorder), kept);
}

#[test]
fn a_remedy_is_counted_by_its_drift_and_by_what_came_of_it() {
    let recorder = recorder();
    metrics::with_local_recorder(&recorder, || {
        outcome(Some(Drift::InstanceTerminated), Remedy::DeleteDeadAttachment, &Outcome::Done(1));
        outcome(
            Some(Drift::LeakedAttachment),
            Remedy::DeleteLeakedAttachment,
            &Outcome::Withheld(crate::Withheld("moved")),
        );
        remedy(None, Remedy::SetLabels, "observe-mode", true);
    });
    let expected = [
        r#"zonewarden_remedies_total{type="instance-terminated",action="delete-dead-attachment",result="done",dry_run="false"} 1"#,
        r#"zonewarden_remedies_total{type="leaked-attachment",action="delete-leaked-attachment",result="moved",dry_run="false"} 1"#,
        r#"zonewarden_remedies_total{type="none",action="set-labels",result="observe-mode",dry_run="true"} 1"#,
    ];
    assert_eq!(lines(&recorder), expected);
}

#[test]
fn every_thing_that_is_asked_counts_as_a_decision_and_a_failure_fails_them_all() {
    let recorder = recorder();
    let outcome = |fits: &bool| if *fits { "change" } else { "no-change" };
    metrics::with_local_recorder(&recorder, || {
        let answers = asked(Hook::Label, 3, || Ok(vec![true, false, true]), outcome);
        assert_eq!(answers.expect("it answered"), [true, false, true]);
        let failure = || Err(Error::Contract { what: "w".to_owned(), source: None });
        assert!(asked(Hook::Judge, 4, failure, outcome).is_err());
    });
    let lines: Vec<_> = lines(&recorder).into_iter().filter(|line| !line.contains("_seconds_sum{")).collect();
    let expected = [
        r#"zonewarden_decision_duration_seconds_count{hook="judge"} 1"#,
        r#"zonewarden_decision_duration_seconds_count{hook="label"} 1"#,
        r#"zonewarden_decisions_total{hook="judge",outcome="failed"} 4"#,
        r#"zonewarden_decisions_total{hook="label",outcome="change"} 2"#,
        r#"zonewarden_decisions_total{hook="label",outcome="no-change"} 1"#,
        r#"zonewarden_wasm_traps_total{hook="judge",kind="contract"} 1"#,
    ];
    assert_eq!(lines, expected);
}
