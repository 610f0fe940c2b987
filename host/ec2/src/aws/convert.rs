//! The one place where the SDK's types turn into records. Each page is converted and dropped before the next is asked for.

use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::{
    Instance as SdkInstance, InstanceBlockDeviceMapping, Tag, Volume as SdkVolume, VolumeAttachment,
};
use jiff::Timestamp;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, Label, Zone};

use crate::fields::{self, present};
use crate::records::{Attachment, BlockDevice, Instance, Volume};

/// A volume, unless EC2 left out its id.
pub(super) fn volume(volume: SdkVolume) -> Option<Volume> {
    let operator = volume.operator.filter(|operator| operator.managed == Some(true));
    let attributes = fields::Attributes {
        availability_zone_id: volume.availability_zone_id,
        operator: operator.map(|operator| operator.principal.unwrap_or_default()),
        outpost_arn: volume.outpost_arn,
        volume_type: volume.volume_type.map(|volume_type| volume_type.as_str().to_owned()),
    };
    Some(Volume {
        id: AwsVolumeId { aws_volume_id: present(volume.volume_id)? },
        zone: present(volume.availability_zone).map(|zone| Zone { zone }),
        state: fields::volume_state(volume.state.as_ref().map(AsRef::as_ref).unwrap_or_default()),
        multi_attach: volume.multi_attach_enabled.unwrap_or_default(),
        attachments: volume.attachments.into_iter().flatten().map(attachment).collect(),
        attributes: attributes.into_labels(),
        tags: tags(volume.tags),
    })
}

fn attachment(attachment: VolumeAttachment) -> Attachment {
    Attachment {
        instance: present(attachment.instance_id).map(|instance_id| InstanceId { instance_id }),
        state: fields::attachment_state(attachment.state.as_ref().map(AsRef::as_ref).unwrap_or_default()),
        device: present(attachment.device),
        attached: attachment.attach_time.and_then(timestamp),
        associated_resource: present(attachment.associated_resource),
        owning_service: present(attachment.instance_owning_service),
    }
}

/// An instance, unless EC2 left out its id.
pub(super) fn instance(instance: SdkInstance) -> Option<Instance> {
    let state = instance.state.and_then(|state| state.name);
    let zone = instance.placement.and_then(|placement| present(placement.availability_zone));
    Some(Instance {
        id: InstanceId { instance_id: present(instance.instance_id)? },
        state: fields::instance_state(state.as_ref().map(AsRef::as_ref).unwrap_or_default()),
        zone: zone.map(|zone| Zone { zone }),
        private_dns_name: present(instance.private_dns_name),
        tags: tags(instance.tags),
        block_devices: instance.block_device_mappings.into_iter().flatten().filter_map(block_device).collect(),
    })
}

fn block_device(mapping: InstanceBlockDeviceMapping) -> Option<BlockDevice> {
    let ebs = mapping.ebs?;
    Some(BlockDevice {
        device: present(mapping.device_name),
        volume: AwsVolumeId { aws_volume_id: present(ebs.volume_id)? },
        state: fields::attachment_state(ebs.status.as_ref().map(AsRef::as_ref).unwrap_or_default()),
    })
}

fn tags(tags: Option<Vec<Tag>>) -> Vec<Label> {
    fields::tags(tags.into_iter().flatten().filter_map(|tag| Some((tag.key?, tag.value))))
}

