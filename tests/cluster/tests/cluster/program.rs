//! `zonewarden run` comes to the rescue.

use std::collections::BTreeMap;
use std::time::Duration;

use zonewarden_cluster_tests::rescuer::{Mode, Program, Rescuer};
use zonewarden_cluster_tests::scenarios::{Outcome, Scenario, at_rest, deaths, detached, living, play_all};

use crate::stage;

/// How often the program asks after all instances.
const INSTANCE_INTERVAL: u64 = 15;
const PATIENCE: Duration = Duration::from_secs(300);
/// The bars are held by `make recovery` on a quiet machine. A busy one may take twice as long, and still be far from the six
/// minutes of Kubernetes alone.
const SLACK: u32 = 2;

fn program(mode: Mode, delete_pods: bool) -> Rescuer {
    let intervals = Program::new(mode, delete_pods);
    Rescuer::Program(Program { instance_interval: Duration::from_secs(INSTANCE_INTERVAL), ..intervals })
}

/// Plays scenarios and holds the times against bars in seconds; `None` where the machine lives and nothing may be touched.
async fn check(rescuer: &Rescuer, scenarios: &[Scenario], bars: &[(&str, Option<u64>)]) {
    let Some(stage) = stage(rescuer, PATIENCE).await else { return };
    let played = play_all(&stage, scenarios).await.unwrap_or_else(|error| panic!("{error:#}"));
    let bars: BTreeMap<&str, Option<u64>> = bars.iter().copied().collect();
    for one in played {
        let is_good = match (one.outcome, bars[one.name]) {
            (Outcome::RanAgain(away), Some(bar)) => away <= Duration::from_secs(bar) * SLACK,
            (Outcome::Unharmed, None) => true,
            (Outcome::RanAgain(_) | Outcome::StayedAway | Outcome::Unharmed, _) => false,
        };
        assert!(is_good, "{}: {:?}, the bar is {:?}\n{}", one.name, one.outcome, bars[one.name], stage.tails());
    }
}

fn of(scenarios: &[Scenario], names: &[&str]) -> Vec<Scenario> {
    scenarios.iter().filter(|scenario| names.contains(&scenario.name)).copied().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn with_pod_deletion_the_dead_are_recovered_and_the_living_left_alone() {
    let scenarios = [deaths::ALL, detached::ALL, living::ALL].concat();
    let bars = [
        ("node-stays", Some(INSTANCE_INTERVAL + 25)),
        ("node-deleted-by-loop", Some(INSTANCE_INTERVAL + 25)),
        ("node-deleted-at-once", Some(INSTANCE_INTERVAL + 85)),
        ("only-shutting-down", Some(INSTANCE_INTERVAL + 25)),
        // EC2 frees the volume twenty seconds late.
        ("ec2-lags", Some(INSTANCE_INTERVAL + 25 + 20)),
        ("ec2-lies-once", Some(INSTANCE_INTERVAL + 25)),
        // Two sweeps of the volumes, and the attach-detach controller's sync.
        ("same-name", Some(2 * 60 + 65)),
        ("detached-then-again", Some(2 * 60 + 65)),
        ("detached-under-a-pod", None),
        ("not-ready", None),
        ("network-cut", None),
        ("kubelet-speaks", None),
    ];
    check(&program(Mode::Enforce, true), &scenarios, &bars).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_pod_deletion_the_dead_are_recovered_in_two_minutes() {
    let names = ["node-stays", "node-deleted-by-loop", "node-deleted-at-once"];
    check(&program(Mode::Enforce, false), &of(deaths::ALL, &names), &names.map(|name| (name, Some(130)))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_and_a_lost_api_server_prove_no_death() {
    let Some(stage) = stage(&program(Mode::Enforce, true), PATIENCE).await else { return };
    for scenario in living::OF_THE_WHOLE_STAGE {
        let played = play_all(&stage, &[*scenario]).await.unwrap_or_else(|error| panic!("{error:#}"));
        assert_eq!(played[0].outcome, Outcome::Unharmed, "{}", scenario.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn observing_writes_nothing_and_asks_nothing_at_rest() {
    let Some(stage) = stage(&program(Mode::Observe, true), Duration::from_secs(60)).await else { return };
    let asked = at_rest::requests(&stage, Duration::from_secs(60)).await.unwrap_or_else(|error| panic!("{error:#}"));
    assert!(asked.is_empty(), "asked at rest: {asked:#?}");
    let played = play_all(&stage, &of(deaths::ALL, &["node-stays"])).await.unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(played[0].outcome, Outcome::StayedAway);
    let wrote = stage.audit.entries().expect("the audit log can be read").into_iter().filter(|entry| entry.wrote());
    let wrote: Vec<_> = wrote.filter(|entry| !matches!(entry.resource.as_str(), "events" | "leases")).collect();
    assert!(wrote.is_empty(), "wrote while it observes: {wrote:#?}");
}
