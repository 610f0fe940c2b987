//! The answers as EC2 writes them.

use jiff::Timestamp;

use crate::error::Ec2Error;
use crate::records::{Attachment, BlockDevice, Instance, Operator, Tags, Volume};
use crate::request::Action;
use crate::states::InstanceState;
use crate::world::StateChange;
use crate::xml::Xml;

/// The account that owns everything.
const OWNER: &str = "111122223333";

/// `<ActionResponse>` with a request id.
pub(crate) fn response(action: Action, request_id: &str, content: impl FnOnce(&mut Xml)) -> String {
    let mut xml = Xml::document();
    let name = format!("{}Response", action.as_str());
    xml.element_with(&name, " xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"", |xml| {
        xml.text("requestId", request_id);
        content(xml);
    });
    xml.finish()
}

pub(crate) fn error(error: &Ec2Error, request_id: &str) -> String {
    let mut xml = Xml::document();
    xml.element("Response", |xml| {
        xml.element("Errors", |xml| {
            xml.element("Error", |xml| {
                xml.text("Code", &error.code);
                xml.text("Message", &error.message);
            });
        });
        xml.text("RequestID", request_id);
    });
    xml.finish()
}

pub(crate) fn volume(xml: &mut Xml, volume: &Volume) {
    xml.text("volumeId", &volume.id);
    xml.text("size", &volume.size.to_string());
    xml.text("snapshotId", "");
    xml.text("availabilityZone", &volume.zone);
    xml.optional("availabilityZoneId", volume.zone_id.as_deref());
    xml.optional("outpostArn", volume.outpost_arn.as_deref());
    xml.text("status", volume.state.as_str());
    xml.text("createTime", &time(volume.created));
    xml.list("attachmentSet", &volume.attachments, |xml, held| attachment(xml, &volume.id, held));
    tags(xml, &volume.tags);
    xml.text("volumeType", &volume.volume_type);
    xml.text("encrypted", "false");
    xml.text("multiAttachEnabled", bool(volume.multi_attach));
    operator(xml, volume.operator.as_ref());
}

/// The content of an `item` of `attachmentSet`, and of the answers to AttachVolume and DetachVolume.
pub(crate) fn attachment(xml: &mut Xml, volume: &str, attachment: &Attachment) {
    xml.text("volumeId", volume);
    xml.optional("instanceId", attachment.instance.as_deref());
    xml.optional("instanceOwningService", attachment.owning_service.as_deref());
    xml.optional("associatedResource", attachment.associated_resource.as_deref());
    xml.text("device", &attachment.device);
    xml.text("status", attachment.state.as_str());
    xml.text("attachTime", &time(attachment.attached));
    xml.text("deleteOnTermination", bool(attachment.delete_on_termination));
}

/// A reservation with one instance.
pub(crate) fn reservation(xml: &mut Xml, instance: &Instance) {
    let id = instance.id.strip_prefix("i-").unwrap_or(&instance.id);
    xml.text("reservationId", &format!("r-{id}"));
    xml.text("ownerId", OWNER);
    xml.element("groupSet", |_| {});
    xml.list("instancesSet", std::slice::from_ref(instance), self::instance);
}

fn instance(xml: &mut Xml, instance: &Instance) {
    xml.text("instanceId", &instance.id);
    xml.element("instanceState", |xml| state(xml, &instance.state));
    xml.text("privateDnsName", &instance.private_dns_name);
    xml.text("dnsName", "");
    xml.text("instanceType", &instance.instance_type);
    xml.text("launchTime", &time(instance.launched));
    xml.element("placement", |xml| {
        xml.text("availabilityZone", &instance.zone);
        xml.text("groupName", "");
        xml.text("tenancy", "default");
    });
    let devices = instance.block_devices.as_deref().unwrap_or_default();
    xml.list("blockDeviceMapping", devices, block_device);
    tags(xml, &instance.tags);
    operator(xml, instance.operator.as_ref());
}

fn block_device(xml: &mut Xml, device: &BlockDevice) {
    xml.text("deviceName", &device.device);
    xml.element("ebs", |xml| {
        xml.text("volumeId", &device.volume);
        xml.text("status", device.state.as_str());
        xml.text("attachTime", &time(device.attached));
        xml.text("deleteOnTermination", bool(device.delete_on_termination));
    });
}

/// The list of TerminateInstances, StopInstances and StartInstances.
pub(crate) fn state_changes(xml: &mut Xml, changes: &[StateChange]) {
    xml.list("instancesSet", changes, |xml, change| {
        xml.text("instanceId", &change.id);
        xml.element("currentState", |xml| state(xml, &change.current));
        xml.element("previousState", |xml| state(xml, &change.previous));
    });
}

fn state(xml: &mut Xml, state: &InstanceState) {
    xml.text("code", &state.code().to_string());
    xml.text("name", state.as_str());
}

fn tags(xml: &mut Xml, tags: &Tags) {
    if tags.is_empty() {
        return;
    }
    let tags: Vec<(&String, &String)> = tags.iter().collect();
    xml.list("tagSet", &tags, |xml, (key, value)| {
        xml.text("key", key);
        xml.text("value", value);
    });
}

fn operator(xml: &mut Xml, operator: Option<&Operator>) {
    xml.element("operator", |xml| {
        xml.text("managed", bool(operator.is_some()));
        xml.optional("principal", operator.map(|operator| operator.principal.as_str()));
    });
}

fn bool(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn time(time: Timestamp) -> String {
    format!("{time:.3}")
}
