//! An API server that does what a test says, in the place of the connection.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use zonewarden_cluster::live::Client;

/// A request as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) form: String,
    pub(crate) body: Value,
}

impl Call {
    pub(crate) fn is_watch(&self) -> bool {
        self.query.get("watch").is_some_and(|watch| watch == "true")
    }

    pub(crate) fn query(&self, key: &str) -> &str {
        self.query.get(key).map_or("", |value| value)
    }
}

/// What comes back.
pub(crate) enum Answer {
    Json(u16, Value),
    /// Text as it is, for what is no JSON.
    Text(u16, &'static str),
    /// A watch: what is sent arrives, an error breaks the connection, and dropping the sender ends it.
    Stream(mpsc::UnboundedReceiver<io::Result<String>>),
    /// No connection at all.
    Refused,
    /// Nothing, ever.
    Silence,
}

/// A client of a server that answers so.
pub(crate) fn client<A>(answer: impl Fn(Call) -> A + Send + Sync + 'static) -> Client
where
    A: Future<Output = Answer> + Send,
{
    let answer = Arc::new(answer);
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = Arc::clone(&answer);
        async move {
            let call = call(request).await;
            respond(answer(call).await).await
        }
    });
    Client::from(kube::Client::new(service, "default")).pausing_at_most(Duration::from_millis(10))
}

/// A client of a server that gives this answer once; the call that it got is in the log.
pub(crate) fn once(answer: Answer) -> (Client, Arc<Script>) {
    let script = Arc::new(Script::default());
    script.push(&ANY, answer);
    (Script::client(&script), script)
}

async fn call(request: Request<Body>) -> Call {
    let (head, body) = request.into_parts();
    let body = body.collect_bytes().await.unwrap();
    let query = head.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    Call {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: query.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        form: head.headers.get(http::header::CONTENT_TYPE).map_or("", |form| form.to_str().unwrap()).to_owned(),
        body: if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() },
    }
}

type Reply = Response<UnsyncBoxBody<Bytes, io::Error>>;

async fn respond(answer: Answer) -> io::Result<Reply> {
    let full = |status: u16, text: String| {
        let body = Full::from(text).map_err(|never: Infallible| match never {}).boxed_unsync();
        Ok(Response::builder().status(status).body(body).unwrap())
    };
    match answer {
        Answer::Json(status, body) => full(status, body.to_string()),
        Answer::Text(status, body) => full(status, body.to_owned()),
        Answer::Stream(lines) => {
            let lines = stream::unfold(lines, async |mut lines| Some((lines.recv().await?, lines)));
            let frames = lines.map(|line| line.map(|line| Frame::data(Bytes::from(line))));
            Ok(Response::new(StreamBody::new(frames).boxed_unsync()))
        }
        Answer::Refused => Err(io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused")),
        Answer::Silence => std::future::pending().await,
    }
}

/// A refusal as the API server words it.
pub(crate) fn refusal(code: u16, reason: &str, message: &str) -> Answer {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code });
    Answer::Json(code, status)
}

/// A page of a list.
pub(crate) fn page(version: &str, token: &str, items: &[Value]) -> Answer {
    let metadata = json!({ "resourceVersion": version, "continue": token });
    Answer::Json(200, json!({ "kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items }))
}

/// Any call, in the place of a path.
const ANY: Expected = Expected { path: "", watch: None };

/// What a scripted answer is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Expected {
    path: &'static str,
    watch: Option<bool>,
}

/// A list of what is at this path.
pub(crate) const fn list(path: &'static str) -> Expected {
    Expected { path, watch: Some(false) }
}

/// A watch of what is at this path.
pub(crate) const fn watch(path: &'static str) -> Expected {
    Expected { path, watch: Some(true) }
}

impl Expected {
    fn matches(self, call: &Call) -> bool {
        (self.path.is_empty() || self.path == call.path) && self.watch.is_none_or(|watch| watch == call.is_watch())
    }
}

/// Answers in the order in which they are written down. Nothing scripted: lists are empty, and watches never say anything.
#[derive(Default)]
pub(crate) struct Script {
    answers: Mutex<Vec<(Expected, Answer)>>,
    calls: Mutex<Vec<Call>>,
}

impl Script {
    pub(crate) fn push(&self, expected: &Expected, answer: Answer) {
        self.answers.lock().unwrap().push((*expected, answer));
    }

    /// Scripts a watch that is written to.
    pub(crate) fn stream(&self, path: &'static str) -> Lines {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.push(&watch(path), Answer::Stream(receiver));
        Lines(sender)
    }

    pub(crate) fn client(script: &Arc<Self>) -> Client {
        let script = Arc::clone(script);
        client(move |call| std::future::ready(script.answer(call)))
    }

    fn answer(&self, call: Call) -> Answer {
        let mut answers = self.answers.lock().unwrap();
        let found = answers.iter().position(|(expected, _)| expected.matches(&call));
        let answer = found.map(|at| answers.remove(at).1);
        let is_watch = call.is_watch();
        self.calls.lock().unwrap().push(call);
        answer.unwrap_or_else(|| if is_watch { Answer::Silence } else { page("1", "", &[]) })
    }

    /// The calls for something, so far.
    pub(crate) fn calls(&self, expected: &Expected) -> Vec<Call> {
        self.calls.lock().unwrap().iter().filter(|call| expected.matches(call)).cloned().collect()
    }

    /// The one call that there was.
    pub(crate) fn call(&self) -> Call {
        let calls = self.calls(&ANY);
        let [call] = &calls[..] else { panic!("{calls:?}") };
        call.clone()
    }
}

/// A watch's end of the server.
pub(crate) struct Lines(mpsc::UnboundedSender<io::Result<String>>);

impl Lines {
    pub(crate) fn event(&self, kind: &str, object: &Value) {
        // The type stands first, as the API server writes it.
        self.text(&format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"));
    }

    pub(crate) fn text(&self, text: &str) {
        self.0.send(Ok(text.to_owned())).unwrap();
    }

    pub(crate) fn break_off(&self) {
        self.0.send(Err(io::Error::other("connection reset"))).unwrap();
    }
}

/// Waits until something is so, and fails where it is not within ten seconds.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..5_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("not within ten seconds: {what}");
}

impl Lines {
    /// Scripts a list that comes only when it is sent.
    pub(crate) fn gate(script: &Script, path: &'static str) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        script.push(&list(path), Answer::Stream(receiver));
        Self(sender)
    }
}
