//! The edge cases of polling (D-1 to D-30): for each, the double can bring it about.

use zonewarden_ec2_double::{
    Action, Attachment, AttachmentState, Consistency, Double, Fault, Instance, InstanceState, Operator, Span, Volume,
    VolumeState,
};

use super::client::{
    D1, D2, GONE, I1, I2, V1, V2, V3, ask, error, form, instances, noon, raw, refused, seconds, small_world, texts,
    told, volumes,
};

const VOLUMES: Action = Action::DescribeVolumes;
const INSTANCES: Action = Action::DescribeInstances;

/// What the question for one volume says of it.
async fn volume(ec2: &Double, id: &str) -> String {
    volumes(&told(ec2, VOLUMES, &[("VolumeId.1", id)]).await).concat()
}

async fn instance(ec2: &Double, id: &str) -> String {
    instances(&told(ec2, INSTANCES, &[("InstanceId.1", id)]).await).concat()
}

#[tokio::test]
async fn d_1_one_missing_id_fails_the_whole_question_and_is_named() {
    let ec2 = small_world().await;
    let text = format!("The volume '{GONE}' does not exist.");
    let asked = [("VolumeId.1", V1), ("VolumeId.2", GONE)];
    assert_eq!(refused(&ec2, VOLUMES, &asked).await, error(400, "InvalidVolume.NotFound", &text));
}

#[tokio::test]
async fn d_2_the_error_names_every_id() {
    let ec2 = small_world().await;
    ec2.fault_always(VOLUMES, Fault::NameEveryId);
    let text = format!("The volume '{{'{V1}', '{GONE}'}}' does not exist.");
    let asked = [("VolumeId.1", V1), ("VolumeId.2", GONE)];
    assert_eq!(refused(&ec2, VOLUMES, &asked).await, error(400, "InvalidVolume.NotFound", &text));
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use {I1}:attached"));
}

#[tokio::test]
async fn d_3_d_4_d_6_malformed_and_foreign_ids() {
    let ec2 = small_world().await;
    let malformed = |id: &str| error(400, "InvalidVolumeID.Malformed", &format!("Invalid id: \"{id}\""));
    let foreign = |id: &str| {
        let text = format!("Value ({id}) for parameter volumes is invalid. Expected: 'vol-...'.");
        error(400, "InvalidParameterValue", &text)
    };
    let cases = [
        ("vol-xyz", malformed("vol-xyz")),
        ("vol-0000000000000001", malformed("vol-0000000000000001")),
        ("vol-0000000000000000A", malformed("vol-0000000000000000A")),
        ("vol-00000000000000001/", malformed("vol-00000000000000001/")),
        ("local-ebs://0", foreign("local-ebs://0")),
        (" vol-00000000000000001", foreign(" vol-00000000000000001")),
        ("VOL-00000000000000001", foreign("VOL-00000000000000001")),
        ("", foreign("")),
    ];
    for (id, expected) in cases {
        assert_eq!(refused(&ec2, VOLUMES, &[("VolumeId.1", V1), ("VolumeId.2", id)]).await, expected);
    }
    for id in ["i-xyz", "host-1"] {
        let expected = error(400, "InvalidInstanceID.Malformed", &format!("Invalid id: \"{id}\""));
        assert_eq!(refused(&ec2, INSTANCES, &[("InstanceId.1", id)]).await, expected);
    }
    // Eight digits are an id too.
    ec2.with(|world| world.add_volume(Volume::new("vol-0a1b2c3d", "us-east-1a")));
    assert_eq!(volume(&ec2, "vol-0a1b2c3d").await, "vol-0a1b2c3d available");
}

#[tokio::test]
async fn d_5_an_id_that_comes_twice_is_answered_once() {
    let ec2 = small_world().await;
    let asked = [("VolumeId.1", V2), ("VolumeId.2", V1), ("VolumeId.3", V2)];
    let expected = [format!("{V1} in-use {I1}:attached"), format!("{V2} available")];
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), expected);
    let asked = [("InstanceId.1", I2), ("InstanceId.2", I2)];
    assert_eq!(instances(&told(&ec2, INSTANCES, &asked).await), [format!("{I2} running")]);
}

