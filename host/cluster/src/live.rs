//! A cluster that lives: an API server, watched, asked and written to.
//!
//! ```text
//! API server -> connection (timed, paced) -> kube's watcher -> decode (nothing kept of an object but its record) -> Cluster
//! Api (get, pods_*, write) -> client -> requests (the closed list of writes) -> API server -> errors
//! Leadership -> election (pure) -> one Lease
//! ```
//!
//! Types of kube-rs stop here. A malformed object is skipped, counted and named, and breaks neither a list nor a watch.

mod client;
mod connection;
mod decode;
mod errors;
mod events;
mod leadership;
mod proxy;
mod requests;
mod resources;
mod restarts;
mod watch;

pub use client::{Client, ConnectError};
pub use leadership::{Candidate, Leadership, NotLeader, Terms, unique_identity};
