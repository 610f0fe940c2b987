//! Servers that answer what a test tells them: in front of the double, for words that it does not have, and in place of the
//! services that give credentials.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a server does with a message: all that was asked, and the answer that the double gave; what is sent instead of it.
type Retell = dyn Fn(&Message, Message) -> Message + Send + Sync;

/// A request or an answer over HTTP.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// The first line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A server; it ends when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Message>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// One in front of the double, which changes the bodies of its answers.
    pub(crate) async fn retelling(
        double: SocketAddr,
        retell: impl Fn(&str, String) -> String + Send + Sync + 'static,
    ) -> Self {
        let retell = move |asked: &Message, told: Message| Message { body: retell(&asked.body, told.body), ..told };
        Self::start(Some(double), Arc::new(retell)).await
    }

    /// One that says the same each time.
    pub(crate) async fn saying(body: &'static str) -> Self {
        let head = "HTTP/1.1 200 OK".to_owned();
        Self::start(None, Arc::new(move |_, _| Message { head: head.clone(), body: body.to_owned() })).await
    }

    async fn start(double: Option<SocketAddr>, retell: Arc<Retell>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(vec![]));
        let log = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(answer(client, double, Arc::clone(&retell), Arc::clone(&log)));
            }
        });
        Self { address, asked, task }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked.
    pub(crate) fn asked(&self) -> Vec<Message> {
        self.asked.lock().unwrap().clone()
    }
}

/// One request, one answer, and the end of the connection.
async fn answer(mut client: TcpStream, double: Option<SocketAddr>, retell: Arc<Retell>, log: Arc<Mutex<Vec<Message>>>) {
    let Some(asked) = read(&mut client).await else { return };
    log.lock().unwrap().push(asked.clone());
    let told = match double {
        Some(double) => {
            let mut server = TcpStream::connect(double).await.unwrap();
            let head = asked.head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
            server.write_all(format!("{head}\r\n\r\n{}", asked.body).as_bytes()).await.unwrap();
            let Some(told) = read(&mut server).await else { return };
            told
        }
        None => Message::default(),
    };
    let Message { head, body } = retell(&asked, told);
    let status = head.lines().next().unwrap_or_default();
    let answer = format!("{status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    client.write_all(answer.as_bytes()).await.unwrap();
}

/// A message that says how long its body is; `None` where the connection ends before it does.
async fn read(stream: &mut TcpStream) -> Option<Message> {
    let mut bytes = vec![];
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    while bytes.len() < head_end + 4 + length.unwrap_or_default() {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(Message { head, body: String::from_utf8(bytes[head_end + 4..].to_vec()).ok()? })
}