#[tokio::test]
async fn d_7_an_answer_is_short_or_empty() {
    let ec2 = small_world().await;
    ec2.fault_next(VOLUMES, [Fault::LeaveOut(vec![V1.to_owned()]), Fault::Empty]);
    let asked = [("VolumeId.1", V1), ("VolumeId.2", V2)];
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), [format!("{V2} available")]);
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), Vec::<String>::new());
    ec2.fault_next(INSTANCES, [Fault::LeaveOut(vec![I1.to_owned()]), Fault::Empty]);
    let asked = [("InstanceId.1", I1), ("InstanceId.2", I2)];
    assert_eq!(instances(&told(&ec2, INSTANCES, &asked).await), [format!("{I2} running")]);
    assert_eq!(instances(&told(&ec2, INSTANCES, &asked).await), Vec::<String>::new());
}

#[tokio::test]
async fn d_8_d_9_the_state_and_the_attachments_contradict_each_other() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V1, |volume| volume.attachments.clear());
        world.put_attached(V2, I2, D2);
        world.edit_volume(V2, |volume| volume.state = VolumeState::Available);
    });
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use"));
    assert_eq!(volume(&ec2, V2).await, format!("{V2} available {I2}:attached"));
}

#[tokio::test]
async fn d_10_d_11_detaching_and_busy() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.set_mounted(V1, I1, true);
        world.detach(V1, Some(I1), false).expect("it is attached");
    });
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use {I1}:detaching"));
    ec2.advance(seconds(3));
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use {I1}:busy"));
    assert_eq!(instance(&ec2, I1).await, format!("{I1} running {V1}:detaching"));
}

#[tokio::test]
async fn d_12_attaching_for_longer_than_it_should() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.timing.attach = seconds(3600);
        world.attach(V2, I1, D2).expect("it is free");
    });
    ec2.advance(seconds(91));
    let body = told(&ec2, VOLUMES, &[("VolumeId.1", V2)]).await;
    assert_eq!(volumes(&body), [format!("{V2} in-use {I1}:attaching")]);
    assert_eq!(texts(&body, "attachTime"), ["2026-11-03T12:00:00.000Z"]);
}

#[tokio::test]
async fn d_13_d_14_detached_and_unknown_words() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V1, |volume| volume.attachments[0].state = AttachmentState::Detached);
        world.edit_volume(V2, |volume| volume.state = VolumeState::Other("melted".to_owned()));
        world.edit_instance(I2, |instance| instance.state = InstanceState::Other("asleep".to_owned()));
    });
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use {I1}:detached"));
    assert_eq!(volume(&ec2, V2).await, format!("{V2} melted"));
    assert_eq!(instance(&ec2, I2).await, format!("{I2} asleep"));
}

#[tokio::test]
async fn d_15_an_attachment_without_an_instance() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V1, |volume| {
            volume.attachments[0].instance = None;
            volume.attachments[0].owning_service = Some("ecs.amazonaws.com".to_owned());
        })
    });
    let body = told(&ec2, VOLUMES, &[("VolumeId.1", V1)]).await;
    assert_eq!(texts(&body, "instanceId"), Vec::<String>::new());
    assert_eq!(texts(&body, "instanceOwningService"), ["ecs.amazonaws.com"]);
    let text = format!("Volume '{V1}' is attached by a service.");
    let answer = refused(&ec2, Action::DetachVolume, &[("VolumeId", V1)]).await;
    assert_eq!(answer, error(400, "OperationNotPermitted", &text));
}

#[tokio::test]
async fn d_16_attached_to_two_instances_with_or_without_multi_attach() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V2, |volume| volume.multi_attach = true);
        world.attach(V2, I1, D2).expect("it is free");
        world.attach(V2, I2, D2).expect("it may have several");
        // EC2 would not do this, but reads may show it.
        world.edit_volume(V1, |volume| volume.attachments.push(Attachment::new(I2, D1, noon())));
    });
    ec2.advance(seconds(2));
    assert_eq!(volume(&ec2, V2).await, format!("{V2} in-use {I1}:attached {I2}:attached"));
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use {I1}:attached {I2}:attached"));
}

