//! What surrounds the host while it serves: its policy's files, its health, its metrics, its logs, its end.
#![allow(dead_code, reason = "wired by run")]

mod health;
mod logging;
mod metrics;
mod policy_files;
mod serve;
mod shutdown;
