//! What a description proves, from EC2's own words over the wire: rows D-8 to D-16, D-18, D-19, D-21.

use zonewarden_contract::attachment::InstanceState as ContractState;
use zonewarden_contract::types::{InstanceId, VolumeState as ContractVolumeState};
use zonewarden_ec2::{UnknownCause, Verification};
use zonewarden_ec2_double::{Attachment, AttachmentState, Double, InstanceState, Volume, VolumeState};

use crate::{ZONE, about_instances, about_volumes, connect, instance, running, verdicts, volume};

/// What reading a volume of this state and these attachments says of instance 1.
async fn check(edit: impl FnOnce(&mut Volume), expected: Verification) {
    let double = Double::start().await;
    double.with(|world| {
        let mut told = Volume::new(volume(1), ZONE);
        edit(&mut told);
        world.add_volume(told);
    });
    let sweep = connect(&double).await.sweep(&about_volumes([volume(1)])).await;
    let instance = InstanceId { instance_id: instance(1) };
    assert_eq!(sweep.volumes[0].attached_to(&instance), expected, "{:?}", sweep.volumes[0]);
}

fn held(number: usize, state: AttachmentState) -> Attachment {
    Attachment { state, ..Attachment::new(instance(number), "/dev/xvdaa", jiff::Timestamp::UNIX_EPOCH) }
}

/// In use by instance 1 in this state.
async fn check_held(state: AttachmentState, expected: Verification) {
    let edit = |volume: &mut Volume| {
        volume.state = VolumeState::InUse;
        volume.attachments = vec![held(1, state)];
    };
    check(edit, expected).await;
}

#[tokio::test]
async fn d_8_no_attachment() {
    check(|_| (), Verification::Detached).await;
    let in_use = |volume: &mut Volume| volume.state = VolumeState::InUse;
    check(in_use, Verification::Unknown(UnknownCause::Contradiction)).await;
}

#[tokio::test]
async fn d_9_an_attachment_of_an_available_volume() {
    let edit = |volume: &mut Volume| volume.attachments = vec![held(1, AttachmentState::Attached)];
    check(edit, Verification::Unknown(UnknownCause::Contradiction)).await;
}

#[tokio::test]
async fn d_10_to_d_12_on_the_way_in_or_out_it_may_be_written_to() {
    check_held(AttachmentState::Detaching, Verification::Attached).await;
    check_held(AttachmentState::Busy, Verification::Attached).await;
    check_held(AttachmentState::Attaching, Verification::Attached).await;
}

#[tokio::test]
async fn d_13_a_detached_entry_is_no_attachment() {
    let edit = |volume: &mut Volume| volume.attachments = vec![held(1, AttachmentState::Detached)];
    check(edit, Verification::Detached).await;
}

#[tokio::test]
async fn d_14_words_to_come() {
    let unknown = Verification::Unknown(UnknownCause::Uncertain);
    check_held(AttachmentState::Other("glued".to_owned()), unknown).await;
    check(|volume| volume.state = VolumeState::Other("melted".to_owned()), unknown).await;
}

#[tokio::test]
async fn d_15_an_attachment_that_a_service_holds() {
    let edit = |volume: &mut Volume| {
        volume.state = VolumeState::InUse;
        let mut attachment = held(1, AttachmentState::Attached);
        attachment.instance = None;
        attachment.associated_resource = Some("arn:aws:sagemaker:us-east-1:123456789012:cluster/c".to_owned());
        volume.attachments = vec![attachment];
    };
    check(edit, Verification::Detached).await;
}

#[tokio::test]
async fn d_16_two_instances() {
    let both = |multi_attach: bool| {
        move |volume: &mut Volume| {
            volume.state = VolumeState::InUse;
            volume.multi_attach = multi_attach;
            volume.attachments = vec![held(2, AttachmentState::Attached), held(1, AttachmentState::Attached)];
        }
    };
    check(both(true), Verification::Attached).await;
    check(both(false), Verification::Unknown(UnknownCause::Contradiction)).await;
}

#[tokio::test]
async fn d_18_and_d_19_an_instance_is_as_ec2_says() {
    for (said, expected) in [
        (InstanceState::ShuttingDown, ContractState::ShuttingDown),
        (InstanceState::Stopping, ContractState::Stopping),
        (InstanceState::Stopped, ContractState::Stopped),
        (InstanceState::Terminated, ContractState::Terminated),
        (InstanceState::Other("asleep".to_owned()), ContractState::Other("asleep".to_owned())),
    ] {
        let double = Double::start().await;
        double.with(|world| {
            world.add_volume(Volume::new(volume(1), ZONE));
            world.add_instance(running(1));
            world.put_attached(&volume(1), &instance(1), "/dev/xvdaa");
            world.edit_instance(&instance(1), |instance| instance.state = said);
        });
        let sweep = connect(&double).await.sweep(&about_instances([instance(1)])).await;
        let record = sweep.instances[0].record().unwrap();
        assert_eq!((&record.state, record.block_devices.len()), (&expected, 1));
    }
}

#[tokio::test]
async fn d_21_a_volume_that_comes_or_goes() {
    for (said, expected) in [
        (VolumeState::Creating, ContractVolumeState::Creating),
        (VolumeState::Deleting, ContractVolumeState::Deleting),
        (VolumeState::Deleted, ContractVolumeState::Deleted),
        (VolumeState::Error, ContractVolumeState::Error),
    ] {
        let double = Double::start().await;
        double.with(|world| world.add_volume(Volume { state: said, ..Volume::new(volume(1), ZONE) }));
        let sweep = connect(&double).await.sweep(&about_volumes([volume(1)])).await;
        assert_eq!(verdicts(&sweep.volumes), ["found"]);
        assert_eq!(sweep.volumes[0].record().unwrap().state, expected);
        let verification = sweep.volumes[0].attached_to(&InstanceId { instance_id: instance(1) });
        assert_eq!(verification, Verification::Unknown(UnknownCause::Uncertain));
    }
}
