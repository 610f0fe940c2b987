//! What happens to volumes and instances, and what is not allowed to happen.

use zonewarden_ec2_double::{Action, Instance, InstanceState, Timing, Volume};

use super::client::{
    D1, D2, GONE, I1, I2, V1, V2, V3, error, instances, refused, seconds, small_world, texts, told, volumes,
};

const ATTACH: Action = Action::AttachVolume;
const DETACH: Action = Action::DetachVolume;
const NOBODY: &str = "i-0000000000000dead";

#[tokio::test]
async fn an_attach_takes_its_time() {
    let ec2 = small_world().await;
    told(&ec2, ATTACH, &[("VolumeId", V2), ("InstanceId", I1), ("Device", D2)]).await;
    let ask = [("VolumeId.1", V2)];
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V2} in-use {I1}:attaching")]);
    ec2.advance(seconds(2));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V2} in-use {I1}:attached")]);
    let seen = instances(&told(&ec2, Action::DescribeInstances, &[("InstanceId.1", I1)]).await);
    assert_eq!(seen, [format!("{I1} running {V1}:attached {V2}:attached")]);
}

#[tokio::test]
async fn a_detach_takes_its_time() {
    let ec2 = small_world().await;
    let ask = [("VolumeId.1", V1)];
    told(&ec2, DETACH, &[("VolumeId", V1)]).await;
    ec2.advance(seconds(2));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V1} in-use {I1}:detaching")]);
    // A second one neither hurries nor delays it.
    told(&ec2, DETACH, &[("VolumeId", V1), ("InstanceId", I1)]).await;
    ec2.advance(seconds(1));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V1} available")]);
}

#[tokio::test]
async fn what_is_attached_again_is_not_moved_by_what_was_due_before() {
    let ec2 = small_world().await;
    ec2.with(|world| world.timing.attach = seconds(10));
    told(&ec2, ATTACH, &[("VolumeId", V2), ("InstanceId", I1), ("Device", D2)]).await;
    ec2.with(|world| world.put_detached(V2));
    ec2.advance(seconds(5));
    told(&ec2, ATTACH, &[("VolumeId", V2), ("InstanceId", I1), ("Device", D2)]).await;
    let ask = [("VolumeId.1", V2)];
    ec2.advance(seconds(5));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V2} in-use {I1}:attaching")]);
    ec2.advance(seconds(5));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V2} in-use {I1}:attached")]);
}

#[tokio::test]
async fn a_mounted_device_stays_busy_until_it_is_unmounted_or_forced() {
    let ec2 = small_world().await;
    let ask = [("VolumeId.1", V1)];
    assert!(ec2.with(|world| world.set_mounted(V1, I1, true)));
    told(&ec2, DETACH, &[("VolumeId", V1)]).await;
    ec2.advance(seconds(3600));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V1} in-use {I1}:busy")]);
    assert!(ec2.with(|world| world.set_mounted(V1, I1, false)));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V1} available")]);

    ec2.with(|world| world.put_attached(V1, I1, D1));
    assert!(ec2.with(|world| world.set_mounted(V1, I1, true)));
    told(&ec2, DETACH, &[("VolumeId", V1)]).await;
    ec2.advance(seconds(3));
    told(&ec2, DETACH, &[("VolumeId", V1), ("Force", "true")]).await;
    ec2.advance(seconds(3));
    assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &ask).await), [format!("{V1} available")]);
}

