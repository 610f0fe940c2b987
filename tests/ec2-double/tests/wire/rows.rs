//! The edge cases of polling (D-1 to D-30): for each, the double can bring it about.

use zonewarden_ec2_double::{Action, Double, Fault, Operator, Span, Volume};

use super::client::{
    GONE, I1, I2, V1, V2, V3, ask, error, form, instances, raw, refused, small_world, texts, told, volumes,
};

mod states;

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
