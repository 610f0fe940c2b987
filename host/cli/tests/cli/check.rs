//! `zonewarden check`: where the world comes from, what the exit status says, how the answer looks.

use serde_json::{Value, json};

use crate::{Folder, VOLUME, problems, pv, volumes, zonewarden};

/// EC2's answer about [`VOLUME`].
pub(crate) const VOLUMES_JSON: &str = r#"{"Volumes": [{"VolumeId": "vol-0a1b2c3d4e5f60718", 
  "AvailabilityZone": "us-east-1a", "State": "available", "MultiAttachEnabled": false, "Attachments": []}]}"#;
pub(crate) const INSTANCES_JSON: &str = r#"{"Reservations": []}"#;

/// A PersistentVolume that lacks nothing.
const LABELLED: &str = "apiVersion: v1
kind: PersistentVolume
metadata:
  name: whole
  labels: {topology.kubernetes.io/zone: us-east-1a}
spec:
  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0a1b2c3d4e5f60718}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}]
";

fn clean() -> Folder {
    Folder::new(&[
        ("cluster/volumes.yaml", LABELLED.as_bytes()),
        ("ec2/volumes.json", VOLUMES_JSON.as_bytes()),
        ("ec2/instances.json", INSTANCES_JSON.as_bytes()),
    ])
}

#[test]
fn a_world_where_nothing_is_wrong_exits_with_0() {
    let run = clean().run(&["check", "--world", ".", "-o", "json"]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    let report = run.report();
    assert_eq!(
        report["summary"],
        json!({
            "volumes": 1, "volumesWithFindings": 0, "pods": 0, "podsWithFindings": 0,
            "attachments": 0, "attachmentsWithFindings": 0, "problems": 0,
        })
    );
    assert_eq!(
        report["volumes"],
        json!([{
            "persistentVolume": "whole", "kubernetesVolumeId": VOLUME, "awsVolumeId": VOLUME, "zone": "us-east-1a",
            "region": "us-east-1", "basis": "ec2", "state": "available", "findings": [],
            "proposed": {"labels": {}, "affinity": null},
            "reason": {
                "severity": "info", "code": "zone-from-ec2",
                "message": "EC2 has volume vol-0a1b2c3d4e5f60718 in zone us-east-1a",
            },
        }])
    );
    assert_eq!(report["problems"], json!([]));
}

#[test]
fn the_table_has_one_line_an_object_and_the_counts_last() {
    let run = zonewarden(&["check", "--world", "examples/demo"]);
    assert_eq!((run.code, &*run.err), (1, ""));
    let line = |start: &str| {
        let mut lines = run.out.lines().filter(|line| line.starts_with(start));
        let line = lines.next().unwrap_or_else(|| panic!("no line begins with {start}: {}", run.out));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("PERSISTENTVOLUME "), "PERSISTENTVOLUME VOLUME ZONE FINDINGS");
    assert_eq!(line("cart-data "), "cart-data vol-0c4d5e6f708192a34 us-east-1c zone-mismatch");
    assert_eq!(line("shared-assets "), "shared-assets - - -");
    assert_eq!(line("NAMESPACE "), "NAMESPACE POD NODE FITS FINDINGS");
    assert_eq!(line("shop       cart-0 "), "shop cart-0 ip-10-0-1-11.ec2.internal 0 of 6 nodes placed-on-wrong-node");
    assert_eq!(line("shop       report "), "shop report - 3 of 6 nodes -");
    assert_eq!(line("VOLUME "), "VOLUME NODE VERDICT REMEDY CODE");
    assert_eq!(
        line("vol-0c31f2e3d4c5b6a72 "),
        "vol-0c31f2e3d4c5b6a72 ip-10-0-3-31.ec2.internal detached-waiting delete-detached-attachment detached-waiting"
    );
    let last = run.out.lines().last().expect("there are lines");
    let counts = "9 volumes, 8 with findings; 8 pods, 2 with findings; 6 attachments, 4 with findings; 0 problems";
    assert!(last.starts_with(counts), "{last}");
}

#[test]
fn the_wide_table_names_ids_nodes_and_reasons() {
    let run = zonewarden(&["check", "--world", "examples/demo", "-o", "wide"]);
    assert_eq!((run.code, &*run.err), (1, ""));
    for text in [
        "aws://us-east-1a/vol-0a1b2c3d4e5f60718",
        "zone-mismatch: PersistentVolume cart-data says us-east-1a in label topology.kubernetes.io/zone",
        "ip-10-0-2-21.ec2.internal ip-10-0-2-22.ec2.internal (topology-not-allowed)",
        "i-0b22000011112222f",
        "csi-dd38c5fdb8f0407ec4e8485fdc34767d6b92144996b7127e93dd96e8ea10700d",
        "force-delete-pods",
    ] {
        assert!(run.out.contains(text), "{text:?} is not in {}", run.out);
    }
}

#[test]
fn yaml_says_the_same_as_json() {
    let folder = clean();
    let [json, yaml] = ["json", "yaml"].map(|form| folder.run(&["check", "--world", ".", "-o", form]));
    assert_eq!((json.code, yaml.code), (0, 0));
    let read: Value = serde_saphyr::from_str(&yaml.out).expect("the answer is YAML");
    assert_eq!(read, json.report());
}

#[test]
fn nodes_are_named_up_to_five_of_a_group_or_all() {
    let node = |n: usize| format!("apiVersion: v1\nkind: Node\nmetadata: {{name: node-{n}}}\n---\n");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: d}\nspec:\n  volumes:\n  - name: a\n    \
               awsElasticBlockStore: {volumeID: vol-0a1b2c3d4e5f60718}\n";
    let world: String = (1..=7).map(node).chain([pod.to_owned()]).collect();
    let folder = Folder::new(&[("all.yaml", world.as_bytes())]);
    for (args, named) in [
        (vec!["check", "--cluster", "all.yaml", "-o", "json"], 5),
        (vec!["check", "--all-nodes", "--cluster", "all.yaml", "-o", "json"], 7),
    ] {
        let report = folder.run(&args).report();
        let pod = &report["pods"][0];
        let groups =
            ["feasible", "refused"].map(|list| pod[list].as_array().expect("a list of groups").clone()).concat();
        assert_eq!(groups.len(), 1, "{pod}");
        assert_eq!(groups[0]["nodeCount"], 7, "{pod}");
        assert_eq!(groups[0]["nodes"].as_array().map(Vec::len), Some(named), "{pod}");
    }
}