#[tokio::test]
async fn what_may_not_be_attached() {
    let ec2 = small_world().await;
    let elsewhere = "vol-00000000000000009";
    ec2.with(|world| {
        world.add_volume(Volume::new(elsewhere, "us-east-1b"));
        world.edit_instance(I2, |instance| instance.state = InstanceState::ShuttingDown);
    });
    let in_use = format!("Invalid value '{D1}' for unixDevice. Attachment point {D1} is already in use");
    let zones = format!("The volume '{elsewhere}' is not in the same availability zone as instance '{I1}'");
    let cases = [
        (GONE, I1, D2, "InvalidVolume.NotFound", format!("The volume '{GONE}' does not exist.")),
        (V2, NOBODY, D2, "InvalidInstanceID.NotFound", format!("The instance ID '{NOBODY}' does not exist")),
        (V1, I1, D2, "VolumeInUse", format!("{V1} is already attached to an instance")),
        (V2, I2, D2, "IncorrectState", format!("Instance '{I2}' is not 'running'.")),
        (elsewhere, I1, D2, "InvalidVolume.ZoneMismatch", zones),
        (V2, I1, D1, "InvalidParameterValue", in_use),
    ];
    for (volume, instance, device, code, text) in cases {
        let asked = [("VolumeId", volume), ("InstanceId", instance), ("Device", device)];
        assert_eq!(refused(&ec2, ATTACH, &asked).await, error(400, code, &text));
    }
    let text = "The request must contain the parameter Device";
    let asked = [("VolumeId", V2), ("InstanceId", I1)];
    assert_eq!(refused(&ec2, ATTACH, &asked).await, error(400, "MissingParameter", text));
}

#[tokio::test]
async fn a_volume_in_a_state_of_its_own_or_a_full_instance_is_not_attached() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_instance(I1, |instance| instance.attach_limit = Some(1));
        world.delete_volume(V3).expect("it is free");
    });
    let asked = [("VolumeId", V2), ("InstanceId", I1), ("Device", D2)];
    let text = format!("Instance '{I1}' has reached its limit of attached volumes");
    assert_eq!(refused(&ec2, ATTACH, &asked).await, error(400, "AttachmentLimitExceeded", &text));
    let asked = [("VolumeId", V3), ("InstanceId", I2), ("Device", D2)];
    let text = format!("Volume '{V3}' is not 'available'.");
    assert_eq!(refused(&ec2, ATTACH, &asked).await, error(400, "IncorrectState", &text));
}

#[tokio::test]
async fn only_multi_attach_goes_to_several_instances_and_to_sixteen_at_most() {
    let ec2 = small_world().await;
    let ids: Vec<String> = (0x10..0x20).map(|n| format!("i-000000000000000{n:x}")).collect();
    ec2.with(|world| {
        world.edit_volume(V1, |volume| volume.multi_attach = true);
        for id in &ids {
            world.add_instance(Instance::new(id.as_str(), "us-east-1a", "n"));
        }
    });
    for id in &ids[..15] {
        told(&ec2, ATTACH, &[("VolumeId", V1), ("InstanceId", id), ("Device", D1)]).await;
    }
    let asked = [("VolumeId", V1), ("InstanceId", ids[15].as_str()), ("Device", D1)];
    let text = format!("Volume '{V1}' is attached to 16 instances already");
    assert_eq!(refused(&ec2, ATTACH, &asked).await, error(400, "AttachmentLimitExceeded", &text));
    // Without an instance it is not clear which attachment is meant.
    let text = "The request must contain the parameter instanceId";
    assert_eq!(refused(&ec2, DETACH, &[("VolumeId", V1)]).await, error(400, "MissingParameter", text));
}

#[tokio::test]
async fn what_may_not_be_detached() {
    let ec2 = small_world().await;
    let text = format!("The attachment between volume '{V1}' and instance '{I2}' does not exist.");
    let cases = [
        (GONE, I1, "InvalidVolume.NotFound", format!("The volume '{GONE}' does not exist.")),
        (V1, NOBODY, "InvalidInstanceID.NotFound", format!("The instance ID '{NOBODY}' does not exist")),
        (V1, I2, "InvalidAttachment.NotFound", text),
        (V2, I1, "IncorrectState", format!("Volume '{V2}' is in the 'available' state.")),
    ];
    for (volume, instance, code, text) in cases {
        let asked = [("VolumeId", volume), ("InstanceId", instance)];
        assert_eq!(refused(&ec2, DETACH, &asked).await, error(400, code, &text));
    }
}

