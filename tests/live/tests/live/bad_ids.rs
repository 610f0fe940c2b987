//! Ids that EC2 rejects, in a batch with others: rows D-1 to D-6, D-20, D-29.

use zonewarden_ec2::{Ec2, Question};
use zonewarden_ec2_double::{Action, Fault, Naming, Volume};

use super::scripted::Server;
use crate::{
    about_instances, about_volumes, codes, instance, is_unknown, options, running, shapes, tally, verdicts, volume,
    with_instances, with_volumes,
};

fn counted(counts: &[(&str, usize)]) -> Vec<(String, usize)> {
    counts.iter().map(|(verdict, count)| ((*verdict).to_owned(), *count)).collect()
}

#[tokio::test]
async fn d_1_one_missing_id_in_a_batch() {
    let (double, ec2) = with_volumes(1000).await;
    double.with(|world| world.remove_volume(&volume(7)));
    let sweep = ec2.sweep(&about_volumes((0..1000).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 999), ("missing, by filter too", 1)]));
    assert_eq!(verdicts(&sweep.volumes[7..8]), ["missing, by filter too"]);
    let calls = shapes(&double, Action::DescribeVolumes);
    assert_eq!(calls, ["500 ids", "499 ids", "500 ids", "1 by volume-id"]);
    assert_eq!(sweep.problems, []);
}

#[tokio::test]
async fn d_1_several_missing_ids_named_at_once() {
    let (double, ec2) = with_volumes(20).await;
    double.with(|world| {
        world.naming = Naming::All;
        [3, 5, 8].into_iter().for_each(|number| assert!(world.remove_volume(&volume(number))));
    });
    let sweep = ec2.sweep(&about_volumes((0..20).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 17), ("missing, by filter too", 3)]));
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["20 ids", "17 ids", "3 by volume-id"]);
}

#[tokio::test]
async fn d_1_several_missing_ids_named_one_by_one() {
    let (double, ec2) = with_volumes(20).await;
    double.with(|world| [3, 5, 8].into_iter().for_each(|number| assert!(world.remove_volume(&volume(number)))));
    let sweep = ec2.sweep(&about_volumes((0..20).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 17), ("missing, by filter too", 3)]));
    let calls = shapes(&double, Action::DescribeVolumes);
    assert_eq!(calls, ["20 ids", "19 ids", "18 ids", "17 ids", "3 by volume-id"]);
}

#[tokio::test]
async fn d_1_an_id_that_was_not_asked_is_never_dropped() {
    let (double, _) = with_volumes(20).await;
    double.with(|world| world.remove_volume(&volume(7)));
    // The error names a longer id that begins with an id that was asked.
    let longer = |_: &str, answer: String| answer.replace("vol-00000000000000007'", "vol-000000000000000071'");
    let proxy = Server::retelling(double.address(), longer).await;
    let ec2 = Ec2::connect(&options(proxy.endpoint())).await.unwrap();
    let sweep = ec2.sweep(&about_volumes((0..20).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 19), ("missing, by filter too", 1)]));
}

#[tokio::test]
async fn d_1_an_error_that_names_nothing_is_bisected() {
    let (double, _) = with_volumes(500).await;
    double.with(|world| world.remove_volume(&volume(7)));
    let proxy = Server::retelling(double.address(), |_, answer| unnamed(&answer)).await;
    let ec2 = Ec2::connect(&options(proxy.endpoint())).await.unwrap();
    let sweep = ec2.sweep(&about_volumes((0..500).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 499), ("missing, by filter too", 1)]));
    assert_eq!(verdicts(&sweep.volumes[7..8]), ["missing, by filter too"]);
    // Nine halvings to come from 500 to 1, two calls each, after the first call and before the filter.
    assert!(double.count(Action::DescribeVolumes) <= 20, "{:?}", shapes(&double, Action::DescribeVolumes));
}

#[tokio::test]
async fn d_1_bisecting_is_bounded_and_goes_on_in_the_next_sweep() {
    let (double, _) = with_volumes(500).await;
    double.with(|world| [100, 400].into_iter().for_each(|number| assert!(world.remove_volume(&volume(number)))));
    let proxy = Server::retelling(double.address(), |_, answer| unnamed(&answer)).await;
    let ec2 = Ec2::connect(&options(proxy.endpoint())).await.unwrap();
    let question = about_volumes((0..500).map(volume));
    ec2.sweep(&question).await;
    assert!(double.count(Action::DescribeVolumes) <= 22, "{:?}", shapes(&double, Action::DescribeVolumes));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 498), ("missing, by filter too", 2)]));
}

