//! Bad input: what is wrong is told with its place, and everything else is still answered.

use std::io::Write as _;

use serde_json::json;

use super::check::VOLUMES_JSON;
use crate::{Folder, Run, VOLUME, problems, pv, volumes};

/// Checks one file beside a good one.
fn check(name: &str, text: &str) -> Run {
    let folder = Folder::new(&[(name, text.as_bytes()), ("good.yaml", pv("good", VOLUME).as_bytes())]);
    folder.run(&["check", "--cluster", name, "--cluster", "good.yaml", "-o", "json"])
}

/// Exit status 1, these volumes, and one problem that has this severity and code and begins and ends so.
#[track_caller]
fn one_problem(run: &Run, named: &[&str], [severity, code, start, inside]: [&str; 4]) {
    let report = run.report();
    let found = problems(&report);
    assert_eq!(found.len(), 1, "{found:?}");
    let [found_severity, found_code, message] = found[0];
    assert_eq!([found_severity, found_code], [severity, code], "{message}");
    assert!(message.starts_with(start), "{message} does not begin with {start}");
    assert!(message.contains(inside), "{message} does not hold {inside}");
    assert_eq!(volumes(&report), named);
    assert_eq!((run.code, &*run.err), (1, ""));
    let place = report["problems"][0]["place"].as_str().expect("a problem has a place");
    assert!(message.starts_with(place), "{message} does not begin with its place {place}");
}

#[test]
fn a_tab_costs_its_document_only() {
    let text = format!("apiVersion: v1\nkind: PersistentVolume\nmetadata:\n\tname: tab\n---\n{}", pv("next", VOLUME));
    let problem = ["error", "broken-yaml", "tab.yaml, document 1, line 4, column 2: ", "tab"];
    one_problem(&check("tab.yaml", &text), &["good", "next"], problem);
}

#[test]
fn broken_yaml_costs_its_document_only() {
    let text = format!("apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: a\n---\n{}", pv("next", VOLUME));
    let problem = ["error", "broken-yaml", "broken.yaml, document 1, line 3", ""];
    one_problem(&check("broken.yaml", &text), &["good", "next"], problem);
}

/// What hides the kind is the fault of the text, not of somebody who forgot the field.
#[test]
fn yaml_that_is_broken_where_the_kind_stands_is_called_broken() {
    let text = format!("kind: [unclosed\nfoo: bar: baz\n---\n{}", pv("next", VOLUME));
    let problem = ["error", "broken-yaml", "broken.yaml, document 1, line ", ""];
    one_problem(&check("broken.yaml", &text), &["good", "next"], problem);
}

