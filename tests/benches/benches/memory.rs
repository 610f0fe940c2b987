//! What a watched world takes: the memory that is resident above the idle program, when every list came through the watches.
//!
//! `cargo bench --bench memory` measures 10,000 volumes, 2,000 nodes and 20,000 pods; `-- 10` ten times as many. Each size
//! wants a process of its own: what an allocator keeps after the first would count for the second.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response};
use kube::client::Body;
use zonewarden_benches::memory::{peak_mib, resident_kib};
use zonewarden_benches::tell;
use zonewarden_benches::world::{Size, page};
use zonewarden_cluster::live::Client;
use zonewarden_cluster::{Cluster, Kind};

/// Makes up the lists and writes them below a folder, in place of measuring.
const WRITE: &str = "--write-lists=";

/// The pages in which the watches ask for a resource.
fn page_size(resource: &str) -> usize {
    if resource == "nodes" { 50 } else { 250 }
}

const RESOURCES: [&str; 8] = [
    "persistentvolumes",
    "persistentvolumeclaims",
    "pods",
    "nodes",
    "volumeattachments",
    "csinodes",
    "csidrivers",
    "storageclasses",
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let factor = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1);
    let size = Size { volumes: 10_000 * factor, nodes: 2_000 * factor, pods: 20_000 * factor };
    if let Some(folder) = arguments.iter().find_map(|argument| argument.strip_prefix(WRITE)) {
        return write(size, Path::new(folder)).expect("the folder is there to be written to");
    }
    let folder = tempfile::tempdir().expect("a folder for the lists");
    // Another process makes the lists up: what that takes is not this one's.
    let program = std::env::current_exe().expect("this program's file");
    let written = Command::new(program)
        .arg(factor.to_string())
        .arg(format!("{WRITE}{}", folder.path().display()))
        .status()
        .expect("this program starts");
    assert!(written.success(), "the lists could not be made up");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure(folder.path()));
}

fn write(size: Size, folder: &Path) -> io::Result<()> {
    for resource in RESOURCES {
        let mut from = 0;
        loop {
            let page = page(size, resource, from, page_size(resource));
            std::fs::write(file(folder, resource, from), page.to_string())?;
            from += page_size(resource);
            if page["metadata"]["continue"] == "" {
                break;
            }
        }
    }
    Ok(())
}

fn file(folder: &Path, resource: &str, from: usize) -> PathBuf {
    folder.join(format!("{resource}-{from}.json"))
}

async fn measure(folder: &Path) {
    let folder = folder.to_owned();
    let cluster = Arc::new(Cluster::new());
    let server = tower::service_fn(move |request| answer(folder.clone(), request));
    let client = Client::from(kube::Client::new(server, "default"));
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

/// Lists come page by page; watches never say anything.
async fn answer(folder: PathBuf, request: Request<Body>) -> io::Result<Response<Body>> {
    let query = request.uri().query().unwrap_or_default();
    let value = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key));
    if value("watch=").is_some() {
        std::future::pending::<()>().await;
    }
    let from = value("continue=").and_then(|text| text.parse().ok()).unwrap_or(0);
    let resource = request.uri().path().rsplit('/').next().unwrap_or_default();
    assert_eq!(value("limit=").and_then(|limit| limit.parse().ok()), Some(page_size(resource)), "the pages' size");
    let page = std::fs::read(file(&folder, resource, from))?;
    Ok(Response::new(Body::from(page)))
}
