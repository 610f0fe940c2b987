//! Events as the API server wants them (`events.k8s.io/v1`).

use serde_json::{Value, json};

use super::requests::FIELD_MANAGER;
use crate::api::{Event, Reference};
use crate::records::DEFAULT_NAMESPACE;

/// The API server refuses a note of 1,024 bytes or more.
const NOTE_LIMIT: usize = 1_023;
/// The limit of the fields `reason`, `action` and `reportingInstance`.
const FIELD_LIMIT: usize = 128;
/// The limit of an object's name.
const NAME_LIMIT: usize = 253;
/// What a text ends in that was cut.
const ELLIPSIS: &str = "…";

/// The namespace that an event belongs into, and its body.
pub(super) fn body(event: &Event, instance: &str) -> (String, Value) {
    // An event is in the namespace of the object that it is about, and in `default` where that has none.
    let namespace = match &*event.regarding.name.namespace {
        "" => DEFAULT_NAMESPACE,
        namespace => namespace,
    };
    let mut body = json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": { "name": name_of(event), "namespace": namespace },
        "eventTime": format!("{:.6}", event.time),
        "reportingController": FIELD_MANAGER,
        "reportingInstance": cut(instance, FIELD_LIMIT, ""),
        "type": if event.warning { "Warning" } else { "Normal" },
        "reason": cut(&event.reason, FIELD_LIMIT, ""),
        "action": cut(&event.action, FIELD_LIMIT, ""),
        "note": cut(&event.note, NOTE_LIMIT, ELLIPSIS),
        "regarding": reference(&event.regarding),
    });
    if let Some(related) = &event.related {
        body["related"] = reference(related);
    }
    (namespace.to_owned(), body)
}

/// The same event has the same name: one whose answer got lost is written once only.
fn name_of(event: &Event) -> String {
    let behind = format!(".{:x}.{}", event.time.as_nanosecond(), event.reason.to_lowercase());
    let before = cut(&event.regarding.name.name, NAME_LIMIT.saturating_sub(behind.len()), "");
    // What stands before a dot ends with a letter or a digit, wherever it was cut.
    format!("{}{behind}", before.trim_end_matches(['-', '.']))
}

fn reference(reference: &Reference) -> Value {
    let mut body = json!({
        "apiVersion": reference.kind.api_version(),
        "kind": reference.kind.as_str(),
        "name": &*reference.name.name,
    });
    let mut set = |key: &str, text: &str| {
        if !text.is_empty() {
            body[key] = Value::from(text);
        }
    };
    set("namespace", &reference.name.namespace);
    set("uid", &reference.uid);
    body
}

/// A text of at most so many bytes, cut between two characters and ended so.
fn cut(text: &str, limit: usize, ending: &str) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limit - ending.len());
    format!("{}{ending}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_cut_to_one_that_the_api_server_takes() {
        let time = jiff::Timestamp::from_second(1).expect("a second after the epoch");
        let name = |regarding: &str| {
            let name = crate::records::ObjectName::new("", regarding);
            let regarding = Reference { kind: crate::Kind::Node, name, uid: String::new() };
            let texts = || String::new();
            let reason = "Dead".to_owned();
            name_of(&Event { regarding, related: None, warning: true, reason, action: texts(), note: texts(), time })
        };
        let behind = ".3b9aca00.dead";
        assert_eq!(name("n1"), format!("n1{behind}"));
        let room = NAME_LIMIT - behind.len();
        let (long, cut) = (format!("{}-b{}", "a".repeat(room - 1), "c".repeat(20)), "a".repeat(room - 1));
        assert_eq!(name(&long), format!("{cut}{behind}"));
    }

    #[test]
    fn a_text_is_cut_between_two_characters() {
        assert_eq!(cut("short", 5, "…"), "short");
        assert_eq!(cut("longer", 5, "…"), "lo…");
        assert_eq!(cut("ääää", 7, "…"), "ää…");
        assert_eq!(cut("ääää", 6, ""), "äää");
        let note = cut(&"é".repeat(1_000), NOTE_LIMIT, ELLIPSIS);
        assert_eq!(note.len(), 1_023);
        assert!(note.ends_with("é…"));
    }
}