#[test]
fn truncated_json_keeps_what_stood_before() {
    let text = format!(
        r#"{{"apiVersion": "v1", "kind": "List", "items": [
{{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {{"name": "whole"}},
  "spec": {{"csi": {{"driver": "ebs.csi.aws.com", "volumeHandle": "{VOLUME}"}}}}}},
{{"apiVersion": "v1", "kind": "Per"#
    );
    let problem = ["error", "truncated", "cut.json, document 1, line 4, column ", "ends before"];
    one_problem(&check("cut.json", &text), &["good", "whole"], problem);
}

#[test]
fn text_that_is_no_object_is_named() {
    let problem = ["error", "unexpected-document", "notes.yaml, document 1, line 1, column 1: ", "kind"];
    one_problem(&check("notes.yaml", "just a sentence\n"), &["good"], problem);
}

#[test]
fn an_empty_file_is_named() {
    let problem = ["warning", "empty", "empty.yaml: ", "nothing in it"];
    one_problem(&check("empty.yaml", ""), &["good"], problem);
    Folder::new(&[("empty.yaml", b"")]).run(&["check", "--cluster", "empty.yaml"]).refuses(&["empty.yaml"]);
}

/// A cluster without attachments prints one: no finding. Where there is nothing else, the file is named.
#[test]
fn an_empty_list_is_no_finding_and_no_answer() {
    const EMPTY: &str = "apiVersion: v1\nkind: List\nitems: []\nmetadata:\n  resourceVersion: \"\"\n";
    let run = check("empty.yaml", EMPTY);
    assert_eq!((run.code, volumes(&run.report())), (0, vec!["good"]));
    let folder = Folder::new(&[("empty.yaml", EMPTY.as_bytes())]);
    folder.run(&["check", "--cluster", "empty.yaml"]).refuses(&["empty.yaml"]);
}

#[test]
fn mixed_kinds_in_one_list_are_all_read() {
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {{name: node-1}}\n\
         - apiVersion: v1\n  kind: PersistentVolume\n  metadata: {{name: listed}}\n  spec: {{csi: \
         {{driver: ebs.csi.aws.com, volumeHandle: {VOLUME}}}}}\n\
         - apiVersion: v1\n  kind: Pod\n  metadata: {{name: pod-1, namespace: d}}\n  spec:\n\
        \x20   volumes:\n    - {{name: a, awsElasticBlockStore: {{volumeID: {VOLUME}}}}}\n"
    );
    let report = check("mixed.yaml", &text).report();
    assert_eq!(volumes(&report), ["good", "listed"]);
    assert_eq!((&report["pods"][0]["name"], report["pods"].as_array().map(Vec::len)), (&json!("pod-1"), Some(1)));
    assert_eq!(problems(&report), Vec::<[&str; 3]>::new());
}

#[test]
fn an_unknown_kind_is_told_once_however_often_it_comes() {
    let deployment = |name: &str| format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\n---\n");
    let text = format!("{}{}{}", deployment("a"), deployment("b"), pv("next", VOLUME));
    let run = check("unknown.yaml", &text);
    let report = run.report();
    assert_eq!(volumes(&report), ["good", "next"]);
    let told = report["problems"].as_array().expect("problems are a list").iter();
    let told: Vec<_> = told.filter(|problem| problem["code"] == "unknown-kind").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let message = told[0]["message"].as_str().expect("a problem has a message");
    assert!(
        message.starts_with("unknown.yaml, document 1, line 1") && message.contains("Deployment.apps"),
        "{message}"
    );
}

#[test]
fn of_two_objects_with_one_name_the_later_is_used_and_both_places_are_named() {
    let text = format!("{}---\n{}", pv("twin", VOLUME), pv("twin", "vol-0b6f5e4d3c2b1a095"));
    let run = check("twins.yaml", &text);
    let problem =
        ["warning", "duplicate", "twins.yaml, document 2, ", "PersistentVolume twin: stands at twins.yaml, document 1"];
    one_problem(&run, &["good", "twin"], problem);
    assert_eq!(run.report()["volumes"][1]["awsVolumeId"], "vol-0b6f5e4d3c2b1a095");
}

#[test]
fn volumes_of_other_drivers_are_left_alone() {
    let source = |name: &str, source: &str| {
        format!("apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec: {{{source}}}\n---\n")
    };
    let text = [
        source("efs", "csi: {driver: efs.csi.aws.com, volumeHandle: fs-0f1e2d3c4b5a69788}"),
        source("local", "local: {path: /mnt/disk}"),
        source("nfs", "nfs: {server: nfs.example.com, path: /}"),
        source("none", ""),
    ]
    .concat();
    let run = check("others.yaml", &text);
    let report = run.report();
    assert_eq!(volumes(&report), ["efs", "good", "local", "nfs", "none"]);
    for at in [0, 2, 3, 4] {
        let volume = &report["volumes"][at];
        assert_eq!((&volume["awsVolumeId"], &volume["basis"]), (&json!(null), &json!("nothing")), "{volume}");
        assert_eq!(volume["proposed"], json!({"labels": {}, "affinity": null}), "{volume}");
        assert_eq!(volume["findings"], json!([]), "{volume}");
    }
    assert_eq!((run.code, problems(&report)), (0, vec![]));
}

#[test]
fn an_id_with_a_line_end_is_warned_of_and_shown_as_it_is() {
    let folder = Folder::new(&[
        ("pv.yaml", pv("ended", &format!("{VOLUME}\n")).as_bytes()),
        ("volumes.json", VOLUMES_JSON.as_bytes()),
        ("strict.yaml", b"volume-ids: strict\n"),
    ]);
    let args = ["check", "--cluster", "pv.yaml", "--volumes", "volumes.json", "-o", "json"];
    let run = folder.run(&args);
    let volume = &run.report()["volumes"][0];
    assert_eq!(volume["kubernetesVolumeId"], format!("{VOLUME}\n"));
    assert_eq!((&volume["awsVolumeId"], &volume["zone"]), (&json!(VOLUME), &json!("us-east-1a")));
    assert_eq!(
        volume["findings"],
        json!([{
            "severity": "warning", "code": "surrounding-whitespace",
            "message": "volume id \"vol-0a1b2c3d4e5f60718\\n\": there is whitespace around the id, which Kubernetes \
                        does not trim",
        }])
    );
    assert_eq!(run.code, 1);

    let strict = folder.run(&[&args[..], &["--settings", "strict.yaml"]].concat());
    let volume = &strict.report()["volumes"][0];
    assert_eq!(
        (&volume["awsVolumeId"], &volume["findings"][0]["code"]),
        (&json!(null), &json!("surrounding-whitespace"))
    );

    let table = folder.run(&["check", "--cluster", "pv.yaml", "-o", "wide"]);
    assert!(table.out.contains(&format!("{VOLUME}\\n")), "{}", table.out);
}

#[test]
fn a_missing_file_costs_itself_only() {
    let folder = Folder::new(&[("good.yaml", pv("good", VOLUME).as_bytes())]);
    let run = folder.run(&["check", "--cluster", "gone.yaml", "--cluster", "good.yaml", "-o", "json"]);
    one_problem(&run, &["good"], ["error", "file-missing", "gone.yaml: ", "there is no such file"]);
    let run = folder.run(&["check", "--cluster", "good.yaml", "--volumes", "gone.json", "-o", "json"]);
    one_problem(&run, &["good"], ["error", "file-missing", "gone.json: ", "there is no such file"]);
}

#[test]
fn a_directory_costs_itself_only() {
    let folder = Folder::new(&[("good.yaml", pv("good", VOLUME).as_bytes()), ("sub/x.yaml", b"")]);
    let run = folder.run(&["check", "--cluster", "sub", "--cluster", "good.yaml", "-o", "json"]);
    one_problem(&run, &["good"], ["error", "file-is-directory", "sub: ", "is a directory"]);
    folder.run(&["check", "--cluster", "sub"]).refuses(&["sub: is a directory"]);
    folder.run(&["check", "--world", "good.yaml"]).refuses(&["good.yaml"]);
}

#[test]
fn a_malformed_field_costs_its_object_only() {
    let text = format!("{}---\n{}", pv("bad", VOLUME).replace(&format!("\"{VOLUME}\""), "[1, 2]"), pv("next", VOLUME));
    let problem = [
        "error",
        "malformed-field",
        "field.yaml, document 1, line 8, column ",
        ": PersistentVolume bad: spec.csi.volumeHandle: ",
    ];
    one_problem(&check("field.yaml", &text), &["good", "next"], problem);
}

#[test]
fn a_malformed_field_of_ec2_costs_its_volume_only() {
    let ec2 = r#"{"Volumes": [{"VolumeId": "vol-0b6f5e4d3c2b1a095", "State": 7},
        {"VolumeId": "vol-0a1b2c3d4e5f60718", "AvailabilityZone": "us-east-1a", "State": "available",
         "Attachments": []}]}"#;
    let folder = Folder::new(&[("good.yaml", pv("good", VOLUME).as_bytes()), ("volumes.json", ec2.as_bytes())]);
    let run = folder.run(&["check", "--cluster", "good.yaml", "--volumes", "volumes.json", "-o", "json"]);
    let problem = [
        "error",
        "malformed-field",
        "volumes.json, document 1, line 1, column ",
        ": volume vol-0b6f5e4d3c2b1a095: State: ",
    ];
    one_problem(&run, &["good"], problem);
    assert_eq!(run.report()["volumes"][0]["zone"], "us-east-1a");
}