fn timestamp(time: DateTime) -> Option<Timestamp> {
    let nanoseconds = i32::try_from(time.subsec_nanos()).ok()?;
    Timestamp::new(time.secs(), nanoseconds).ok()
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::{
        AttachmentStatus, EbsInstanceBlockDevice, InstanceState as SdkInstanceState, InstanceStateName,
        OperatorResponse, Placement, VolumeAttachmentState, VolumeState as SdkVolumeState, VolumeType,
    };
    use zonewarden_contract::attachment::{AttachmentState, InstanceState};
    use zonewarden_contract::types::VolumeState;

    use super::*;

    fn label(key: &str, value: &str) -> Label {
        Label { key: key.to_owned(), value: value.to_owned() }
    }

    fn tag(key: &str, value: &str) -> Tag {
        Tag::builder().key(key).value(value).build()
    }

    #[test]
    fn a_volume_whole() {
        let attachment = VolumeAttachment::builder()
            .instance_id("i-1")
            .state(VolumeAttachmentState::Busy)
            .device("/dev/xvdaa")
            .attach_time(DateTime::from_secs_and_nanos(1_764_579_182, 500_000_000))
            .associated_resource("arn:x")
            .instance_owning_service("ecs");
        let described = SdkVolume::builder()
            .volume_id("vol-1")
            .availability_zone("us-east-1a")
            .availability_zone_id("use1-az6")
            .outpost_arn("")
            .volume_type(VolumeType::Io2)
            .state(SdkVolumeState::InUse)
            .multi_attach_enabled(true)
            .operator(OperatorResponse::builder().managed(true).principal("eks.amazonaws.com").build())
            .attachments(attachment.build())
            .tags(tag("b", "2"))
            .tags(tag("a", ""));
        let expected = Volume {
            id: AwsVolumeId { aws_volume_id: "vol-1".to_owned() },
            zone: Some(Zone { zone: "us-east-1a".to_owned() }),
            state: VolumeState::InUse,
            multi_attach: true,
            attachments: vec![Attachment {
                instance: Some(InstanceId { instance_id: "i-1".to_owned() }),
                state: AttachmentState::Busy,
                device: Some("/dev/xvdaa".to_owned()),
                attached: Timestamp::new(1_764_579_182, 500_000_000).ok(),
                associated_resource: Some("arn:x".to_owned()),
                owning_service: Some("ecs".to_owned()),
            }],
            attributes: vec![
                label("availability-zone-id", "use1-az6"),
                label("operator", "eks.amazonaws.com"),
                label("volume-type", "io2"),
            ],
            tags: vec![label("a", ""), label("b", "2")],
        };
        assert_eq!(volume(described.build()), Some(expected));
    }

    #[test]
    fn an_instance_whole() {
        let ebs = EbsInstanceBlockDevice::builder().volume_id("vol-1").status(AttachmentStatus::Detaching).build();
        let described = SdkInstance::builder()
            .instance_id("i-1")
            .state(SdkInstanceState::builder().name(InstanceStateName::ShuttingDown).build())
            .placement(Placement::builder().availability_zone("us-east-1a").build())
            .private_dns_name("")
            .block_device_mappings(InstanceBlockDeviceMapping::builder().device_name("/dev/xvda").ebs(ebs).build())
            .block_device_mappings(InstanceBlockDeviceMapping::builder().device_name("/dev/sdb").build())
            .tags(tag("Name", "a"));
        let expected = Instance {
            id: InstanceId { instance_id: "i-1".to_owned() },
            state: InstanceState::ShuttingDown,
            zone: Some(Zone { zone: "us-east-1a".to_owned() }),
            private_dns_name: None,
            tags: vec![label("Name", "a")],
            block_devices: vec![BlockDevice {
                device: Some("/dev/xvda".to_owned()),
                volume: AwsVolumeId { aws_volume_id: "vol-1".to_owned() },
                state: AttachmentState::Detaching,
            }],
        };
        assert_eq!(instance(described.build()), Some(expected));
    }

    #[test]
    fn d_14_values_to_come_keep_their_text() {
        let attachment = VolumeAttachment::builder().state(VolumeAttachmentState::from("floating"));
        let described = SdkVolume::builder().volume_id("v").state("hibernating".into()).attachments(attachment.build());
        let record = volume(described.build());
        let states = record.map(|volume| (volume.state, volume.attachments[0].state.clone()));
        let expected = (VolumeState::Other("hibernating".to_owned()), AttachmentState::Other("floating".to_owned()));
        assert_eq!(states, Some(expected));
        let state = SdkInstanceState::builder().name("resting".into()).build();
        let record = instance(SdkInstance::builder().instance_id("i").state(state).build());
        assert_eq!(record.map(|instance| instance.state), Some(InstanceState::Other("resting".to_owned())));
    }

    #[test]
    fn what_has_no_id_is_left_out() {
        assert_eq!(volume(SdkVolume::builder().volume_id("").build()), None);
        assert_eq!(instance(SdkInstance::builder().build()), None);
    }
}
