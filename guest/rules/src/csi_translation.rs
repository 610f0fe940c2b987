//! How an in-tree EBS volume is written as a volume of the CSI driver, and back (B-6 to B-9).
//!
//! A handle of EBS is whole: nothing in it is ever repaired by the id of a node, as GCE's are (B-13, `gce::repair`).
//!
//! Handles are canonical ids here and not merely what the translation library passes through: a volume spelled in two ways has
//! one handle and one synthetic PersistentVolume (B-8), and whitespace never gets into either.

use crate::answer::problem;
use crate::keys::EBS_DRIVER;
use crate::region;
use crate::translation::Migration;
use crate::volume_id::VolumeId;
use zonewarden_bindings::types::{KubernetesVolumeId, Problem};

/// The attribute of a CSI volume for the partition that is mounted (B-7).
pub const PARTITION: &str = "partition";

/// The driver that an in-tree plugin is migrated to (B-6).
#[must_use]
pub fn driver_of_plugin(plugin: &str) -> Option<&'static str> {
    Migration::of_plugin(plugin).map(|migration| migration.driver)
}

/// The in-tree plugin that a driver replaces (B-6).
#[must_use]
pub fn plugin_of_driver(driver: &str) -> Option<&'static str> {
    Migration::of_driver(driver).map(|migration| migration.plugin)
}

/// The topology key of a driver (B-6).
#[must_use]
pub fn topology_key(driver: &str) -> Option<&'static str> {
    Migration::of_driver(driver).map(|migration| migration.zone_key)
}

/// How a volume is mounted, beside its id: what both kinds of sources hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mounting {
    /// `fsType`; empty where the object has none.
    pub fs_type: String,
    /// The partition; 0 where the whole device is mounted.
    pub partition: i32,
    /// `readOnly`.
    pub read_only: bool,
}

/// A CSI source for an EBS volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsiVolume {
    /// `driver`
    pub driver: &'static str,
    /// `volumeHandle`: always the bare id (B-16).
    pub volume_handle: String,
    /// `fsType`
    pub fs_type: String,
    /// `readOnly`
    pub read_only: bool,
    /// The value of [`PARTITION`] in `volumeAttributes`. Always there; the driver ignores "0".
    pub partition: String,
}

/// An `awsElasticBlockStore` source.
#[derive(Debug, Clone, PartialEq)]
pub struct InTreeVolume {
    /// `volumeID`
    pub volume_id: KubernetesVolumeId,
    /// How it is mounted.
    pub mounting: Mounting,
    /// The region label that goes with the volume's zones; `None` where no zones were given.
    pub region: Option<String>,
}

/// The PersistentVolume that stands for a volume which a pod names directly (B-8). It has no node affinity, so nothing about it
/// keeps the pod in the volume's zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticVolume {
    /// Its name: one for all spellings of the id.
    pub name: String,
    /// `accessModes`
    pub access_mode: &'static str,
    /// Its source.
    pub csi: CsiVolume,
}

/// Writes an in-tree volume as a CSI volume (B-7).
#[must_use]
pub fn to_csi(id: VolumeId<'_>, mounting: &Mounting) -> CsiVolume {
    CsiVolume {
        driver: EBS_DRIVER,
        volume_handle: id.as_str().to_owned(),
        fs_type: mounting.fs_type.clone(),
        read_only: mounting.read_only,
        partition: mounting.partition.to_string(),
    }
}

/// Writes a volume that a pod names directly as a PersistentVolume (B-8).
#[must_use]
pub fn to_synthetic(id: VolumeId<'_>, mounting: &Mounting) -> SyntheticVolume {
    SyntheticVolume { name: synthetic_name(id), access_mode: "ReadWriteOnce", csi: to_csi(id, mounting) }
}

/// The name of the PersistentVolume that stands for a volume which a pod names directly (B-8).
#[must_use]
pub fn synthetic_name(id: VolumeId<'_>) -> String {
    format!("{EBS_DRIVER}-{id}")
}

/// Writes a CSI volume as an in-tree volume (B-9). The id is bare. `partition` is `None` where the volume has no such attribute.
///
/// # Errors
/// A partition that is no whole number; a zone without a region, or zones of two regions.
pub fn to_in_tree(
    id: VolumeId<'_>,
    mounting: Mounting,
    partition: Option<&str>,
    zones: &[&str],
) -> Result<InTreeVolume, Problem> {
    let partition = match partition.unwrap_or_default() {
        "" => 0,
        text => text.parse().map_err(|_| {
            let message = format!("the partition {text:?} is no whole number");
            problem(
                "csi.volumeAttributes.partition",
                text,
                "partition",
                message,
                &["a whole number", "0 for the whole device"],
            )
        })?,
    };
    Ok(InTreeVolume {
        volume_id: KubernetesVolumeId { kubernetes_volume_id: id.as_str().to_owned() },
        mounting: Mounting { partition, ..mounting },
        region: one_region(zones)?.map(str::to_owned),
    })
}

