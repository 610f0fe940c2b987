//! The label, annotation and topology keys that the rules read, and which of them mean the same.

/// The zone label since Kubernetes 1.17; what is written.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// The region label since Kubernetes 1.17; what is written.
pub const REGION: &str = "topology.kubernetes.io/region";
/// The zone label before that; still read.
pub const ZONE_BETA: &str = "failure-domain.beta.kubernetes.io/zone";
/// The region label before that; still read.
pub const REGION_BETA: &str = "failure-domain.beta.kubernetes.io/region";
/// The topology key of the EBS CSI driver.
pub const ZONE_EBS_CSI: &str = "topology.ebs.csi.aws.com/zone";
/// The topology key of the GCE PD CSI driver.
pub const ZONE_GCE_CSI: &str = "topology.gke.io/zone";

/// The four keys that the scheduler's VolumeZone plugin reads (F-40, F-60).
pub const VOLUME_ZONE_KEYS: [&str; 4] = [ZONE, REGION, ZONE_BETA, REGION_BETA];

/// The node labels that the rules read whatever a question names, in ascending order.
pub const NODE_LABELS_READ: [&str; 7] =
    [REGION_BETA, ZONE_BETA, OUTPOST_EBS_CSI, ZONE_EBS_CSI, ZONE_GCE_CSI, REGION, ZONE];

/// The annotation of a provisioner on its volumes (F-2).
pub const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// The attribute of a volume that names the Outpost it lies on (D-38).
pub const OUTPOST_ARN: &str = "outpost-arn";
/// The attribute of a volume that is its zone's id (`use1-az6`).
pub const ZONE_ID: &str = "availability-zone-id";

/// The attributes of volumes that the rules read, in ascending order.
pub const VOLUME_ATTRIBUTES_READ: [&str; 2] = [ZONE_ID, OUTPOST_ARN];

/// The scheduling gate of a pod whose volume's zone is not known yet.
pub const SCHEDULING_GATE: &str = "zonewarden.io/zone-unknown";

/// The node label of the EBS CSI driver that names the Outpost a node is on (D-38).
pub const OUTPOST_EBS_CSI: &str = "topology.ebs.csi.aws.com/outpost-id";

/// The name that Kubernetes itself translates the in-tree EBS plugin to, whatever name the driver runs under.
pub const EBS_DRIVER: &str = "ebs.csi.aws.com";
/// The name of the in-tree EBS plugin.
pub const EBS_PLUGIN: &str = "kubernetes.io/aws-ebs";
/// The name of the in-tree GCE PD plugin.
pub const GCE_PLUGIN: &str = "kubernetes.io/gce-pd";
/// The name of the GCE PD CSI driver.
pub const GCE_DRIVER: &str = "pd.csi.storage.gke.io";

/// Whether the key names a zone, in any of its spellings.
#[must_use]
pub fn is_zone(key: &str) -> bool {
    matches!(key, ZONE | ZONE_BETA | ZONE_EBS_CSI | ZONE_GCE_CSI)
}

/// Whether the key names a region, in either of its spellings.
#[must_use]
pub fn is_region(key: &str) -> bool {
    matches!(key, REGION | REGION_BETA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_zone_and_of_a_region_is_known_and_nothing_else() {
        assert!([ZONE, ZONE_BETA, ZONE_EBS_CSI, ZONE_GCE_CSI].into_iter().all(is_zone));
        assert!([REGION, REGION_BETA].into_iter().all(is_region));
        assert!(NODE_LABELS_READ.is_sorted() && VOLUME_ATTRIBUTES_READ.is_sorted());
        assert!(!is_zone(REGION) && !is_region(ZONE) && !is_zone("topology.k8s.aws/zone-id"));
    }
}