#[test]
fn the_cluster_may_come_in_files_lists_and_documents() {
    let list = format!(
        r#"{{"apiVersion": "v1", "kind": "List", "items": [
            {{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {{"name": "in-list"}},
              "spec": {{"csi": {{"driver": "ebs.csi.aws.com", "volumeHandle": "{VOLUME}"}}}}}}]}}"#
    );
    let typed = format!(
        "apiVersion: v1\nkind: PersistentVolumeList\nitems:\n- metadata: {{name: in-typed-list}}\n  spec: {{csi: \
         {{driver: ebs.csi.aws.com, volumeHandle: {VOLUME}}}}}\n"
    );
    let documents = format!("{}---\n{}", pv("first", VOLUME), pv("second", VOLUME));
    let folder = Folder::new(&[
        ("list.json", list.as_bytes()),
        ("typed.yaml", typed.as_bytes()),
        ("documents.yaml", documents.as_bytes()),
    ]);
    let run = folder.run(&[
        "check",
        "--cluster",
        "list.json",
        "--cluster",
        "typed.yaml",
        "--cluster",
        "documents.yaml",
        "-o",
        "json",
    ]);
    assert_eq!(volumes(&run.report()), ["first", "in-list", "in-typed-list", "second"]);
    assert_eq!(problems(&run.report()), Vec::<[&str; 3]>::new());
    assert_eq!(run.code, 0);
}

#[test]
fn standard_input_is_a_file_too() {
    let folder = Folder::new(&[("pv.yaml", pv("in-file", VOLUME).as_bytes())]);
    let run = folder.program(&["check", "--cluster", "-", "--cluster", "pv.yaml", "-o", "json"]);
    let report = run.input(pv("in-pipe", VOLUME)).run().report();
    assert_eq!(volumes(&report), ["in-file", "in-pipe"]);

    let run = folder.program(&["check", "--cluster", "pv.yaml", "--volumes", "-", "-o", "json"]);
    let report = run.input(VOLUMES_JSON).run().report();
    assert_eq!((&report["volumes"][0]["basis"], &report["volumes"][0]["zone"]), (&json!("ec2"), &json!("us-east-1a")));

    let run = folder.program(&["check", "--cluster", "-"]).input("a: [").run();
    run.refuses(&["standard input, document 1, line 1"]);
    folder.run(&["check", "--cluster", "-", "--instances", "-"]).refuses(&["standard input (-) is named twice"]);
}

