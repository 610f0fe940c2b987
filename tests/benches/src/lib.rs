//! What the figures of `docs/benchmarks.md` are measured with: questions, a generated world, a clock and a memory gauge.
//!
//! ```text
//! benches/decisions  one question natively, through the engine, and as little as the engine can be asked
//! benches/anatomy    what a call is made of, on wasmtime itself
//! benches/check      the main job on a world of 10,000 volumes, 2,000 nodes and 20,000 pods
//! benches/memory     what such a world takes when it is watched, and one ten times as large
//! ```

pub mod memory;
pub mod questions;
pub mod timing;
pub mod world;

/// Writes a line to standard output.
#[allow(clippy::print_stdout, reason = "a benchmark tells its figures here")]
pub fn tell(line: &str) {
    println!("{line}");
}
