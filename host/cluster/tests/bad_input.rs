//! Whatever a file holds: a problem that names the place, and everything else is still there.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::path::PathBuf;

use proptest::prelude::*;
use zonewarden_cluster::records::{AttachedSource, PodVolumeSource};
use zonewarden_cluster::{Kind, Loaded, ObjectName, Severity, load, parse};
use zonewarden_contract::types::{CsiSource, KubernetesVolumeId, VolumeAffinity, VolumeSource};

const PV: &str = "apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: NAME\nspec:\n  csi:\n    driver: d\n    volumeHandle: vol-1\n";

fn pv(name: &str) -> String {
    PV.replace("NAME", name)
}

/// The names of the PersistentVolumes, and the problems as texts.
fn check(bytes: impl AsRef<[u8]>, volumes: &[&str], problems: &[&str]) -> Loaded {
    let loaded = parse(bytes.as_ref(), "f.yaml");
    let names: Vec<_> = loaded.index.volumes().map(|volume| &*volume.identity.name.name).collect();
    assert_eq!(names, volumes);
    assert_eq!(loaded.problems.iter().map(ToString::to_string).collect::<Vec<_>>(), problems);
    loaded
}

#[test]
fn lists_documents_and_lists_of_lists() {
    let indented = pv("a").replace('\n', "\n  ");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {indented}\n- {}", pv("b").replace('\n', "\n  "));
    check(&list, &["a", "b"], &[]);
    check(format!("{}---\n{list}", pv("c")), &["a", "b", "c"], &[]);
    let nested = r#"{"kind":"List","apiVersion":"v1","items":[{"kind":"PersistentVolumeList","apiVersion":"v1","items":[
        {"metadata":{"name":"x"},"spec":{"hostPath":{"path":"/"}}}]}]}"#;
    let loaded = check(nested, &["x"], &[]);
    assert_eq!(loaded.index.volume("x").unwrap().source, VolumeSource::Other("hostPath".to_owned()));
    check("apiVersion: v1\nkind: List\nitems: []\n", &[], &[]);
    check("[]", &[], &[]);
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    let message = "f.yaml: there is nothing in it; kubectl get -o yaml or -o json prints what is read here";
    check("", &[], &[message]);
    check("# nothing\n---\n", &[], &[message]);
}

#[test]
fn marks_utf_16_and_windows_line_ends() {
    check(format!("\u{feff}{}", pv("a")), &["a"], &[]);
    check(pv("a").replace('\n', "\r\n"), &["a"], &[]);
    let units: Vec<u16> = format!("\u{feff}{}", pv("a")).encode_utf16().collect();
    check(units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<_>>(), &["a"], &[]);
    check(units.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<_>>(), &["a"], &[]);
    let message = "f.yaml, document 2, line 9, column 2: byte 0xff is not UTF-8 text; \
                   save the file as UTF-8, or as UTF-16 with its mark";
    let mut bytes = pv("a").into_bytes();
    bytes.extend_from_slice(b"---\na\xFF\n---\n");
    bytes.extend_from_slice(pv("b").as_bytes());
    let message = message.replace("line 9", "line 10");
    check(bytes, &["a", "b"], &[&message]);
}

#[test]
fn a_tab_costs_its_document_only() {
    let broken = pv("b").replace("  name", "\tname");
    check(
        format!("{}---\n{broken}---\n{}", pv("a"), pv("c")),
        &["a", "c"],
        &["f.yaml, document 2, line 13, column 2: tabs disallowed within this context (block indentation)"],
    );
}

