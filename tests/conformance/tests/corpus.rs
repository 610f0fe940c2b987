//! The corpus itself: it covers the contract, and its cases say where their answers come from.

use std::collections::BTreeMap;
use zonewarden_conformance_tests::{Answer, load};

/// Every function of the contract, and the documents that are none.
const FUNCTIONS: [&str; 12] = [
    "admission.answer",
    "admission.concerns",
    "attachment.judge",
    "identity.identify-nodes",
    "identity.identify-volumes",
    "info.describe",
    "info.validate-settings",
    "json.evaluate",
    "labelling.label-volumes",
    "placement.filter",
    "placement.inject",
    "placement.score",
];

#[test]
fn every_function_has_several_cases_and_each_has_a_name_of_its_own() {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in load() {
        names.entry(case.function).or_default().push(case.name);
    }
    assert_eq!(names.keys().map(String::as_str).collect::<Vec<_>>(), FUNCTIONS);
    for (function, mut names) in names {
        let number = names.len();
        assert!(number >= 2, "{function} has {number} cases");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), number, "{function} has two cases of one name");
    }
}

#[test]
fn every_case_about_a_rule_names_its_rows() {
    let without_tables = ["info.describe", "info.validate-settings", "json.evaluate"];
    for case in load() {
        let needs_rows = !without_tables.contains(&case.function.as_str());
        assert!(!needs_rows || !case.rows.is_empty(), "{}, {}: no row", case.function, case.name);
    }
}

#[test]
fn every_question_is_put_to_the_function_of_its_file_with_its_settings() {
    for case in load().iter().filter(|case| case.is_well_formed()) {
        let request: serde_json::Value = serde_json::from_str(&case.request).expect("the request is JSON");
        assert_eq!(request["function"], case.function.as_str(), "{}, {}", case.function, case.name);
        assert!(request["arguments"]["settings"].is_array(), "{}, {}", case.function, case.name);
    }
}

#[test]
fn successes_and_errors_are_both_there() {
    let cases = load();
    let errors = cases.iter().filter(|case| matches!(case.answer, Answer::Err(_))).count();
    assert!(errors >= 8, "{errors} errors");
    assert!(cases.len() - errors >= 40, "{} successes", cases.len() - errors);
}