fn unnamed(answer: &str) -> String {
    match (answer.find("<Message>"), answer.find("</Message>")) {
        (Some(start), Some(end)) => format!("{}<Message>It does not exist.{}", &answer[..start], &answer[end..]),
        _ => answer.to_owned(),
    }
}

#[tokio::test]
async fn d_2_an_error_that_names_every_id_is_not_believed() {
    let (double, ec2) = with_volumes(20).await;
    double.with(|world| world.remove_volume(&volume(7)));
    double.fault_always(Action::DescribeVolumes, Fault::NameEveryId);
    let question = about_volumes((0..20).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("unknown: api-fault", 20)]));
    assert_eq!(codes(&sweep), ["rejected"]);
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["20 ids"]);
    double.clear_faults();
    let sweep = ec2.sweep(&question).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 19), ("missing, by filter too", 1)]), "nothing was parked");
}

#[tokio::test]
async fn d_2_a_few_ids_are_looked_for_by_filter_before_anything_is_believed() {
    let (double, ec2) = with_volumes(2).await;
    double.with(|world| world.remove_volume(&volume(1)));
    double.fault_always(Action::DescribeVolumes, Fault::NameEveryId);
    let sweep = ec2.sweep(&about_volumes((0..2).map(volume))).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "missing, by filter too"]);
}

#[tokio::test]
async fn d_2_more_than_half_of_a_batch_is_not_believed_one_by_one_either() {
    let (double, ec2) = with_volumes(20).await;
    double.with(|world| (0..11).for_each(|number| assert!(world.remove_volume(&volume(number)))));
    let sweep = ec2.sweep(&about_volumes((0..20).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("unknown: api-fault", 20)]));
    assert_eq!(double.count(Action::DescribeVolumes), 11);
}

#[tokio::test]
async fn d_3_ids_that_are_none_do_not_cost_the_others_their_answer() {
    let (double, ec2) = with_volumes(2).await;
    let ids = [&*volume(0), "vol-xyz", "disk-1", "", &*volume(1), "vol-*"];
    let sweep = ec2.sweep(&about_volumes(ids)).await;
    let expected =
        ["found", "unknown: rejected", "unknown: rejected", "unknown: not-asked", "found", "unknown: rejected"];
    assert_eq!(verdicts(&sweep.volumes), expected);
    assert_eq!(codes(&sweep), ["rejected"]);
    assert!(sweep.problems[0].message.contains("(disk-1, vol-*, vol-xyz)"), "{}", sweep.problems[0]);
    double.clear_calls();
    let sweep = ec2.sweep(&about_volumes(ids)).await;
    assert_eq!(verdicts(&sweep.volumes), expected, "what is no id stays unknown, and is never called deleted");
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["2 ids", "3 by volume-id"]);
    let filter = double.calls_of(Action::DescribeVolumes)[1].parameters.filters().remove(0);
    assert_eq!(filter.values, ["vol-xyz", "disk-1", r"vol-\*"], "a wildcard means itself");
}

#[tokio::test]
async fn d_4_an_id_is_asked_as_it_is_written() {
    let (double, ec2) = with_volumes(1).await;
    let upper = volume(0).to_uppercase();
    let slash = format!("{}/", volume(0));
    let sweep = ec2.sweep(&about_volumes([&*volume(0), &*upper, &*slash])).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "unknown: rejected", "unknown: rejected"]);
    let asked = double.calls_of(Action::DescribeVolumes)[0].ids();
    assert_eq!(asked, [volume(0), upper, slash]);
}

#[tokio::test]
async fn d_5_an_id_that_comes_twice_is_asked_once_and_answered_twice() {
    let (double, ec2) = with_volumes(2).await;
    double.with(|world| world.remove_volume(&volume(1)));
    let sweep = ec2.sweep(&about_volumes([0, 1, 0, 1, 0].map(volume))).await;
    let missing = "missing, by filter too";
    assert_eq!(verdicts(&sweep.volumes), ["found", missing, "found", missing, "found"]);
    assert_eq!(sweep.volumes[0], sweep.volumes[4]);
    assert_eq!(shapes(&double, Action::DescribeVolumes), ["2 ids", "1 ids", "1 by volume-id"]);
}

