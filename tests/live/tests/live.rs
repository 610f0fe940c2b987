//! EC2 by the unmodified SDK, over the wire, against an EC2 that does what is asked of it.
//!
//! Rows are those of the reference's catalogue for bulk polling. No test waits for a clock: what takes time in production
//! (pace, retries, re-checks) is set to none.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::time::Duration;

use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName};
use zonewarden_ec2::{Ec2, Evidence, Options, Question, Sweep};
use zonewarden_ec2_double::{Action, Call, Double, Instance, Volume};
use zonewarden_live_tests::unpaced;

mod live {
    mod answers;
    mod bad_ids;
    mod calls;
    mod environment;
    mod faults;
    mod metrics;
    mod names;
    mod pages;
    mod parked;
    mod proxy;
    mod scripted;
    mod states;
}

const ZONE: &str = "us-east-1a";

/// As fast as it goes, one attempt for each call, and parked ids by id again only after an hour.
fn options(endpoint_url: String) -> Options {
    Options { attempts: 1, backoff: Duration::ZERO, first_recheck: Duration::from_secs(3600), ..unpaced(endpoint_url) }
}

async fn connect(double: &Double) -> Ec2 {
    Ec2::connect(&options(double.endpoint())).await.expect("a region is given")
}

/// A double with so many volumes, all free, and what asks it.
async fn with_volumes(count: usize) -> (Double, Ec2) {
    let double = Double::start().await;
    double.with(|world| (0..count).for_each(|number| world.add_volume(Volume::new(volume(number), ZONE))));
    let ec2 = connect(&double).await;
    (double, ec2)
}

/// A double with so many instances, all running, and what asks it.
async fn with_instances(count: usize) -> (Double, Ec2) {
    let double = Double::start().await;
    double.with(|world| (0..count).for_each(|number| world.add_instance(running(number))));
    let ec2 = connect(&double).await;
    (double, ec2)
}

fn running(number: usize) -> Instance {
    Instance::new(instance(number), ZONE, format!("ip-10-0-0-{number}.ec2.internal"))
}

fn volume(number: usize) -> String {
    format!("vol-{number:017x}")
}

fn instance(number: usize) -> String {
    format!("i-{number:017x}")
}

/// What asks three calls at once and then hardly ever again, and gives a sweep five seconds.
fn at_a_slow_pace(double: &Double) -> Options {
    Options { calls_per_second: 0.001, burst: 3, sweep_timeout: Duration::from_secs(5), ..options(double.endpoint()) }
}

/// The question for some volumes.
fn about_volumes<I: Into<String>>(ids: impl IntoIterator<Item = I>) -> Question {
    let volumes = ids.into_iter().map(|id| AwsVolumeId { aws_volume_id: id.into() });
    Question { volumes: volumes.collect(), ..Question::default() }
}

/// The question for some instances.
fn about_instances<I: Into<String>>(ids: impl IntoIterator<Item = I>) -> Question {
    let instances = ids.into_iter().map(|id| InstanceId { instance_id: id.into() });
    Question { instances: instances.collect(), ..Question::default() }
}

/// The question for some names.
fn about_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Question {
    let names = names.into_iter().map(|name| NodeName { node_name: name.to_owned() });
    Question { names: names.collect(), ..Question::default() }
}

/// What is known of one thing, in a few words.
fn verdict<T>(evidence: &Evidence<T>) -> String {
    match evidence {
        Evidence::Found { .. } => "found".to_owned(),
        Evidence::Missing { absent_by_filter: true, .. } => "missing, by filter too".to_owned(),
        Evidence::Missing { absent_by_filter: false, .. } => "missing".to_owned(),
        Evidence::Unknown(cause) => format!("unknown: {}", cause.as_str()),
    }
}

fn is_unknown<T>(evidence: &Evidence<T>) -> bool {
    matches!(evidence, Evidence::Unknown(_))
}

/// What is known of each thing, in a few words.
fn verdicts<T>(evidence: &[Evidence<T>]) -> Vec<String> {
    evidence.iter().map(verdict).collect()
}

/// How often each verdict was given, in ascending order.
fn tally<T>(evidence: &[Evidence<T>]) -> Vec<(String, usize)> {
    let mut verdicts = verdicts(evidence);
    verdicts.sort();
    let runs = verdicts.chunk_by(|left, right| left == right);
    runs.map(|run| (run[0].clone(), run.len())).collect()
}

/// The codes of a sweep's problems.
fn codes(sweep: &Sweep) -> Vec<&'static str> {
    sweep.problems.iter().map(|problem| problem.code.as_str()).collect()
}

/// The shape of each call of an action: `500 ids`, `2 by filter`.
fn shapes(double: &Double, action: Action) -> Vec<String> {
    double.calls_of(action).iter().map(shape).collect()
}

fn shape(call: &Call) -> String {
    let filters = call.parameters.filters();
    match filters.first() {
        None => format!("{} ids", call.ids().len()),
        Some(filter) => format!("{} by {}", filter.values.len(), filter.name),
    }
}