#[test]
fn truncated_json_keeps_what_stood_before() {
    let object = r#"{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"NAME"},"spec":{}}"#;
    let list = format!(r#"{{"kind":"List","items":[{},{}"#, object.replace("NAME", "a"), &object[..30]);
    check(
        list,
        &["a"],
        &[
            "f.yaml, document 1, line 1, column 105: the text ends before this value does; what stood before it was read",
        ],
    );
}

#[test]
fn a_malformed_field_costs_its_object_only() {
    let labels = pv("b").replace("  name: b", "  name: b\n  labels:\n    x: true");
    check(
        format!("{}---\n{labels}---\n{}", pv("a"), pv("c")),
        &["a", "c"],
        &[
            "f.yaml, document 2, line 15, column 8: PersistentVolume b: metadata.labels.x: The string value [true] must be quoted",
        ],
    );
    let number = pv("b").replace("vol-1", "17");
    check(
        number,
        &[],
        &[
            "f.yaml, document 1, line 8, column 19: PersistentVolume b: spec.csi.volumeHandle: The string value [17] must be quoted",
        ],
    );
    check(
        r#"{"kind":"Pod","metadata":{"name":"p","namespace":"n"},"spec":{"volumes":{}}}"#,
        &[],
        &["f.yaml, document 1, line 1, column 72: Pod n/p: spec.volumes: invalid type: map, expected a sequence"],
    );
    check(
        r#"{"kind":"Pod","metadata":{"name":"p","creationTimestamp":"yesterday"}}"#,
        &[],
        &[
            "f.yaml, document 1, line 1, column 69: Pod p: metadata.creationTimestamp: \"yesterday\" is no point in time; \
         accepted is RFC 3339, such as 2026-11-03T09:12:48Z",
        ],
    );
    check(
        r#"{"kind":"Pod","metadata":{"name":""}}"#,
        &[],
        &["f.yaml, document 1, line 1, column 1: Pod: metadata.name: is empty; every object has a name"],
    );
    check(
        r#"{"metadata":{"name":"p"}}"#,
        &[],
        &[
            "f.yaml, document 1, line 1, column 1: there is no field kind; a Kubernetes object has apiVersion, kind and metadata",
        ],
    );
}

#[test]
fn a_quantity_that_can_not_be_read_costs_nothing_else() {
    let text = pv("a").replace("spec:\n", "spec:\n  capacity:\n    storage: 10GiB\n");
    let loaded = parse(text.as_bytes(), "f.yaml");
    assert_eq!(loaded.index.volume("a").unwrap().capacity_bytes, None);
    let [problem] = &loaded.problems[..] else { panic!("{:?}", loaded.problems) };
    assert_eq!((problem.severity, problem.field.as_deref()), (Severity::Warning, Some("spec.capacity.storage")));
    assert!(problem.message.starts_with("\"10GiB\" is no quantity; accepted is "), "{problem}");
    let loaded = parse(text.replace("10GiB", "10").as_bytes(), "f.yaml");
    assert_eq!(loaded.index.volume("a").unwrap().capacity_bytes, Some(10));
}

#[test]
fn of_two_objects_with_one_name_the_later_wins() {
    let later = pv("a").replace("vol-1", "vol-2");
    let loaded = check(
        format!("{}---\n{later}", pv("a")),
        &["a"],
        &[
            "f.yaml, document 2, line 10, column 1: PersistentVolume a: stands at f.yaml, document 1, line 1, column 1 too; \
         the later one is used",
        ],
    );
    assert_eq!(loaded.counts, [(Kind::PersistentVolume, 1)].into());
    let id = KubernetesVolumeId { kubernetes_volume_id: "vol-2".to_owned() };
    let expected = VolumeSource::Csi(CsiSource { driver: "d".to_owned(), volume_handle: id });
    assert_eq!(loaded.index.volume("a").unwrap().source, expected);
}

#[test]
fn unknown_kinds_are_named_once_and_counted() {
    let text =
        "kind: Secret\napiVersion: v1\n---\nkind: Secret\napiVersion: v1\n---\nkind: Node\napiVersion: other.io/v1\n";
    let loaded = check(
        format!("{text}---\n{}", pv("a")),
        &["a"],
        &[
            "f.yaml, document 1, line 1, column 1: objects of kind Secret are not read, and not needed",
            "f.yaml, document 3, line 7, column 1: objects of kind Node.other.io are not read, and not needed",
        ],
    );
    assert_eq!(loaded.unknown_kinds, [("Node.other.io".to_owned(), 1), ("Secret".to_owned(), 2)].into());
}

#[test]
fn an_id_with_a_line_end_survives_byte_for_byte() {
    for handle in ["\"vol-1\\n\"", "|\n      vol-1"] {
        let loaded = parse(pv("a").replace("vol-1", handle).as_bytes(), "f.yaml");
        let VolumeSource::Csi(source) = &loaded.index.volume("a").unwrap().source else { panic!("{loaded:?}") };
        assert_eq!(source.volume_handle.kubernetes_volume_id, "vol-1\n");
    }
}

#[test]
fn a_missing_file_and_a_directory_cost_themselves_only() {
    let folder = std::env::temp_dir().join(format!("zonewarden-cluster-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.yaml");
    std::fs::write(&file, pv("a")).unwrap();
    let loaded = load(&[PathBuf::from("no/such.yaml"), folder.clone(), file]);
    let codes: Vec<_> = loaded.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(
        (codes, loaded.counts),
        (vec!["file-missing", "file-is-directory"], [(Kind::PersistentVolume, 1)].into())
    );
    assert_eq!(zonewarden_cluster::files::load_folder(&folder).counts, [(Kind::PersistentVolume, 1)].into());
    std::fs::remove_dir_all(&folder).unwrap();
    let codes: Vec<_> =
        zonewarden_cluster::files::load_folder(&folder).problems.iter().map(|p| p.code.as_str()).collect();
    assert_eq!(codes, ["file-missing"]);
}

#[test]
fn lists_within_lists_end_somewhere() {
    let text = format!("{}{}", r#"{"kind":"List","items":["#.repeat(5000), "]}".repeat(5000));
    let loaded = parse(text.as_bytes(), "f.json");
    assert_eq!(loaded.problems.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>(), ["too-deep"]);
}

#[test]
fn json_nested_thousands_deep_is_a_problem() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(r#"{{"kind":"Pod","metadata":{{"name":"p"}},"spec":{{"affinity":{deep}}}}}"#);
    assert_eq!(parse(text.as_bytes(), "f").problems.len(), 1);
    let yaml = format!("kind: Pod\nmetadata:\n  name: p\nspec:\n  affinity: {}\n", "[".repeat(100_000));
    assert_eq!(parse(yaml.as_bytes(), "f").problems.len(), 1);
}

#[test]
fn a_file_of_a_hundred_megabytes_is_read() {
    let item = format!("{{\"kind\":\"ConfigMap\",\"data\":{{\"a\":\"{}\"}}}},", "x".repeat(1 << 20));
    let text = format!(r#"{{"kind":"List","items":[{}{{"kind":"Pod","metadata":{{"name":"p"}}}}]}}"#, item.repeat(100));
    let loaded = parse(text.as_bytes(), "f.json");
    assert_eq!(loaded.counts, [(Kind::Pod, 1)].into());
    assert_eq!(loaded.unknown_kinds, [("ConfigMap".to_owned(), 100)].into());
}

#[test]
fn nothing_that_may_be_null_is_required() {
    let loaded = parse(
        br#"{"kind":"List","items":[
          {"kind":"PersistentVolume","metadata":{"name":"v","labels":null,"annotations":null},
           "spec":{"nodeAffinity":null,"claimRef":null,"awsElasticBlockStore":{"volumeID":""}},"status":null},
          {"kind":"PersistentVolumeClaim","metadata":{"name":"c"}},
          {"kind":"Pod","metadata":{"name":"p"}},
          {"kind":"Node","metadata":{"name":"n"}},
          {"kind":"VolumeAttachment","metadata":{"name":"a"},"spec":{"attacher":"d","nodeName":"n","source":{}}},
          {"kind":"CSINode","metadata":{"name":"n"}},
          {"kind":"CSIDriver","metadata":{"name":"d"}},
          {"kind":"StorageClass","metadata":{"name":"s"},"provisioner":"d"}]}"#,
        "f",
    );
    assert_eq!(loaded.problems, []);
    assert_eq!(loaded.counts.values().sum::<usize>(), 8);
    assert_eq!(loaded.index.volume("v").unwrap().affinity, VolumeAffinity::Unset);
    assert!(loaded.index.csi_driver("d").unwrap().attach_required);
    assert!(loaded.index.claim(&ObjectName::new("default", "c")).is_some());
    assert_eq!(loaded.index.attachment("a").unwrap().source, AttachedSource::PersistentVolume(String::new()));
}

proptest! {
    #[test]
    fn any_bytes_give_objects_or_problems(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let loaded = parse(&bytes, "f");
        let has_something = !loaded.counts.is_empty() || !loaded.problems.is_empty();
        let is_empty_list = std::str::from_utf8(&bytes).is_ok_and(|text| text.contains("[]"));
        prop_assert!(has_something || is_empty_list);
    }

    #[test]
    fn any_damage_to_a_good_file_is_survived(at in 0_usize..400, byte in any::<u8>(), cut in 0_usize..400) {
        let mut bytes = format!("{}---\n{}", pv("a"), pv("b")).into_bytes();
        let length = bytes.len();
        bytes[at % length] = byte;
        bytes.truncate(length - cut % 20);
        let loaded = parse(&bytes, "f");
        prop_assert!(loaded.index.volumes().len() > 0 || !loaded.problems.is_empty());
    }

    #[test]
    fn any_volume_id_survives(id in any::<String>()) {
        let pod = serde_json::json!({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": [
            {"name": "v", "awsElasticBlockStore": {"volumeID": id}}]}});
        let loaded = parse(pod.to_string().as_bytes(), "f");
        let pod = loaded.index.pods().next().unwrap();
        let expected = VolumeSource::AwsElasticBlockStore(KubernetesVolumeId { kubernetes_volume_id: id });
        prop_assert_eq!(&pod.volumes[0].source, &PodVolumeSource::Inline(expected));
    }
}