#[test]
fn without_ec2_everything_still_runs_and_what_is_unknown_is_said() {
    let folder = Folder::new(&[("all.yaml", format!("{}---\n{}", pv("plain", VOLUME), in_tree_pv()).as_bytes())]);
    let run = folder.run(&["check", "--cluster", "all.yaml", "-o", "json"]);
    let report = run.report();
    // The zone in the id of the one is a hint, which labels rest on; nothing tells the zone of the other.
    assert_eq!(
        report["volumes"][0],
        json!({
            "persistentVolume": "hinting", "kubernetesVolumeId": "aws://us-east-1b/vol-0b6f5e4d3c2b1a095",
            "awsVolumeId": "vol-0b6f5e4d3c2b1a095", "zone": "us-east-1b", "region": "us-east-1", "basis": "hint",
            "state": null, "findings": report["volumes"][0]["findings"],
            "proposed": {
                "labels": {"topology.kubernetes.io/zone": "us-east-1b"},
                "affinity": [[{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1b"]}]],
            },
            "reason": report["volumes"][0]["reason"],
        })
    );
    let plain = &report["volumes"][1];
    assert_eq!(
        [&plain["zone"], &plain["basis"], &plain["state"], &plain["reason"]["code"]],
        [&json!(null), &json!("nothing"), &json!(null), &json!("zone-unknown")]
    );
    let notes = ["--volumes", "--instances"].map(|flag| {
        json!({
            "severity": "info", "code": "ec2-not-asked", "place": flag,
            "message": format!(
                "{flag} was not given: what EC2 says is unknown, and nothing that rests on it is decided"
            ),
        })
    });
    assert_eq!(report["problems"], json!(notes));
    assert_eq!(run.code, 1, "a label to set is a finding");
}

fn in_tree_pv() -> &'static str {
    "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: hinting}\nspec:\n  awsElasticBlockStore: {volumeID: \
     \"aws://us-east-1b/vol-0b6f5e4d3c2b1a095\"}\n"
}

#[test]
fn the_demo_without_its_ec2_files_still_says_what_the_cluster_alone_says() {
    let run = zonewarden(&[
        "check",
        "--cluster",
        "examples/demo/cluster/volumes.yaml",
        "--cluster",
        "examples/demo/cluster/nodes.yaml",
        "--cluster",
        "examples/demo/cluster/pods.yaml",
        "--cluster",
        "examples/demo/cluster/storage.yaml",
        "-o",
        "json",
    ]);
    assert_eq!((run.code, &*run.err), (1, ""));
    let report = run.report();
    assert_eq!(report["summary"]["volumes"], 9);
    assert_eq!(report["summary"]["pods"], 8);
    assert_eq!(report["summary"]["attachments"], 6);
    let attachments = report["attachments"].as_array().expect("attachments are a list").iter();
    let mut told: Vec<_> = attachments
        .map(|attachment| {
            let text = |key: &str| attachment[key].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}", text("awsVolumeId"), text("verdict"), text("remedy"))
        })
        .collect();
    told.sort_unstable();
    // That the Node is another instance now is known from its own provider id.
    assert_eq!(
        told,
        [
            "vol-0a1b2c3d4e5f60718 unknown none",
            "vol-0a77d0c4b1e2f3a51 unknown none",
            "vol-0b5e21f0a1c2d3e40 unknown none",
            "vol-0b90a1b2c3d4e5f63 drift event",
            "vol-0c31f2e3d4c5b6a72 unknown none",
            "vol-0c4d5e6f708192a34 unknown none",
        ]
    );
}

#[test]
fn where_nothing_can_be_read_nothing_is_answered() {
    let folder = Folder::new(&[]);
    folder.run(&["check"]).refuses(&["--world", "--cluster"]);
    folder.run(&["check", "--world", "nowhere"]).refuses(&["nowhere"]);
    folder.run(&["check", "--cluster", "nowhere.yaml"]).refuses(&["nowhere.yaml: there is no such file"]);
}

#[test]
fn a_mistake_in_the_flags_exits_with_2_and_help_with_0() {
    for args in [&["check", "--nonsense"][..], &["chek"], &[], &["check", "-o", "xml"], &["explain", "pod"]] {
        let run = zonewarden(args);
        assert_eq!((run.code, &*run.out), (2, ""), "{args:?}");
        assert!(run.err.contains("Usage") || run.err.contains("possible values"), "{args:?}: {}", run.err);
    }
    for (args, text) in
        [(&["--help"][..], "check"), (&["check", "--help"], "Exit status"), (&["--version"], "zonewarden 0.")]
    {
        let run = zonewarden(args);
        assert_eq!((run.code, &*run.err), (0, ""), "{args:?}");
        assert!(run.out.contains(text), "{args:?}: {}", run.out);
    }
}
