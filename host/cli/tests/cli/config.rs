//! Flags, environment variables and the configuration file, and which of them wins; settings and other policies.

use serde_json::json;
use zonewarden_artifacts::{EBS_CORE_PATH, EBS_STRICT_COMPONENT_PATH};

use crate::{Folder, VOLUME, problems, pv, volumes};

/// Two files of a cluster, a world, and configurations.
fn folder() -> Folder {
    Folder::new(&[
        ("a.yaml", pv("in-a", VOLUME).as_bytes()),
        ("b.yaml", pv("in-b", VOLUME).as_bytes()),
        ("world/cluster/c.yaml", pv("in-world", VOLUME).as_bytes()),
        ("output.yaml", b"output: json\n"),
        ("cluster.json", br#"{"output": "json", "cluster": "a.yaml"}"#),
        ("world.yaml", b"output: json\nworld: world\n"),
        ("list.yaml", b"output: json\ncluster: [a.yaml, b.yaml]\n"),
        ("unknown.yaml", b"outptu: json\n"),
        ("value.yaml", b"output: xml\n"),
        ("map.yaml", b"- output\n"),
    ])
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let folder = folder();
    let args = ["check", "--cluster", "a.yaml", "--config", "output.yaml"];
    assert_eq!(first_line(&folder.run(&args).out), "{");
    assert_eq!(first_line(&folder.program(&args).env("ZONEWARDEN_OUTPUT", "yaml").run().out), "policy:");
    let flag = [&args[..], &["-o", "table"]].concat();
    assert_eq!(first_line(&folder.program(&flag).env("ZONEWARDEN_OUTPUT", "yaml").run().out), "VOLUMES");
}

#[test]
fn the_file_is_named_by_flag_or_environment_and_read_before_or_behind_the_command() {
    let folder = folder();
    for args in [
        &["--config", "cluster.json", "check"][..],
        &["--config=cluster.json", "check"],
        &["check", "--config", "cluster.json"],
    ] {
        assert_eq!(volumes(&folder.run(args).report()), ["in-a"], "{args:?}");
    }
    let by_environment = folder.program(&["check"]).env("ZONEWARDEN_CONFIG", "cluster.json").run();
    assert_eq!(volumes(&by_environment.report()), ["in-a"]);
    let both = folder.program(&["check", "--config", "world.yaml"]).env("ZONEWARDEN_CONFIG", "cluster.json").run();
    assert_eq!(volumes(&both.report()), ["in-world"]);
}

#[test]
fn a_flag_that_may_come_again_takes_a_list() {
    let folder = folder();
    assert_eq!(volumes(&folder.run(&["check", "--config", "list.yaml"]).report()), ["in-a", "in-b"]);
    let environment = folder.program(&["check", "-o", "json"]).env("ZONEWARDEN_CLUSTER", "a.yaml,b.yaml").run();
    assert_eq!(volumes(&environment.report()), ["in-a", "in-b"]);
}

/// The world of a weaker source gives way, whichever of its two forms it has.
#[test]
fn a_world_named_by_a_flag_wins_over_one_named_elsewhere() {
    let folder = folder();
    let in_file = folder.run(&["check", "--config", "world.yaml", "--cluster", "a.yaml"]);
    assert_eq!(volumes(&in_file.report()), ["in-a"]);
    let in_file = folder.run(&["check", "--config", "cluster.json", "--world", "world"]);
    assert_eq!(volumes(&in_file.report()), ["in-world"]);
    let in_environment =
        folder.program(&["check", "-o", "json", "--cluster", "a.yaml"]).env("ZONEWARDEN_WORLD", "world");
    assert_eq!(volumes(&in_environment.run().report()), ["in-a"]);
    let both = folder.run(&["check", "--world", "world", "--cluster", "a.yaml"]);
    assert_eq!((both.code, &*both.out), (2, ""), "{both:?}");
    assert!(both.err.contains("--world") && both.err.contains("--cluster"), "{}", both.err);
}

/// A live world is a form like the others: files that a flag names win over it, and both at once are one too many.
#[test]
fn files_named_by_a_flag_win_over_a_live_world_named_elsewhere() {
    let folder = folder();
    let environment =
        folder.program(&["check", "-o", "json", "--world", "world"]).env("ZONEWARDEN_REGION", "eu-west-1");
    assert_eq!(volumes(&environment.run().report()), ["in-world"]);
    let environment = folder.program(&["check", "-o", "json", "--cluster", "a.yaml"]).env("ZONEWARDEN_CONTEXT", "c");
    assert_eq!(volumes(&environment.run().report()), ["in-a"]);
    for args in [["--world", "world"], ["--cluster", "a.yaml"]] {
        let both = folder.run(&[&["check", "--profile", "p"][..], &args].concat());
        assert_eq!((both.code, &*both.out), (2, ""), "{both:?}");
        assert!(both.err.contains("--profile") && both.err.contains(args[0]), "{}", both.err);
    }
}

#[test]
fn a_configuration_that_can_not_be_used_is_refused_by_name() {
    let folder = folder();
    folder.run(&["check", "--config", "gone.yaml"]).refuses(&["gone.yaml: there is no such file"]);
    folder.run(&["check", "--config", "unknown.yaml"]).refuses(&["unknown.yaml", "outptu"]);
    folder.run(&["check", "--config", "map.yaml"]).refuses(&["map.yaml", "a map of long flag names"]);
    let run = folder.run(&["check", "--cluster", "a.yaml", "--config", "value.yaml"]);
    assert_eq!((run.code, &*run.out), (2, ""), "{run:?}");
    assert!(run.err.contains("value.yaml") && run.err.contains("xml"), "the file and the value are named: {}", run.err);
}

#[test]
fn settings_change_what_the_policy_says_and_bad_ones_are_refused() {
    let folder = Folder::new(&[
        ("pv.yaml", pv("spaced", &format!(" {VOLUME}")).as_bytes()),
        ("strict.yaml", b"volume-ids: strict\n"),
        ("strict.json", br#"{"volume-ids": "strict", "quiet-seconds": 60, "zone-hints": true}"#),
        ("value.yaml", b"volume-ids: loose\n"),
        ("key.yaml", b"volume_ids: strict\n"),
        ("list.yaml", b"- volume-ids\n"),
        ("nested.yaml", b"volume-ids: [strict]\n"),
        ("broken.yaml", b"volume-ids: [\n"),
    ]);
    let args = ["check", "--cluster", "pv.yaml", "-o", "json"];
    let id = |settings: &str| {
        let run = folder.run(&[&args[..], &["--settings", settings]].concat());
        run.report()["volumes"][0]["awsVolumeId"].clone()
    };
    assert_eq!(folder.run(&args).report()["volumes"][0]["awsVolumeId"], VOLUME);
    assert_eq!([id("strict.yaml"), id("strict.json")], [json!(null), json!(null)]);
    let by_environment = folder.program(&args).env("ZONEWARDEN_SETTINGS", "strict.yaml").run().report();
    assert_eq!(by_environment["volumes"][0]["awsVolumeId"], json!(null));
    for (settings, named) in [
        ("value.yaml", &["\"loose\"", "volume-ids", "lenient, strict"][..]),
        ("key.yaml", &["there is no setting \"volume_ids\""]),
        ("list.yaml", &["list.yaml", "a map of settings"]),
        ("nested.yaml", &["nested.yaml", "volume-ids"]),
        ("broken.yaml", &["broken.yaml"]),
        ("gone.yaml", &["gone.yaml: there is no such file"]),
    ] {
        folder.run(&[&args[..], &["--settings", settings]].concat()).refuses(named);
    }
}

/// ebs-strict writes no label on a mere hint.
#[test]
fn another_policy_decides_where_it_is_named() {
    let hint = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: hinting}\nspec:\n  awsElasticBlockStore: \
                {volumeID: \"aws://us-east-1b/vol-0b6f5e4d3c2b1a095\"}\n";
    let folder = Folder::new(&[("pv.yaml", hint.as_bytes()), ("text.wasm", b"no WebAssembly")]);
    let args = ["check", "--cluster", "pv.yaml", "-o", "json"];
    let default = folder.run(&args).report();
    assert_eq!(default["policy"]["name"], "ebs");
    assert_eq!(default["volumes"][0]["proposed"]["labels"], json!({"topology.kubernetes.io/zone": "us-east-1b"}));

    let strict = folder.run(&[&args[..], &["--policy", EBS_STRICT_COMPONENT_PATH]].concat()).report();
    assert_eq!(strict["policy"]["name"], "ebs-strict");
    assert_eq!(strict["volumes"][0]["basis"], "hint");
    assert_eq!(strict["volumes"][0]["proposed"], json!({"labels": {}, "affinity": null}));
    assert_eq!(problems(&strict), Vec::<[&str; 3]>::new());
    assert_ne!(strict["policy"]["digest"], default["policy"]["digest"]);

    let with = |policy: &str| folder.run(&[&args[..], &["--policy", policy]].concat());
    with("text.wasm").refuses(&["text.wasm", "not WebAssembly"]);
    with("gone.wasm").refuses(&["gone.wasm can't be read"]);
    with(EBS_CORE_PATH).refuses(&[EBS_CORE_PATH, "a core module, not a component"]);
}

#[test]
fn a_cache_that_can_not_be_used_costs_time_only() {
    let folder = folder();
    for cache in ["", "a.yaml"] {
        let run = folder.run(&["check", "--cluster", "b.yaml", "-o", "json", "--cache-dir", cache]);
        assert_eq!((run.code, volumes(&run.report())), (0, vec!["in-b"]), "{cache:?}");
    }
}
