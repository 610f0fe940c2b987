//! Reads that lag, go back in time, disagree or lie; pages.

use zonewarden_ec2_double::{Action, Consistency, Fault, Instance, InstanceState, Span, Volume};

use super::client::{D1, I1, I2, V1, V2, V3, error, instances, refused, seconds, small_world, texts, told, volumes};

const VOLUMES: Action = Action::DescribeVolumes;
const INSTANCES: Action = Action::DescribeInstances;

#[tokio::test]
async fn a_lag_shows_what_was() {
    let ec2 = small_world().await;
    ec2.set_consistency(VOLUMES, Consistency::Lag(seconds(10)));
    ec2.with(|world| world.put_detached(V1));
    let asked = [("VolumeId.1", V1)];
    let before = [format!("{V1} in-use {I1}:attached")];
    // The attachment itself was put there at noon, in the very moment in which it was taken off.
    ec2.with(|world| world.put_attached(V1, I1, D1));
    ec2.advance(seconds(10));
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), before);
    ec2.with(|world| world.put_detached(V1));
    ec2.advance(seconds(9));
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), before);
    ec2.advance(seconds(1));
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), [format!("{V1} available")]);
}

#[tokio::test]
async fn a_lag_does_not_know_what_is_new() {
    let ec2 = small_world().await;
    ec2.set_consistency(INSTANCES, Consistency::Lag(seconds(5)));
    let new = "i-000000000000000aa";
    ec2.with(|world| world.launch_instance(Instance::new(new, "us-east-1a", "ip-10-0-0-9.ec2.internal")));
    let text = format!("The instance ID '{new}' does not exist");
    assert_eq!(
        refused(&ec2, INSTANCES, &[("InstanceId.1", new)]).await,
        error(400, "InvalidInstanceID.NotFound", &text)
    );
    ec2.advance(seconds(5));
    let body = told(&ec2, INSTANCES, &[("InstanceId.1", new)]).await;
    assert_eq!(instances(&body), [format!("{new} running")]);
}

#[tokio::test]
async fn what_happened_between_two_looks_has_its_own_time() {
    let ec2 = small_world().await;
    ec2.set_consistency(INSTANCES, Consistency::Lag(seconds(20)));
    ec2.with(|world| world.terminate(I1)).expect("it is there");
    // Nobody looked while it went from shutting-down to terminated, thirty seconds in.
    ec2.advance(seconds(49));
    let body = told(&ec2, INSTANCES, &[("InstanceId.1", I1)]).await;
    assert_eq!(instances(&body), [format!("{I1} shutting-down {V1}:attached")]);
    ec2.advance(seconds(1));
    let body = told(&ec2, INSTANCES, &[("InstanceId.1", I1)]).await;
    assert_eq!(instances(&body), [format!("{I1} terminated {V1}:attached")]);
}

#[tokio::test]
async fn reads_go_back_in_time() {
    let ec2 = small_world().await;
    ec2.advance(seconds(60));
    ec2.with(|world| world.put_detached(V1));
    ec2.advance(seconds(5));
    ec2.set_consistency(VOLUMES, Consistency::BackAndForth(seconds(30)));
    let (old, new) = (format!("{V1} in-use {I1}:attached"), format!("{V1} available"));
    for expected in [&old, &new, &old, &new] {
        assert_eq!(volumes(&told(&ec2, VOLUMES, &[("VolumeId.1", V1)]).await), [expected.as_str()]);
    }
}

#[tokio::test]
async fn the_two_apis_disagree() {
    let ec2 = small_world().await;
    ec2.advance(seconds(60));
    ec2.set_consistency(INSTANCES, Consistency::Lag(seconds(30)));
    ec2.with(|world| world.put_detached(V1));
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[("VolumeId.1", V1)]).await), [format!("{V1} available")]);
    let body = told(&ec2, INSTANCES, &[("InstanceId.1", I1)]).await;
    assert_eq!(instances(&body), [format!("{I1} running {V1}:attached")]);
}

#[tokio::test]
async fn one_lie_is_told_to_the_one_who_asks_about_it() {
    let ec2 = small_world().await;
    let dead = |instance: &mut Instance| instance.state = InstanceState::Terminated;
    ec2.lie_about_instance(I1, Span::Calls(1), dead);
    // This answer does not concern it.
    told(&ec2, INSTANCES, &[("InstanceId.1", I2)]).await;
    let filter = [("Filter.1.Name", "instance-id"), ("Filter.1.Value.1", I2)];
    told(&ec2, INSTANCES, &filter).await;
    let asked = [("InstanceId.1", I1)];
    let (lie, truth) = (format!("{I1} terminated {V1}:attached"), format!("{I1} running {V1}:attached"));
    assert_eq!(instances(&told(&ec2, INSTANCES, &asked).await), [lie.as_str()]);
    assert_eq!(instances(&told(&ec2, INSTANCES, &asked).await), [truth.as_str()]);
    // A lie keeps it out of a filter, and is told by that.
    ec2.lie_about_instance(I1, Span::Calls(1), dead);
    let filter = [("Filter.1.Name", "instance-state-name"), ("Filter.1.Value.1", "running")];
    assert_eq!(instances(&told(&ec2, INSTANCES, &filter).await), [format!("{I2} running")]);
    assert_eq!(instances(&told(&ec2, INSTANCES, &filter).await), [truth, format!("{I2} running")]);
}

