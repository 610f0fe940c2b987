//! The contract can't change silently: what is under `wit/archive/` is frozen.
//!
//! An interface that was released stays as it was, since a field, a case or a function more in an exported interface breaks
//! the policies that are out there. What is new comes as a new interface, in a new world that includes `policy`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use wit_component::WitPrinter;
use wit_parser::Resolve;

use crate::root;

/// The interfaces and worlds of a WIT folder by name, printed without comments, and the package's version.
fn printed(folder: &Path) -> Result<(String, BTreeMap<String, String>)> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(folder).with_context(|| format!("{} can't be read", folder.display()))?;
    let version = resolve.packages[package].name.version.as_ref().context("the package has no version")?.to_string();
    let mut printer = WitPrinter::default();
    printer.emit_docs(false);
    printer.print(&resolve, package, &[])?;
    let text = printer.output.to_string();
    let mut items = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        let starts = line.starts_with("interface ") || line.starts_with("world ");
        if starts {
            line.trim_end_matches(" {").clone_into(&mut name);
        }
        if !name.is_empty() {
            items.entry(name.clone()).or_insert_with(String::new).push_str(&format!("{}\n", line.trim_end()));
        }
    }
    Ok((version, items))
}

/// What is no longer as it was frozen.
fn broken(frozen: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    frozen
        .iter()
        .filter(|(name, text)| now.get(*name).map(|text| text.trim_end()) != Some(text.trim_end()))
        .map(|(name, _)| name.clone())
        .collect()
}

fn archive() -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(root().join("wit/archive")).expect("wit/archive is there");
    entries.map(|entry| entry.expect("wit/archive can be listed").path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn every_released_version_is_still_in_the_contract_as_it_was() -> Result<()> {
    let (version, now) = printed(&root().join("wit"))?;
    let mut versions = Vec::new();
    for folder in archive() {
        let (frozen_version, frozen) = printed(&folder)?;
        assert_eq!(folder.file_name().and_then(|name| name.to_str()), Some(frozen_version.as_str()));
        assert_eq!(broken(&frozen, &now), Vec::<String>::new(), "changed since {frozen_version}, which is frozen");
        versions.push(frozen_version);
    }
    assert!(versions.contains(&version), "{version} is not under wit/archive/");
    let changes = std::fs::read_to_string(root().join("wit/CHANGES.md"))?;
    assert!(changes.contains(&format!("## {version}")), "wit/CHANGES.md says nothing of {version}");
    Ok(())
}

/// Edits a copy of the contract and says what the check finds.
fn after(file: &str, old: &str, new: &str) -> Result<Vec<String>> {
    let copy = tempfile::tempdir()?;
    for entry in std::fs::read_dir(root().join("wit"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wit") {
            std::fs::copy(&path, copy.path().join(path.file_name().context("a file has a name")?))?;
        }
    }
    let edited = copy.path().join(file);
    let text = std::fs::read_to_string(&edited)?;
    assert!(text.contains(old), "{file} holds no {old:?}");
    std::fs::write(&edited, text.replacen(old, new, 1))?;
    let (_, frozen) = printed(&root().join("wit"))?;
    let (_, now) = printed(copy.path())?;
    Ok(broken(&frozen, &now))
}

#[test]
fn the_check_sees_each_kind_of_breaking_change() -> Result<()> {
    let types = ["interface types"];
    for (file, old, new, wanted) in [
        ("types.wit", "record zone {", "record zone { id: option<string>,", &types[..]),
        ("types.wit", "enum severity {", "enum severity { debug,", &types[..]),
        ("types.wit", "age-seconds: u32,", "age-seconds: u64,", &types[..]),
        ("identity.wit", "identify-nodes: func", "other: func();\n  identify-nodes: func", &["interface identity"][..]),
        ("labelling.wit", "creating: bool,", "", &["interface labelling"][..]),
        ("world.wit", "  export json;\n", "", &["world policy"][..]),
        ("types.wit", "/// A region's name", "/// Other words for a region's name", &[]),
        ("world.wit", "world policy {", "interface later { ask: func(); }\nworld policy {", &[]),
    ] {
        assert_eq!(after(file, old, new)?, wanted, "{file}: {old:?} -> {new:?}");
    }
    Ok(())
}
