//! Cutting and reading pieces, in both formats.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use zonewarden_documents::{Code, Document, Fault, Mapping, Position, Text};

#[derive(Debug, PartialEq, Deserialize)]
struct Thing {
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

fn thing(name: &str) -> Thing {
    Thing { name: name.to_owned(), labels: BTreeMap::new() }
}

/// A thing, or the code, the field and the position of its fault.
type Element<'a> = Result<Thing, (Code, Option<&'a str>, (u32, u32))>;

/// What a text's only document holds under `items`: each element as a thing or as its fault, and the fault of the whole.
fn check(text: &str, expected: &[Element<'_>], fault: Option<(Code, (u32, u32))>) {
    let text = Text::new("f", text.as_bytes());
    let documents = text.documents();
    let [Ok(document)] = &documents[..] else { panic!("{documents:?}") };
    let mapping = document.piece.mapping("items");
    let found: Vec<_> = mapping.elements.iter().flatten().map(|piece| piece.read::<Thing>(&[])).collect();
    let found: Vec<_> = found.iter().map(|thing| thing.as_ref().map_err(summary)).collect();
    assert_eq!(found, expected.iter().map(|thing| thing.as_ref().map_err(Clone::clone)).collect::<Vec<_>>());
    assert_eq!(mapping.fault.as_ref().map(|fault| (fault.code, at(fault.position))), fault);
}

fn summary(fault: &Fault) -> (Code, Option<&str>, (u32, u32)) {
    (fault.code, fault.field.as_deref(), at(fault.position))
}

fn at(Position { line, column }: Position) -> (u32, u32) {
    (line, column)
}

#[test]
fn a_yaml_list_is_cut_at_its_dashes() {
    check("items:\n- name: a\n-   name: b\n", &[Ok(thing("a")), Ok(thing("b"))], None);
    check(
        "kind: List\nitems: # all\n\n  # one\n  - name: a\n  -\n    name: b\nend: 1\n",
        &[Ok(thing("a")), Ok(thing("b"))],
        None,
    );
    check("items:\r\n- name: a\r\n- name: b\r\n", &[Ok(thing("a")), Ok(thing("b"))], None);
    check("---\n  items:\n  - name: a\n", &[Ok(thing("a"))], None);
    check("- name: a\n- name: b\n", &[Ok(thing("a")), Ok(thing("b"))], None);
    check("items:\n- name: |\n    - x\n   \n- name: b", &[Ok(thing("- x\n")), Ok(thing("b"))], None);
}

#[test]
fn what_is_not_in_block_style_is_unfolded() {
    check("{items: [{name: a}, {name: b}]}", &[Ok(thing("a")), Ok(thing("b"))], None);
    check("items: [{name: a}]\n", &[Ok(thing("a"))], None);
    check("\"items\":\n- name: a\n", &[Ok(thing("a"))], None);
    check("- {name: a}\n", &[Ok(thing("a"))], None);
    check("items:\n- &first\n  name: a\n- *first\n", &[Ok(thing("a")), Ok(thing("a"))], None);
}

#[test]
fn an_empty_list_is_a_list() {
    for text in ["items: []\n", "items:\nkind: List\n", "items: null\n", "{\"items\": []}", "[]", "{\"items\":[ ] }"] {
        let text = Text::new("f", text.as_bytes());
        let documents = text.documents();
        let Mapping { elements, fault, .. } = documents[0].as_ref().unwrap().piece.mapping("items");
        assert_eq!((elements.map(|elements| elements.len()), fault), (Some(0), None));
    }
}

#[test]
fn a_json_list_is_cut_at_its_commas() {
    check(
        "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\\n\"}],\"kind\":\"List\"}",
        &[Ok(thing("a")), Ok(thing("b\n"))],
        None,
    );
    check("[\n  {\"name\": \"a\"}\n]", &[Ok(thing("a"))], None);
}

#[test]
fn a_broken_element_costs_itself_only() {
    check(
        "items:\n- name: a\n- name: \"b\n- name: c\n- name: d\n\tlabels: {}\n-\tname: e\n",
        &[
            Ok(thing("a")),
            Err((Code::BrokenYaml, None, (3, 9))),
            Ok(thing("c")),
            Err((Code::BrokenYaml, None, (5, 9))),
            Ok(thing("e")),
        ],
        None,
    );
    check(
        "items:\n- name: a\n- name: b\n<<<<<<< HEAD\n- name: c\n",
        &[Ok(thing("a")), Err((Code::BrokenYaml, None, (4, 1))), Ok(thing("c"))],
        None,
    );
    check(
        "{\"items\": [{\"name\": \"a\"},\n {\"name\": nul},\n {\"name\": \"c\"}]}",
        &[Ok(thing("a")), Err((Code::BrokenJson, None, (2, 14))), Ok(thing("c"))],
        None,
    );
}

#[test]
fn a_truncated_list_keeps_what_stood_before() {
    check("{\"items\":[\n{\"name\":\"a\"},\n{\"name\":\"b", &[Ok(thing("a"))], Some((Code::Truncated, (3, 1))));
    check("{\"items\":[\n{\"name\":\"a\"}", &[Ok(thing("a"))], Some((Code::Truncated, (2, 13))));
    check("{\"items\":[{\"name\":\"a\"}}", &[Ok(thing("a"))], Some((Code::BrokenJson, (1, 23))));
}

#[test]
fn a_field_that_is_no_text_is_named() {
    check(
        "items:\n- name: a\n  labels:\n    x: true\n- name: 5\n- name: b\n",
        &[
            Err((Code::MalformedField, Some("labels.x"), (4, 8))),
            Err((Code::MalformedField, Some("name"), (5, 9))),
            Ok(thing("b")),
        ],
        None,
    );
    check(
        "{\"items\":[{\"name\":\"a\",\n\"labels\":{\"x\":true}}]}",
        &[Err((Code::MalformedField, Some("labels.x"), (2, 18)))],
        None,
    );
}

#[test]
fn aliases_that_unfold_to_too_much_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let before = level - 1;
        bomb +=
            &format!("a{level}: &a{level} [*a{before}, *a{before}, *a{before}, *a{before}, *a{before}, *a{before}]\n");
    }
    check(&bomb, &[], Some((Code::BrokenYaml, (7, 15))));
}