#[tokio::test]
async fn d_17_d_18_shutting_down_and_terminated_with_the_volume_still_attached() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.timing.release = seconds(600);
        world.terminate(I1).expect("it is there");
    });
    assert_eq!(instance(&ec2, I1).await, format!("{I1} shutting-down {V1}:attached"));
    ec2.advance(seconds(30));
    assert_eq!(instance(&ec2, I1).await, format!("{I1} terminated {V1}:attached"));
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use {I1}:attached"));
}

#[tokio::test]
async fn d_19_stopping_and_stopped_keep_the_volume() {
    let ec2 = small_world().await;
    ec2.with(|world| world.stop(I1)).expect("it runs");
    assert_eq!(instance(&ec2, I1).await, format!("{I1} stopping {V1}:attached"));
    ec2.advance(seconds(30));
    assert_eq!(instance(&ec2, I1).await, format!("{I1} stopped {V1}:attached"));
    assert_eq!(volume(&ec2, V1).await, format!("{V1} in-use {I1}:attached"));
}

#[tokio::test]
async fn d_20_an_instance_that_was_just_launched_or_is_long_gone() {
    let ec2 = small_world().await;
    let new = "i-000000000000000aa";
    ec2.set_consistency(INSTANCES, Consistency::Lag(seconds(3)));
    ec2.with(|world| world.launch_instance(Instance::new(new, "us-east-1a", "n")));
    let missing =
        |id: &str| error(400, "InvalidInstanceID.NotFound", &format!("The instance ID '{id}' does not exist"));
    assert_eq!(refused(&ec2, INSTANCES, &[("InstanceId.1", new)]).await, missing(new));
    ec2.with(|world| world.terminate(I2)).expect("it is there");
    ec2.advance(seconds(30 + 3600 + 3));
    assert_eq!(instance(&ec2, new).await, format!("{new} running"));
    assert_eq!(refused(&ec2, INSTANCES, &[("InstanceId.1", I2)]).await, missing(I2));
}

#[tokio::test]
async fn d_21_creating_deleting_deleted_and_error() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V2, |volume| volume.state = VolumeState::Creating);
        world.edit_volume(V1, |volume| volume.state = VolumeState::Error);
    });
    assert_eq!(volume(&ec2, V2).await, format!("{V2} creating"));
    assert_eq!(volume(&ec2, V1).await, format!("{V1} error {I1}:attached"));
    told(&ec2, Action::DeleteVolume, &[("VolumeId", V3)]).await;
    assert_eq!(volume(&ec2, V3).await, format!("{V3} deleting"));
    ec2.advance(seconds(2));
    assert_eq!(volume(&ec2, V3).await, format!("{V3} deleted"));
    ec2.advance(seconds(2));
    assert_eq!(ask(&ec2, VOLUMES, &[("VolumeId.1", V3)]).await.0, 400);
}

/// A world of eleven volumes, and the token of the second page of five.
async fn second_page() -> (Double, String) {
    let ec2 = small_world().await;
    ec2.with(|world| {
        for number in 10..18 {
            world.add_volume(Volume::new(format!("vol-000000000000000{number}"), "us-east-1a"));
        }
    });
    let token = texts(&told(&ec2, VOLUMES, &[("MaxResults", "5")]).await, "nextToken").concat();
    (ec2, token)
}

#[tokio::test]
async fn d_22_a_token_that_expired_or_is_used_for_another_question() {
    let (ec2, token) = second_page().await;
    let invalid = error(400, "InvalidNextToken", "The specified NextToken is not valid.");
    let asked = [("MaxResults", "5"), ("NextToken", token.as_str())];
    ec2.fault_next(VOLUMES, [Fault::TokenExpired]);
    assert_eq!(refused(&ec2, VOLUMES, &asked).await, invalid);
    assert_eq!(refused(&ec2, VOLUMES, &[("MaxResults", "6"), asked[1]]).await, invalid);
    assert_eq!(refused(&ec2, VOLUMES, &[("NextToken", "junk")]).await, invalid);
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await).len(), 5);
}

#[tokio::test]
async fn d_23_an_item_comes_twice_or_not_at_all() {
    let (ec2, token) = second_page().await;
    let asked = [("MaxResults", "5"), ("NextToken", token.as_str())];
    let last = "vol-00000000000000011";
    ec2.fault_next(VOLUMES, [Fault::Overlap, Fault::LeaveOut(vec!["vol-00000000000000012".to_owned()])]);
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await)[0], format!("{last} available"));
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await)[0], "vol-00000000000000013 available");
}

