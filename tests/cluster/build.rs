//! Compiles the CSI protocol.
fn main() {}
