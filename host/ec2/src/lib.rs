//! What EC2 says of many volumes and instances at once: attached, detached or **unknown**, and as of when.
//!
//! ```text
//! ids in one question -> BulkVerify (files; EC2 by feature `aws`) -> one Sweep: a record, or why it is not known, for each
//! ```
//!
//! An answer that is missing, partial or contradicts itself is unknown, never detached. Nothing here parses an id: ids are
//! compared as they stand, and whoever asks gives canonical ones.
//!
//! Two modules read a wire form: `wire` what `aws` prints, `aws::convert` what the SDK gives. What the texts in both mean
//! stands once, in `fields`.
//!
//! Read in this order: [`records`], [`verify`], [`files`], `aws`.

#[cfg(feature = "aws")]
pub mod aws;
pub mod files;
pub mod records;
pub mod verify;

mod fields;
mod wire;

#[cfg(feature = "aws")]
pub use aws::{ConnectError, Ec2, Keys, Options, Pace};
pub use files::{Files, Loaded, load, parse};
pub use records::{Attachment, BlockDevice, Instance, Volume};
pub use verify::{Answer, BulkVerify, Evidence, Question, Sweep, UnknownCause, Verification};
pub use zonewarden_documents::{Code, Place, Problem, Severity};
