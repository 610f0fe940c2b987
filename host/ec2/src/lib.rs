//! What EC2 says of many volumes and instances at once: attached, detached or **unknown**, and as of when.
//!
//! ```text
//! ids in one question -> BulkVerify (files here, EC2 later) -> one Sweep: a record, or why it is not known, for each id
//! ```
//!
//! An answer that is missing, partial or contradicts itself is unknown, never detached. Nothing here parses an id: ids are
//! compared as they stand, and whoever asks gives canonical ones.
//!
//! Read in this order: [`records`], [`verify`], [`files`].

pub mod files;
pub mod records;
pub mod verify;

mod wire;

pub use files::{Files, Loaded, load, parse};
pub use records::{Attachment, BlockDevice, Instance, Volume};
pub use verify::{Answer, BulkVerify, Evidence, Question, Sweep, UnknownCause, Verification};
pub use zonewarden_documents::{Code, Place, Problem, Severity};
