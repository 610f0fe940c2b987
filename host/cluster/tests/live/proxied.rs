//! An API server behind a proxy.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use zonewarden_cluster::live::Client;
use zonewarden_cluster::{Api as _, Kind, ObjectName};

/// The first line of what is asked, and all of it read.
async fn first_line(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap().lines().next().unwrap_or_default().to_owned()
}

/// Opens one tunnel, and answers in the API server's place at its other end. What it was asked, on both.
async fn serve(listener: TcpListener) -> [String; 2] {
    let (mut client, _) = listener.accept().await.unwrap();
    let asked_of_proxy = first_line(&mut client).await;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let asked_of_server = first_line(&mut client).await;
    let body = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    [asked_of_proxy, asked_of_server]
}

fn kubeconfig(proxy: SocketAddr) -> String {
    format!(
        "
apiVersion: v1
kind: Config
current-context: test
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
clusters: [{{name: test, cluster: {{server: 'http://api.test:6443', proxy-url: 'http://{proxy}'}}}}]
users: [{{name: test, user: {{}}}}]
"
    )
}

#[tokio::test]
async fn the_proxy_of_a_kubeconfig_is_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), kubeconfig(listener.local_addr().unwrap())).unwrap();
    let serving = tokio::spawn(serve(listener));
    let client = Client::connect(Some(file.path()), None).await.unwrap();
    let found = client.get(Kind::Node, &ObjectName::new("", "a")).await.unwrap();
    assert_eq!(found.map(|node| node.identity().uid.clone()), Some("u".to_owned()));
    let asked = ["CONNECT api.test:6443 HTTP/1.1", "GET /api/v1/nodes/a HTTP/1.1"];
    assert_eq!(serving.await.unwrap(), asked);
}
