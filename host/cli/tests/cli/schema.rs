//! The documented schema, and reports held against it.

use std::sync::OnceLock;

use serde_json::{Value, json};

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let path = crate::root().join("docs/check.schema.json");
        let text = std::fs::read_to_string(path).expect("docs/check.schema.json is there");
        serde_json::from_str(&text).expect("docs/check.schema.json is JSON")
    })
}

/// What keeps a report from being one of the documented form. Stricter than JSON Schema in one thing: a property that
/// the schema does not name is a fault too.
pub(crate) fn faults(report: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    hold(schema(), schema(), report, "report", &mut faults);
    faults
}

/// The keywords that `docs/check.schema.json` uses. Another one is a fault, so that none is passed over.
fn hold(root: &Value, schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
    let keywords = schema.as_object().expect("a schema is an object");
    for (keyword, meant) in keywords {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" => {}
            "required" | "additionalProperties" if keywords.contains_key("type") => {}
            "$ref" => {
                let pointer =
                    meant.as_str().and_then(|text| text.strip_prefix('#')).expect("a reference within the file");
                let target = root.pointer(pointer).unwrap_or_else(|| panic!("{pointer} leads nowhere"));
                hold(root, target, value, path, faults);
            }
            "anyOf" => {
                let fits = |schema: &Value| {
                    let mut faults = Vec::new();
                    hold(root, schema, value, path, &mut faults);
                    faults.is_empty()
                };
                if !meant.as_array().expect("anyOf is a list").iter().any(fits) {
                    faults.push(format!("{path}: fits no alternative: {value}"));
                }
            }
            "type" => {
                let kinds = meant.as_array().cloned().unwrap_or_else(|| vec![meant.clone()]);
                if !kinds.iter().any(|kind| is_a(value, kind.as_str().expect("a type is a text"))) {
                    faults.push(format!("{path}: {meant} is meant: {value}"));
                }
                if let Value::Object(object) = value {
                    hold_object(root, schema, object, path, faults);
                }
            }
            "minimum" => {
                if value.is_number() && value.as_f64() < meant.as_f64() {
                    faults.push(format!("{path}: {meant} or more is meant: {value}"));
                }
            }
            "items" => {
                for (at, element) in value.as_array().into_iter().flatten().enumerate() {
                    hold(root, meant, element, &format!("{path}[{at}]"), faults);
                }
            }
            "properties" => {
                for (name, schema) in meant.as_object().expect("properties are an object") {
                    if let Some(property) = value.get(name) {
                        hold(root, schema, property, &format!("{path}.{name}"), faults);
                    }
                }
            }
            other => faults.push(format!("{path}: the schema's keyword {other} is not understood here")),
        }
    }
}

fn hold_object(
    root: &Value,
    schema: &Value,
    object: &serde_json::Map<String, Value>,
    path: &str,
    faults: &mut Vec<String>,
) {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            faults.push(format!("{path}.{name}: is required"));
        }
    }
    for (name, value) in object.iter().filter(|(name, _)| schema["properties"].get(name.as_str()).is_none()) {
        match schema.get("additionalProperties") {
            Some(additional @ Value::Object(_)) => hold(root, additional, value, &format!("{path}.{name}"), faults),
            _ => faults.push(format!("{path}.{name}: is not documented")),
        }
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema's type {other} is not understood here"),
    }
}

#[test]
fn every_property_of_the_schema_is_described() {
    fn check(name: &str, schema: &Value) {
        assert!(schema["description"].is_string(), "{name} is not described");
        for (property, schema) in schema["properties"].as_object().expect("every definition is an object") {
            assert!(schema["description"].is_string(), "{name}.{property} is not described");
        }
    }
    check("Report", schema());
    for (name, schema) in schema()["$defs"].as_object().expect("there are definitions") {
        check(name, schema);
    }
}

/// The report of the demo is of the documented form, with every section filled; spoilt ones are not.
#[test]
fn the_reports_of_the_program_are_of_the_documented_form() {
    let run = crate::zonewarden(&["check", "--world", "examples/demo", "-o", "json"]);
    let report = run.report();
    for section in ["volumes", "pods", "attachments"] {
        assert!(!report[section].as_array().expect("a section is a list").is_empty(), "{section} is empty");
    }
    let spoilt = |pointer: &str, value: Value| {
        let mut report = report.clone();
        *report.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} leads nowhere")) = value;
        faults(&report)
    };
    for (pointer, value, fault) in [
        ("/summary/pods", json!("8"), "report.summary.pods: \"integer\" is meant: \"8\""),
        ("/summary/pods", json!(-1), "report.summary.pods: 0 or more is meant: -1"),
        ("/volumes/0/zone", json!(1), "report.volumes[0].zone: [\"string\",\"null\"] is meant: 1"),
        ("/volumes/0/proposed/labels", json!({"a": 1}), "report.volumes[0].proposed.labels.a: \"string\" is meant: 1"),
        ("/pods/0/feasible/0/nodes/0", json!(null), "report.pods[0].feasible[0].nodes[0]: \"string\" is meant: null"),
        ("/policy", json!({"name": "a", "version": "b"}), "report.policy.digest: is required"),
        (
            "/policy",
            json!({"name": "a", "version": "b", "digest": "c", "size": 1}),
            "report.policy.size: is not documented",
        ),
    ] {
        assert_eq!(spoilt(pointer, value), [fault]);
    }
}
