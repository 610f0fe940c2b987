//! What EC2 says of a volume and of an instance (D-8 to D-21).

use zonewarden_ec2_double::{Action, Attachment, AttachmentState, Consistency, Instance, InstanceState, VolumeState};

use super::{INSTANCES, VOLUMES, instance, volume};
use crate::wire::client::{
    D1, D2, I1, I2, V1, V2, V3, ask, error, noon, refused, seconds, small_world, texts, told, volumes,
};

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
