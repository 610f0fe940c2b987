//! Names of Nodes that are gone: does a pending or running instance bear one?

use zonewarden_ec2::{Ec2, Options};
use zonewarden_ec2_double::{Action, Double, Fault, Instance, InstanceState};

use crate::{ZONE, about_names, codes, connect, instance, options, shapes};

fn named(number: usize, name: &str, state: InstanceState) -> Instance {
    Instance { state, ..Instance::new(instance(number), ZONE, name) }
}

async fn with_states() -> Double {
    let double = Double::start().await;
    double.with(|world| {
        world.add_instance(named(1, "running", InstanceState::Running));
        world.add_instance(named(2, "pending", InstanceState::Pending));
        world.add_instance(named(3, "stopped", InstanceState::Stopped));
        world.add_instance(named(4, "dying", InstanceState::ShuttingDown));
        world.add_instance(named(5, "twice", InstanceState::Terminated));
        world.add_instance(named(6, "twice", InstanceState::Running));
    });
    double
}

const NAMES: [&str; 8] = ["running", "pending", "stopped", "dying", "twice", "nobody", "running", ""];

#[tokio::test]
async fn one_call_for_all_names() {
    let double = with_states().await;
    let sweep = connect(&double).await.sweep(&about_names(NAMES)).await;
    let [yes, no] = [Some(true), Some(false)];
    assert_eq!(sweep.names, [yes, yes, no, no, yes, no, yes, None]);
    assert_eq!(sweep.problems, []);
    let calls = double.calls_of(Action::DescribeInstances);
    let filters = calls[0].parameters.filters();
    assert_eq!((calls.len(), &*filters[1].name), (1, "instance-state-name"));
    assert_eq!(filters[1].values, ["pending", "running"]);
}

#[tokio::test]
async fn names_go_in_chunks() {
    let double = Double::start().await;
    let names: Vec<_> = (0..320).map(|number| format!("ip-{number}")).collect();
    let sweep = connect(&double).await.sweep(&about_names(names.iter().map(|name| &**name))).await;
    assert_eq!(sweep.names, [Some(false); 320]);
    let expected = ["150 by private-dns-name", "150 by private-dns-name", "20 by private-dns-name"];
    assert_eq!(shapes(&double, Action::DescribeInstances), expected);
}

#[tokio::test]
async fn a_name_is_free_only_by_a_whole_answer() {
    for (fault, code) in [
        (Fault::Throttle, "throttled"),
        (Fault::Unauthorized, "denied"),
        (Fault::Truncated, "unavailable"),
        (Fault::InternalError, "unavailable"),
    ] {
        let double = with_states().await;
        double.fault_always(Action::DescribeInstances, fault.clone());
        let sweep = connect(&double).await.sweep(&about_names(NAMES)).await;
        assert_eq!((sweep.names.clone(), codes(&sweep)), (vec![None; 8], vec![code]), "{fault:?}");
    }
}

#[tokio::test]
async fn d_25_a_name_that_was_seen_is_taken_though_the_pages_ended_early() {
    let double = Double::start().await;
    double.with(|world| {
        (0..7).for_each(|number| world.add_instance(named(number, &format!("node-{number}"), InstanceState::Running)));
    });
    let small = Options { page_size: 5, ..options(double.endpoint()) };
    let ec2 = Ec2::connect(&small).await.unwrap();
    double.fault_when(Action::DescribeInstances, |number| (number == 2).then_some(Fault::Throttle));
    let names = ["node-0", "node-1", "node-2", "node-3", "node-4", "node-5", "node-6", "nobody"];
    let sweep = ec2.sweep(&about_names(names)).await;
    let seen = [Some(true); 5].into_iter().chain([None; 3]);
    assert_eq!(sweep.names, seen.collect::<Vec<_>>());
}
