//! A client that knows nothing of EC2, and a small world to ask about.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use jiff::Timestamp;
use zonewarden_ec2_double::{Action, Double, Instance, Volume};

/// Volumes of the small world: the first is attached to the first instance.
pub(crate) const V1: &str = "vol-00000000000000001";
pub(crate) const V2: &str = "vol-00000000000000002";
pub(crate) const V3: &str = "vol-00000000000000003";
/// Well-formed, and not there.
pub(crate) const GONE: &str = "vol-0000000000000dead";
pub(crate) const GONE_TOO: &str = "vol-0000000000001dead";
pub(crate) const I1: &str = "i-00000000000000001";
pub(crate) const I2: &str = "i-00000000000000002";
pub(crate) const D1: &str = "/dev/xvdaa";
pub(crate) const D2: &str = "/dev/xvdab";

/// When the clock of the small world stands.
pub(crate) fn noon() -> Timestamp {
    "2026-11-03T12:00:00Z".parse().expect("a time")
}

pub(crate) fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Three volumes and two instances in one zone, on a clock that stands.
pub(crate) async fn small_world() -> Double {
    let ec2 = Double::start_at(noon()).await;
    ec2.with(|world| {
        for id in [V1, V2, V3] {
            world.add_volume(Volume::new(id, "us-east-1a"));
        }
        for (id, name) in [(I1, "ip-10-0-0-1.ec2.internal"), (I2, "ip-10-0-0-2.ec2.internal")] {
            world.add_instance(Instance::new(id, "us-east-1a", name));
        }
        assert!(world.put_attached(V1, I1, D1));
    });
    ec2
}

/// Everything that comes back, headers included, until the connection ends.
pub(crate) async fn raw(ec2: &Double, form: String) -> io::Result<String> {
    let address = ec2.address();
    let exchange = move || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        let head = format!(
            "POST / HTTP/1.1\r\nHost: ec2\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
            form.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(form.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    tokio::task::spawn_blocking(exchange).await.expect("the client does not panic")
}

/// The form of a question.
pub(crate) fn form(action: &str, parameters: &[(&str, &str)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", "2016-11-15").extend_pairs(parameters);
    form.finish()
}

/// The status and the body of an answer.
pub(crate) async fn ask(ec2: &Double, action: Action, parameters: &[(&str, &str)]) -> (u16, String) {
    let answer = raw(ec2, form(action.as_str(), parameters)).await.expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, body.to_owned())
}

/// The body of an answer that is no error.
pub(crate) async fn told(ec2: &Double, action: Action, parameters: &[(&str, &str)]) -> String {
    let (status, body) = ask(ec2, action, parameters).await;
    assert_eq!(status, 200, "{body}");
    body
}

/// Status, code and message of an error.
pub(crate) async fn refused(ec2: &Double, action: Action, parameters: &[(&str, &str)]) -> (u16, String, String) {
    let (status, body) = ask(ec2, action, parameters).await;
    assert_ne!(status, 200, "{body}");
    (status, texts(&body, "Code").concat(), texts(&body, "Message").concat())
}

/// What an error is held against.
pub(crate) fn error(status: u16, code: &str, message: &str) -> (u16, String, String) {
    (status, code.to_owned(), message.to_owned())
}

/// The texts of all elements of a name, in order, unescaped.
pub(crate) fn texts(body: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let pieces = body.split(open.as_str()).skip(1);
    let unescaped = |text: &str| {
        text.replace("&apos;", "'")
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    };
    pieces.filter_map(|piece| piece.split(close.as_str()).next()).map(unescaped).collect()
}

/// The volumes of an answer, each with its state and its attachments (`instance:state`).
pub(crate) fn volumes(body: &str) -> Vec<String> {
    let items = body.split("<item><volumeId>").skip(1);
    let mut volumes: Vec<String> = Vec::new();
    for item in items {
        let id = item.split('<').next().unwrap_or_default();
        let status = texts(item, "status").first().cloned().unwrap_or_default();
        if item.contains("<attachmentSet>") {
            volumes.push(format!("{id} {status}"));
        } else if let Some(volume) = volumes.last_mut() {
            let instance = texts(item, "instanceId").first().cloned().unwrap_or_default();
            volume.push_str(&format!(" {instance}:{status}"));
        }
    }
    volumes
}

/// The instances of an answer, each with its state and its devices (`volume:state`).
pub(crate) fn instances(body: &str) -> Vec<String> {
    let items = body.split("<instanceId>").skip(1);
    let line = |item: &str| {
        let id = item.split('<').next().unwrap_or_default();
        let state = texts(item, "name").concat();
        let devices = texts(item, "volumeId").into_iter().zip(texts(item, "status"));
        let devices: String = devices.map(|(volume, state)| format!(" {volume}:{state}")).collect();
        format!("{id} {state}{devices}")
    };
    items.map(line).collect()
}
