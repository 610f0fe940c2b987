//! What a sweep costs: at most one call for each 500 ids, one for each bad id that EC2 names, and one more.

use zonewarden_contract::types::InstanceId;
use zonewarden_ec2::{Ec2, Question};
use zonewarden_ec2_double::{Action, Naming, Volume};

use crate::{
    ZONE, about_instances, about_volumes, at_a_slow_pace, codes, instance, running, tally, volume, with_instances,
    with_volumes,
};

/// `bad` volumes out of `count` are missing, spread evenly. The calls of the first sweep, and of one after it.
async fn check(count: usize, bad: usize, naming: Naming) {
    let (double, ec2) = with_volumes(count).await;
    let instances = 700;
    double.with(|world| {
        world.naming = naming;
        (0..instances).for_each(|number| world.add_instance(running(number)));
        (0..bad).for_each(|number| assert!(world.remove_volume(&volume(number * (count / bad)))));
    });
    let ids = (0..instances).map(|number| InstanceId { instance_id: instance(number) });
    let question = Question { instances: ids.collect(), ..about_volumes((0..count).map(volume)) };
    for sweep_number in 1..=2 {
        double.clear_calls();
        let sweep = ec2.sweep(&question).await;
        let missing = [("missing, by filter too".to_owned(), bad)];
        let verdicts: Vec<_> =
            [("found".to_owned(), count - bad)].into_iter().chain(missing.into_iter().filter(|_| bad > 0)).collect();
        assert_eq!(tally(&sweep.volumes), verdicts);
        assert_eq!(tally(&sweep.instances), [("found".to_owned(), instances)]);
        let calls = double.count(Action::DescribeVolumes);
        let bar = count.div_ceil(500) + if sweep_number == 1 { bad } else { 0 } + 1;
        assert!(
            calls <= bar,
            "{count} volumes, {bad} bad ({naming:?}), sweep {sweep_number}: {calls} calls, bar {bar}"
        );
        assert!(double.count(Action::DescribeInstances) <= instances.div_ceil(500) + 1);
    }
}

#[tokio::test]
async fn a_thousand_volumes() {
    for naming in [Naming::First, Naming::All] {
        check(1000, 0, naming).await;
        check(1000, 1, naming).await;
        check(1000, 50, naming).await;
    }
}

#[tokio::test]
async fn more_volumes_in_more_batches() {
    check(3333, 50, Naming::First).await;
    check(3333, 50, Naming::All).await;
}

#[tokio::test]
async fn instances_that_ec2_does_not_know() {
    let (double, ec2) = with_instances(700).await;
    double.with(|world| {
        world.naming = Naming::All;
        (0..3).for_each(|number| assert!(world.remove_instance(&instance(number))));
    });
    for _ in 0..3 {
        double.clear_calls();
        let sweep = ec2.sweep(&about_instances((0..700).map(instance))).await;
        assert_eq!(tally(&sweep.instances)[0], ("found".to_owned(), 697));
        assert!(double.count(Action::DescribeInstances) <= 3, "{}", double.count(Action::DescribeInstances));
    }
}

#[tokio::test]
async fn a_batch_that_is_named_one_by_one_without_end_is_put_off() {
    let (double, ec2) = with_volumes(400).await;
    double.with(|world| (0..100).for_each(|number| assert!(world.remove_volume(&volume(number)))));
    let question = about_volumes((0..400).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(double.count(Action::DescribeVolumes), 62, "sixty are dropped, and the filter is asked");
    let (found, rejected) = (("found".to_owned(), 100), ("unknown: rejected".to_owned(), 240));
    assert_eq!(tally(&sweep.volumes), [found, ("missing, by filter too".to_owned(), 60), rejected]);
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), [("found".to_owned(), 300), ("missing, by filter too".to_owned(), 100)]);
}

#[tokio::test]
async fn the_pace_is_kept_and_what_does_not_fit_comes_next() {
    let (double, _) = with_volumes(2000).await;
    let ec2 = Ec2::connect(&at_a_slow_pace(&double)).await.unwrap();
    let question = about_volumes((0..2000).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), [("found".to_owned(), 1500), ("unknown: out-of-time".to_owned(), 500)]);
    assert_eq!((codes(&sweep), double.count(Action::DescribeVolumes)), (vec!["partial"], 3));
}

#[tokio::test]
async fn suspects_and_sweeps_share_the_pace() {
    let (double, _) = with_volumes(1000).await;
    double.with(|world| world.add_instance(running(1)));
    let ec2 = Ec2::connect(&at_a_slow_pace(&double)).await.unwrap();
    let (everything, suspect) = (about_volumes((0..1000).map(volume)), about_instances([instance(1)]));
    let (everything, suspect) = tokio::join!(ec2.sweep(&everything), ec2.sweep(&suspect));
    assert_eq!(tally(&everything.volumes), [("found".to_owned(), 1000)]);
    assert_eq!(tally(&suspect.instances), [("found".to_owned(), 1)]);
    let sweep = ec2.sweep(&about_volumes([volume(1)])).await;
    assert_eq!(tally(&sweep.volumes), [("unknown: out-of-time".to_owned(), 1)]);
}

#[tokio::test]
async fn a_sweep_that_is_dropped_harms_nobody() {
    let (double, ec2) = with_volumes(3).await;
    double.with(|world| world.add_volume(Volume::new(volume(9), ZONE)));
    double.fault_next(Action::DescribeVolumes, [zonewarden_ec2_double::Fault::Hang]);
    let question = about_volumes((0..3).map(volume));
    tokio::select! {
        _ = ec2.sweep(&question) => panic!("the call hangs"),
        () = double.called(Action::DescribeVolumes, 1) => {}
    }
    assert_eq!(tally(&ec2.sweep(&question).await.volumes), [("found".to_owned(), 3)]);
}
