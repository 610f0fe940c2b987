//! Ports that nothing else takes while a part is away.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Context as _, Result};

/// Below the range that the kernel gives to outgoing connections: one of those could take the port of an API server that is
/// being restarted.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// Where the parts of one control plane listen.
pub(super) struct Ports {
    pub(super) etcd: u16,
    pub(super) etcd_peers: u16,
    pub(super) api_server: u16,
}

impl Ports {
    pub(super) fn choose() -> Result<Self> {
        Ok(Self { etcd: free_port()?, etcd_peers: free_port()?, api_server: free_port()? })
    }
}

/// A port that nobody listens on, never the same twice in one process. Processes begin at different places.
///
/// # Errors
/// Where all are taken.
pub(crate) fn free_port() -> Result<u16> {
    static NEXT: OnceLock<AtomicU16> = OnceLock::new();
    let process = u16::try_from(std::process::id() % u32::from(COUNT)).unwrap_or_default();
    let next = NEXT.get_or_init(|| AtomicU16::new(process.wrapping_mul(97) % COUNT));
    (0..COUNT)
        .map(|_| FIRST + next.fetch_add(1, Ordering::Relaxed) % COUNT)
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .context("no port is free")
}
