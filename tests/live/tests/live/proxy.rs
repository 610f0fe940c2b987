//! EC2 through the proxy that the environment names.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use zonewarden_ec2_double::{Double, Volume};

use super::environment::ANSWER;
use crate::{ZONE, volume};

/// A proxy that passes on what is meant for anybody to the double, and opens no tunnels.
struct Proxy {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start(double: &Double) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, double) = (Arc::clone(&asked), double.address());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass_on(client, double, Arc::clone(&log)));
            }
        });
        Self { url, asked }
    }

    /// The first lines of what it was asked.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn pass_on(mut client: TcpStream, double: std::net::SocketAddr, log: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = client.read_u8().await else { return };
        head.push(byte);
    }
    let first = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
    let is_tunnel = first.starts_with("CONNECT ");
    log.lock().unwrap().push(first);
    if is_tunnel {
        // Nobody looks whether the client is still there.
        drop(client.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await);
        return;
    }
    let mut server = TcpStream::connect(double).await.unwrap();
    server.write_all(&head).await.unwrap();
    drop(tokio::io::copy_bidirectional(&mut client, &mut server).await);
}

/// What is answered in a process of its own, which has this environment.
async fn ask(environment: Vec<(&'static str, String)>, folder: &Path) -> String {
    let answer = folder.join("answer");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "live::environment::asks_in_its_own_environment"]).env_clear();
    command.env(ANSWER, &answer).env("AWS_EC2_METADATA_DISABLED", "true").env("AWS_REGION", "us-east-1");
    command.envs([("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")]).envs(environment);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    std::fs::read_to_string(answer).unwrap()
}

#[tokio::test]
async fn the_environment_s_proxy_is_asked_but_for_what_is_exempt_or_at_hand() {
    let double = Double::start().await;
    double.with(|world| world.add_volume(Volume::new(volume(0), ZONE)));
    let port = double.address().port();
    let folder = tempfile::tempdir().unwrap();
    // Another name of this machine, which no proxy is spared by itself.
    let (named, here) = (format!("http://0.0.0.0:{port}"), format!("http://127.0.0.1:{port}"));
    let aws = "https://ec2.us-east-1.amazonaws.com";
    let line = format!("POST {named}/ HTTP/1.1");
    for (variables, endpoint, answer, asked) in [
        (&[][..], named.as_str(), "us-east-1 found", vec![]),
        (&["HTTP_PROXY"], &named, "us-east-1 found", vec![line.as_str()]),
        (&["http_proxy"], &named, "us-east-1 found", vec![&line]),
        (&["ALL_PROXY"], &named, "us-east-1 found", vec![&line]),
        (&["HTTPS_PROXY"], &named, "us-east-1 found", vec![]),
        (&["HTTP_PROXY", "NO_PROXY"], &named, "us-east-1 found", vec![]),
        (&["ALL_PROXY"], &here, "us-east-1 found", vec![]),
        (
            &["HTTPS_PROXY"],
            aws,
            "us-east-1 unknown: unavailable unavailable",
            vec!["CONNECT ec2.us-east-1.amazonaws.com:443 HTTP/1.1"],
        ),
    ] {
        let proxy = Proxy::start(&double).await;
        let value = |name: &str| if name == "NO_PROXY" { "0.0.0.0".to_owned() } else { proxy.url.clone() };
        let mut environment: Vec<_> = variables.iter().map(|name| (*name, value(name))).collect();
        environment.push(("AWS_ENDPOINT_URL_EC2", endpoint.to_owned()));
        assert_eq!(ask(environment, folder.path()).await, answer, "{variables:?} {endpoint}");
        assert_eq!(proxy.asked(), asked, "{variables:?} {endpoint}");
    }
}
