//! The endpoints over real connections.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use tokio::task::{JoinHandle, spawn_blocking};

use super::*;
use crate::run::shutdown::{self, Stop};

struct Server {
    address: SocketAddr,
    status: watch::Sender<Status>,
    stop: Stop,
    served: JoinHandle<io::Result<()>>,
}

impl Server {
    async fn start(health: &Health) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let recorder = crate::run::metrics::recorder().expect("the buckets are good");
        let counted = || ::metrics::counter!("zonewarden_policy_swaps_total", "result" => "ok").increment(3);
        ::metrics::with_local_recorder(&recorder, counted);
        let (stop, shutdown) = shutdown::channel();
        let status = watch::Sender::default();
        let page = Page { metrics: recorder.handle(), status: status.subscribe() };
        let served = tokio::spawn(run(listener, health.clone(), page, shutdown));
        Self { address, status, stop, served }
    }

    /// The status line, the content type and the body.
    async fn ask(&self, request: &str) -> (String, String, String) {
        let request = format!("{request} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
        let address = self.address;
        let asking = spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.write_all(request.as_bytes()).expect("it reads");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("it answers in UTF-8");
            answer
        });
        let answer = asking.await.expect("the client does not panic");
        let (head, body) = answer.split_once("\r\n\r\n").expect("the head ends");
        let ty = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or_default();
        (head.lines().next().unwrap_or_default().to_owned(), ty.to_owned(), body.to_owned())
    }

    async fn get(&self, path: &str) -> (String, String) {
        let (status, ty, body) = self.ask(&format!("GET {path}")).await;
        assert_eq!(ty, TEXT, "{path}");
        (status, body)
    }
}

fn answer(status: &str, body: &str) -> (String, String) {
    (format!("HTTP/1.1 {status}"), body.to_owned())
}

#[tokio::test]
async fn readyz_says_which_part_is_missing() {
    let health = Health::default();
    let server = Server::start(&health).await;
    assert_eq!(server.get("/readyz").await, answer("200 OK", "ok\n"));
    let (caches, policy) = (health.part("caches"), health.part("policy"));
    policy.ready();
    caches.not_ready("3 of 8 kinds are listed");
    let text = "[-]caches: 3 of 8 kinds are listed\n[+]policy ok\n";
    assert_eq!(server.get("/readyz").await, answer("503 Service Unavailable", text));
    caches.ready();
    policy.ready_but("policy.wasm: refused");
    assert_eq!(server.get("/readyz").await, answer("200 OK", "[+]caches ok\n[+]policy ok: policy.wasm: refused\n"));
}

#[tokio::test]
async fn healthz_fails_where_a_loop_is_stuck_and_not_where_a_part_is_not_ready() {
    let health = Health::default();
    let server = Server::start(&health).await;
    assert_eq!(server.get("/healthz").await, answer("200 OK", "ok\n"));
    health.part("caches").not_ready("filling");
    let beat = health.heartbeat("sweep", Duration::from_secs(60));
    assert_eq!(server.get("/healthz").await, answer("200 OK", "[+]sweep ok\n"));
    // A turn that may take no time has taken too long by now.
    let stuck = health.heartbeat("reconcile", Duration::ZERO);
    let text = "[-]reconcile: did not turn for 0 s, and may take 0 s\n[+]sweep ok\n";
    assert_eq!(server.get("/healthz").await, answer("503 Service Unavailable", text));
    drop((beat, stuck));
}

#[tokio::test]
async fn metrics_are_prometheus_text() {
    let server = Server::start(&Health::default()).await;
    let (status, ty, body) = server.ask("GET /metrics").await;
    assert_eq!((status.as_str(), ty.as_str()), ("HTTP/1.1 200 OK", "text/plain; version=0.0.4; charset=utf-8"));
    assert!(body.contains("zonewarden_policy_swaps_total{result=\"ok\"} 3\n"), "{body}");
}

#[tokio::test]
async fn a_stuck_volume_has_a_series_while_it_is_stuck() {
    let server = Server::start(&Health::default()).await;
    let counted = "\
# HELP zonewarden_policy_swaps_total Attempts to let another policy or other settings decide: ok, or what was wrong
# TYPE zonewarden_policy_swaps_total counter
zonewarden_policy_swaps_total{result=\"ok\"} 3

";
    let stuck = "\
# HELP zonewarden_stuck_volume_seconds For how long a volume is stuck on its way; the longest stuck ones only, and only while they are
# TYPE zonewarden_stuck_volume_seconds gauge
zonewarden_stuck_volume_seconds{volume_id=\"vol-0a\",instance_id=\"i-01\",state=\"busy\",persistentvolume=\"data\"} 400
";
    assert_eq!(server.ask("GET /metrics").await.2, counted);
    let volume = zonewarden_sync::StuckVolume {
        volume: zonewarden_contract::types::AwsVolumeId { aws_volume_id: "vol-0a".to_owned() },
        instance: Some(zonewarden_contract::types::InstanceId { instance_id: "i-01".to_owned() }),
        persistent_volume: Some("data".to_owned()),
        state: "busy",
        seconds: 400,
    };
    server.status.send_modify(|status| status.stuck = vec![volume].into());
    assert_eq!(server.ask("GET /metrics").await.2, format!("{counted}{stuck}"));
    server.status.send_modify(|status| status.stuck = std::sync::Arc::default());
    assert_eq!(server.ask("GET /metrics").await.2, counted);
}

#[tokio::test]
async fn what_is_not_served_is_said_so() {
    let server = Server::start(&Health::default()).await;
    assert_eq!(server.ask("GET /").await.0, "HTTP/1.1 404 Not Found");
    assert_eq!(server.ask("POST /metrics").await.0, "HTTP/1.1 405 Method Not Allowed");
    let (status, _, body) = server.ask("HEAD /healthz").await;
    assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 OK", ""));
}

#[tokio::test]
async fn the_end_comes_at_once_where_nobody_waits_for_an_answer() {
    let server = Server::start(&Health::default()).await;
    // A connection that is kept open and asks nothing holds nobody up.
    let address = server.address;
    let opened = spawn_blocking(move || {
        let mut idle = TcpStream::connect(address).expect("it listens");
        idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n").expect("it reads");
        let mut first = [0; 15];
        idle.read_exact(&mut first).expect("it answers");
        (idle, first)
    });
    let (idle, first) = opened.await.expect("the client does not panic");
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    server.stop.now();
    let ended = tokio::time::timeout(GRACE / 2, server.served).await.expect("it ends without its grace");
    ended.expect("it does not panic").expect("it ends well");
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    drop(idle);
}
