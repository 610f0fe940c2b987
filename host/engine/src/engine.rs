//! The engine: where policies are loaded and looked at.

use std::sync::Arc;

use crate::error::Error;
use crate::limits::{Limits, Options};
use crate::load::{self, Outline};
use crate::policy::Policy;
use crate::runtime::Runtime;

/// Loads policies. One engine a process is enough: its policies share the limits, the pool of instances and the clock.
///
/// Policies that were loaded go on working when the engine itself is dropped.
#[derive(Debug, Clone)]
pub struct Engine {
    runtime: Arc<Runtime>,
}

/// What a component is, as far as it can be told without running any of it.
#[derive(Debug)]
pub struct Inspection {
    /// The SHA-256 of its file, in hexadecimal.
    pub digest: String,
    /// The bytes of its file.
    pub size: usize,
    /// The names of what it exports.
    pub exports: Vec<String>,
    /// The names of what it imports; a policy imports nothing.
    pub imports: Vec<String>,
    /// The versions of the contract that it is made for: one, for a policy. Empty for a component that is no policy; an
    /// empty text stands for an interface of the contract without a version.
    pub contract_versions: Vec<String>,
    /// Why [`Engine::load`] refuses it; `None` where it does not.
    pub refusal: Option<Error>,
}

impl Engine {
    /// Sets up an engine.
    ///
    /// A cache that can't be used is done without; [`Engine::has_cache`] tells.
    ///
    /// # Errors
    /// [`Error::Engine`] where the system gives it no thread or no memory.
    pub fn new(options: &Options) -> Result<Self, Error> {
        Ok(Self { runtime: Arc::new(Runtime::new(options)?) })
    }

    /// Compiles a component and checks that it keeps the contract. None of it runs yet.
    ///
    /// # Errors
    /// [`Error::Load`] where the bytes are no component that may run here, [`Error::Import`], [`Error::Version`],
    /// [`Error::Contract`] where it is no policy of this contract, [`Error::Memory`] where it starts with more memory than it
    /// may have.
    pub fn load(&self, bytes: &[u8]) -> Result<Policy, Error> {
        let component = load::compile(&self.runtime, bytes)?;
        load::prepare(&self.runtime, &component, load::digest(bytes)).map(Policy::new)
    }

    /// Looks at a component without running it. It need not be a policy.
    ///
    /// # Errors
    /// [`Error::Load`] where the bytes are no component that may run here.
    pub fn inspect(&self, bytes: &[u8]) -> Result<Inspection, Error> {
        let component = load::compile(&self.runtime, bytes)?;
        let outline = Outline::of(&component);
        let digest = load::digest(bytes);
        Ok(Inspection {
            refusal: load::prepare(&self.runtime, &component, digest.clone()).err(),
            digest,
            size: bytes.len(),
            contract_versions: outline.versions(),
            exports: outline.exports,
            imports: outline.imports,
        })
    }

    /// The limits that hold for every policy of this engine.
    pub fn limits(&self) -> &Limits {
        &self.runtime.limits
    }

    /// Whether compiled code is kept: false too where the directory that was asked for can't be written.
    pub fn has_cache(&self) -> bool {
        self.runtime.cache.is_some()
    }
}
