//! EC2 that throttles, denies, fails or does not answer: rows D-25 to D-28. Nothing of it is ever "missing" or "detached".

use std::time::Duration;

use zonewarden_contract::types::InstanceId;
use zonewarden_ec2::{Ec2, Options, Pace, Question};
use zonewarden_ec2_double::{Action, Double, Ec2Error, Fault};

use crate::{about_volumes, codes, connect, instance, options, running, shapes, tally, verdicts, volume, with_volumes};

/// A sweep of three volumes and an instance while every call fails in this way.
async fn check(fault: &Fault, verdict: &str, code: &'static str) {
    let (double, mut ec2) = with_volumes(3).await;
    double.with(|world| world.add_instance(running(1)));
    // Only where no answer comes: on a busy machine a good one takes its time too.
    let is_late = matches!(fault, Fault::Hang | Fault::Slow(_));
    if is_late {
        let impatient = Options { attempt_timeout: Duration::from_millis(100), ..options(double.endpoint()) };
        ec2 = Ec2::connect(&impatient).await.unwrap();
    }
    double.fault_everything(fault);
    let question =
        Question { instances: vec![InstanceId { instance_id: instance(1) }], ..about_volumes((0..3).map(volume)) };
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes), [verdict; 3], "{fault:?}");
    assert_eq!(verdicts(&sweep.instances), [verdict], "{fault:?}");
    assert_eq!(codes(&sweep), [code; 2], "{fault:?}: {:?}", sweep.problems);
    double.clear_faults();
    if is_late {
        ec2 = connect(&double).await;
    }
    let sweep = ec2.sweep(&question).await;
    assert_eq!((verdicts(&sweep.volumes), sweep.problems), (vec!["found".to_owned(); 3], vec![]), "{fault:?}");
}

#[tokio::test]
async fn d_25_what_was_read_before_a_throttle_is_kept_and_the_rest_comes_first_next_time() {
    let (double, ec2) = with_volumes(3500).await;
    double.fault_when(Action::DescribeVolumes, |number| (number == 3).then_some(Fault::Throttle));
    let question = about_volumes((0..3500).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), [("found".to_owned(), 1000), ("unknown: throttled".to_owned(), 2500)]);
    assert_eq!(verdicts(&sweep.volumes[999..1001]), ["found", "unknown: throttled"]);
    assert_eq!(codes(&sweep), ["throttled"]);
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["500 ids"; 3], "EC2 is left alone then");
    double.clear_calls();
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), [("found".to_owned(), 3500)]);
    let first = double.calls_of(Action::DescribeVolumes)[0].ids();
    assert_eq!(first[0], volume(1000), "where the last sweep ended");
}

#[tokio::test]
async fn d_26_a_full_throttle_halves_the_pace_each_time() {
    let (double, ec2) = with_volumes(3).await;
    double.fault_everything(&Fault::Throttle);
    let question = about_volumes((0..3).map(volume));
    let pace = |share: f64| Pace { calls_per_second: 1e6 * share, full_calls_per_second: 1e6 };
    for share in [0.5, 0.25, 0.125] {
        let sweep = ec2.sweep(&question).await;
        assert_eq!(
            (verdicts(&sweep.volumes), codes(&sweep)),
            (vec!["unknown: throttled".to_owned(); 3], vec!["throttled"])
        );
        assert_eq!(ec2.pace(), pace(share));
    }
    assert_eq!(ec2.pace().stretch(Duration::from_secs(60)), Duration::from_secs(480));
    double.clear_faults();
    assert_eq!(verdicts(&ec2.sweep(&question).await.volumes), ["found"; 3]);
    assert_eq!(ec2.pace(), pace(0.15625), "it comes back in small steps");
}

#[tokio::test]
async fn d_26_a_throttle_of_one_operation_slows_the_other_too() {
    let (double, ec2) = with_volumes(1).await;
    double.with(|world| world.add_instance(running(1)));
    double.fault_always(Action::DescribeInstances, Fault::Throttle);
    let question = Question { instances: vec![InstanceId { instance_id: instance(1) }], ..about_volumes([volume(0)]) };
    let sweep = ec2.sweep(&question).await;
    assert_eq!(
        (verdicts(&sweep.volumes), verdicts(&sweep.instances)),
        (vec!["found".into()], vec!["unknown: throttled".into()])
    );
    assert!(ec2.pace().is_reduced());
}

