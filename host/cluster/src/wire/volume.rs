//! PersistentVolumes and PersistentVolumeClaims.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use zonewarden_contract::types::{NodeName, VolumeSource};

use super::source::next_source;
use super::terms::{VolumeNodeAffinity, volume_affinity};
use super::{Metadata, Quantity, Unreadable, bytes_of, pairs, present};
use crate::records::{self, ClaimRef, ObjectName};
use crate::selector::LabelSelector;

const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const FILESYSTEM: &str = "Filesystem";

#[derive(Debug, Deserialize)]
pub(crate) struct PersistentVolume {
    metadata: Metadata,
    spec: Spec,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Deserialize)]
struct Status {
    #[serde(default)]
    phase: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Amounts {
    #[serde(default)]
    storage: Option<Quantity>,
}

/// `spec` of a PersistentVolume. The source is the one field that is none of the others.
#[derive(Debug, Default)]
struct Spec {
    source: Option<VolumeSource>,
    capacity: Option<Amounts>,
    access_modes: Option<Vec<String>>,
    claim_ref: Option<Reference>,
    node_affinity: Option<VolumeNodeAffinity>,
    storage_class_name: Option<String>,
    volume_mode: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Reference {
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    uid: Option<String>,
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SpecVisitor)
    }
}

struct SpecVisitor;

impl<'de> Visitor<'de> for SpecVisitor {
    type Value = Spec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the spec of a PersistentVolume")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Spec, A::Error> {
        let mut spec = Spec::default();
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "capacity" => spec.capacity = map.next_value()?,
                "accessModes" => spec.access_modes = map.next_value()?,
                "claimRef" => spec.claim_ref = map.next_value()?,
                "nodeAffinity" => spec.node_affinity = map.next_value()?,
                "storageClassName" => spec.storage_class_name = map.next_value()?,
                "volumeMode" => spec.volume_mode = map.next_value()?,
                "mountOptions" | "persistentVolumeReclaimPolicy" | "volumeAttributesClassName" => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
                _ => spec.source = next_source(&key, &mut map)?.or(spec.source),
            }
        }
        Ok(spec)
    }
}

impl PersistentVolume {
    pub(crate) fn into_record(mut self, unreadable: &mut Vec<Unreadable>) -> records::PersistentVolume {
        let metadata = &mut self.metadata;
        let class = metadata.annotation(CLASS_ANNOTATION);
        let capacity = self.spec.capacity.and_then(|amounts| amounts.storage);
        records::PersistentVolume {
            identity: metadata.identity(false),
            labels: pairs(metadata.labels()),
            owned_labels: metadata.owned_labels(),
            annotations: pairs(metadata.annotations()),
            source: self.spec.source.unwrap_or_else(|| VolumeSource::Other("none".to_owned())),
            affinity: volume_affinity(self.spec.node_affinity),
            phase: self.status.and_then(|status| status.phase).unwrap_or_default().into(),
            claim: self.spec.claim_ref.map(|claim| ClaimRef {
                name: ObjectName::new(&claim.namespace.unwrap_or_default(), &claim.name.unwrap_or_default()),
                uid: claim.uid.unwrap_or_default(),
            }),
            capacity_bytes: bytes_of(capacity, "spec.capacity.storage", unreadable),
            access_modes: self.spec.access_modes.unwrap_or_default().into(),
            volume_mode: volume_mode(self.spec.volume_mode),
            storage_class: class.or(self.spec.storage_class_name).unwrap_or_default().into(),
        }
    }
}

fn volume_mode(mode: Option<String>) -> Arc<str> {
    present(mode).map_or_else(|| Arc::from(FILESYSTEM), Arc::from)
}

#[derive(Debug, Deserialize)]
pub(crate) struct PersistentVolumeClaim {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<ClaimSpec>,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimSpec {
    #[serde(default)]
    volume_name: Option<String>,
    #[serde(default)]
    storage_class_name: Option<String>,
    #[serde(default)]
    resources: Option<Resources>,
    #[serde(default)]
    access_modes: Option<Vec<String>>,
    #[serde(default)]
    volume_mode: Option<String>,
    #[serde(default)]
    selector: Option<LabelSelector>,
}

#[derive(Debug, Deserialize)]
struct Resources {
    #[serde(default)]
    requests: Option<Amounts>,
}

impl PersistentVolumeClaim {
    pub(crate) fn into_record(mut self, unreadable: &mut Vec<Unreadable>) -> records::PersistentVolumeClaim {
        let metadata = &mut self.metadata;
        let spec = self.spec.unwrap_or_default();
        let class = metadata.annotation(CLASS_ANNOTATION);
        let requested = spec.resources.and_then(|resources| resources.requests?.storage);
        records::PersistentVolumeClaim {
            identity: metadata.identity(true),
            volume_name: present(spec.volume_name),
            bind_completed: metadata.annotation(BIND_COMPLETED).is_some(),
            storage_class: class.or(spec.storage_class_name).map(Arc::from),
            selected_node: present(metadata.annotation(SELECTED_NODE)).map(|name| NodeName { node_name: name }),
            owner_uids: metadata.owner_uids(),
            phase: self.status.and_then(|status| status.phase).unwrap_or_default().into(),
            requested_bytes: bytes_of(requested, "spec.resources.requests.storage", unreadable),
            access_modes: spec.access_modes.unwrap_or_default().into(),
            volume_mode: volume_mode(spec.volume_mode),
            selector: spec.selector.map(Box::new),
        }
    }
}
