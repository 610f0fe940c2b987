//! Ids that EC2 rejected, in the sweeps that follow: what proves that a volume was deleted (E8 of the reference).

use std::time::Duration;

use zonewarden_ec2::{Ec2, Evidence, Options};
use zonewarden_ec2_double::{Action, Span};

use crate::{about_volumes, options, shapes, verdicts, volume, with_volumes};

#[tokio::test]
async fn a_parked_id_costs_one_call_by_filter() {
    let (double, ec2) = with_volumes(20).await;
    double.with(|world| [3, 5].into_iter().for_each(|number| assert!(world.remove_volume(&volume(number)))));
    let question = about_volumes((0..20).map(volume));
    ec2.sweep(&question).await;
    for _ in 0..3 {
        double.clear_calls();
        let sweep = ec2.sweep(&question).await;
        assert_eq!(verdicts(&sweep.volumes[3..6]), ["missing, by filter too", "found", "missing, by filter too"]);
        assert_eq!(shapes(&double, Action::DescribeVolumes), ["18 ids", "2 by volume-id"]);
        assert_eq!(sweep.problems, []);
    }
    double.clear_calls();
    ec2.sweep(&about_volumes([volume(0)])).await;
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["1 ids"], "nobody asks for what is not in the question");
}

#[tokio::test]
async fn e_8_each_sweep_gives_a_read_of_its_own() {
    let (double, ec2) = with_volumes(2).await;
    double.with(|world| world.remove_volume(&volume(0)));
    let question = about_volumes((0..2).map(volume));
    let mut reads = vec![];
    for _ in 0..3 {
        let sweep = ec2.sweep(&question).await;
        let Evidence::Missing { observed_at, absent_by_filter: true } = sweep.volumes[0] else { panic!("{sweep:?}") };
        reads.push(observed_at);
    }
    assert!(reads.is_sorted() && reads[0] < reads[2], "{reads:?}");
}

#[tokio::test]
async fn e_8_a_parked_id_is_asked_by_id_again_apart_from_the_others() {
    let (double, _) = with_volumes(20).await;
    let at_once = Options { first_recheck: Duration::ZERO, ..options(double.endpoint()) };
    let ec2 = Ec2::connect(&at_once).await.unwrap();
    double.with(|world| {
        world.naming = zonewarden_ec2_double::Naming::All;
        [3, 5].into_iter().for_each(|number| assert!(world.remove_volume(&volume(number))));
    });
    let question = about_volumes((0..20).map(volume));
    ec2.sweep(&question).await;
    double.clear_calls();
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes[3..6]), ["missing, by filter too", "found", "missing, by filter too"]);
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["18 ids", "2 ids", "2 by volume-id"]);
}

#[tokio::test]
async fn a_volume_that_comes_back_is_in_the_batches_again() {
    let (double, ec2) = with_volumes(3).await;
    double.hide(&volume(1), Span::Always);
    let question = about_volumes((0..3).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "missing, by filter too", "found"]);
    double.stop_lying();
    double.clear_calls();
    assert_eq!(verdicts(&ec2.sweep(&question).await.volumes), ["found"; 3]);
    assert_eq!(verdicts(&ec2.sweep(&question).await.volumes), ["found"; 3]);
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["2 ids", "1 by volume-id", "3 ids"]);
}

#[tokio::test]
async fn a_parked_id_is_unknown_when_nothing_was_said_about_it() {
    let (double, ec2) = with_volumes(2).await;
    double.with(|world| world.remove_volume(&volume(1)));
    let question = about_volumes((0..2).map(volume));
    ec2.sweep(&question).await;
    double
        .fault_when(Action::DescribeVolumes, |number| (number == 5).then_some(zonewarden_ec2_double::Fault::Throttle));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "unknown: throttled"], "the read by filter was throttled");
}

#[tokio::test]
async fn ec2_forgets_a_volume_for_one_read() {
    let (double, ec2) = with_volumes(2).await;
    double.hide(&volume(1), Span::Calls(1));
    let sweep = ec2.sweep(&about_volumes((0..2).map(volume))).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "found"], "the second opinion is asked at once");
}
