//! Builds policy crates to components: what the build scripts of the program and of the test suites call.
//!
//! `cargo build` for `wasm32-unknown-unknown` makes a core module without imports; wit-component wraps it by the contract that
//! the bindings left in a custom section. Nothing is downloaded and no file is made by hand.
//!
//! The nested cargo gets a target folder of its own below `OUT_DIR` (the outer one is locked while a build script runs) and
//! none of the outer cargo's wrappers and flags (clippy's wrapper would check instead of build).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{ExportSection, Module};
use wit_component::ComponentEncoder;

/// The one target: unlike `wasip1` and `wasip2` it imports nothing.
const TARGET: &str = "wasm32-unknown-unknown";

/// A small stack keeps the linear memory small, and the first touches of memory are what a fresh instance spends most of its
/// time on. The JSON parser's recursion limit is what needs the most of it.
const STACK_BYTES: u32 = 64 * 1024;

/// The heap that an instance starts with, so that ordinary questions grow no memory: growing is a system call, taking it back
/// after the call another, and both stop the process's other threads for a moment. With the stack and our policies' constants
/// these are the 256 KiB that the engine keeps at hand.
const HEAP_BYTES: u32 = 128 * 1024;

/// What the outer cargo may have set for itself and must not reach the nested one.
const OUTER: &[&str] = &[
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_TARGET_DIR",
    "CLIPPY_ARGS",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
];

/// One built policy.
#[derive(Debug)]
pub struct Built {
    /// The core module: for hosts without component support.
    pub core: PathBuf,
    /// The component.
    pub component: PathBuf,
}

/// Builds the workspace's policy crates of these package names, from a build script. The answers are in the same order.
///
/// # Errors
/// Names the command that failed, or what is missing and how it is brought.
pub fn build(workspace: &Path, packages: &[&str]) -> Result<Vec<Built>> {
    for source in ["Cargo.lock", "Cargo.toml", "guest", "policies", "wit"] {
        println(&format!("cargo::rerun-if-changed={}", workspace.join(source).display()));
    }
    require_target()?;
    let out = PathBuf::from(variable("OUT_DIR")?);
    let target = out.join("guest");
    build_core_modules(workspace, packages, &target)?;
    packages.iter().map(|package| encode(package, &target, &out)).collect()
}

fn build_core_modules(workspace: &Path, packages: &[&str], target: &Path) -> Result<()> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo.args(["build", "--lib", "--profile", "guest", "--target", TARGET]).arg("--target-dir").arg(target);
    cargo.arg("--manifest-path").arg(workspace.join("Cargo.toml"));
    for package in packages {
        cargo.args(["--package", package]);
    }
    for name in OUTER {
        cargo.env_remove(name);
    }
    let flags = format!("-Clink-arg=-zstack-size={STACK_BYTES}\x1f-Clink-arg=--initial-heap={HEAP_BYTES}");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags);
    let status = cargo.status().with_context(|| format!("{cargo:?} could not be started"))?;
    if !status.success() {
        bail!("{cargo:?} failed ({status})");
    }
    Ok(())
}

fn encode(package: &str, target: &Path, out: &Path) -> Result<Built> {
    let core = target.join(TARGET).join("guest").join(format!("{}.wasm", package.replace('-', "_")));
    let module =
        std::fs::read(&core).with_context(|| format!("{} was not built: is {package} a cdylib?", core.display()))?;
    let bytes = without_clean_up(&module)
        .and_then(|module| ComponentEncoder::default().validate(true).module(&module)?.encode())
        .with_context(|| format!("{package} could not be encoded as a component"))?;
    let component = out.join(format!("{package}.component.wasm"));
    std::fs::write(&component, bytes).with_context(|| format!("{} could not be written", component.display()))?;
    Ok(Built { core, component })
}

/// Takes the clean-up functions of the canonical ABI off a core module's exports.
///
/// They give back an answer's memory once it was read. The SDK's allocator gives nothing back, and an instance is gone after one
/// answer, so that a component with them costs each instance a look-up for each function and each answer one more call.
fn without_clean_up(module: &[u8]) -> Result<Vec<u8>> {
    struct WithoutCleanUp;
    impl Reencode for WithoutCleanUp {
        type Error = std::convert::Infallible;

        fn parse_export(
            &mut self,
            exports: &mut ExportSection,
            export: wasmparser::Export<'_>,
        ) -> Result<(), reencode::Error<Self::Error>> {
            if export.name.starts_with("cabi_post_") {
                return Ok(());
            }
            reencode::utils::parse_export(self, exports, export)
        }
    }
    let mut kept = Module::new();
    WithoutCleanUp.parse_core_module(&mut kept, wasmparser::Parser::new(0), module)?;
    Ok(kept.finish())
}

/// A missing target would show as a hundred errors about a missing `core`.
fn require_target() -> Result<()> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .with_context(|| format!("{rustc} could not be started"))?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || !Path::new(&folder).is_dir() {
        bail!("the Rust target {TARGET} is missing: rustup target add {TARGET}");
    }
    Ok(())
}

fn variable(name: &str) -> Result<String> {
    std::env::var(name).with_context(|| format!("{name} is not set: this is called from build scripts only"))
}

#[allow(clippy::print_stdout, reason = "standard output is how a build script speaks to cargo")]
fn println(line: &str) {
    println!("{line}");
}