#[tokio::test]
async fn d_26_a_throttle_that_a_retry_overcomes_costs_nothing_but_pace() {
    let (double, _) = with_volumes(3).await;
    let patient = Options { attempts: 3, ..options(double.endpoint()) };
    let ec2 = Ec2::connect(&patient).await.unwrap();
    double.fault_next(Action::DescribeVolumes, [Fault::Throttle, Fault::Throttle]);
    let sweep = ec2.sweep(&about_volumes((0..3).map(volume))).await;
    assert_eq!((verdicts(&sweep.volumes), sweep.problems), (vec!["found".to_owned(); 3], vec![]));
    assert_eq!(double.count(Action::DescribeVolumes), 3);
    assert!(ec2.pace().is_reduced());
}

#[tokio::test]
async fn d_26_all_throttle_codes() {
    check(&Fault::Throttle, "unknown: throttled", "throttled").await;
    let other = Ec2Error::new(400, "EC2ThrottledException", "Slow down.");
    check(&Fault::Error(other), "unknown: throttled", "throttled").await;
}

#[tokio::test]
async fn d_27_denied() {
    for fault in [Fault::AuthFailure, Fault::Unauthorized, Fault::ExpiredToken, Fault::RequestExpired] {
        check(&fault, "unknown: denied", "denied").await;
    }
}

#[tokio::test]
async fn d_28_no_answer_that_can_be_read() {
    for fault in [
        Fault::InternalError,
        Fault::Unavailable,
        Fault::Hang,
        Fault::Slow(Duration::from_millis(400)),
        Fault::Truncated,
        Fault::CutOff,
        Fault::Reset,
        Fault::Error(Ec2Error::new(502, "BadGateway", "")),
    ] {
        check(&fault, "unknown: unavailable", "unavailable").await;
    }
}

#[tokio::test]
async fn d_28_nobody_is_there() {
    let double = Double::start().await;
    let ec2 = Ec2::connect(&options(double.endpoint())).await.unwrap();
    drop(double);
    let sweep = ec2.sweep(&about_volumes((0..3).map(volume))).await;
    assert_eq!(
        (verdicts(&sweep.volumes), codes(&sweep)),
        (vec!["unknown: unavailable".to_owned(); 3], vec!["unavailable"])
    );
}

#[tokio::test]
async fn d_28_one_batch_that_fails_does_not_cost_the_others() {
    let (double, ec2) = with_volumes(1500).await;
    double.fault_next(Action::DescribeVolumes, [Fault::Truncated]);
    let sweep = ec2.sweep(&about_volumes((0..1500).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), [("found".to_owned(), 1000), ("unknown: unavailable".to_owned(), 500)]);
}

#[tokio::test]
async fn d_28_two_batches_in_a_row_that_fail_end_the_sweep() {
    let (double, ec2) = with_volumes(2500).await;
    double.fault_next(Action::DescribeVolumes, [Fault::InternalError, Fault::InternalError]);
    let question = about_volumes((0..2500).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), [("unknown: unavailable".to_owned(), 2500)]);
    assert_eq!(double.count(Action::DescribeVolumes), 2);
    assert_eq!(tally(&ec2.sweep(&question).await.volumes), [("found".to_owned(), 2500)]);
}

#[tokio::test]
async fn d_28_a_list_that_was_cut_short_is_no_shorter_list() {
    let (double, _) = with_volumes(20).await;
    let patient = Options { attempts: 2, ..options(double.endpoint()) };
    let ec2 = Ec2::connect(&patient).await.unwrap();
    double.fault_next(Action::DescribeVolumes, [Fault::Truncated]);
    let sweep = ec2.sweep(&about_volumes((0..20).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), [("found".to_owned(), 20)], "it is asked for again");
    assert_eq!(double.count(Action::DescribeVolumes), 2);
}

#[tokio::test]
async fn an_error_that_nobody_knows_is_no_verdict() {
    let fault = Fault::Error(Ec2Error::client("UnsupportedOperation", "Not today."));
    check(&fault, "unknown: api-fault", "rejected").await;
}

#[tokio::test]
async fn nonsense_is_never_missing() {
    let (double, ec2) = with_volumes(40).await;
    double.fault_when(Action::DescribeVolumes, |number| Some(Fault::Nonsense(number)));
    for _ in 0..20 {
        let sweep = ec2.sweep(&about_volumes((0..40).map(volume))).await;
        let verdicts = verdicts(&sweep.volumes);
        assert!(verdicts.iter().all(|verdict| verdict == "found" || verdict == "unknown: not-listed"), "{verdicts:?}");
    }
}
