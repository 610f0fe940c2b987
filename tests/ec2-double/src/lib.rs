//! An EC2 that speaks the wire protocol, keeps state, and fails on demand.
