//! The live cluster against an API server that the tests script.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

#[path = "live/server.rs"]
mod server;

#[path = "live/asking.rs"]
mod asking;
#[path = "live/leading.rs"]
mod leading;
#[path = "live/proxied.rs"]
mod proxied;
#[path = "live/watching.rs"]
mod watching;
#[path = "live/writing.rs"]
mod writing;