#[test]
fn a_page_that_says_there_are_more_is_not_taken_for_the_whole() {
    let ec2 = VOLUMES_JSON.replacen('{', r#"{"NextToken": "more", "#, 1);
    let folder = Folder::new(&[("good.yaml", pv("good", VOLUME).as_bytes()), ("volumes.json", ec2.as_bytes())]);
    let run = folder.run(&["check", "--cluster", "good.yaml", "--volumes", "volumes.json", "-o", "json"]);
    one_problem(&run, &["good"], ["warning", "partial", "volumes.json, document 1", "NextToken"]);
}

/// 100 MB as kubectl prints them, objects with long annotations; the last object is found behind all of them.
#[test]
fn a_file_of_a_hundred_megabytes_is_read() {
    const PODS: usize = 2_500;
    let folder = Folder::new(&[]);
    let file = std::fs::File::create(folder.path().join("big.json")).expect("a file can be made");
    let mut file = std::io::BufWriter::new(file);
    let mut write = |text: &str| file.write_all(text.as_bytes()).expect("the file can be written");
    let note = "configuration ".repeat(3_000);
    write(r#"{"apiVersion":"v1","kind":"List","items":["#);
    for pod in 0..PODS {
        write(&format!(
            r#"{{"apiVersion":"v1","kind":"Pod",
            "metadata":{{"name":"p-{pod}","namespace":"d","annotations":{{"note":"{note}"}}}},
            "spec":{{"containers":[{{"name":"main"}}],"volumes":[]}},"status":{{"phase":"Running"}}}},"#
        ));
    }
    write(&format!(
        r#"{{"apiVersion":"v1","kind":"PersistentVolume","metadata":{{"name":"last"}},
        "spec":{{"csi":{{"driver":"ebs.csi.aws.com","volumeHandle":"{VOLUME}"}}}}}}]}}"#
    ));
    file.into_inner().expect("the file can be written");
    let bytes = std::fs::metadata(folder.path().join("big.json")).expect("the file is there").len();
    assert!(bytes >= 100_000_000, "{bytes}");

    let run = folder.run(&["check", "--cluster", "big.json", "-o", "json"]);
    assert_eq!((run.code, volumes(&run.report())), (0, vec!["last"]));
}
