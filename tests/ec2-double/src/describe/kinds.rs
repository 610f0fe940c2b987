//! What reads need to know about volumes and about instances.

use crate::error::Ec2Error;
use crate::records::{Instance, Tags, Volume};

/// Something that a Describe action lists.
pub(crate) trait Described: Clone {
    /// The parameter that holds its ids.
    const ID_PARAMETER: &'static str;
    /// How error texts call a list of ids.
    const SET_NAME: &'static str;
    /// The filters beside `tag:KEY`.
    const FILTERS: &'static [&'static str];

    fn id(&self) -> &str;
    /// Whether a service manages it and hides it.
    fn is_hidden(&self) -> bool;
    /// What a filter of this name is held against.
    fn texts(&self, filter: &str) -> Vec<String>;
    /// The error for an id that cannot be one.
    fn check_id(id: &str) -> Result<(), Ec2Error>;
    /// The error that names one missing id.
    fn missing(id: &str) -> Ec2Error;
    /// The error that names several.
    fn missing_many(ids: &str) -> Ec2Error;
}

impl Described for Volume {
    const ID_PARAMETER: &'static str = "VolumeId";
    const SET_NAME: &'static str = "volumes";
    const FILTERS: &'static [&'static str] =
        &["volume-id", "attachment.instance-id", "attachment.status", "availability-zone", "status", "tag-key"];

    fn id(&self) -> &str {
        &self.id
    }

    fn is_hidden(&self) -> bool {
        self.operator.as_ref().is_some_and(|operator| operator.hidden)
    }

    fn texts(&self, filter: &str) -> Vec<String> {
        let attachments = self.attachments.iter();
        match filter {
            "volume-id" => vec![self.id.clone()],
            "attachment.instance-id" => attachments.filter_map(|attachment| attachment.instance.clone()).collect(),
            "attachment.status" => attachments.map(|attachment| attachment.state.to_string()).collect(),
            "availability-zone" => vec![self.zone.clone()],
            "status" => vec![self.state.to_string()],
            _ => tag_texts(&self.tags, filter),
        }
    }

    fn check_id(id: &str) -> Result<(), Ec2Error> {
        match id.strip_prefix("vol-") {
            None => {
                let text = format!("Value ({id}) for parameter volumes is invalid. Expected: 'vol-...'.");
                Err(Ec2Error::invalid_value(text))
            }
            Some(body) if is_id_body(body) => Ok(()),
            Some(_) => Err(Ec2Error::client("InvalidVolumeID.Malformed", format!("Invalid id: \"{id}\""))),
        }
    }

    fn missing(id: &str) -> Ec2Error {
        Ec2Error::no_volume(id)
    }

    fn missing_many(ids: &str) -> Ec2Error {
        Ec2Error::client("InvalidVolume.NotFound", format!("The volumes '{ids}' do not exist."))
    }
}

impl Described for Instance {
    const ID_PARAMETER: &'static str = "InstanceId";
    const SET_NAME: &'static str = "instancesSet";
    const FILTERS: &'static [&'static str] = &[
        "instance-id",
        "private-dns-name",
        "instance-state-name",
        "availability-zone",
        "block-device-mapping.volume-id",
        "tag-key",
    ];

    fn id(&self) -> &str {
        &self.id
    }

    fn is_hidden(&self) -> bool {
        self.operator.as_ref().is_some_and(|operator| operator.hidden)
    }

    fn texts(&self, filter: &str) -> Vec<String> {
        match filter {
            "instance-id" => vec![self.id.clone()],
            "private-dns-name" => vec![self.private_dns_name.clone()],
            "instance-state-name" => vec![self.state.to_string()],
            "availability-zone" => vec![self.zone.clone()],
            "block-device-mapping.volume-id" => {
                self.block_devices.iter().flatten().map(|device| device.volume.clone()).collect()
            }
            _ => tag_texts(&self.tags, filter),
        }
    }

    fn check_id(id: &str) -> Result<(), Ec2Error> {
        match id.strip_prefix("i-") {
            Some(body) if is_id_body(body) => Ok(()),
            _ => Err(Ec2Error::client("InvalidInstanceID.Malformed", format!("Invalid id: \"{id}\""))),
        }
    }

    fn missing(id: &str) -> Ec2Error {
        Ec2Error::no_instance(id)
    }

    fn missing_many(ids: &str) -> Ec2Error {
        Ec2Error::client("InvalidInstanceID.NotFound", format!("The instance IDs '{ids}' do not exist"))
    }
}

fn tag_texts(tags: &Tags, filter: &str) -> Vec<String> {
    match filter.strip_prefix("tag:") {
        Some(key) => tags.get(key).cloned().into_iter().collect(),
        None => tags.keys().cloned().collect(),
    }
}

/// Eight hexadecimal digits of old, seventeen since 2018.
fn is_id_body(body: &str) -> bool {
    matches!(body.len(), 8 | 17) && body.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
