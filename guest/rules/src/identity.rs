//! The contract's `identity` interface: what a volume source and a node name.

mod node;
mod volume;

#[cfg(test)]
mod tests;

pub use node::identify_node;
pub use volume::{Canonical, Foreign, RejectedId, canonical, identify_volume};
