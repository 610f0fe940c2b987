//! Nodes and CSINodes.

use std::sync::Arc;

use serde::Deserialize;
use zonewarden_contract::types::ProviderId;
use zonewarden_documents::time::Time;

use super::{Metadata, present};
use crate::api::TAINT_ANNOTATION;
use crate::records::{self, CsiNodeDriver, SharedLabel};

const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<Spec>,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Default, Deserialize)]
struct Spec {
    #[serde(default, rename = "providerID")]
    provider_id: Option<String>,
    #[serde(default)]
    taints: Option<Vec<Taint>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Taint {
    key: String,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    effect: Option<String>,
    #[serde(default)]
    time_added: Option<Time>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    conditions: Option<Vec<Condition>>,
    #[serde(default)]
    volumes_in_use: Option<Vec<String>>,
    #[serde(default)]
    volumes_attached: Option<Vec<Attached>>,
}

#[derive(Debug, Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    status: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Attached {
    name: String,
}

impl Node {
    pub(crate) fn into_record(mut self) -> records::Node {
        let spec = self.spec.unwrap_or_default();
        let status = self.status.unwrap_or_default();
        let ready = status.conditions.into_iter().flatten().find(|condition| condition.kind == "Ready");
        let attached = status.volumes_attached.into_iter().flatten();
        let label = |(key, value)| SharedLabel { key: Arc::from(key), value: Arc::from(value) };
        records::Node {
            identity: self.metadata.identity(false),
            labels: self.metadata.labels().map(label).collect(),
            taint_annotation: self.metadata.annotation(TAINT_ANNOTATION),
            provider_id: present(spec.provider_id).map(|id| ProviderId { provider_id: id }),
            taints: spec.taints.into_iter().flatten().map(Taint::into_record).collect(),
            ready: ready.is_some_and(|condition| condition.status.as_deref() == Some("True")),
            volumes_in_use: status.volumes_in_use.unwrap_or_default(),
            volumes_attached: attached.map(|volume| volume.name).collect(),
        }
    }
}

impl Taint {
    fn into_record(self) -> records::Taint {
        records::Taint {
            key: self.key,
            value: self.value.unwrap_or_default(),
            effect: self.effect.unwrap_or_default(),
            added: self.time_added.map(|Time(time)| time),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct CsiNode {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<CsiSpec>,
}

#[derive(Debug, Deserialize)]
struct CsiSpec {
    #[serde(default)]
    drivers: Option<Vec<Driver>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: String,
    #[serde(default, rename = "nodeID")]
    node_id: Option<String>,
    #[serde(default)]
    allocatable: Option<Allocatable>,
}

#[derive(Debug, Deserialize)]
struct Allocatable {
    #[serde(default)]
    count: Option<u32>,
}

impl CsiNode {
    pub(crate) fn into_record(mut self) -> records::CsiNode {
        let plugins = present(self.metadata.annotation(MIGRATED_PLUGINS)).unwrap_or_default();
        let drivers = self.spec.and_then(|spec| spec.drivers).into_iter().flatten();
        records::CsiNode {
            identity: self.metadata.identity(false),
            drivers: drivers.map(Driver::into_record).collect(),
            migrated_plugins: plugins.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect(),
        }
    }
}

impl Driver {
    fn into_record(self) -> CsiNodeDriver {
        CsiNodeDriver {
            name: self.name,
            node_id: self.node_id.unwrap_or_default(),
            allocatable: self.allocatable.and_then(|allocatable| allocatable.count),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Lease {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<LeaseSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LeaseSpec {
    #[serde(default)]
    renew_time: Option<Time>,
    #[serde(default)]
    lease_duration_seconds: Option<u32>,
}

impl Lease {
    pub(crate) fn into_record(mut self) -> records::Lease {
        let spec = self.spec.unwrap_or_default();
        records::Lease {
            identity: self.metadata.identity(true),
            renewed: spec.renew_time.map(|Time(time)| time),
            duration_seconds: spec.lease_duration_seconds,
        }
    }
}
