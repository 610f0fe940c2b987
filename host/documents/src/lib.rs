//! Files full of JSON or YAML, as `kubectl` and `aws` print them and as people edit them, read piece by piece.
//!
//! ```text
//! file -> bytes (source) -> text (encoding) -> documents (document) -> pieces (json, yaml) -> a typed record, or a fault
//! ```
//!
//! A broken piece costs itself and nothing else: a broken document leaves the file's other documents, a broken element of a
//! list its other elements, and a truncated list what stood before the end. So a text is first cut where its outline
//! allows that, without reading what is inside, and each piece is then read on its own. Pieces borrow from the text, which
//! keeps the memory for a list of any length at the text itself and one element.
//!
//! This crate knows neither Kubernetes nor EC2 and depends on no other crate of the project.
//!
//! Read in this order: [`problem`], [`source`], [`document`], then the two formats.

pub mod document;
pub mod problem;
pub mod source;
pub mod time;

mod encoding;
mod json;
mod outline;
mod piece;
mod skeleton;
mod yaml;

pub use document::{Document, Text};
pub use outline::Position;
pub use piece::{Fault, Mapping, Piece};
pub use problem::{Code, Place, Problem, Severity};
