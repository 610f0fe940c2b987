//! The demo's world, read whole: records of every kind, and the joins over them.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::path::Path;

use zonewarden_cluster::records::{AttachedSource, PodVolumeSource};
use zonewarden_cluster::{Kind, Loaded, ObjectName, files};
use zonewarden_contract::types::{
    KubernetesVolumeId, NodeName, Requirement, SelectorOperator, SelectorTerm, VolumeAffinity, VolumeSource,
};

fn demo() -> Loaded {
    let loaded = files::load_folder(Path::new("../../examples/demo/cluster"));
    assert_eq!(loaded.problems, []);
    loaded
}

fn shop(name: &str) -> ObjectName {
    ObjectName::new("shop", name)
}

#[test]
fn every_object_is_there() {
    let expected = [
        (Kind::PersistentVolume, 9),
        (Kind::PersistentVolumeClaim, 7),
        (Kind::Pod, 8),
        (Kind::Node, 6),
        (Kind::VolumeAttachment, 6),
        (Kind::CsiNode, 6),
        (Kind::CsiDriver, 1),
        (Kind::StorageClass, 2),
        (Kind::Lease, 6),
    ];
    let loaded = demo();
    assert_eq!(loaded.counts, expected.into());
    assert_eq!(loaded.unknown_kinds, [].into());
}

#[test]
fn a_claim_leads_to_its_volume_and_its_pods() {
    let index = demo().index;
    let claim = index.claim(&shop("data-web-0")).unwrap();
    let volume = index.volume_of(claim).unwrap();
    assert_eq!(volume.claim.as_ref().unwrap().name, shop("data-web-0"));
    let zone = Requirement {
        key: "topology.ebs.csi.aws.com/zone".to_owned(),
        operator: SelectorOperator::In,
        values: vec!["us-east-1b".to_owned()],
    };
    let term = SelectorTerm { requirements: vec![zone], has_match_fields: false };
    assert_eq!(volume.affinity, VolumeAffinity::Required(vec![term]));
    assert_eq!((volume.capacity_bytes, claim.requested_bytes), (Some(20 << 30), Some(20 << 30)));
    let pods: Vec<_> = index.pods_of_claim(&shop("data-web-0")).map(|pod| pod.identity.name.clone()).collect();
    assert_eq!(pods, [shop("web-0")]);
    let attachments: Vec<_> = index.attachments_of_volume(&volume.identity.name.name).collect();
    let [attachment] = attachments[..] else { panic!("{attachments:?}") };
    assert_eq!(attachment.source, AttachedSource::PersistentVolume(volume.identity.name.name.to_string()));
    assert_eq!(attachment.node_id.as_deref(), Some("i-0b21e5f7091234567"));
    assert_eq!(index.attachments_of_node("ip-10-0-2-21.ec2.internal").collect::<Vec<_>>(), [attachment]);
}

#[test]
fn a_pod_tells_whether_it_waits() {
    let index = demo().index;
    let told = |name: &str| {
        let pod = index.pod(&shop(name)).unwrap();
        (pod.node.is_some(), pod.waits_for_containers(), pod.has_started_container)
    };
    assert_eq!(told("web-0"), (true, false, true));
    assert_eq!(told("search-0"), (true, true, false));
    assert_eq!(told("report"), (false, false, false));
}

#[test]
fn a_pod_s_own_volume_is_kept_as_it_stands() {
    let index = demo().index;
    let pod = index.pod(&ObjectName::new("legacy", "blog")).unwrap();
    let id = KubernetesVolumeId { kubernetes_volume_id: "aws://us-east-1b/vol-0b6f5e4d3c2b1a095".to_owned() };
    let sources: Vec<_> = pod.volumes.iter().map(|volume| volume.source.clone()).collect();
    assert_eq!(sources, [PodVolumeSource::Inline(VolumeSource::AwsElasticBlockStore(id))]);
    assert_eq!(pod.node, Some(NodeName { node_name: "ip-10-0-1-11.ec2.internal".to_owned() }));
}

#[test]
fn the_demo_shows_a_node_without_zone_and_one_that_is_not_ready() {
    let index = demo().index;
    let zoneless = index.nodes().filter(|node| node.labels.iter().all(|label| !label.key.ends_with("/zone")));
    assert_eq!(zoneless.map(|node| node.node_name().node_name).collect::<Vec<_>>(), ["ip-10-0-3-32.ec2.internal"]);
    let silent: Vec<_> = index.nodes().filter(|node| !node.ready).collect();
    let [silent] = silent[..] else { panic!("{silent:?}") };
    assert_eq!((silent.taints.len(), silent.volumes_in_use.len(), silent.volumes_attached.len()), (2, 1, 1));
}
