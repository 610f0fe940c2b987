//! Any bytes, read as the cluster's objects and as EC2's: nothing panics, and whatever is not read is told.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let cluster = zonewarden_cluster::parse(bytes, "fuzz");
    for problem in &cluster.problems {
        assert!(!problem.to_string().is_empty());
    }
    // Leases that are not a kubelet's are read and mean nothing.
    let leases = cluster.counts.get(&zonewarden_cluster::Kind::Lease).copied().unwrap_or_default();
    let objects = cluster.counts.values().sum::<usize>() - leases;
    let index = &cluster.index;
    let indexed = index.volumes().len() + index.claims().len() + index.pods().len() + index.nodes().len();
    let indexed = indexed + index.attachments().len() + index.csi_nodes().len();
    assert_eq!(objects, indexed + index.csi_drivers().len() + index.storage_classes().len());
    assert!(index.leases().count() <= leases);
    for claim in index.claims() {
        assert!(index.candidates(claim).all(|candidate| index.volume(&candidate.volume.identity.name.name).is_some()));
    }
    let ec2 = zonewarden_ec2::parse(bytes, "fuzz");
    assert!(ec2.volumes.iter().all(|(id, volume)| *id == volume.id.aws_volume_id));
});