#[tokio::test]
async fn d_24_a_token_repeats() {
    let (ec2, token) = second_page().await;
    ec2.fault_next(VOLUMES, [Fault::RepeatToken]);
    let body = told(&ec2, VOLUMES, &[("MaxResults", "5"), ("NextToken", &token)]).await;
    assert_eq!(texts(&body, "nextToken"), [token]);
}

#[tokio::test]
async fn d_25_d_26_one_page_or_everything_is_throttled() {
    let (ec2, token) = second_page().await;
    ec2.fault_when(VOLUMES, |number| (number == 2).then_some(Fault::Throttle));
    let asked = [("MaxResults", "5"), ("NextToken", token.as_str())];
    let throttled = error(503, "RequestLimitExceeded", "Request limit exceeded.");
    assert_eq!(refused(&ec2, VOLUMES, &asked).await, throttled);
    told(&ec2, VOLUMES, &asked).await;
    ec2.fault_everything(&Fault::Throttle);
    for action in [VOLUMES, INSTANCES] {
        assert_eq!(refused(&ec2, action, &[]).await, throttled);
    }
}

#[tokio::test]
async fn d_27_nobody_may_ask_any_more() {
    let ec2 = small_world().await;
    let faults = [Fault::AuthFailure, Fault::ExpiredToken, Fault::RequestExpired, Fault::Unauthorized];
    ec2.fault_next(VOLUMES, faults);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let (status, code, _) = refused(&ec2, VOLUMES, &[]).await;
        seen.push(format!("{status} {code}"));
    }
    assert_eq!(seen, ["401 AuthFailure", "400 ExpiredToken", "400 RequestExpired", "403 UnauthorizedOperation"]);
}

#[tokio::test]
async fn d_28_answers_that_break() {
    let ec2 = small_world().await;
    ec2.fault_next(VOLUMES, [Fault::InternalError, Fault::Unavailable, Fault::Truncated, Fault::Reset]);
    assert_eq!(ask(&ec2, VOLUMES, &[]).await.0, 500);
    assert_eq!(ask(&ec2, VOLUMES, &[]).await.0, 503);
    let (status, body) = ask(&ec2, VOLUMES, &[]).await;
    assert_eq!((status, body.contains("</DescribeVolumesResponse>")), (200, false));
    raw(&ec2, form("DescribeVolumes", &[])).await.expect_err("a reset");
}

#[tokio::test]
async fn d_29_the_wrong_region_knows_nothing() {
    let ec2 = small_world().await;
    ec2.fault_everything(&Fault::WrongRegion);
    let text = format!("The volume '{V1}' does not exist.");
    let asked = [("VolumeId.1", V1), ("VolumeId.2", V2)];
    assert_eq!(refused(&ec2, VOLUMES, &asked).await, error(400, "InvalidVolume.NotFound", &text));
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[]).await), Vec::<String>::new());
    let text = format!("The instance ID '{I1}' does not exist");
    let answer = refused(&ec2, INSTANCES, &[("InstanceId.1", I1)]).await;
    assert_eq!(answer, error(400, "InvalidInstanceID.NotFound", &text));
}

#[tokio::test]
async fn d_30_what_a_service_hides_is_shown_on_demand_only() {
    let ec2 = small_world().await;
    let operator = Operator { principal: "eks.amazonaws.com".to_owned(), hidden: true };
    ec2.with(|world| {
        world.edit_volume(V1, |volume| volume.operator = Some(operator.clone()));
        world.edit_instance(I1, |instance| instance.operator = Some(operator));
    });
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[]).await), [format!("{V2} available"), format!("{V3} available")]);
    assert_eq!(ask(&ec2, VOLUMES, &[("VolumeId.1", V1)]).await.0, 400);
    assert_eq!(instances(&told(&ec2, INSTANCES, &[]).await), [format!("{I2} running")]);
    let asked = [("VolumeId.1", V1), ("IncludeManagedResources", "true")];
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), [format!("{V1} in-use {I1}:attached")]);
    // A lie can hide it too.
    ec2.hide(V2, Span::Always);
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[]).await), [format!("{V3} available")]);
}
