//! Sizes, reachability and unfinished work.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::{root, tracked};

/// Past this a file no longer fits a head.
const HARD_CAP: usize = 500;

fn rust_files() -> Vec<(PathBuf, String)> {
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(root().join(&path)).expect("a tracked file can be read");
        (path, text)
    };
    tracked().into_iter().filter(is_rust).map(read).collect()
}

#[test]
fn no_file_is_longer_than_the_hard_cap() {
    let long: Vec<_> = rust_files()
        .into_iter()
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            (lines > HARD_CAP).then_some((path, lines))
        })
        .collect();
    assert!(long.is_empty(), "over {HARD_CAP} lines: {long:?}");
}

#[test]
fn the_main_of_the_program_fits_on_a_screen() {
    let main = std::fs::read_to_string(root().join("host/cli/src/main.rs")).expect("main.rs is there");
    assert!(main.lines().count() <= 40, "main.rs has {} lines", main.lines().count());
}

#[test]
fn every_source_file_is_reached_by_a_mod_line() {
    let files = rust_files();
    let names: BTreeSet<String> = files
        .iter()
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| {
            let line = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            Some(line.strip_prefix("mod ")?.trim_end_matches([';', '{', ' ']).to_owned())
        })
        .collect();
    // What cargo finds by itself.
    let roots = ["lib", "main", "build"];
    for (path, _) in &files {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a file has a name");
        let parent = path.parent().and_then(|parent| parent.file_name()).and_then(|name| name.to_str());
        let target = matches!(parent, Some("tests" | "benches" | "examples" | "bin" | "fuzz_targets"));
        assert!(target || roots.contains(&stem) || names.contains(stem), "no mod line reaches {}", path.display());
    }
}

#[test]
fn nothing_is_left_unfinished_or_switched_off() {
    // Put together here, so that this file does not find itself.
    let marks =
        [["to", "do!("].concat(), ["unimple", "mented!("].concat(), ["#[ig", "nore"].concat(), ["FIX", "ME"].concat()];
    for (path, text) in rust_files() {
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{} holds {mark}", path.display());
        }
    }
}