#[tokio::test]
async fn d_6_what_is_no_ebs_volume_is_unknown_if_it_is_asked_at_all() {
    let (_double, ec2) = with_volumes(1).await;
    let sweep = ec2.sweep(&about_volumes(["local-ebs://slot-1", &*volume(0), "<volume-provisioned>"])).await;
    assert_eq!(verdicts(&sweep.volumes), ["unknown: rejected", "found", "unknown: rejected"]);
}

#[tokio::test]
async fn d_20_an_instance_that_ec2_does_not_know() {
    let (double, ec2) = with_instances(3).await;
    double.with(|world| world.remove_instance(&instance(1)));
    let question = about_instances((0..3).map(instance));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.instances), ["found", "missing", "found"]);
    assert_eq!(shapes(&double, Action::DescribeInstances), ["3 ids", "2 ids"]);
    double.clear_calls();
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.instances), ["found", "missing, by filter too", "found"]);
    assert_eq!(shapes(&double, Action::DescribeInstances), ["2 ids", "1 by instance-id"]);
    assert_eq!(sweep.problems, []);
}

#[tokio::test]
async fn d_20_an_instance_id_that_is_none() {
    let (_double, ec2) = with_instances(1).await;
    let sweep = ec2.sweep(&about_instances([&*instance(0), "fargate-1"])).await;
    assert_eq!(verdicts(&sweep.instances), ["found", "unknown: rejected"]);
}

#[tokio::test]
async fn d_29_in_the_wrong_region_nothing_is_missing() {
    for naming in [Naming::First, Naming::All] {
        let (double, ec2) = with_volumes(1200).await;
        double.with(|world| world.naming = naming);
        let question = about_volumes((0..1200).map(volume));
        assert_eq!(tally(&ec2.sweep(&question).await.volumes), counted(&[("found", 1200)]));
        double.fault_always(Action::DescribeVolumes, Fault::WrongRegion);
        double.clear_calls();
        let sweep = ec2.sweep(&question).await;
        assert!(sweep.volumes.iter().all(is_unknown), "{:?}", tally(&sweep.volumes));
        assert!(codes(&sweep).contains(&"rejected"));
        let calls = double.count(Action::DescribeVolumes);
        assert!(calls <= 62, "{naming:?}: {calls}");
        double.clear_faults();
        assert_eq!(tally(&ec2.sweep(&question).await.volumes), counted(&[("found", 1200)]), "{naming:?}");
    }
}

#[tokio::test]
async fn d_29_few_volumes_are_missing_only_where_something_was_there_before() {
    let (double, ec2) = with_volumes(2).await;
    let question = about_volumes((0..2).map(volume));
    double.fault_always(Action::DescribeVolumes, Fault::WrongRegion);
    let sweep = ec2.sweep(&question).await;
    assert_eq!((verdicts(&sweep.volumes), codes(&sweep)), (vec!["unknown: api-fault".to_owned(); 2], vec!["rejected"]));
    double.clear_faults();
    assert_eq!(verdicts(&ec2.sweep(&question).await.volumes), ["found"; 2]);
    double.with(|world| (0..2).for_each(|number| assert!(world.remove_volume(&volume(number)))));
    assert_eq!(verdicts(&ec2.sweep(&question).await.volumes), ["missing, by filter too"; 2]);
}

#[tokio::test]
async fn d_29_a_node_that_is_there_shows_that_the_region_is_right() {
    let (double, ec2) = with_volumes(1).await;
    double.with(|world| {
        world.add_instance(running(1));
        world.remove_volume(&volume(0));
    });
    let instances = about_instances([instance(1)]).instances;
    let sweep = ec2.sweep(&Question { instances, ..about_volumes([volume(0)]) }).await;
    assert_eq!(verdicts(&sweep.volumes), ["missing, by filter too"]);
}

#[tokio::test]
async fn d_29_a_new_volume_among_many_is_no_mass() {
    let (double, ec2) = with_volumes(100).await;
    double.with(|world| (0..5).for_each(|number| assert!(world.remove_volume(&volume(number)))));
    double.with(|world| world.add_volume(Volume::new(volume(100), crate::ZONE)));
    let sweep = ec2.sweep(&about_volumes((0..101).map(volume))).await;
    assert_eq!(tally(&sweep.volumes), counted(&[("found", 96), ("missing, by filter too", 5)]));
}
