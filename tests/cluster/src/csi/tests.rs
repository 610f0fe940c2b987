//! What the driver answers, without the wire: the real csi-attacher speaks to it in the end-to-end suite.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tonic::{Code, Request, Status};
use zonewarden_ec2_double::{Action, AttachmentState, Clock, Double, Fault, Instance, Options, Timing, Volume};

use super::disks::Disks;
use super::proto::controller_server::Controller as _;
use super::proto::controller_service_capability::{Rpc, Type as ControllerCapability, rpc};
use super::proto::identity_server::Identity as _;
use super::proto::{
    ControllerGetCapabilitiesRequest, ControllerPublishVolumeRequest, ControllerServiceCapability,
    ControllerUnpublishVolumeRequest, GetPluginInfoRequest, ListVolumesRequest, VolumeCapability,
};
use super::{Controller, DRIVER_NAME, Plugin, serve};

const V1: &str = "vol-00000000000000001";
const V2: &str = "vol-00000000000000002";
const I1: &str = "i-00000000000000001";
const I2: &str = "i-00000000000000002";
const GONE: &str = "i-0000000000000dead";

/// Two volumes and two instances in one zone; the first volume is attached to the first instance.
async fn plugin(timing: Timing) -> (Plugin, Double) {
    let clock = Clock::manual("2026-11-03T12:00:00Z".parse().expect("a time"));
    let ec2 = Double::start_with(Options { clock, timing, ..Options::default() }).await.expect("a port");
    ec2.with(|world| {
        for id in [V1, V2] {
            world.add_volume(Volume::new(id, "us-east-1a"));
        }
        for id in [I1, I2] {
            world.add_instance(Instance::new(id, "us-east-1a", "node"));
        }
        world.put_attached(V1, I1, "/dev/xvdaa");
    });
    let disks = Disks::new(ec2.clone(), Duration::from_millis(1));
    (Plugin { name: DRIVER_NAME.to_owned(), disks, in_flight: Arc::default() }, ec2)
}

async fn publish(plugin: &Plugin, volume: &str, node: &str) -> Result<HashMap<String, String>, Status> {
    let request = ControllerPublishVolumeRequest {
        volume_id: volume.to_owned(),
        node_id: node.to_owned(),
        volume_capability: Some(VolumeCapability::default()),
        ..ControllerPublishVolumeRequest::default()
    };
    let response = plugin.controller_publish_volume(Request::new(request)).await?;
    Ok(response.into_inner().publish_context)
}

async fn unpublish(plugin: &Plugin, volume: &str, node: &str) -> Result<(), Status> {
    let (volume_id, node_id) = (volume.to_owned(), node.to_owned());
    let request = ControllerUnpublishVolumeRequest { volume_id, node_id, secrets: HashMap::new() };
    plugin.controller_unpublish_volume(Request::new(request)).await.map(drop)
}

fn refused<T: std::fmt::Debug>(result: Result<T, Status>) -> (Code, String) {
    let status = result.expect_err("refused");
    (status.code(), status.message().to_owned())
}

fn state(ec2: &Double, volume: &str, instance: &str) -> Option<AttachmentState> {
    ec2.with(|world| Some(world.volume(volume)?.attachment_to(instance)?.state.clone()))
}

fn device(name: &str) -> HashMap<String, String> {
    HashMap::from([("devicePath".to_owned(), name.to_owned())])
}

