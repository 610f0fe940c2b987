//! Compiles the CSI protocol, with no protoc.

use std::error::Error;

use tonic_prost_build::Config;

#[allow(clippy::print_stdout, reason = "standard output is how a build script speaks to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["proto/csi.proto"], ["proto"])?;
    let mut config = Config::new();
    // The comments hold indented text, which rustdoc would take for code and test.
    config.disable_comments(["."]);
    tonic_prost_build::configure()
        .build_client(false)
        .disable_comments(["."])
        .generate_default_stubs(true)
        .compile_fds_with_config(files, config)?;
    Ok(())
}
