//! What goes wrong on demand.

use std::io::ErrorKind;
use std::time::Instant;

use zonewarden_ec2_double::{Action, Ec2Error, Fault};

use super::client::{D2, GONE, I1, V1, V2, ask, error, form, raw, refused, seconds, small_world, told, volumes};

const VOLUMES: Action = Action::DescribeVolumes;

#[tokio::test]
async fn errors_come_with_their_status() {
    let ec2 = small_world().await;
    let cases = [
        (Fault::Throttle, 503, "RequestLimitExceeded", "Request limit exceeded."),
        (Fault::InternalError, 500, "InternalError", "An internal error has occurred"),
        (Fault::Unavailable, 503, "Unavailable", "The server is overloaded and cannot handle the request."),
        (Fault::RequestExpired, 400, "RequestExpired", "Request has expired."),
        (Fault::ExpiredToken, 400, "ExpiredToken", "The security token included in the request is expired"),
        (Fault::AuthFailure, 401, "AuthFailure", "AWS was not able to validate the provided access credentials"),
        (Fault::Unauthorized, 403, "UnauthorizedOperation", "You are not authorized to perform this operation."),
        (Fault::Error(Ec2Error::client("InsufficientMana", "None left")), 400, "InsufficientMana", "None left"),
    ];
    for (fault, status, code, text) in cases {
        ec2.fault_next(VOLUMES, [fault]);
        assert_eq!(refused(&ec2, VOLUMES, &[]).await, error(status, code, text));
    }
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[]).await).len(), 3);
}

#[tokio::test]
async fn a_queue_a_rule_and_a_standing_fault() {
    let ec2 = small_world().await;
    ec2.fault_next(VOLUMES, [Fault::Throttle, Fault::InternalError]);
    ec2.fault_when(VOLUMES, |number| (number == 4).then_some(Fault::AuthFailure));
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(ask(&ec2, VOLUMES, &[]).await.0);
    }
    assert_eq!(statuses, [503, 500, 200, 401, 200]);
    // Another action is not concerned, until everything is.
    assert_eq!(ask(&ec2, Action::DescribeInstances, &[]).await.0, 200);
    ec2.fault_everything(&Fault::Unavailable);
    for action in Action::ALL {
        assert_eq!(ask(&ec2, action, &[]).await.0, 503, "{action:?}");
    }
    ec2.clear_faults();
    assert_eq!(ask(&ec2, VOLUMES, &[]).await.0, 200);
}

#[tokio::test]
async fn a_slow_answer_is_as_old_as_it_was_slow() {
    let ec2 = small_world().await;
    let delay = std::time::Duration::from_millis(150);
    ec2.fault_next(VOLUMES, [Fault::Slow(delay)]);
    let begin = Instant::now();
    let (body, ()) = tokio::join!(told(&ec2, VOLUMES, &[("VolumeId.1", V1)]), async {
        ec2.called(VOLUMES, 1).await;
        ec2.with(|world| world.put_detached(V1));
    });
    assert!(begin.elapsed() >= delay);
    assert_eq!(volumes(&body), [format!("{V1} in-use {I1}:attached")]);
}

#[tokio::test]
async fn an_answer_that_never_comes() {
    let ec2 = small_world().await;
    ec2.fault_next(VOLUMES, [Fault::Hang]);
    let failure = raw(&ec2, form("DescribeVolumes", &[])).await.expect_err("no answer");
    assert!(matches!(failure.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{failure:?}");
    assert_eq!(ec2.calls()[0].status, None);
}

#[tokio::test]
async fn a_truncated_answer_is_whole_for_http() {
    let ec2 = small_world().await;
    let whole = told(&ec2, VOLUMES, &[]).await;
    ec2.fault_next(VOLUMES, [Fault::Truncated]);
    let answer = raw(&ec2, form("DescribeVolumes", &[])).await.expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
    assert_eq!(body.len(), whole.len() / 2);
    // But for the request id it is the beginning of the whole.
    assert_eq!(body.replace("-000000000002<", "-000000000001<"), whole[..whole.len() / 2]);
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_not_whole_for_http() {
    let ec2 = small_world().await;
    ec2.fault_next(VOLUMES, [Fault::CutOff]);
    let answer = raw(&ec2, form("DescribeVolumes", &[])).await.expect("the beginning of an answer");
    assert!(answer.contains("transfer-encoding: chunked") && answer.contains("<volumeSet>"), "{answer}");
    assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn a_reset_comes_before_any_answer() {
    let ec2 = small_world().await;
    ec2.fault_next(VOLUMES, [Fault::Reset]);
    let failure = raw(&ec2, form("DescribeVolumes", &[])).await.expect_err("no answer");
    assert_eq!(failure.kind(), ErrorKind::ConnectionReset);
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[]).await).len(), 3);
}

#[tokio::test]
async fn what_changes_the_world_fails_before_it_does() {
    let ec2 = small_world().await;
    let asked = [("VolumeId", V2), ("InstanceId", I1), ("Device", D2)];
    ec2.fault_next(Action::AttachVolume, [Fault::Throttle, Fault::WrongRegion]);
    assert_eq!(refused(&ec2, Action::AttachVolume, &asked).await.1, "RequestLimitExceeded");
    assert_eq!(refused(&ec2, Action::AttachVolume, &asked).await.1, "InvalidVolume.NotFound");
    assert!(ec2.with(|world| world.volume(V2).is_some_and(|volume| volume.attachments.is_empty())));
    // A lost answer is another matter: the volume is on its way.
    ec2.fault_next(Action::AttachVolume, [Fault::Reset]);
    raw(&ec2, form("AttachVolume", &asked)).await.expect_err("no answer");
    assert!(ec2.with(|world| world.volume(V2).is_some_and(|volume| volume.attachment_to(I1).is_some())));
}

#[tokio::test]
async fn callers_in_the_process_suffer_too_and_are_not_counted() {
    let ec2 = small_world().await;
    ec2.fault_next(Action::AttachVolume, [Fault::Throttle]);
    assert_eq!(ec2.attach(V2, I1, D2).await, Err(Ec2Error::throttled()));
    assert_eq!(ec2.attach(V2, I1, D2).await, Ok(()));
    ec2.fault_next(Action::DetachVolume, [Fault::InternalError]);
    assert_eq!(ec2.detach(V2, I1).await.map_err(|error| error.code), Err("InternalError".to_owned()));
    assert_eq!(ec2.detach(V2, I1).await, Ok(()));
    assert_eq!(ec2.detach(GONE, I1).await.map_err(|error| error.code), Err("InvalidVolume.NotFound".to_owned()));
    assert_eq!(ec2.calls(), []);
    ec2.advance(seconds(3));
    assert!(ec2.with(|world| world.volume(V2).is_some_and(|volume| volume.attachments.is_empty())));
}

#[tokio::test]
async fn the_server_ends_with_its_last_handle() {
    let ec2 = small_world().await;
    let (address, other) = (ec2.address(), ec2.clone());
    drop(ec2);
    assert_eq!(volumes(&told(&other, VOLUMES, &[]).await).len(), 3);
    drop(other);
    let refused = async {
        while tokio::net::TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(seconds(5), refused).await.expect("nobody listens any more");
}
