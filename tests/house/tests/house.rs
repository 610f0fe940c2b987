//! The rules of the house as tests: one binary, a module a rule.

use std::path::{Path, PathBuf};

mod house {
    mod arrows;
    mod code_map;
    mod contract;
    mod files;
    mod metrics;
    mod packages;
}

/// The workspace's root. Cargo runs tests in their package's folder; what was compiled in may be that of another checkout which
/// builds into the same target folder.
fn root() -> PathBuf {
    Path::new("../..").canonicalize().expect("the workspace's root exists")
}

/// The files that git tracks or would track, below the root.
fn tracked() -> Vec<PathBuf> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).expect("paths are UTF-8");
    listed.lines().map(PathBuf::from).filter(|path| root().join(path).exists()).collect()
}
