//! Every key, every value that it accepts, and what is said of the others.

use super::*;

fn set(key: &str, value: &str) -> Setting {
    Setting { key: key.to_owned(), value: value.to_owned() }
}

#[test]
fn every_default_is_accepted_by_its_own_rule_and_is_the_default() {
    let all: Vec<Setting> = SPECS.iter().map(|spec| set(spec.key, spec.default)).collect();
    assert_eq!(Settings::parse(&all), Ok(Settings::default()));
    assert_eq!(Settings::default().quiet_seconds, 300);
    assert_eq!(Settings::default().csi_driver, "ebs.csi.aws.com");
}

#[test]
fn a_policy_s_own_defaults_lie_between_the_standard_ones_and_the_operator_s() {
    let own = [("volume-ids", "strict"), ("quiet-seconds", "7"), ("zone-hints", "perhaps")];
    let settings = Settings::parse_over(&own, &[set("quiet-seconds", "9")]).expect("good settings");
    let wanted = Settings { volume_ids: VolumeIds::Strict, quiet_seconds: 9, ..Settings::default() };
    assert_eq!(settings, wanted);
    assert!(schema(&own).contains(r#""volume-ids":{"type":"string","default":"strict""#));
    assert!(schema(&[]).contains(r#""volume-ids":{"type":"string","default":"lenient""#));
}

#[test]
fn each_bad_setting_is_a_problem_of_its_own() {
    let given = [
        set("volume-ids", "loose"),
        set("quiet-seconds", "0"),
        set("no-such", "x"),
        set("zone-hints", "true"),
        set("zone-hints", "false"),
        set("csi-driver", "-ebs"),
        set("leaked-seconds", "+5"),
    ];
    let problems = Settings::problems(&given);
    let rows: Vec<(&str, &str)> = problems.iter().map(|p| (p.subject.as_str(), p.rule.as_str())).collect();
    assert_eq!(
        rows,
        [
            ("settings.volume-ids", "setting-value"),
            ("settings.quiet-seconds", "setting-value"),
            ("settings", "unknown-setting"),
            ("settings.zone-hints", "setting-twice"),
            ("settings.csi-driver", "setting-value"),
            ("settings.leaked-seconds", "setting-value"),
        ]
    );
    assert_eq!(problems[0].accepted, ["lenient", "strict"]);
}

#[test]
fn every_key_reaches_its_field() {
    let given = [
        set("volume-ids", "strict"),
        set("csi-driver", "ebs.example.com"),
        set("unlabelled-nodes", "pass"),
        set("set-affinity", "false"),
        set("region-labels", "false"),
        set("zone-hints", "false"),
        set("assume-bound", "true"),
        set("gate-undecided-pods", "true"),
        set("quiet-seconds", "1"),
        set("stuck-attaching-seconds", "2"),
        set("stuck-detaching-seconds", "3"),
        set("detach-failing-seconds", "4"),
        set("orphan-seconds", "5"),
        set("leaked-seconds", "6"),
        set("deleted-seconds", "7"),
        set("consistent-seconds", "8"),
        set("lease-silent-seconds", "86400"),
    ];
    assert_eq!(given.len(), SPECS.len());
    let wanted = Settings {
        volume_ids: VolumeIds::Strict,
        csi_driver: "ebs.example.com".to_owned(),
        unlabelled_nodes: UnlabelledNodes::Pass,
        set_affinity: false,
        region_labels: false,
        zone_hints: false,
        assume_bound: true,
        gate_undecided_pods: true,
        quiet_seconds: 1,
        stuck_attaching_seconds: 2,
        stuck_detaching_seconds: 3,
        detach_failing_seconds: 4,
        orphan_seconds: 5,
        leaked_seconds: 6,
        deleted_seconds: 7,
        consistent_seconds: 8,
        lease_silent_seconds: 86_400,
    };
    assert_eq!(Settings::parse(&given), Ok(wanted));
}

#[test]
fn every_choice_is_what_it_says() {
    let standard = Settings::default;
    for (key, value, wanted) in [
        ("volume-ids", "lenient", Settings { volume_ids: VolumeIds::Lenient, ..standard() }),
        ("volume-ids", "strict", Settings { volume_ids: VolumeIds::Strict, ..standard() }),
        ("unlabelled-nodes", "auto", Settings { unlabelled_nodes: UnlabelledNodes::Auto, ..standard() }),
        ("unlabelled-nodes", "pass", Settings { unlabelled_nodes: UnlabelledNodes::Pass, ..standard() }),
        ("unlabelled-nodes", "refuse", Settings { unlabelled_nodes: UnlabelledNodes::Refuse, ..standard() }),
        ("set-affinity", "true", Settings { set_affinity: true, ..standard() }),
        ("set-affinity", "false", Settings { set_affinity: false, ..standard() }),
        ("region-labels", "true", Settings { region_labels: true, ..standard() }),
        ("region-labels", "false", Settings { region_labels: false, ..standard() }),
        ("zone-hints", "true", Settings { zone_hints: true, ..standard() }),
        ("zone-hints", "false", Settings { zone_hints: false, ..standard() }),
        ("assume-bound", "true", Settings { assume_bound: true, ..standard() }),
        ("assume-bound", "false", Settings { assume_bound: false, ..standard() }),
        ("gate-undecided-pods", "true", Settings { gate_undecided_pods: true, ..standard() }),
        ("gate-undecided-pods", "false", Settings { gate_undecided_pods: false, ..standard() }),
    ] {
        assert_eq!(Settings::parse(&[set(key, value)]), Ok(wanted), "{key} {value}");
    }
}

#[test]
fn the_standard_settings() {
    let wanted = Settings {
        volume_ids: VolumeIds::Lenient,
        csi_driver: "ebs.csi.aws.com".to_owned(),
        unlabelled_nodes: UnlabelledNodes::Auto,
        set_affinity: true,
        region_labels: true,
        zone_hints: true,
        assume_bound: false,
        gate_undecided_pods: false,
        quiet_seconds: 300,
        stuck_attaching_seconds: 90,
        stuck_detaching_seconds: 300,
        detach_failing_seconds: 600,
        orphan_seconds: 600,
        leaked_seconds: 600,
        deleted_seconds: 120,
        consistent_seconds: 10,
        lease_silent_seconds: 15,
    };
    assert_eq!(Settings::default(), wanted);
    assert_eq!(Settings::parse(&[]), Ok(wanted));
}

#[test]
fn what_each_kind_of_value_accepts() {
    let long = |length: usize| format!("a{}", "b".repeat(length - 1));
    let (most, too_long) = (long(63), long(64));
    for (key, value, wanted) in [
        ("quiet-seconds", "1", true),
        ("quiet-seconds", "86400", true),
        ("quiet-seconds", "007", true),
        ("quiet-seconds", "0", false),
        ("quiet-seconds", "86401", false),
        ("quiet-seconds", "4294967297", false),
        ("quiet-seconds", "-1", false),
        ("quiet-seconds", "+1", false),
        ("quiet-seconds", "1.5", false),
        ("quiet-seconds", " 1", false),
        ("quiet-seconds", "", false),
        ("csi-driver", "a", true),
        ("csi-driver", "EBS-2.example.com", true),
        ("csi-driver", most.as_str(), true),
        ("csi-driver", too_long.as_str(), false),
        ("csi-driver", "", false),
        ("csi-driver", "-a", false),
        ("csi-driver", "a-", false),
        ("csi-driver", ".a", false),
        ("csi-driver", "a.", false),
        ("csi-driver", "a_b", false),
        ("csi-driver", "a b", false),
        ("volume-ids", "", false),
        ("volume-ids", "Strict", false),
        ("zone-hints", "yes", false),
    ] {
        let problems = Settings::problems(&[set(key, value)]);
        assert_eq!(problems.is_empty(), wanted, "{key} {value:?}: {problems:?}");
    }
}

#[test]
fn a_problem_names_what_is_wrong_and_what_may_stand_there() {
    let one = |given: &[Setting]| {
        let [problem] = <[Problem; 1]>::try_from(Settings::problems(given)).expect("one problem");
        (problem.text, problem.message, problem.accepted)
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    for (given, text, message, accepted) in [
        (
            [set("volume-ids", "loose")].as_slice(),
            "loose",
            "\"loose\" is no value of the setting volume-ids: give lenient, strict",
            texts(&["lenient", "strict"]),
        ),
        (
            &[set("orphan-seconds", "soon")],
            "soon",
            "\"soon\" is no value of the setting orphan-seconds: give a whole number of seconds from 1 to 86400",
            texts(&["a whole number of seconds from 1 to 86400"]),
        ),
        (
            &[set("csi-driver", "x!")],
            "x!",
            "\"x!\" is no value of the setting csi-driver: give a CSI driver name: 1 to 63 letters, digits, dots and dashes",
            texts(&["a CSI driver name: 1 to 63 letters, digits, dots and dashes"]),
        ),
        (
            &[set("zone-hints", "true"), set("zone-hints", "false")],
            "false",
            "the setting \"zone-hints\" is given twice",
            texts(&["one value"]),
        ),
    ] {
        assert_eq!(one(given), (text.to_owned(), message.to_owned(), accepted));
    }
    let (text, message, accepted) = one(&[set("speed", "high")]);
    assert_eq!((text.as_str(), message.as_str()), ("speed", "there is no setting \"speed\""));
    assert_eq!((accepted.len(), accepted[0].as_str()), (17, "volume-ids"));
}

#[test]
fn the_schema_says_of_each_setting_what_it_accepts() {
    let schema: serde_json::Value = serde_json::from_str(&schema(&[("unlabelled-nodes", "refuse")])).expect("JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()));
    assert_eq!(schema["properties"].as_object().map(serde_json::Map::len), Some(17));
    for (key, default, field, accepts) in [
        ("volume-ids", "lenient", "enum", serde_json::json!(["lenient", "strict"])),
        ("unlabelled-nodes", "refuse", "enum", serde_json::json!(["auto", "pass", "refuse"])),
        ("set-affinity", "true", "enum", serde_json::json!(["true", "false"])),
        ("quiet-seconds", "300", "pattern", "^[0-9]{1,5}$".into()),
        ("csi-driver", "ebs.csi.aws.com", "pattern", "^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$".into()),
    ] {
        let property = &schema["properties"][key];
        assert_eq!((&property["type"], &property["default"]), (&"string".into(), &default.into()), "{key}");
        assert_eq!(property[field], accepts, "{key}");
        assert!(property["description"].as_str().is_some_and(|about| !about.is_empty()), "{key}");
    }
}
