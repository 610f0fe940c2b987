//! Builds the policies that the suites run.

use std::path::Path;

#[allow(clippy::print_stdout, reason = "standard output is how a build script speaks to cargo")]
fn main() -> anyhow::Result<()> {
    let workspace = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let packages = [
        "zonewarden-policy-ebs",
        "zonewarden-policy-ebs-strict",
        "zonewarden-policy-worst",
        "zonewarden-policy-liar",
        "zonewarden-policy-modest",
        "zonewarden-policy-fragile",
    ];
    let names = ["EBS", "EBS_STRICT", "WORST", "LIAR", "MODEST", "FRAGILE"];
    let built = zonewarden_componentize::build(&workspace, &packages)?;
    for (name, policy) in names.iter().zip(built) {
        println!("cargo::rustc-env={name}_CORE={}", policy.core.display());
        println!("cargo::rustc-env={name}_COMPONENT={}", policy.component.display());
    }
    Ok(())
}
