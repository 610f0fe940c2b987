//! `zonewarden explain`: one object's story in words.

use super::check::INSTANCES_JSON;
use crate::{Folder, Run, VOLUME, pv, zonewarden};

fn explain(kind: &str, name: &str) -> Run {
    zonewarden(&["explain", kind, name, "--world", "examples/demo"])
}

/// The story has this exit status and these lines, in this order.
#[track_caller]
fn tells(run: &Run, code: i32, lines: &[&str]) {
    assert_eq!((run.code, &*run.err), (code, ""), "{}", run.out);
    let mut rest = run.out.lines();
    for line in lines {
        assert!(
            rest.any(|found| found.trim_start() == *line),
            "{line:?} is missing, or not in its place, in {}",
            run.out
        );
    }
}

#[test]
fn a_pod_on_a_wrong_node_is_told_with_its_volume_and_every_node() {
    let of_node = "PersistentVolume cart-data (claim cart-data, volume data)";
    let told = explain("pod", "shop/cart-0");
    tells(
        &told,
        1,
        &[
            "Pod shop/cart-0 is Pending on node ip-10-0-1-11.ec2.internal.",
            "Volume data is claim shop/cart-data, PersistentVolume cart-data.",
            "It is vol-0c4d5e6f708192a34.",
            "EC2 says: available, us-east-1c.",
            "It may go to: none.",
        ],
    );
    for text in [
        "It may not go to: ip-10-0-1-11.ec2.internal, ip-10-0-1-12.ec2.internal.",
        "It may not go to: ip-10-0-2-21.ec2.internal, ip-10-0-2-22.ec2.internal.",
        "the node has topology.ebs.csi.aws.com/zone=us-east-1a (ec2-zone-mismatch, zonewarden says so)",
        "the node has topology.kubernetes.io/zone=us-east-1b (zone-mismatch, kubernetes says so)",
        &format!("{of_node} is in us-east-1c by EC2, which lets no instance of another zone attach it"),
        "error: it waits on node ip-10-0-1-11.ec2.internal, which does not fit",
    ] {
        assert!(told.out.contains(text), "{text:?} is not in {}", told.out);
    }
}

#[test]
fn a_pod_that_waits_for_its_volume_is_told_where_it_may_go() {
    tells(
        &explain("pod", "shop/report"),
        0,
        &[
            "Pod shop/report is Pending and bound to no node.",
            "Volume data is claim shop/report-scratch, which has no volume yet.",
            "It may go to: ip-10-0-1-11.ec2.internal, ip-10-0-1-12.ec2.internal, ip-10-0-3-31.ec2.internal.",
            "It may not go to: ip-10-0-2-21.ec2.internal, ip-10-0-2-22.ec2.internal.",
            "It may not go to: ip-10-0-3-32.ec2.internal.",
        ],
    );
}

#[test]
fn a_pod_with_a_direct_volume_is_told_the_affinity_that_it_lacks() {
    tells(
        &explain("pod", "legacy/blog"),
        1,
        &[
            "Volume content is named directly by the pod.",
            "It is vol-0b6f5e4d3c2b1a095.",
            "It may go to: ip-10-0-2-21.ec2.internal, ip-10-0-2-22.ec2.internal.",
            "The node affinity that it should have: \
             [[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"us-east-1b\"]}]]",
        ],
    );
}

#[test]
fn a_volume_is_found_by_any_spelling_of_its_id_and_by_its_name() {
    for spelling in
        ["vol-0c4d5e6f708192a34", "aws:///vol-0c4d5e6f708192a34", "aws://us-east-1c/vol-0c4d5e6f708192a34", "cart-data"]
    {
        let run = explain("volume", spelling);
        tells(
            &run,
            1,
            &[
                &format!("{spelling} is the volume vol-0c4d5e6f708192a34."),
                "PersistentVolume cart-data, claimed by shop/cart-data.",
                "EC2 says: available, us-east-1c.",
                "error: PersistentVolume cart-data says us-east-1a in label topology.kubernetes.io/zone, but EC2 has \
                 the volume in zone us-east-1c: correct the label (zone-mismatch)",
                "Attachment of vol-0c4d5e6f708192a34 to node ip-10-0-1-11.ec2.internal \
                 (csi-2b1f6b069659117647178170dbcda3d4337dca80620204722b6a6dbd5467083e): stuck-attaching, \
                 remedy event.",
            ],
        );
    }
}

#[test]
fn a_volume_is_told_what_it_lacks() {
    tells(
        &explain("volume", "archive"),
        1,
        &[
            "PersistentVolume archive, claimed by shop/archive.",
            "EC2 says: in-use, us-east-1a.",
            "It lacks the label topology.kubernetes.io/region=us-east-1.",
            "It lacks the label topology.kubernetes.io/zone=us-east-1a.",
            "It lacks the node affinity \
             [[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"us-east-1a\"]}]]",
            "Attachment of vol-0a1b2c3d4e5f60718 to node ip-10-0-1-11.ec2.internal \
             (csi-d4bb56d779ad11fcc56a7956b9e3d4658718e0eff28029333ab028094b51d305): in-sync, remedy none.",
        ],
    );
}

