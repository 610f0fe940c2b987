//! Leadership: candidates that share one Lease on a server that refuses what is not up to date.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use zonewarden_cluster::ObjectName;
use zonewarden_cluster::live::{Client, Leadership, NotLeader, Terms};

use crate::server::{Answer, Call, client, refusal, until};

/// One Lease on a server.
#[derive(Default)]
struct Office {
    lease: Option<Value>,
    version: u64,
    /// What was written, as `METHOD holder`.
    writes: Vec<String>,
    reads: usize,
    is_away: bool,
}

impl Office {
    fn answer(&mut self, call: &Call) -> Answer {
        if self.is_away {
            return Answer::Silence;
        }
        if call.method == "GET" {
            self.reads += 1;
            return self
                .lease
                .clone()
                .map_or_else(|| refusal(404, "NotFound", "none"), |lease| Answer::Json(200, lease));
        }
        let current = self.lease.as_ref().map(|lease| lease["metadata"]["resourceVersion"].clone());
        let is_current = match &*call.method {
            "POST" => current.is_none(),
            _ => current.is_some_and(|current| current == call.body["metadata"]["resourceVersion"]),
        };
        if !is_current {
            return refusal(409, "Conflict", "the object has been modified");
        }
        self.writes.push(format!("{} {}", call.method, call.body["spec"]["holderIdentity"].as_str().unwrap()));
        self.version += 1;
        let mut lease = call.body.clone();
        lease["metadata"]["resourceVersion"] = Value::from(self.version.to_string());
        self.lease = Some(lease.clone());
        Answer::Json(200, lease)
    }

    fn holder(&self) -> String {
        let holder = self.lease.as_ref().and_then(|lease| lease["spec"]["holderIdentity"].as_str());
        holder.unwrap_or_default().to_owned()
    }
}

type Shared = Arc<Mutex<Office>>;

fn connect(office: &Shared) -> Client {
    let office = Arc::clone(office);
    client(move |call| std::future::ready(office.lock().unwrap().answer(&call)))
}

struct Running {
    leadership: Leadership,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

fn run(office: &Shared, terms: Terms) -> Running {
    let (candidate, leadership) =
        Leadership::candidate(&connect(office), ObjectName::new("kube-system", "zonewarden"), terms);
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(candidate.run(async { drop(stopped.await) }));
    Running { leadership, stop, task }
}

/// Long enough for a machine that is busy with other things, and quick to try.
fn terms(identity: &str) -> Terms {
    Terms {
        lease_duration: Duration::from_secs(30),
        renew_deadline: Duration::from_secs(20),
        retry_period: Duration::from_millis(2),
        ..Terms::new(identity)
    }
}

#[tokio::test]
async fn a_candidate_without_a_rival_creates_the_lease_and_renews_it_without_reading_it() {
    let office = Shared::default();
    let one = run(&office, terms("one"));
    until("it leads", || one.leadership.is_leader()).await;
    until("it renews", || office.lock().unwrap().writes.len() >= 5).await;
    assert_eq!(one.leadership.fence(), Ok(()));
    assert_eq!(one.leadership.holder(), "one");
    let office = office.lock().unwrap();
    assert_eq!((office.writes[0].as_str(), office.writes[1].as_str(), office.reads), ("POST one", "PUT one", 1));
    let lease = office.lease.as_ref().unwrap();
    assert_eq!(lease["spec"]["leaseTransitions"], json!(0));
    assert_eq!(lease["metadata"]["name"], json!("zonewarden"));
}

#[tokio::test]
async fn of_two_that_race_one_leads() {
    for _ in 0..20 {
        let office = Shared::default();
        let (one, two) = (run(&office, terms("one")), run(&office, terms("two")));
        until("someone leads", || one.leadership.is_leader() || two.leadership.is_leader()).await;
        until("both know", || !one.leadership.holder().is_empty() && !two.leadership.holder().is_empty()).await;
        assert!(one.leadership.is_leader() != two.leadership.is_leader());
        let holder = office.lock().unwrap().holder();
        assert_eq!((one.leadership.holder(), two.leadership.holder()), (holder.clone(), holder));
    }
}

#[tokio::test]
async fn whoever_stops_gives_the_lease_back_and_the_other_need_not_wait() {
    let office = Shared::default();
    let one = run(&office, terms("one"));
    until("the first leads", || one.leadership.is_leader()).await;
    let two = run(&office, terms("two"));
    until("the second knows", || two.leadership.holder() == "one").await;
    one.stop.send(()).unwrap();
    one.task.await.unwrap();
    assert_eq!(one.leadership.fence(), Err(NotLeader));
    until("the second leads", || two.leadership.is_leader()).await;
    let office = office.lock().unwrap();
    assert!(office.writes.contains(&"PUT ".to_owned()), "{:?}", office.writes);
    assert_eq!(office.lease.as_ref().unwrap()["spec"]["leaseTransitions"], json!(1));
}

#[tokio::test]
async fn whoever_cant_renew_stops_to_lead_before_anybody_else_can() {
    let office = Shared::default();
    let short = |identity| Terms {
        lease_duration: Duration::from_secs(1),
        renew_deadline: Duration::from_millis(500),
        ..terms(identity)
    };
    let one = run(&office, short("one"));
    until("it leads", || one.leadership.is_leader()).await;
    office.lock().unwrap().is_away = true;
    until("it does not", || !one.leadership.is_leader()).await;
    assert_eq!(one.leadership.fence(), Err(NotLeader));
    // Back in time, it goes on with its Lease.
    office.lock().unwrap().is_away = false;
    until("it leads again", || one.leadership.is_leader()).await;
    assert!(office.lock().unwrap().writes.iter().all(|write| write.ends_with(" one")));
}

#[tokio::test]
async fn a_lease_that_another_holds_by_now_ends_the_leadership_at_once() {
    let office = Shared::default();
    let one = run(&office, terms("one"));
    until("it leads", || one.leadership.is_leader()).await;
    {
        let mut office = office.lock().unwrap();
        office.version += 1;
        let version = office.version.to_string();
        let lease = office.lease.as_mut().unwrap();
        lease["spec"]["holderIdentity"] = json!("two");
        lease["metadata"]["resourceVersion"] = Value::from(version);
    }
    until("it does not", || !one.leadership.is_leader()).await;
    assert_eq!(one.leadership.holder(), "two");
    assert_eq!(office.lock().unwrap().holder(), "two");
}
