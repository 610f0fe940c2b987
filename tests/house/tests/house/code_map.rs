//! The code map of the README is the tree.

use std::collections::BTreeSet;

use crate::{root, tracked};

/// The folders that hold a package, and the folders beside them that people look for.
fn tree() -> BTreeSet<String> {
    let mut folders: BTreeSet<String> = tracked()
        .iter()
        .filter(|path| path.file_name().is_some_and(|name| name == "Cargo.toml"))
        .filter_map(|path| path.parent())
        .map(|folder| folder.to_string_lossy().into_owned())
        .filter(|folder| !folder.is_empty())
        .collect();
    for folder in ["wit", "docs", "examples", "deploy"] {
        if tracked().iter().any(|path| path.starts_with(folder)) {
            folders.insert(folder.to_owned());
        }
    }
    folders
}

/// The first column of the table under `## Code map`: `` | `host/engine` | … | ``.
fn map() -> BTreeSet<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README is there");
    let section = readme.split("\n## Code map\n").nth(1).expect("the README has a code map");
    let section = section.split("\n## ").next().unwrap_or_default();
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .map(|folder| folder.trim_end_matches('/').to_owned())
        .collect()
}

#[test]
fn the_code_map_of_the_readme_names_every_folder_and_no_other() {
    assert_eq!(map(), tree());
}
