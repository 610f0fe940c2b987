//! What an answer lacks of what a case expects.
//!
//! The expectation is a pattern: an object's fields that it does not name may be anything. A list has to have as many elements
//! as the expectation, and texts and numbers have to be equal.

use serde_json::Value;

/// The differences, each with the path where it is. Empty: the answer fits.
pub(super) fn between(expected: &Value, got: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    walk("answer", expected, got, &mut differences);
    differences
}

fn walk(path: &str, expected: &Value, got: &Value, differences: &mut Vec<String>) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, value) in expected {
                match got.get(key) {
                    Some(found) => walk(&format!("{path}.{key}"), value, found, differences),
                    None => differences.push(format!("{path}.{key}: expected {value}, is not there")),
                }
            }
        }
        (Value::Array(expected), Value::Array(got)) => {
            if expected.len() != got.len() {
                let (wanted, found) = (expected.len(), got.len());
                differences.push(format!("{path}: expected {wanted} elements, got {found}"));
            }
            for (position, (expected, got)) in expected.iter().zip(got).enumerate() {
                walk(&format!("{path}[{position}]"), expected, got, differences);
            }
        }
        _ if expected == got => {}
        _ => differences.push(format!("{path}: expected {expected}, got {got}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_named_may_be_anything_and_all_else_is_told_by_its_path() {
        let got = json!({"ok": [{"decision": "Feasible", "origin": "Kubernetes"}, {"decision": "Refused"}]});
        for (expected, wanted) in [
            (json!({"ok": [{"decision": "Feasible"}, {}]}), vec![]),
            (json!({"ok": [{"decision": "Feasible"}]}), vec!["answer.ok: expected 1 elements, got 2"]),
            (
                json!({"ok": [{"decision": "Refused"}, {"decision": "Refused"}]}),
                vec![r#"answer.ok[0].decision: expected "Refused", got "Feasible""#],
            ),
            (json!({"ok": [{"score": 1}, {}]}), vec!["answer.ok[0].score: expected 1, is not there"]),
            (json!({"err": {}}), vec!["answer.err: expected {}, is not there"]),
            (
                json!({"ok": {}}),
                vec![
                    r#"answer.ok: expected {}, got [{"decision":"Feasible","origin":"Kubernetes"},{"decision":"Refused"}]"#,
                ],
            ),
        ] {
            assert_eq!(between(&expected, &got), wanted, "{expected}");
        }
    }
}
