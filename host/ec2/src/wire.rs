//! The fields that are read, as `aws ec2 describe-…` prints them. `aws` leaves out or nulls what EC2 does not say.

use serde::Deserialize;
use zonewarden_contract::attachment::AttachmentState;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, Label, Zone};
use zonewarden_documents::time::Time;

use crate::fields::{self, present};
use crate::records;

#[derive(Debug, Deserialize)]
struct Tag {
    #[serde(rename = "Key")]
    key: String,
    #[serde(default, rename = "Value")]
    value: Option<String>,
}

fn tags(tags: Option<Vec<Tag>>) -> Vec<Label> {
    fields::tags(tags.into_iter().flatten().map(|Tag { key, value }| (key, value)))
}

fn attachment_state(text: Option<&str>) -> AttachmentState {
    fields::attachment_state(text.unwrap_or_default())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Volume {
    volume_id: String,
    #[serde(default)]
    availability_zone: Option<String>,
    #[serde(default)]
    availability_zone_id: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    multi_attach_enabled: Option<bool>,
    #[serde(default)]
    attachments: Option<Vec<Attachment>>,
    #[serde(default)]
    outpost_arn: Option<String>,
    #[serde(default)]
    volume_type: Option<String>,
    #[serde(default)]
    operator: Option<Operator>,
    #[serde(default)]
    tags: Option<Vec<Tag>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Operator {
    #[serde(default)]
    managed: Option<bool>,
    #[serde(default)]
    principal: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attachment {
    #[serde(default)]
    instance_id: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    device: Option<String>,
    #[serde(default)]
    attach_time: Option<Time>,
    #[serde(default)]
    associated_resource: Option<String>,
    #[serde(default)]
    instance_owning_service: Option<String>,
}

impl Volume {
    pub(crate) fn into_record(self) -> records::Volume {
        let operator = self.operator.filter(|operator| operator.managed == Some(true));
        let attributes = fields::Attributes {
            availability_zone_id: self.availability_zone_id,
            operator: operator.map(|operator| operator.principal.unwrap_or_default()),
            outpost_arn: self.outpost_arn,
            volume_type: self.volume_type,
        };
        records::Volume {
            id: AwsVolumeId { aws_volume_id: self.volume_id },
            zone: present(self.availability_zone).map(|zone| Zone { zone }),
            state: fields::volume_state(self.state.as_deref().unwrap_or_default()),
            multi_attach: self.multi_attach_enabled.unwrap_or_default(),
            attachments: self.attachments.into_iter().flatten().map(Attachment::into_record).collect(),
            attributes: attributes.into_labels(),
            tags: tags(self.tags),
        }
    }
}

impl Attachment {
    fn into_record(self) -> records::Attachment {
        records::Attachment {
            instance: present(self.instance_id).map(|id| InstanceId { instance_id: id }),
            state: attachment_state(self.state.as_deref()),
            device: present(self.device),
            attached: self.attach_time.map(|Time(time)| time),
            associated_resource: present(self.associated_resource),
            owning_service: present(self.instance_owning_service),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Instance {
    instance_id: String,
    #[serde(default)]
    state: Option<State>,
    #[serde(default)]
    placement: Option<Placement>,
    #[serde(default)]
    private_dns_name: Option<String>,
    #[serde(default)]
    tags: Option<Vec<Tag>>,
    #[serde(default)]
    block_device_mappings: Option<Vec<Mapping>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct State {
    #[serde(default)]
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Placement {
    #[serde(default)]
    availability_zone: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Mapping {
    #[serde(default)]
    device_name: Option<String>,
    #[serde(default)]
    ebs: Option<Ebs>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Ebs {
    #[serde(default)]
    volume_id: Option<String>,
    #[serde(default)]
    status: Option<String>,
}

impl Instance {
    pub(crate) fn into_record(self) -> records::Instance {
        let name = self.state.and_then(|state| state.name).unwrap_or_default();
        let zone = self.placement.and_then(|placement| present(placement.availability_zone));
        records::Instance {
            id: InstanceId { instance_id: self.instance_id },
            state: fields::instance_state(&name),
            zone: zone.map(|zone| Zone { zone }),
            private_dns_name: present(self.private_dns_name),
            tags: tags(self.tags),
            block_devices: self.block_device_mappings.into_iter().flatten().filter_map(Mapping::into_record).collect(),
        }
    }
}

impl Mapping {
    fn into_record(self) -> Option<records::BlockDevice> {
        let ebs = self.ebs?;
        Some(records::BlockDevice {
            device: present(self.device_name),
            volume: AwsVolumeId { aws_volume_id: present(ebs.volume_id)? },
            state: attachment_state(ebs.status.as_deref()),
        })
    }
}
