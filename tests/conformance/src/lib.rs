//! The conformance corpus: questions to a policy and the answers they must get, in `corpus/`.
//!
//! One file a function of the contract, `<interface>.<function>.json`, and `json.evaluate.json` for documents that are not
//! such a question. The answers are written by hand from the rules' tables, whose rows each case names. Whatever asks (the
//! rules natively, the component by types, its core module by `json` in another language) must give exactly the bytes that
//! [`Case::answer`] holds.

mod compact;

use serde::Deserialize;
use serde_json::value::RawValue;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

pub use compact::compact;

/// The corpus file whose cases are not questions of the contract, so that they can't be asked by types.
pub const MALFORMED: &str = "json.evaluate";

/// What `json.evaluate` answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The JSON of the function's success.
    Ok(String),
    /// The JSON of `types.error`.
    Err(String),
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The corpus file's name without its ending: interface and function.
    pub function: String,
    /// The case's name, once in its file.
    pub name: String,
    /// The rows of the rules' tables that the answer was written from.
    pub rows: Vec<String>,
    /// The document to send, as compact JSON where it is JSON.
    pub request: String,
    /// The answer, as compact JSON with the fields in the contract's order.
    pub answer: Answer,
}

/// A case as a corpus file holds it. One of `request` (JSON) and `request_text` (any text) is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FiledCase {
    name: String,
    rows: Vec<String>,
    request: Option<Box<RawValue>>,
    request_text: Option<String>,
    answer: FiledAnswer,
}

/// An answer as a corpus file holds it. One of the two is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FiledAnswer {
    ok: Option<Box<RawValue>>,
    err: Option<Box<RawValue>>,
}

/// Where the corpus lies.
///
/// Cargo tells the folder of the package under test, which stands beside this one, at run time too. That counts: what was
/// compiled in may be the folder of another checkout that builds into the same target folder.
#[must_use]
pub fn directory() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).with_file_name("conformance").join("corpus")
}

/// Reads the whole corpus, file after file in the order of their names.
///
/// # Panics
/// Where a file can't be read or is not of the form above: a broken corpus proves nothing.
#[must_use]
pub fn load() -> Vec<Case> {
    let entries = fs::read_dir(directory()).expect("the corpus is beside this crate");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    files.sort();
    files.iter().flat_map(|file| load_file(file)).collect()
}

fn load_file(file: &Path) -> Vec<Case> {
    let function = file.file_stem().expect("a corpus file has a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{function}: {error}"));
    let filed: Vec<FiledCase> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{function}: {error}"));
    filed.into_iter().map(|case| case.into_case(&function)).collect()
}

impl FiledCase {
    fn into_case(self, function: &str) -> Case {
        let Self { name, rows, request, request_text, answer } = self;
        let request = match (request, request_text) {
            (Some(json), None) => compact(json.get()),
            (None, Some(text)) => text,
            (Some(_), Some(_)) | (None, None) => panic!("{function}, {name}: give `request` or `request_text`"),
        };
        let answer = match (answer.ok, answer.err) {
            (Some(json), None) => Answer::Ok(compact(json.get())),
            (None, Some(json)) => Answer::Err(compact(json.get())),
            (Some(_), Some(_)) | (None, None) => panic!("{function}, {name}: an answer is `ok` or `err`"),
        };
        Case { function: function.to_owned(), name, rows, request, answer }
    }
}

impl Case {
    /// Whether the question is one of the contract's, so that it can be asked by types.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        self.function != MALFORMED
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok(text) => write!(out, "ok {text}"),
            Self::Err(text) => write!(out, "err {text}"),
        }
    }
}

impl From<Result<String, String>> for Answer {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self::Ok(text),
            Err(text) => Self::Err(text),
        }
    }
}

/// Holds the answers of one way of asking against the corpus, and names every case that differs.
///
/// `ask` gives `None` for a case that can't be asked in this way.
///
/// # Panics
/// Where an answer differs by a byte, or nothing was asked.
pub fn check(way: &str, cases: &[Case], mut ask: impl FnMut(&Case) -> Option<Answer>) {
    let mut asked = 0;
    let mut differences = Vec::new();
    for case in cases {
        let Some(answer) = ask(case) else { continue };
        asked += 1;
        if answer != case.answer {
            differences.push(difference(case, &answer));
        }
    }
    assert!(asked > 0, "{way}: nothing was asked");
    let number = differences.len();
    assert!(differences.is_empty(), "{way}: {number} of {asked} answers differ\n{}", differences.join("\n"));
}

/// How much of two long answers is shown around the place where they part.
const SHOWN_BEFORE: usize = 60;
const SHOWN_BEHIND: usize = 240;

/// Names the case, and shows both answers from shortly before the place where they part.
fn difference(case: &Case, answer: &Answer) -> String {
    let Case { function, name, answer: wanted, .. } = case;
    let (wanted, got) = (wanted.to_string(), answer.to_string());
    let equal = wanted.chars().zip(got.chars()).take_while(|(one, other)| one == other).count();
    let around = |text: &str| -> String {
        text.chars().skip(equal.saturating_sub(SHOWN_BEFORE)).take(SHOWN_BEFORE + SHOWN_BEHIND).collect()
    };
    format!("{function}, {name}\n  wanted …{}…\n     got …{}…", around(&wanted), around(&got))
}
