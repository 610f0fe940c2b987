//! The kinds of `storage.k8s.io` but for CSINode.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use zonewarden_contract::placement::{BindingMode, TopologyRequirement, TopologyTerm};
use zonewarden_contract::types::{NodeName, VolumeSource};

use super::source::next_source;
use super::{Metadata, present};
use crate::records::{self, AttachedSource};

const NODE_ID: &str = "csi.alpha.kubernetes.io/node-id";
const DEVICE_PATH: &str = "devicePath";

#[derive(Debug, Deserialize)]
pub(crate) struct VolumeAttachment {
    metadata: Metadata,
    spec: Spec,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    attacher: String,
    node_name: String,
    source: Source,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    #[serde(default)]
    persistent_volume_name: Option<String>,
    #[serde(default)]
    inline_volume_spec: Option<InlineSpec>,
}

/// A PersistentVolume's spec, of which the source is read.
#[derive(Debug)]
struct InlineSpec(Option<VolumeSource>);

impl<'de> Deserialize<'de> for InlineSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InlineVisitor)
    }
}

struct InlineVisitor;

impl<'de> Visitor<'de> for InlineVisitor {
    type Value = InlineSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the spec of a PersistentVolume")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InlineSpec, A::Error> {
        let mut source = None;
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "csi" | "awsElasticBlockStore" | "gcePersistentDisk" => {
                    source = next_source(&key, &mut map)?.or(source)
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(InlineSpec(source))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    attached: Option<bool>,
    #[serde(default)]
    attach_error: Option<AttachmentError>,
    #[serde(default)]
    detach_error: Option<AttachmentError>,
    #[serde(default)]
    attachment_metadata: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Deserialize)]
struct AttachmentError {
    #[serde(default)]
    message: Option<String>,
}

impl AttachmentError {
    fn into_message(self) -> Box<str> {
        self.message.unwrap_or_default().into()
    }
}

impl VolumeAttachment {
    pub(crate) fn into_record(mut self) -> records::VolumeAttachment {
        let status = self.status.unwrap_or_default();
        let inline = self.spec.source.inline_volume_spec.map(|InlineSpec(source)| source);
        let source = match (self.spec.source.persistent_volume_name, inline) {
            (None, Some(source)) => {
                AttachedSource::Inline(source.unwrap_or_else(|| VolumeSource::Other("none".to_owned())))
            }
            (name, _) => AttachedSource::PersistentVolume(name.unwrap_or_default()),
        };
        let device = status.attachment_metadata.and_then(|mut metadata| metadata.remove(DEVICE_PATH));
        records::VolumeAttachment {
            node_id: present(self.metadata.annotation(NODE_ID)),
            identity: self.metadata.identity(false),
            attacher: self.spec.attacher.into(),
            node: NodeName { node_name: self.spec.node_name },
            source,
            attached: status.attached.unwrap_or_default(),
            attach_error: status.attach_error.map(AttachmentError::into_message),
            detach_error: status.detach_error.map(AttachmentError::into_message),
            device: present(device).map(Arc::from),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct CsiDriver {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<DriverSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DriverSpec {
    #[serde(default)]
    attach_required: Option<bool>,
    #[serde(default)]
    prevent_pod_scheduling_if_missing: Option<bool>,
}

impl CsiDriver {
    pub(crate) fn into_record(mut self) -> records::CsiDriver {
        let spec = self.spec.unwrap_or_default();
        records::CsiDriver {
            identity: self.metadata.identity(false),
            attach_required: spec.attach_required.unwrap_or(true),
            prevent_pod_scheduling_if_missing: spec.prevent_pod_scheduling_if_missing.unwrap_or_default(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StorageClass {
    metadata: Metadata,
    provisioner: String,
    #[serde(default)]
    volume_binding_mode: Option<String>,
    #[serde(default)]
    allowed_topologies: Option<Vec<Topology>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Topology {
    #[serde(default)]
    match_label_expressions: Option<Vec<Expression>>,
}

#[derive(Debug, Deserialize)]
struct Expression {
    key: String,
    #[serde(default)]
    values: Option<Vec<String>>,
}

impl Topology {
    fn into_term(self) -> TopologyTerm {
        let requirement = |Expression { key, values }| TopologyRequirement { key, values: values.unwrap_or_default() };
        TopologyTerm { requirements: self.match_label_expressions.into_iter().flatten().map(requirement).collect() }
    }
}

impl StorageClass {
    pub(crate) fn into_record(mut self) -> records::StorageClass {
        let mode = present(self.volume_binding_mode).map(|mode| match &*mode {
            "Immediate" => BindingMode::Immediate,
            "WaitForFirstConsumer" => BindingMode::WaitForFirstConsumer,
            _ => BindingMode::Other(mode),
        });
        records::StorageClass {
            identity: self.metadata.identity(false),
            provisioner: self.provisioner,
            binding_mode: mode,
            allowed_topologies: self.allowed_topologies.into_iter().flatten().map(Topology::into_term).collect(),
        }
    }
}
