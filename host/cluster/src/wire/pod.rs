//! Pods.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use zonewarden_contract::types::{NodeName, VolumeSource};

use super::source::next_source;
use super::terms::NodeSelector;
use super::{Metadata, present};
use crate::records::{self, ObjectName, PodVolumeSource};

#[derive(Debug, Deserialize)]
pub(crate) struct Pod {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<Spec>,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    node_name: Option<String>,
    #[serde(default)]
    volumes: Option<Vec<Volume>>,
    #[serde(default)]
    affinity: Option<Affinity>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Affinity {
    #[serde(default)]
    node_affinity: Option<NodeAffinity>,
}

#[derive(Debug, Deserialize)]
struct NodeAffinity {
    #[serde(default, rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: Option<NodeSelector>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    phase: Option<String>,
    #[serde(default)]
    container_statuses: Option<Vec<ContainerStatus>>,
    #[serde(default)]
    init_container_statuses: Option<Vec<ContainerStatus>>,
    #[serde(default)]
    ephemeral_container_statuses: Option<Vec<ContainerStatus>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerStatus {
    #[serde(default)]
    restart_count: Option<u32>,
    #[serde(default)]
    started: Option<bool>,
    #[serde(default, rename = "containerID")]
    container_id: Option<String>,
    #[serde(default)]
    state: Option<ContainerState>,
    #[serde(default)]
    last_state: Option<ContainerState>,
}

#[derive(Debug, Deserialize)]
struct ContainerState {
    #[serde(default)]
    running: Option<IgnoredAny>,
    #[serde(default)]
    terminated: Option<IgnoredAny>,
}

impl ContainerState {
    fn tells_of_a_start(&self) -> bool {
        self.running.is_some() || self.terminated.is_some()
    }
}

impl ContainerStatus {
    /// Any sign of a start counts.
    fn was_started(&self) -> bool {
        let states = [&self.state, &self.last_state];
        self.started == Some(true)
            || self.restart_count.is_some_and(|count| count > 0)
            || self.container_id.as_ref().is_some_and(|id| !id.is_empty())
            || states.into_iter().flatten().any(ContainerState::tells_of_a_start)
    }
}

impl Status {
    fn has_started_container(&self) -> bool {
        let lists = [&self.container_statuses, &self.init_container_statuses, &self.ephemeral_container_statuses];
        self.phase.as_deref() != Some("Pending")
            || lists.into_iter().flatten().flatten().any(ContainerStatus::was_started)
    }
}

/// One of `spec.volumes`; `source` is `None` for what nobody attaches (a ConfigMap, a folder).
#[derive(Debug, Default)]
struct Volume {
    name: String,
    source: Option<Source>,
}

#[derive(Debug)]
enum Source {
    Claim(String),
    Ephemeral,
    Inline(VolumeSource),
}

impl Volume {
    fn into_record(self, pod: &ObjectName) -> Option<records::PodVolume> {
        let source = match self.source? {
            Source::Claim(name) => PodVolumeSource::Claim(name.into()),
            Source::Ephemeral => PodVolumeSource::Ephemeral(format!("{}-{}", pod.name, self.name).into()),
            Source::Inline(source) => PodVolumeSource::Inline(source),
        };
        Some(records::PodVolume { name: self.name.into(), source })
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimSource {
    #[serde(default)]
    claim_name: Option<String>,
}

impl<'de> Deserialize<'de> for Volume {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(VolumeVisitor)
    }
}

struct VolumeVisitor;

impl<'de> Visitor<'de> for VolumeVisitor {
    type Value = Volume;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a volume of a pod")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Volume, A::Error> {
        let mut volume = Volume::default();
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "name" => volume.name = map.next_value()?,
                "persistentVolumeClaim" => {
                    let claim: Option<ClaimSource> = map.next_value()?;
                    let claim = claim.map(|claim| Source::Claim(claim.claim_name.unwrap_or_default()));
                    volume.source = claim.or(volume.source);
                }
                "ephemeral" => {
                    let ephemeral: Option<IgnoredAny> = map.next_value()?;
                    volume.source = ephemeral.map(|_| Source::Ephemeral).or(volume.source);
                }
                _ => {
                    let inline =
                        next_source(&key, &mut map)?.filter(|source| !matches!(source, VolumeSource::Other(_)));
                    volume.source = inline.map(Source::Inline).or(volume.source);
                }
            }
        }
        Ok(volume)
    }
}

impl Pod {
    pub(crate) fn into_record(mut self) -> records::Pod {
        let spec = self.spec.unwrap_or_default();
        let status = self.status.unwrap_or_default();
        let identity = self.metadata.identity(true);
        let volumes = spec.volumes.into_iter().flatten().filter_map(|volume| volume.into_record(&identity.name));
        let affinity = spec.affinity.and_then(|affinity| affinity.node_affinity);
        records::Pod {
            node: present(spec.node_name).map(|name| NodeName { node_name: name }),
            volumes: volumes.collect(),
            identity,
            required_terms: affinity.and_then(|affinity| affinity.required).map(NodeSelector::into_terms),
            has_started_container: status.has_started_container(),
            phase: status.phase.unwrap_or_default(),
        }
    }
}