/// The one region of zones (B-9, B-10); `None` where there is no zone.
///
/// # Errors
/// A zone whose region can't be told, or that lies in another region than those before.
pub fn one_region<'a>(zones: &[&'a str]) -> Result<Option<&'a str>, Problem> {
    let mut found: Option<&str> = None;
    for zone in zones {
        let wrong = |rule, message: String| problem("zones", zone, rule, message, &["names of zones of one region"]);
        let Some(region) = region::of_zone(zone) else {
            return Err(wrong(
                "zone-without-region",
                format!("{zone:?} is no zone's name, so its region can't be told"),
            ));
        };
        match found {
            Some(other) if other != region => {
                return Err(wrong(
                    "two-regions",
                    format!("the zone {zone} is not in the region {other} of the others"),
                ));
            }
            _ => found = Some(region),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::VolumeIds;
    use crate::volume_id::parse;

    fn id(text: &str) -> VolumeId<'_> {
        parse(text, VolumeIds::Lenient).expect(text).id()
    }

    #[test]
    fn b_6_plugins_drivers_and_topology_keys() {
        for (plugin, driver, key) in [
            ("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"),
            ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"),
        ] {
            assert_eq!(driver_of_plugin(plugin), Some(driver));
            assert_eq!(plugin_of_driver(driver), Some(plugin));
            assert_eq!(topology_key(driver), Some(key));
        }
        assert_eq!(driver_of_plugin("kubernetes.io/azure-disk"), None);
        assert_eq!(plugin_of_driver("kubernetes.io/aws-ebs"), None);
        assert_eq!(plugin_of_driver("ebs.example.com"), None);
        assert_eq!(topology_key("kubernetes.io/aws-ebs"), None);
    }

    #[test]
    fn b_7_b_8_a_volume_becomes_the_same_from_every_spelling() {
        let mounting = |partition, read_only| Mounting { fs_type: "ext4".to_owned(), partition, read_only };
        for (text, partition, read_only, written) in [
            ("vol-1", 0, false, "0"),
            ("aws:///vol-1", 1, true, "1"),
            ("aws://us-east-1a/vol-1", 12, false, "12"),
            (" vol-1\n", 0, true, "0"),
        ] {
            let csi = CsiVolume {
                driver: "ebs.csi.aws.com",
                volume_handle: "vol-1".to_owned(),
                fs_type: "ext4".to_owned(),
                read_only,
                partition: written.to_owned(),
            };
            assert_eq!(to_csi(id(text), &mounting(partition, read_only)), csi, "{text:?}");
            let synthetic =
                SyntheticVolume { name: "ebs.csi.aws.com-vol-1".to_owned(), access_mode: "ReadWriteOnce", csi };
            assert_eq!(to_synthetic(id(text), &mounting(partition, read_only)), synthetic, "{text:?}");
        }
    }

    #[test]
    fn b_9_a_csi_volume_becomes_a_bare_id_with_one_region() {
        let mounting = || Mounting { fs_type: "xfs".to_owned(), partition: 7, read_only: true };
        for (partition, zones, wanted) in [
            (None, &[][..], Ok((0, None))),
            (Some(""), &["us-east-1a"][..], Ok((0, Some("us-east-1")))),
            (Some("3"), &["us-west-10a", "us-west-10b"][..], Ok((3, Some("us-west-10")))),
            (Some("-1"), &["us-west-2-lax-1a", "us-west-2a"][..], Ok((-1, Some("us-west-2")))),
            (Some("x"), &[][..], Err(("csi.volumeAttributes.partition", "x", "partition"))),
            (Some("1.5"), &[][..], Err(("csi.volumeAttributes.partition", "1.5", "partition"))),
            (None, &["use1-az6"][..], Err(("zones", "use1-az6", "zone-without-region"))),
            (None, &["us-east-1a", "us-east-2a"][..], Err(("zones", "us-east-2a", "two-regions"))),
        ] {
            let made = to_in_tree(id("vol-1"), mounting(), partition, zones);
            let wanted = wanted.map(|(partition, region)| InTreeVolume {
                volume_id: KubernetesVolumeId { kubernetes_volume_id: "vol-1".to_owned() },
                mounting: Mounting { fs_type: "xfs".to_owned(), partition, read_only: true },
                region: region.map(str::to_owned),
            });
            match (made, wanted) {
                (Err(problem), Err((subject, text, rule))) => {
                    assert_eq!(
                        (problem.subject.as_str(), problem.text.as_str(), problem.rule.as_str()),
                        (subject, text, rule)
                    );
                    assert!(problem.message.contains(text) && !problem.accepted.is_empty(), "{}", problem.message);
                }
                (made, wanted) => assert_eq!(made.ok(), wanted.ok(), "{partition:?} {zones:?}"),
            }
        }
    }
}
