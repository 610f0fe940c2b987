//! Builds the default policy, which the program embeds.

use std::path::Path;

#[allow(clippy::print_stdout, reason = "standard output is how a build script speaks to cargo")]
fn main() -> anyhow::Result<()> {
    let workspace = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let built = zonewarden_componentize::build(&workspace, &["zonewarden-policy-ebs"])?;
    for policy in built {
        println!("cargo::rustc-env=ZONEWARDEN_DEFAULT_POLICY={}", policy.component.display());
    }
    Ok(())
}
