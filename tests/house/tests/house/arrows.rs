//! The manifests are the diagram: who may depend on whom.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::root;

/// Every arrow that may be there, for normal and build dependencies. A crate that is missing here fails the test.
const ARROWS: &[(&str, &[&str])] = &[
    ("bindings", &[]),
    ("rules", &["bindings"]),
    ("sdk", &["bindings", "rules"]),
    ("policy-ebs", &["sdk"]),
    ("policy-ebs-strict", &["sdk"]),
    ("componentize", &[]),
    ("documents", &[]),
    ("contract", &[]),
    ("engine", &["contract"]),
    ("ec2", &["contract", "documents"]),
    ("cluster", &["contract", "documents"]),
    ("sync", &["contract", "engine", "ec2", "cluster"]),
    ("cli", &["componentize", "contract", "engine", "ec2", "cluster", "documents", "sync"]),
];

/// The crates of `tests/`: they may see everything, nothing may see them.
const SUITES: &[&str] = &[
    "artifacts",
    "benches",
    "cluster-tests",
    "conformance-tests",
    "ec2-double",
    "embedding-tests",
    "house-tests",
    "limits-tests",
    "live-tests",
    "policy-fragile",
    "policy-liar",
    "policy-modest",
    "policy-worst",
];

fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata runs");
    let ours = |name: &str| name.strip_prefix("zonewarden-").map(str::to_owned);
    metadata
        .packages
        .iter()
        .map(|package| {
            let name = ours(&package.name).unwrap_or_else(|| panic!("{} is not named zonewarden-*", package.name));
            let kept = package.dependencies.iter().filter(|dep| dep.kind != DependencyKind::Development);
            (name, kept.filter_map(|dep| ours(&dep.name)).collect())
        })
        .collect()
}

#[test]
fn every_dependency_between_our_crates_is_an_arrow_of_the_design() {
    let found = arrows();
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for (package, dependencies) in &found {
        if SUITES.contains(&package.as_str()) {
            continue;
        }
        let allowed = allowed.get(package.as_str()).unwrap_or_else(|| panic!("{package} is no box of the design"));
        for dependency in dependencies {
            assert!(allowed.contains(&dependency.as_str()), "{package} -> {dependency} is no arrow of the design");
        }
    }
    for (package, _) in ARROWS {
        assert!(found.contains_key(*package), "the design's {package} is no crate of the workspace");
    }
}

#[test]
fn the_host_knows_no_crate_of_the_guest_not_even_in_its_tests() {
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata runs");
    for package in metadata.packages.iter().filter(|package| package.manifest_path.starts_with(root().join("host"))) {
        for dependency in &package.dependencies {
            let guest = ["bindings", "rules", "sdk", "policy-ebs", "policy-ebs-strict"];
            let hit = guest.iter().any(|name| dependency.name == format!("zonewarden-{name}"));
            assert!(!hit, "{} -> {}", package.name, dependency.name);
        }
    }
}

#[test]
fn only_the_program_has_default_features() {
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata runs");
    for package in &metadata.packages {
        let default = package.features.get("default").is_some_and(|features| !features.is_empty());
        assert!(!default || *package.name == "zonewarden-cli", "{} has default features", package.name);
    }
}
