//! A rescuer that believes EC2 at once: it shows that the dead can be recovered here, and that the scenarios in which a machine
//! lives catch whoever is fooled.

use std::time::Duration;

use futures::future::join_all;
use zonewarden_cluster_tests::rescuer::Rescuer;
use zonewarden_cluster_tests::scenarios::{Outcome, Scenario, deaths, living, play_all};

use crate::stage;

/// In these a machine lives that EC2 calls dead for a while, or whose name a dead one bore.
const FOOLED_IN: &[&str] = &["same-name", "ec2-lies-once"];

fn of(scenarios: &[Scenario], names: &[&str]) -> Vec<Scenario> {
    scenarios.iter().filter(|scenario| names.contains(&scenario.name)).copied().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_recovers_the_dead_and_heals_the_detached() {
    let Some(stage) = stage(&Rescuer::Script, Duration::from_secs(150)).await else { return };
    let scenarios: Vec<_> =
        deaths::ALL.iter().filter(|scenario| !FOOLED_IN.contains(&scenario.name)).copied().collect();
    let played = play_all(&stage, &scenarios).await.unwrap_or_else(|error| panic!("{error:#}"));
    for one in played {
        let Outcome::RanAgain(away) = one.outcome else { panic!("{}: {:?}", one.name, one.outcome) };
        // The attach-detach controller notices a deleted attachment only in its sync, once a minute.
        let waits_for_sync = ["node-deleted-at-once", "detached-then-again"].contains(&one.name);
        let bar = if waits_for_sync { 150 } else { 80 };
        assert!(away < Duration::from_secs(bar), "{}: {away:?}", one.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_is_fooled_is_caught() {
    let Some(stage) = stage(&Rescuer::Script, Duration::from_secs(60)).await else { return };
    let scenarios = [of(deaths::ALL, FOOLED_IN), of(living::ALL, &["kubelet-speaks"])].concat();
    let plays = scenarios.iter().map(async |scenario| (scenario.name, play_all(&stage, &[*scenario]).await));
    for (name, caught) in join_all(plays).await {
        let complaint = caught.err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(complaint.contains("the rescuer touched what lives"), "{name} let it pass: {complaint}");
    }
}
