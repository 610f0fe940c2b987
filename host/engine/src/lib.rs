//! Loads, limits and calls Zonewarden policy components.
//!
//! A policy is a WebAssembly component that exports the interfaces of the contract (`zonewarden:policy`) and imports nothing.
//! This crate compiles it, checks it, and answers questions with it, so that whatever the policy does, the host goes on. It
//! knows nothing of Kubernetes, EC2 or what an answer means, and needs no runtime: a call blocks its thread for as long as the
//! policy computes, which is microseconds.
//!
//! ```no_run
//! use zonewarden_engine::contract::identity::{VolumeIdentity, VolumeQuestion};
//! use zonewarden_engine::contract::types::{KubernetesVolumeId, VolumeSource};
//! use zonewarden_engine::{Engine, Options};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // Once a process: the pool of instances and the clock that ends calls.
//!     let engine = Engine::new(&Options::default())?;
//!     // Once a policy: compile it, check it, and ask it whether it likes its settings.
//!     let policy = engine.load(&std::fs::read("policy.wasm")?)?.with_settings(vec![])?;
//!
//!     // As often as needed, from as many threads as needed.
//!     let id = KubernetesVolumeId { kubernetes_volume_id: "aws://us-east-1a/vol-0123456789abcdef0".into() };
//!     let question = VolumeQuestion { source: VolumeSource::AwsElasticBlockStore(id), ec2_zone: None };
//!     match &policy.identify_volumes(&[question])?[0] {
//!         VolumeIdentity::Identified(found) => println!("{}", found.volume.aws_volume_id),
//!         VolumeIdentity::Foreign(reason) => println!("not ours: {}", reason.message),
//!         VolumeIdentity::Rejected(problem) => println!("{}", problem.message),
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # What holds, whatever the policy is
//!
//! - **A fresh instance answers every call.** Nothing outlives a call, so that the same question gets the same answer.
//! - **Every limit covers everything the guest runs**: its start function, its allocator, its clean-up, its description of
//!   itself. See [`Limits`].
//! - **Each way to fail has its own [`Error`] kind**, and the next call works, on the same policy too.
//! - **A policy is given nothing.** One that imports anything, be it an interface of types alone, is refused.
//! - **Answers are held against their questions**: a list has the length of the list that it answers, a verdict names reasons
//!   that the answer gives, and the canonical id of a volume or an instance is accepted only if it occurs, as a whole, in the
//!   text that it was made from.
//!
//! What is not limited is the time that a component takes to compile, but for the size of its file: load only what an operator
//! chose. No code here is `unsafe`; compiled code comes from the compiler, or from wasmtime's own cache of it ([`Options`]).
//!
//! Reading order: [`Engine`] and [`Policy`], then `load` (the checks), `call` (one call), `runtime` (wasmtime's settings), and
//! [`PolicySlot`] where one policy takes the place of another.

mod answers;
mod cache;
mod call;
mod engine;
mod error;
mod functions;
mod limits;
mod load;
mod policy;
mod runtime;
mod slots;
mod swap;
mod texts;
mod trial;

pub use engine::{Engine, Inspection};
pub use error::{Blame, Error};
pub use limits::{Limits, Options};
pub use load::digest;
pub use policy::{ConfiguredPolicy, Policy};
pub use swap::{PolicySlot, SwapError, Swapped};
/// The records of questions and answers, so that an embedder needs this one dependency.
pub use zonewarden_contract as contract;
