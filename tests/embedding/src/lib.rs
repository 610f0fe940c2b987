//! Asks a policy from other languages: what each needs on a machine, and how its answers are read.

pub mod languages;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use zonewarden_conformance_tests::{Answer, check, directory, load};

/// The folder of a language's program, in the checkout under test.
#[must_use]
pub fn program(folder: &str) -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).join(folder)
}

/// One line that a program prints.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    function: String,
    name: String,
    outcome: String,
    answer: String,
}

/// Runs a program with the policy's file and the corpus as its arguments, and holds what it prints against the corpus.
///
/// # Panics
/// Where the program fails, leaves a case out, tells of one that isn't there, or an answer differs by a byte.
pub fn run(way: &str, mut command: Command, policy: &str) {
    let output = command.arg(policy).arg(directory()).output().unwrap_or_else(|error| panic!("{way}: {error}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{way}: {}\n{complaint}", output.status);
    let mut answers = read_answers(way, &output.stdout);
    check(way, &load(), |case| {
        let answer = answers.remove(&(case.function.clone(), case.name.clone()));
        assert!(answer.is_some(), "{way}: no answer to {}, {}", case.function, case.name);
        answer
    });
    assert!(answers.is_empty(), "{way}: told of cases that the corpus lacks: {:?}", answers.keys());
}

fn read_answers(way: &str, output: &[u8]) -> BTreeMap<(String, String), Answer> {
    let text = std::str::from_utf8(output).unwrap_or_else(|error| panic!("{way}: {error}"));
    let mut answers = BTreeMap::new();
    for line in text.lines() {
        let told: Told = serde_json::from_str(line).unwrap_or_else(|error| panic!("{way}: {error}: {line}"));
        let answer = match told.outcome.as_str() {
            "ok" => Answer::Ok(told.answer),
            "err" => Answer::Err(told.answer),
            other => panic!("{way}: an outcome {other:?}"),
        };
        answers.insert((told.function, told.name), answer);
    }
    answers
}