#[tokio::test]
async fn an_instance_dies_in_steps_and_is_forgotten_after_an_hour() {
    let ec2 = small_world().await;
    let asked = [("InstanceId.1", I1)];
    told(&ec2, Action::TerminateInstances, &asked).await;
    let steps = [
        (0, format!("{I1} shutting-down {V1}:attached"), format!("{V1} in-use {I1}:attached")),
        (29, format!("{I1} shutting-down {V1}:attached"), format!("{V1} in-use {I1}:attached")),
        (1, format!("{I1} terminated {V1}:attached"), format!("{V1} in-use {I1}:attached")),
        (5, format!("{I1} terminated"), format!("{V1} available")),
        (3594, format!("{I1} terminated"), format!("{V1} available")),
    ];
    for (step, instance, volume) in steps {
        ec2.advance(seconds(step));
        let body = told(&ec2, Action::DescribeInstances, &asked).await;
        assert_eq!(instances(&body), [instance]);
        assert_eq!(body.contains("<privateDnsName/>"), body.contains("terminated"), "a name until the end: {body}");
        assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &[("VolumeId.1", V1)]).await), [volume]);
    }
    ec2.advance(seconds(1));
    let text = format!("The instance ID '{I1}' does not exist");
    let gone = error(400, "InvalidInstanceID.NotFound", &text);
    assert_eq!(refused(&ec2, Action::DescribeInstances, &asked).await, gone);
    assert_eq!(refused(&ec2, Action::TerminateInstances, &asked).await, gone);
}

#[tokio::test]
async fn a_volume_may_die_with_its_instance() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.timing = Timing { delete: seconds(4), ..Timing::instant() };
        world.edit_volume(V1, |volume| volume.attachments[0].delete_on_termination = true);
        world.terminate(I1).expect("it is there");
    });
    let asked = [("VolumeId.1", V1)];
    for state in ["deleting", "deleted"] {
        assert_eq!(volumes(&told(&ec2, Action::DescribeVolumes, &asked).await), [format!("{V1} {state}")]);
        ec2.advance(seconds(4));
    }
    let text = format!("The volume '{V1}' does not exist.");
    assert_eq!(refused(&ec2, Action::DescribeVolumes, &asked).await, error(400, "InvalidVolume.NotFound", &text));
}

#[tokio::test]
async fn a_stopped_instance_keeps_its_volumes_and_starts_again() {
    let ec2 = small_world().await;
    let asked = [("InstanceId.1", I1)];
    let body = told(&ec2, Action::StopInstances, &asked).await;
    assert_eq!(texts(&body, "name"), ["stopping", "running"]);
    let steps =
        [("stopping", Action::StopInstances), ("stopped", Action::StartInstances), ("pending", Action::StartInstances)];
    for (state, next) in steps {
        let body = told(&ec2, Action::DescribeInstances, &asked).await;
        assert_eq!(instances(&body), [format!("{I1} {state} {V1}:attached")]);
        told(&ec2, next, &asked).await;
        if state != "stopped" {
            ec2.advance(seconds(30));
        }
    }
    let body = told(&ec2, Action::DescribeInstances, &asked).await;
    assert_eq!(instances(&body), [format!("{I1} running {V1}:attached")]);
    assert_eq!(
        volumes(&told(&ec2, Action::DescribeVolumes, &[("VolumeId.1", V1)]).await),
        [format!("{V1} in-use {I1}:attached")]
    );
}

#[tokio::test]
async fn one_id_that_is_not_there_changes_nothing() {
    let ec2 = small_world().await;
    let asked = [("InstanceId.1", I1), ("InstanceId.2", NOBODY)];
    let text = format!("The instance ID '{NOBODY}' does not exist");
    assert_eq!(
        refused(&ec2, Action::TerminateInstances, &asked).await,
        error(400, "InvalidInstanceID.NotFound", &text)
    );
    assert_eq!(
        ec2.with(|world| world.instance(I1).map(|instance| instance.state.clone())),
        Some(InstanceState::Running)
    );
}
