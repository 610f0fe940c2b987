//! Volumes that are alike to Kubernetes are refused in one sentence, and no others.

use super::world::*;
use crate::settings::Settings;
use zonewarden_bindings::placement::{ClaimFacts, PodVolume};
use zonewarden_bindings::types::{KubernetesVolumeId, VolumeEvidence, VolumeSource};

/// The reasons why nodes do not fit, as codes and messages.
fn told(volumes: Vec<PodVolume>, node: Node) -> Vec<(String, String)> {
    let verdicts = filter(&Settings::default(), &pod(volumes), &[node]);
    verdicts[0].reasons.iter().map(|reason| (reason.code.clone(), reason.message.clone())).collect()
}

/// Who is refused, reason by reason: the pod's volumes that the message names.
fn named(volumes: Vec<PodVolume>, node: Node) -> Vec<Vec<usize>> {
    let count = volumes.len();
    let names =
        |message: &str| (0..count).filter(|number| message.contains(&format!("volume data-{number})"))).collect();
    told(volumes, node).iter().map(|(_, message)| names(message)).collect()
}

fn affine(name: &str, zone: &str) -> PersistentVolume {
    PersistentVolume { affinity: only(GA, &[zone]), ..pv(name) }
}

#[test]
fn f_54_volumes_of_one_affinity_are_refused_in_one_sentence() {
    let volume = |number: usize| claimed(number, bound(affine(&format!("pv-{number}"), "a")));
    let called = |number: usize| format!("PersistentVolume pv-{number} (claim claim-{number}, volume data-{number})");
    let rest = "nodes with topology.kubernetes.io/zone In [a], and the node has topology.kubernetes.io/zone=b";
    let [one, two, three] = [0, 1, 2].map(called);
    for (count, wanted) in [
        (1, format!("{one} needs {rest}")),
        (2, format!("{one} and {two} need {rest}")),
        (3, format!("{one}, {two} and {three} need {rest}")),
    ] {
        let volumes = (0..count).map(volume).collect();
        assert_eq!(told(volumes, node(&[(GA, "b")])), [("affinity-conflict".to_owned(), wanted)]);
    }
}

#[test]
fn f_39_volumes_of_one_label_are_refused_in_one_sentence() {
    let volume = |number: usize| claimed(number, bound(labelled(pv(&format!("pv-{number}")), &[(GA, "a")])));
    let message = "PersistentVolume pv-0 (claim claim-0, volume data-0) and PersistentVolume pv-1 (claim claim-1, volume data-1) carry the label topology.kubernetes.io/zone=a, and the node has topology.kubernetes.io/zone=b";
    let wanted = [("zone-mismatch".to_owned(), message.to_owned())];
    assert_eq!(told(vec![volume(0), volume(1)], node(&[(GA, "b")])), wanted);
}

#[test]
fn volumes_that_kubernetes_may_tell_apart_are_refused_by_themselves() {
    let plain = |number: usize| claimed(number, bound(affine("pv", "a")));
    let of_source =
        |number: usize, source: VolumeSource| claimed(number, bound(PersistentVolume { source, ..affine("pv", "a") }));
    let other_zone = |number: usize| claimed(number, bound(affine("pv", "c")));
    let gce = || VolumeSource::GcePersistentDisk(KubernetesVolumeId { kubernetes_volume_id: "pd-1".to_owned() });
    let broken = || in_tree("aws://us-east-1a/i-1");
    for (row, volumes, node, wanted) in [
        (
            "F-54 one after the other",
            vec![plain(0), other_zone(1), plain(2)],
            node(&[(GA, "b")]),
            vec![vec![0, 2], vec![1]],
        ),
        (
            "F-55 a migrated plugin's",
            vec![plain(0), of_source(1, in_tree(VOL))],
            migrated_node(&[(GA, "b")]),
            vec![vec![0], vec![1]],
        ),
        (
            "F-55 another plugin's",
            vec![of_source(0, gce()), of_source(1, in_tree(VOL))],
            node(&[(GA, "b")]),
            vec![vec![0], vec![1]],
        ),
        (
            "F-61 ids that can't be translated",
            vec![of_source(0, broken()), of_source(1, broken())],
            migrated_node(&[(GA, "a")]),
            vec![vec![0], vec![1]],
        ),
    ] {
        assert_eq!(named(volumes, node), wanted, "{row}");
    }
}

#[test]
fn f_62_an_ephemeral_volume_s_labels_are_not_held_against_nodes_with_those_of_others() {
    let facts = || bound(labelled(pv("pv"), &[(GA, "a")]));
    let owned = ClaimFacts { owned_by_pod: true, ..facts() };
    let volumes = vec![ephemeral(0, owned), claimed(1, facts())];
    assert_eq!(named(volumes, node(&[(GA, "b")])), [vec![1]]);
}

#[test]
fn h_5_what_ec2_says_is_told_volume_by_volume() {
    let volume = |number: usize, evidence: VolumeEvidence| {
        claimed(number, bound(PersistentVolume { evidence, ..affine("pv", "b") }))
    };
    let volumes = vec![volume(0, ec2("a")), volume(1, ec2("b")), volume(2, ec2("a"))];
    assert_eq!(named(volumes, node(&[(GA, "b")])), [vec![0], vec![2]]);
}