#[test]
fn a_volume_of_another_driver_is_told_to_be_foreign() {
    let run = explain("volume", "shared-assets");
    tells(&run, 0, &["PersistentVolume shared-assets."]);
    assert!(run.out.contains("efs.csi.aws.com"), "{}", run.out);
}

/// No PersistentVolume names it: the pod does.
#[test]
fn a_volume_that_a_pod_names_directly_is_told_with_the_pod() {
    let run = explain("volume", "vol-0b6f5e4d3c2b1a095");
    tells(&run, run.code, &["vol-0b6f5e4d3c2b1a095 is the volume vol-0b6f5e4d3c2b1a095."]);
    for text in ["legacy/blog", "EC2 says: available, us-east-1b."] {
        assert!(run.out.contains(text), "{text:?} is not in {}", run.out);
    }
}

/// Nothing in the cluster names it, and EC2 describes it.
#[test]
fn a_volume_that_only_ec2_knows_is_told_from_ec2() {
    let ec2 = r#"{"Volumes": [{"VolumeId": "vol-0dddddddddddddddd", "AvailabilityZone": "us-east-1b", "State": "in-use",
        "Attachments": [{"InstanceId": "i-0c31071b2c3456789", "State": "attached", "Device": "/dev/xvdf"}]}]}"#;
    let folder = Folder::new(&[
        ("cluster/pv.yaml", pv("good", VOLUME).as_bytes()),
        ("ec2/volumes.json", ec2.as_bytes()),
        ("ec2/instances.json", INSTANCES_JSON.as_bytes()),
    ]);
    let run = folder.run(&["explain", "volume", "vol-0dddddddddddddddd", "--world", "."]);
    tells(
        &run,
        0,
        &[
            "vol-0dddddddddddddddd is the volume vol-0dddddddddddddddd.",
            "No PersistentVolume of the cluster names it.",
            "EC2 says: in-use, us-east-1b.",
        ],
    );
    assert!(run.out.contains("i-0c31071b2c3456789"), "who holds it is told: {}", run.out);
}

#[test]
fn a_node_is_told_with_its_instance_its_room_and_what_it_holds() {
    tells(
        &explain("node", "ip-10-0-1-12.ec2.internal"),
        1,
        &[
            "Node ip-10-0-1-12.ec2.internal is not Ready.",
            "It is the instance i-0a12d4e6f80123456 (by-provider-id).",
            "EC2 says: terminated.",
            "Its labels that matter: topology.ebs.csi.aws.com/zone=us-east-1a, \
             topology.kubernetes.io/region=us-east-1, topology.kubernetes.io/zone=us-east-1a.",
            "Driver ebs.csi.aws.com: 24 more volumes.",
            "Pods on it: shop/orders-0.",
            "Attachment of vol-0a77d0c4b1e2f3a51 to node ip-10-0-1-12.ec2.internal \
             (csi-f4ef62e0651f7430dbf1c422fe97ea81ca05373dbd58e8e3fb5576a1d79bdd52): instance-terminated, remedy \
             add-out-of-service-taint.",
        ],
    );
    tells(
        &explain("node", "ip-10-0-3-32.ec2.internal"),
        0,
        &[
            "Node ip-10-0-3-32.ec2.internal is Ready.",
            "It is the instance i-0c32182c3d456789a (by-provider-id).",
            "EC2 says: running.",
            "Its labels that matter: none.",
            "Driver ebs.csi.aws.com: 25 more volumes.",
            "Pods on it: none.",
        ],
    );
}

#[test]
fn what_is_not_there_has_no_story() {
    explain("pod", "shop/nobody").refuses(&["there is no pod shop/nobody"]);
    explain("pod", "cart-0").refuses(&["cart-0: NAMESPACE/NAME is meant"]);
    explain("node", "nobody").refuses(&["there is no Node nobody"]);
    explain("volume", "vol-0ffffffffffffffff").refuses(&["vol-0ffffffffffffffff"]);
    explain("volume", "aws://us-east-1a/snap-1").refuses(&["aws://us-east-1a/snap-1"]);
    zonewarden(&["explain", "node", "nobody", "--world", "nowhere"]).refuses(&["nowhere"]);
}

#[test]
fn what_was_not_read_is_told_behind_the_story() {
    let folder = Folder::new(&[("pv.yaml", pv("plain", VOLUME).as_bytes())]);
    let run = folder.run(&["explain", "volume", VOLUME, "--cluster", "pv.yaml"]);
    tells(
        &run,
        0,
        &[
            "PersistentVolume plain.",
            "What EC2 says of it is not known.",
            "Not read or not known: --volumes was not given: what EC2 says is unknown, and nothing that rests \
             on it is decided",
        ],
    );
}