#[tokio::test]
async fn a_lie_may_last_for_a_while_or_until_it_is_stopped() {
    let ec2 = small_world().await;
    ec2.lie_about_volume(V1, Span::For(seconds(30)), |volume| volume.attachments.clear());
    ec2.lie_about_volume(V2, Span::Always, |volume| volume.zone = "us-east-1f".to_owned());
    let asked = [("VolumeId.1", V1), ("VolumeId.2", V2)];
    let body = told(&ec2, VOLUMES, &asked).await;
    assert_eq!(volumes(&body), [format!("{V1} in-use"), format!("{V2} available")]);
    assert_eq!(texts(&body, "availabilityZone"), ["us-east-1a", "us-east-1f"]);
    ec2.advance(seconds(30));
    let body = told(&ec2, VOLUMES, &asked).await;
    assert_eq!(volumes(&body), [format!("{V1} in-use {I1}:attached"), format!("{V2} available")]);
    assert_eq!(texts(&body, "availabilityZone"), ["us-east-1a", "us-east-1f"]);
    ec2.stop_lying();
    assert_eq!(texts(&told(&ec2, VOLUMES, &asked).await, "availabilityZone"), ["us-east-1a", "us-east-1a"]);
}

#[tokio::test]
async fn what_is_hidden_is_missing_by_id_and_absent_by_filter() {
    let ec2 = small_world().await;
    ec2.hide(V1, Span::Calls(2));
    let text = format!("The volume '{V1}' does not exist.");
    let asked = [("VolumeId.1", V1)];
    assert_eq!(refused(&ec2, VOLUMES, &asked).await, error(400, "InvalidVolume.NotFound", &text));
    let filter = [("Filter.1.Name", "volume-id"), ("Filter.1.Value.1", V1)];
    assert_eq!(volumes(&told(&ec2, VOLUMES, &filter).await), Vec::<String>::new());
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), [format!("{V1} in-use {I1}:attached")]);
}

/// Twelve volumes beside the three, and the questions for pages of six.
async fn pages(ec2: &zonewarden_ec2_double::Double, limit: usize) -> Vec<Vec<String>> {
    let (mut pages, mut token) = (Vec::new(), String::new());
    while pages.len() < limit {
        let mut asked = vec![("MaxResults", "6")];
        if !token.is_empty() {
            asked.push(("NextToken", &token));
        }
        let body = told(ec2, VOLUMES, &asked).await;
        pages.push(volumes(&body).iter().map(|line| line[17..21].to_owned()).collect());
        match texts(&body, "nextToken").pop() {
            Some(next) => token = next,
            None => break,
        }
    }
    pages
}

async fn fifteen() -> zonewarden_ec2_double::Double {
    let ec2 = small_world().await;
    ec2.with(|world| {
        for number in 4..=15 {
            world.add_volume(Volume::new(format!("vol-000000000000000{number:02}"), "us-east-1a"));
        }
    });
    ec2
}

#[tokio::test]
async fn a_scan_comes_in_pages() {
    let ec2 = fifteen().await;
    let expected = [
        vec!["0001", "0002", "0003", "0004", "0005", "0006"],
        vec!["0007", "0008", "0009", "0010", "0011", "0012"],
        vec!["0013", "0014", "0015"],
    ];
    assert_eq!(pages(&ec2, 9).await, expected);
    // Unpaged, everything comes at once.
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[]).await).len(), 15);
}

#[tokio::test]
async fn instances_come_in_pages_too() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        for number in 3..=6 {
            world.add_instance(Instance::new(format!("i-0000000000000000{number}"), "us-east-1a", "n"));
        }
    });
    let body = told(&ec2, INSTANCES, &[("MaxResults", "5")]).await;
    assert_eq!(texts(&body, "instanceId").len(), 5);
    let token = texts(&body, "nextToken").concat();
    let body = told(&ec2, INSTANCES, &[("MaxResults", "5"), ("NextToken", &token)]).await;
    assert_eq!(texts(&body, "instanceId"), ["i-00000000000000006"]);
    assert_eq!(texts(&body, "nextToken"), Vec::<String>::new());
}

#[tokio::test]
async fn a_token_repeats_and_an_item_comes_twice() {
    let ec2 = fifteen().await;
    ec2.fault_always(VOLUMES, Fault::RepeatToken);
    let second = vec!["0007", "0008", "0009", "0010", "0011", "0012"];
    let first = vec!["0001", "0002", "0003", "0004", "0005", "0006"];
    assert_eq!(pages(&ec2, 4).await, [first.clone(), second.clone(), second.clone(), second]);
    ec2.clear_faults();
    ec2.fault_always(VOLUMES, Fault::Overlap);
    let expected =
        [first, vec!["0006", "0007", "0008", "0009", "0010", "0011"], vec!["0011", "0012", "0013", "0014", "0015"]];
    assert_eq!(pages(&ec2, 9).await, expected);
}

#[tokio::test]
async fn nonsense_is_well_formed_and_the_same_for_the_same_seed() {
    let mut answers = Vec::new();
    for seed in [7, 7, 8] {
        let ec2 = fifteen().await;
        ec2.fault_always(VOLUMES, Fault::Nonsense(seed));
        ec2.fault_always(INSTANCES, Fault::Nonsense(seed));
        let mut seen = String::new();
        for _ in 0..60 {
            for action in [VOLUMES, INSTANCES] {
                let body = told(&ec2, action, &[]).await;
                assert_eq!(body.matches("<item>").count(), body.matches("</item>").count(), "{body}");
                assert!(body.ends_with("Response>"), "{body}");
                seen.push_str(&body);
            }
        }
        for word in ["melted", "glued", "asleep", "terminated", "deleting", "busy"] {
            assert!(seen.contains(word), "never {word}");
        }
        answers.push(seen);
        // The world itself stays as it was.
        let attached = ec2.with(|world| world.volume(V1).is_some_and(|volume| volume.attachment_to(I1).is_some()));
        assert!(attached && ec2.with(|world| world.volume(V3).is_some()));
    }
    assert_eq!(answers[0], answers[1]);
    assert_ne!(answers[0], answers[2]);
}
