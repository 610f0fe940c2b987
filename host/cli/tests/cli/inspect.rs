//! `zonewarden policy inspect`.

use serde_json::{Value, json};
use zonewarden_artifacts::{EBS_COMPONENT, EBS_COMPONENT_PATH, EBS_CORE_PATH, EBS_STRICT_COMPONENT_PATH};

use crate::{Folder, zonewarden};

/// A component that does nothing but import an instance without functions under this name.
fn importer(name: &str) -> Vec<u8> {
    let length = u8::try_from(name.len()).expect("a short name");
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    // One type: an instance with no exports.
    bytes.extend([7, 3, 1, 0x42, 0]);
    // One import of that type.
    bytes.extend([10, length + 5, 1, 0, length]);
    bytes.extend(name.as_bytes());
    bytes.extend([5, 0]);
    bytes
}

#[test]
fn the_default_policy_tells_what_it_is_and_reads() {
    let run = zonewarden(&["policy", "inspect", EBS_COMPONENT_PATH, "-o", "json"]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    let mut told: Value = serde_json::from_str(&run.out).expect("the answer is JSON");
    let fields = told.as_object_mut().expect("the answer is an object");
    let digest = fields.remove("digest").expect("there is a digest");
    assert_eq!(digest.as_str().map(str::len), Some(64));
    let schema = fields.remove("settingsSchema").expect("there is a schema");
    assert_eq!(schema["properties"]["volume-ids"]["enum"], json!(["lenient", "strict"]));
    assert_eq!(schema["additionalProperties"], false);
    let remedies = fields.remove("remedies").expect("there are remedies");
    let mut remedies: Vec<_> =
        remedies.as_array().expect("a list").iter().map(|one| one.as_str().expect("a text")).collect();
    remedies.sort_unstable();
    assert_eq!(
        remedies,
        [
            "add-out-of-service-taint",
            "delete-dead-attachment",
            "delete-detached-attachment",
            "delete-leaked-attachment",
            "event",
            "force-delete-pods",
            "remove-out-of-service-taint",
            "set-labels",
            "set-node-affinity",
        ]
    );
    let interfaces = ["types", "info", "identity", "labelling", "placement", "attachment", "admission", "json"];
    assert_eq!(
        told,
        json!({
            "bytes": EBS_COMPONENT.len(),
            "contract": ["0.1.0"],
            "imports": [],
            "exports": interfaces.map(|name| format!("zonewarden:policy/{name}@0.1.0")),
            "refused": null,
            "name": "ebs",
            "version": "0.1.0",
            "csiDrivers": ["ebs.csi.aws.com"],
            "inTreePlugins": ["kubernetes.io/aws-ebs"],
            "nodeLabelKeys": [
                "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
                "topology.ebs.csi.aws.com/outpost-id", "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone",
                "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
            ],
            "annotationKeys": ["pv.kubernetes.io/provisioned-by"],
            "volumeAttributeKeys": ["availability-zone-id", "outpost-arn"],
        })
    );
}

#[test]
fn the_table_says_it_to_people() {
    let run = zonewarden(&["policy", "inspect", EBS_STRICT_COMPONENT_PATH]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    for (title, value) in [
        ("Name", "ebs-strict"),
        ("Contract", "0.1.0"),
        ("Imports", "(none)"),
        ("CSI drivers", "ebs.csi.aws.com"),
        ("Annotations read", "pv.kubernetes.io/provisioned-by"),
        ("Volume attributes read", "availability-zone-id, outpost-arn"),
        ("Setting", "volume-ids = strict"),
        ("Setting", "unlabelled-nodes = refuse"),
    ] {
        let told = |line: &str| line.strip_prefix(title).is_some_and(|rest| rest.trim() == value);
        assert!(run.out.lines().any(told), "{title} {value} is not in {}", run.out);
    }
    assert!(!run.out.contains("Refused"), "{}", run.out);
    let wide = zonewarden(&["policy", "inspect", EBS_STRICT_COMPONENT_PATH, "-o", "wide"]);
    assert!(wide.out.contains("volume-ids = strict: Whether"), "{}", wide.out);
}

#[test]
fn what_is_read_follows_the_settings() {
    let folder = Folder::new(&[("settings.yaml", b"csi-driver: ebs.example.com\n")]);
    let run = folder.run(&["policy", "inspect", EBS_COMPONENT_PATH, "-o", "json", "--settings", "settings.yaml"]);
    let told: Value = serde_json::from_str(&run.out).expect("the answer is JSON");
    assert_eq!((run.code, &told["csiDrivers"]), (0, &json!(["ebs.example.com"])));
}

#[test]
fn a_component_that_imports_something_is_shown_and_refused_by_the_imports_name() {
    let folder = Folder::new(&[("clock.wasm", &importer("wasi:clocks/wall-clock@0.2.0"))]);
    let run = folder.run(&["policy", "inspect", "clock.wasm", "-o", "json"]);
    assert_eq!((run.code, &*run.err), (1, ""), "{}", run.out);
    let told: Value = serde_json::from_str(&run.out).expect("the answer is JSON");
    assert_eq!(told["imports"], json!(["wasi:clocks/wall-clock@0.2.0"]));
    assert_eq!((&told["name"], &told["contract"]), (&json!(null), &json!([])));
    let refused = told["refused"].as_str().expect("it is refused");
    assert!(refused.contains("wasi:clocks/wall-clock@0.2.0"), "{refused}");
    let table = folder.run(&["policy", "inspect", "clock.wasm"]);
    assert_eq!(table.code, 1);
    assert!(table.out.lines().any(|line| line.starts_with("Refused") && line.contains("wall-clock")), "{}", table.out);
}

#[test]
fn what_is_no_component_is_refused_by_its_file_and_nature() {
    let folder =
        Folder::new(&[("notes.txt", b"no WebAssembly"), ("empty.wasm", b""), ("cut.wasm", &EBS_COMPONENT[..5_000])]);
    let inspect = |file: &str| folder.run(&["policy", "inspect", file]);
    inspect(EBS_CORE_PATH).refuses(&[EBS_CORE_PATH, "a core module, not a component"]);
    inspect("notes.txt").refuses(&["notes.txt", "not WebAssembly"]);
    inspect("empty.wasm").refuses(&["empty.wasm"]);
    inspect("cut.wasm").refuses(&["cut.wasm"]);
    inspect("gone.wasm").refuses(&["gone.wasm can't be read"]);
    inspect(".").refuses(&[". can't be read"]);
}
