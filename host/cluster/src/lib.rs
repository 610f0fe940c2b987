//! The cluster's state: Kubernetes objects as projected records, and the index over them.
//!
//! ```text
//! files -> documents -> wire (the fields that are read, as the API server writes them) -> records -> Index
//! ```
//!
//! A projected record holds what the rules and the remedies need, in the contract's own types, and nothing else of an
//! object: no managedFields, images or container specs. [`Index`] is the one place that joins them. Whatever feeds it (files
//! here, a watch later) does so by [`Index::apply`], [`Index::delete`] and [`Index::reset`].
//!
//! What this crate does not do: it never reads a volume id, a provider id, a zone or a label key for its meaning, never asks
//! EC2, and drops no object without saying so.
//!
//! Read in this order: [`records`], [`index`], [`files`].

pub mod api;
pub mod files;
pub mod index;
pub mod quantity;
pub mod records;
pub mod selector;

mod objects;
mod wire;

pub use api::{Api, ApiError, Precondition, Write};
pub use files::{Loaded, load, parse};
pub use index::Index;
pub use objects::{Kind, Object};
pub use records::ObjectName;
pub use zonewarden_documents::{Code, Place, Problem, Severity};
