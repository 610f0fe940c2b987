//! The policy that decides, and the engine that runs it.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use zonewarden_engine::{ConfiguredPolicy, Engine, Options, Policy};

use crate::args::DeciderArgs;
use crate::config;

/// The default policy, built from this workspace's sources.
pub(crate) const DEFAULT_POLICY: &[u8] = include_bytes!(env!("ZONEWARDEN_DEFAULT_POLICY"));

/// An engine with the default limits.
pub(crate) fn engine(args: &DeciderArgs) -> Result<Engine> {
    let options = Options { cache: cache(args), ..Options::default() };
    Engine::new(&options).context("the policy engine can't be set up")
}

/// The policy of `--policy`, else the built-in one.
pub(crate) fn policy(args: &DeciderArgs) -> Result<Policy> {
    policy_of(&engine(args)?, args)
}

/// The same, in an engine that is there already.
pub(crate) fn policy_of(engine: &Engine, args: &DeciderArgs) -> Result<Policy> {
    match &args.policy {
        None => engine.load(DEFAULT_POLICY).context("the built-in policy can't be loaded"),
        Some(file) => {
            let bytes = std::fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
            engine.load(&bytes).with_context(|| format!("{} can't be loaded", file.display()))
        }
    }
}

/// The policy with the settings of `--settings`.
pub(crate) fn configured(args: &DeciderArgs) -> Result<ConfiguredPolicy> {
    let settings = config::settings(args.settings.as_deref())?;
    policy(args)?.with_settings(settings).context("the policy can't be used")
}

/// `--cache-dir`, else the user's cache folder; nowhere where there is none.
fn cache(args: &DeciderArgs) -> Option<PathBuf> {
    match &args.cache_dir {
        Some(folder) if folder.as_os_str().is_empty() => None,
        Some(folder) => Some(folder.clone()),
        None => std::env::home_dir().map(|home| home.join(".cache/zonewarden/policies")),
    }
}
