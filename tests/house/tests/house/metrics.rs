//! The metrics that the host's code feeds are those that `docs/metrics.md` lists, with their kinds and labels.

use std::collections::{BTreeMap, BTreeSet};

use crate::{root, tracked};

/// A metric's kind, and its labels where the place that feeds it spells them out.
type Fed = (String, Option<BTreeSet<String>>);

/// What stands between this bracket and the one that closes it.
fn enclosed(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// The texts in quotation marks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

/// The metrics that a source file feeds. `constants` are names that stand for texts.
fn fed(source: &str, constants: &BTreeMap<String, String>) -> Vec<(String, Fed)> {
    let mut found = Vec::new();
    for kind in ["counter", "gauge", "histogram"] {
        for (at, _) in source.match_indices(&format!("{kind}!(")) {
            let arguments = enclosed(&source[at + kind.len() + 2..]);
            let (name, rest) = arguments.split_once(',').unwrap_or((arguments, ""));
            let name = name.trim();
            let name = constants.get(name).map_or_else(|| name.trim_matches('"').to_owned(), String::clone);
            // The text in quotation marks before each arrow.
            let arrows = rest.match_indices("=>");
            let labels = arrows.filter_map(|(arrow, _)| rest[..arrow].rsplit('"').nth(1).map(str::to_owned)).collect();
            let is_spelt = rest.trim().is_empty() || rest.contains("=>");
            found.push((name, (kind.to_owned(), is_spelt.then_some(labels))));
        }
    }
    found
}

/// The host's sources without their tests.
fn sources() -> Vec<String> {
    let is_source = |path: &std::path::PathBuf| {
        let path = path.to_string_lossy();
        path.starts_with("host/") && path.contains("/src/") && path.ends_with(".rs") && !path.contains("tests")
    };
    let read = |path| std::fs::read_to_string(root().join(path)).expect("a source can be read");
    let without_tests = |source: String| source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
    tracked().into_iter().filter(is_source).map(read).map(without_tests).collect()
}

/// The table's rows: name, kind, labels.
fn listed() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let docs = std::fs::read_to_string(root().join("docs/metrics.md")).expect("docs/metrics.md is there");
    let rows = docs.lines().filter(|line| line.starts_with("| `zonewarden_"));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let labels = cells[3].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (cells[1].trim_matches('`').to_owned(), (cells[2].to_owned(), labels))
    })
    .collect()
}

#[test]
fn the_code_feeds_what_the_documentation_lists() {
    let sources = sources();
    let mut constants = BTreeMap::new();
    for line in sources.iter().flat_map(|source| source.lines()).filter(|line| line.contains(": &str = \"zonewarden_"))
    {
        let name = line.split("const ").nth(1).and_then(|rest| rest.split(':').next()).expect("a constant has a name");
        constants.insert(name.to_owned(), quoted(line).next().unwrap_or_default().to_owned());
    }
    let listed = listed();
    // What has series that go away is not fed to the recorder, but written by the program itself.
    let mut left: BTreeSet<&str> = listed.keys().map(String::as_str).collect();
    assert!(left.remove("zonewarden_stuck_volume_seconds"));
    for (name, (kind, labels)) in sources.iter().flat_map(|source| fed(source, &constants)) {
        let (listed_kind, listed_labels) =
            listed.get(&name).unwrap_or_else(|| panic!("{name} is not in docs/metrics.md"));
        assert_eq!(&kind, listed_kind, "{name}");
        assert_eq!(labels.as_ref().unwrap_or(listed_labels), listed_labels, "{name}");
        left.remove(name.as_str());
    }
    assert_eq!(left, BTreeSet::new(), "nothing feeds them");
}

#[test]
fn a_macro_is_read_with_its_kind_its_name_and_its_labels() {
    let constants = BTreeMap::from([("SWAPS".to_owned(), "z_swaps".to_owned())]);
    let source = r#"
        gauge!("z_plain").set(f(1));
        counter!(
            "z_two",
            "type" => name(&drift), "dry_run" => if x { "true" } else { "false" }
        ).increment(1);
        counter!(SWAPS, "result" => "ok").increment(1);
        metrics::histogram!("z_other", &labels).record(1.0);
    "#;
    let labels = |labels: &[&str]| Some(labels.iter().map(|label| (*label).to_owned()).collect::<BTreeSet<_>>());
    let mut found = fed(source, &constants);
    found.sort();
    let expected = [
        ("z_other", ("histogram", None)),
        ("z_plain", ("gauge", labels(&[]))),
        ("z_swaps", ("counter", labels(&["result"]))),
        ("z_two", ("counter", labels(&["type", "dry_run"]))),
    ];
    assert_eq!(found, expected.map(|(name, (kind, labels))| (name.to_owned(), (kind.to_owned(), labels))));
}
