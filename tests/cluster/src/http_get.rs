//! Plain HTTP to something on this machine: health pages, and EC2 in the rescuer that is a script.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Gets a page: the status and the body.
///
/// # Errors
/// Where nobody listens or the answer is no HTTP.
pub async fn get(address: SocketAddr, path: &str) -> Result<(u16, String)> {
    exchange(address, &format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")).await
}

/// Posts a form: the status and the body.
///
/// # Errors
/// Where nobody listens or the answer is no HTTP.
pub async fn post_form(address: SocketAddr, form: &str) -> Result<(u16, String)> {
    let head = format!("POST / HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    exchange(address, &format!("{head}Content-Length: {}\r\n\r\n{form}", form.len())).await
}

/// By HTTP/1.0 the answer ends with the connection and is never sent in chunks.
async fn exchange(address: SocketAddr, request: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").context("an HTTP answer has a head")?;
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    Ok((status.context("an HTTP answer has a status")?, body.to_owned()))
}
