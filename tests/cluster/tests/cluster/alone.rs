//! What Kubernetes alone does not mend, and what stays as it is because nothing is wrong: the same scenarios, with no rescuer.

use std::time::Duration;

use zonewarden_cluster_tests::rescuer::Rescuer;
use zonewarden_cluster_tests::scenarios::{Outcome, Played, deaths, detached, living, play_all};

use crate::stage;

#[tokio::test(flavor = "multi_thread")]
async fn waiting_pods_wait_and_living_machines_are_left_alone() {
    let Some(stage) = stage(&Rescuer::None, Duration::from_secs(75)).await else { return };
    let same_name = deaths::ALL.iter().filter(|scenario| scenario.name == "same-name");
    let scenarios: Vec<_> = same_name.chain(detached::ALL).chain(living::ALL).copied().collect();
    let played = play_all(&stage, &scenarios).await.unwrap_or_else(|error| panic!("{error:#}"));
    let outcomes: Vec<_> = played.iter().map(|Played { name, outcome }| (*name, *outcome)).collect();
    let expected = [
        ("same-name", Outcome::StayedAway),
        ("detached-under-a-pod", Outcome::Unharmed),
        ("detached-then-again", Outcome::StayedAway),
        ("not-ready", Outcome::Unharmed),
        ("network-cut", Outcome::Unharmed),
        ("kubelet-speaks", Outcome::Unharmed),
    ];
    assert_eq!(outcomes, expected);
}