#[tokio::test]
async fn it_says_who_it_is_and_that_it_only_attaches() {
    let (plugin, _ec2) = plugin(Timing::instant()).await;
    let info = plugin.get_plugin_info(Request::new(GetPluginInfoRequest {})).await.expect("an answer").into_inner();
    assert_eq!(info.name, "ebs.csi.aws.com");
    let asked = Request::new(ControllerGetCapabilitiesRequest {});
    let offered = plugin.controller_get_capabilities(asked).await.expect("an answer").into_inner().capabilities;
    let publish = Rpc { r#type: rpc::Type::PublishUnpublishVolume.into() };
    assert_eq!(offered, [ControllerServiceCapability { r#type: Some(ControllerCapability::Rpc(publish)) }]);
    let listed = plugin.list_volumes(Request::new(ListVolumesRequest::default())).await;
    assert_eq!(listed.expect_err("as the driver").code(), Code::Unimplemented);
}

#[tokio::test]
async fn a_volume_is_attached_under_the_first_free_name_and_a_second_time_it_is_there_already() {
    let (plugin, ec2) = plugin(Timing::instant()).await;
    for _ in 0..2 {
        assert_eq!(publish(&plugin, V2, I1).await.expect("attached"), device("/dev/xvdab"));
        assert_eq!(state(&ec2, V2, I1), Some(AttachmentState::Attached));
    }
    assert_eq!(publish(&plugin, V1, I1).await.expect("attached"), device("/dev/xvdaa"));
}

#[tokio::test]
async fn both_wait_until_it_is_so() {
    let timing = Timing { attach: Duration::from_secs(2), detach: Duration::from_secs(3), ..Timing::instant() };
    let (plugin, ec2) = plugin(timing).await;
    let attached = tokio::spawn({
        let plugin = plugin.clone();
        async move { publish(&plugin, V2, I1).await }
    });
    while state(&ec2, V2, I1).is_none() {
        tokio::task::yield_now().await;
    }
    let second = refused(publish(&plugin, V2, I1).await);
    let text = "An operation with the given volume=\"vol-00000000000000002\" is already in progress";
    assert_eq!(second, (Code::Aborted, text.to_owned()));
    assert!(!attached.is_finished());
    ec2.advance(Duration::from_secs(2));
    assert_eq!(attached.await.expect("no panic").expect("attached"), device("/dev/xvdab"));
    let detached = tokio::spawn({
        let plugin = plugin.clone();
        async move { unpublish(&plugin, V2, I1).await }
    });
    while state(&ec2, V2, I1) != Some(AttachmentState::Detaching) {
        tokio::task::yield_now().await;
    }
    assert!(!detached.is_finished());
    ec2.advance(Duration::from_secs(3));
    detached.await.expect("no panic").expect("detached");
    assert_eq!(state(&ec2, V2, I1), None);
}

#[tokio::test]
async fn only_a_missing_instance_is_not_found_all_else_is_internal() {
    let (plugin, ec2) = plugin(Timing::instant()).await;
    let missing = refused(publish(&plugin, V2, GONE).await);
    assert_eq!(missing, (Code::NotFound, format!("Volume {V2:?} not found")));
    let internal = |volume: &str, node: &str, why: &str| {
        (Code::Internal, format!("Could not attach volume {volume:?} to node {node:?}: {why}"))
    };
    let in_use = format!("VolumeInUse: {V1} is already attached to an instance");
    assert_eq!(refused(publish(&plugin, V1, I2).await), internal(V1, I2, &in_use));
    let no_volume = "vol-0000000000000dead";
    let why = format!("InvalidVolume.NotFound: The volume '{no_volume}' does not exist.");
    assert_eq!(refused(publish(&plugin, no_volume, I2).await), internal(no_volume, I2, &why));
    ec2.fault_next(Action::AttachVolume, [Fault::Throttle]);
    let why = "RequestLimitExceeded: Request limit exceeded.";
    assert_eq!(refused(publish(&plugin, V2, I2).await), internal(V2, I2, why));
    ec2.with(|world| world.terminate(I2)).expect("it is there");
    let why = format!("IncorrectState: Instance '{I2}' is not 'running'.");
    assert_eq!(refused(publish(&plugin, V2, I2).await), internal(V2, I2, &why));
}

#[tokio::test]
async fn what_is_not_attached_there_is_detached_already() {
    let (plugin, ec2) = plugin(Timing::instant()).await;
    for (volume, node) in [(V1, I2), (V2, I1), ("vol-0000000000000dead", I1), (V1, GONE)] {
        unpublish(&plugin, volume, node).await.unwrap_or_else(|status| panic!("{volume} {node}: {status}"));
    }
    assert_eq!(state(&ec2, V1, I1), Some(AttachmentState::Attached));
    ec2.fault_next(Action::DetachVolume, [Fault::InternalError]);
    let why = format!("Could not detach volume {V1:?} from node {I1:?}: InternalError: An internal error has occurred");
    assert_eq!(refused(unpublish(&plugin, V1, I1).await), (Code::Internal, why));
    unpublish(&plugin, V1, I1).await.expect("detached");
    assert_eq!(state(&ec2, V1, I1), None);
}

#[tokio::test]
async fn an_attachment_that_is_stuck_for_ninety_seconds_is_given_up() {
    let (plugin, ec2) = plugin(Timing { attach: Duration::from_secs(3600), ..Timing::instant() }).await;
    ec2.with(|world| world.attach(V2, I1, "/dev/xvdab")).expect("it is free");
    ec2.advance(Duration::from_secs(90));
    let why =
        format!("Could not attach volume {V2:?} to node {I1:?}: VolumeInUse: {V2} is already attached to an instance");
    assert_eq!(refused(publish(&plugin, V2, I1).await), (Code::Internal, why));
    ec2.advance(Duration::from_secs(1));
    let why = format!("Could not attach volume {V2:?} to node {I1:?}: the attachment was stuck in attaching");
    assert_eq!(refused(publish(&plugin, V2, I1).await), (Code::Internal, why));
    assert_eq!(state(&ec2, V2, I1), None);
}

#[tokio::test]
async fn what_is_not_given_is_asked_for() {
    let (plugin, _ec2) = plugin(Timing::instant()).await;
    let invalid = |what: &str| (Code::InvalidArgument, format!("{what} not provided"));
    assert_eq!(refused(publish(&plugin, "", I1).await), invalid("Volume ID"));
    assert_eq!(refused(publish(&plugin, V1, "").await), invalid("Node ID"));
    assert_eq!(refused(unpublish(&plugin, V1, "").await), invalid("Node ID"));
    let request = ControllerPublishVolumeRequest {
        volume_id: V1.to_owned(),
        node_id: I1.to_owned(),
        ..ControllerPublishVolumeRequest::default()
    };
    let answer = plugin.controller_publish_volume(Request::new(request)).await;
    assert_eq!(refused(answer), invalid("Volume capability"));
}

#[tokio::test]
async fn the_socket_goes_with_the_handle() {
    let (_plugin, ec2) = plugin(Timing::instant()).await;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let socket: PathBuf = folder.path().join("csi.sock");
    let controller: Controller = serve(&socket, ec2.clone(), DRIVER_NAME).await.expect("a socket");
    tokio::net::UnixStream::connect(&socket).await.expect("somebody listens");
    drop(controller);
    assert!(!socket.exists());
    Controller::start(ec2, &socket).await.expect("the name is free again");
}
