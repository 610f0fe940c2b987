//! Where a volume comes from: one field of many, whose name tells the kind.

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess};
use zonewarden_contract::types::{CsiSource, KubernetesVolumeId, VolumeSource};

#[derive(Debug, Deserialize)]
struct ElasticBlockStore {
    #[serde(rename = "volumeID")]
    volume_id: String,
}

#[derive(Debug, Deserialize)]
struct PersistentDisk {
    #[serde(rename = "pdName")]
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Csi {
    driver: String,
    /// A pod's inline CSI volume has none.
    #[serde(default)]
    volume_handle: Option<String>,
}

fn id(text: String) -> KubernetesVolumeId {
    KubernetesVolumeId { kubernetes_volume_id: text }
}

/// Reads the value of the field `key` as a volume source; `None` where the value is null. The id stays byte for byte.
pub(crate) fn next_source<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Option<VolumeSource>, A::Error> {
    Ok(match key {
        "awsElasticBlockStore" => map
            .next_value::<Option<ElasticBlockStore>>()?
            .map(|source| VolumeSource::AwsElasticBlockStore(id(source.volume_id))),
        "gcePersistentDisk" => {
            map.next_value::<Option<PersistentDisk>>()?.map(|source| VolumeSource::GcePersistentDisk(id(source.name)))
        }
        "csi" => map.next_value::<Option<Csi>>()?.map(|source| match source.volume_handle {
            Some(handle) => VolumeSource::Csi(CsiSource { driver: source.driver, volume_handle: id(handle) }),
            None => VolumeSource::Other("csi".to_owned()),
        }),
        _ => map.next_value::<Option<IgnoredAny>>()?.map(|_| VolumeSource::Other(key.to_owned())),
    })
}
