//! The cluster's state: Kubernetes objects as projected records, and the index over them.
//!
//! ```text
//! files, API server -> documents -> wire (the fields that are read, as the API server writes them) -> records
//! records -> Cluster (one writer, snapshots and changes for everybody) -> Index (the joins)
//! ```
//!
//! A projected record holds what the rules and the remedies need, in the contract's own types, and nothing else of an
//! object: no managedFields, images or container specs. [`Index`] is the one place that joins them, and [`Cluster`] holds the
//! index of a world that lives: fed by [`FileWatch`], or by the watches of the module `live` (feature `live`). Single reads and
//! the closed list of writes are behind [`Api`].
//!
//! What this crate does not do: it never reads a volume id, a provider id, a zone or a label key for its meaning, never asks
//! EC2, and drops no object without saying so.
//!
//! Read in this order: [`records`], [`index`], [`store`], [`files`], [`api`], `live`.

pub mod api;
pub mod files;
pub mod index;
#[cfg(feature = "live")]
pub mod live;
pub mod quantity;
pub mod records;
pub mod selector;
pub mod store;

mod objects;
mod reading;
mod sharing;
mod wire;

pub use api::{Api, ApiError, Precondition, Write};
pub use files::{FileWatch, FilesApi, Loaded, load, parse};
pub use index::Index;
pub use objects::{Kind, Object};
pub use reading::Reading;
pub use records::ObjectName;
pub use store::{Change, Changes, Cluster, Listing};
pub use zonewarden_documents::{Code, Place, Problem, Severity};
