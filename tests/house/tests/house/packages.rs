//! What others embed can be packaged, with the WIT text inside.

use std::process::Command;

use crate::root;

/// The crates that others build on, with those of ours that they need.
const PACKAGES: &[&str] =
    &["zonewarden-bindings", "zonewarden-rules", "zonewarden-sdk", "zonewarden-contract", "zonewarden-engine"];

fn files(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--package", package])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("paths are UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn the_wit_text_is_inside_the_packages_that_need_it() {
    let interfaces = std::fs::read_dir(root().join("wit")).expect("wit/ is there");
    let wanted: Vec<String> = interfaces
        .filter_map(|entry| entry.expect("wit/ can be listed").file_name().into_string().ok())
        .filter(|name| name.ends_with(".wit"))
        .map(|name| format!("wit/{name}"))
        .collect();
    assert!(wanted.len() >= 8, "{wanted:?}");
    for package in ["zonewarden-bindings", "zonewarden-contract"] {
        let files = files(package);
        for name in &wanted {
            assert!(files.contains(name), "{package} lacks {name}: {files:?}");
        }
    }
}

/// Packs all of them together, so that each finds the others; the build of the packed sources is left to the release, since
/// it compiles wasmtime anew.
#[test]
fn what_others_embed_can_be_packaged() {
    let target = tempfile::tempdir().expect("a temporary folder can be made");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--no-verify", "--allow-dirty", "--offline", "--target-dir"]).arg(target.path());
    for package in PACKAGES {
        cargo.args(["--package", package]);
    }
    let output = cargo.current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