#[test]
fn a_message_names_what_was_found_and_expected() {
    let read = |text: &str| {
        let text = Text::new("f", text.as_bytes());
        let documents = text.documents();
        let document: &Document<'_> = documents[0].as_ref().unwrap();
        document.problem(document.piece.read::<Thing>(&[]).unwrap_err()).to_string()
    };
    assert_eq!(
        read("{\"name\": 5}"),
        "f, document 1, line 1, column 10: name: invalid type: integer `5`, expected a string"
    );
    assert_eq!(read("name: 5\n"), "f, document 1, line 1, column 7: name: The string value [5] must be quoted");
    assert_eq!(read("name: [a]\n"), "f, document 1, line 1, column 7: name: expected string scalar");
    assert_eq!(read("labels: {}\n"), "f, document 1, line 1, column 1: missing field `name`");
    assert_eq!(
        read("name: a\n\tb: c\n"),
        "f, document 1, line 1, column 7: while scanning a plain scalar, found a tab"
    );
}

proptest! {
    #[test]
    fn any_bytes_give_documents_or_problems(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }

    #[test]
    fn any_text_out_of_the_formats_own_signs_is_read_or_refused(
        text in "([ \t\r\n\\-:,#\"'&*|>{}\\[\\]]|items|name|- a: |---\n|\\n|\u{e9}|\u{feff}){0,60}"
    ) {
        read_all(text.as_bytes());
    }

    #[test]
    fn any_texts_survive_byte_for_byte(names in prop::collection::vec(any::<String>(), 0..6)) {
        let list = serde_json::json!({"items": names.iter().map(|name| serde_json::json!({"name": name})).collect::<Vec<_>>()});
        let text = list.to_string();
        check(&text, &names.iter().map(|name| Ok(thing(name))).collect::<Vec<_>>(), None);
    }
}

/// Every document, and every piece of it, is read; each gives a value or a fault.
fn read_all(bytes: &[u8]) {
    let text = Text::new("f", bytes);
    for document in text.documents().into_iter().flatten() {
        let mapping = document.piece.mapping("items");
        prop_assert_pieces(&document, &mapping);
    }
}

fn prop_assert_pieces(document: &Document<'_>, mapping: &Mapping<'_>) {
    let parts = mapping.elements.iter().flatten().chain(mapping.entries.iter().map(|(_, piece)| piece));
    for piece in parts {
        let Position { line, column } = piece.position();
        assert!(line > 0 && column > 0);
        if let Err(fault) = piece.read::<Thing>(&[("metadata", "managedFields")]) {
            assert!(!document.problem(fault).to_string().is_empty());
        }
    }
}
