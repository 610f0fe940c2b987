//! What a watched world takes: the memory that is resident above the idle program, when every list came through the watches.
//!
//! `cargo bench --bench memory` measures 10,000 volumes, 2,000 nodes and 20,000 pods; `-- 10` ten times as many. Each size
//! wants a process of its own: what an allocator keeps after the first would count for the second.

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response};
use kube::client::Body;
use zonewarden_benches::memory::{peak_mib, resident_kib};
use zonewarden_benches::tell;
use zonewarden_benches::world::{Size, page};
use zonewarden_cluster::live::Client;
use zonewarden_cluster::{Cluster, Kind};

fn main() {
    let factor = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(1);
    let size = Size { volumes: 10_000 * factor, nodes: 2_000 * factor, pods: 20_000 * factor };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure(size));
}

async fn measure(size: Size) {
    let cluster = Arc::new(Cluster::new());
    let client = Client::from(kube::Client::new(tower::service_fn(move |request| answer(size, request)), "default"));
    let (idle, start) = (resident_kib().unwrap_or_default(), Instant::now());
    let watches = tokio::spawn(client.watch(&cluster));
    cluster.filled().await;
    let taken = resident_kib().unwrap_or_default().saturating_sub(idle);
    let index = cluster.read();
    let counts: Vec<_> = Kind::WATCHED.iter().map(|kind| format!("{} {kind}s", index.count(*kind))).collect();
    tell(&counts.join(", "));
    tell(&format!(
        "resident above {:.1} MiB idle: {:.1} MiB; at most {} MiB in all; filled in {:.1} s",
        idle as f64 / 1024.0,
        taken as f64 / 1024.0,
        peak_mib().unwrap_or_default(),
        start.elapsed().as_secs_f64(),
    ));
    watches.abort();
}

/// Lists come page by page, made up as they are asked for; watches never say anything.
async fn answer(size: Size, request: Request<Body>) -> std::io::Result<Response<Body>> {
    let query = request.uri().query().unwrap_or_default();
    let value = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key));
    if value("watch=").is_some() {
        std::future::pending::<()>().await;
    }
    let number = |key: &str| value(key).and_then(|text| text.parse().ok());
    let resource = request.uri().path().rsplit('/').next().unwrap_or_default();
    let page = page(size, resource, number("continue=").unwrap_or(0), number("limit=").unwrap_or(500));
    Ok(Response::new(Body::from(page.to_string().into_bytes())))
}
