//! Watches: what they put into the store, and what they survive.

use std::sync::Arc;

use serde_json::{Value, json};
use zonewarden_cluster::{Change, Cluster, Kind, Object, ObjectName};

use crate::server::{Answer, Lines, Script, list, page, refusal, until, watch};

const PODS: &str = "/api/v1/pods";
const NODES: &str = "/api/v1/nodes";

fn pod(name: &str, version: &str) -> Value {
    // The items of a list do not say what they are.
    json!({ "metadata": { "name": name, "namespace": "shop", "uid": name, "resourceVersion": version },
        "spec": { "nodeName": "n1" }, "status": { "phase": "Running" } })
}

fn broken_pod(name: &str, version: &str) -> Value {
    let mut pod = pod(name, version);
    pod["spec"]["volumes"] = json!({ "not": "a list" });
    pod
}

fn node(name: &str, version: &str) -> Value {
    json!({ "metadata": { "name": name, "resourceVersion": version } })
}

/// A store that is kept up to date by a scripted server.
struct World {
    script: Arc<Script>,
    cluster: Arc<Cluster>,
}

impl World {
    fn new() -> Self {
        Self { script: Arc::default(), cluster: Arc::default() }
    }

    fn start(&self) {
        tokio::spawn(Script::client(&self.script).watch(&self.cluster));
    }

    /// Lists these pods, and returns the end of the watch behind it.
    async fn start_with_pods(&self, pods: &[Value]) -> Lines {
        self.script.push(&list(PODS), page("10", "", pods));
        let lines = self.script.stream(PODS);
        self.start();
        self.cluster.filled().await;
        lines
    }

    fn pods(&self) -> Vec<(String, String)> {
        let index = self.cluster.read();
        index.pods().map(|pod| (pod.identity.name.to_string(), pod.identity.resource_version.clone())).collect()
    }

    async fn until_pods(&self, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        until(&format!("{expected:?}"), || self.pods() == expected).await;
    }

    fn problems(&self) -> Vec<String> {
        self.cluster.problems().0.iter().map(ToString::to_string).collect()
    }
}

/// Kind, name, and the resource versions before and after.
fn told(change: &Change) -> (Kind, String, Option<String>, Option<String>) {
    let version = |object: &Option<Object>| object.as_ref().map(|object| object.identity().resource_version.clone());
    (change.kind, change.name.to_string(), version(&change.before), version(&change.after))
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[tokio::test]
async fn one_malformed_object_among_good_ones_costs_itself_only() {
    let world = World::new();
    assert_eq!(world.cluster.filling(), Kind::WATCHED);
    world.start_with_pods(&[pod("a", "1"), broken_pod("b", "2"), json!(null), pod("c", "3")]).await;
    assert_eq!(world.pods(), [("shop/a".to_owned(), "1".to_owned()), ("shop/c".to_owned(), "3".to_owned())]);
    assert_eq!(world.cluster.skipped(), [(Kind::Pod, 2)].into());
    assert_eq!(
        world.problems(),
        [
            "API server: Pod: what came in its place is no object",
            "API server: Pod shop/b: spec.volumes: invalid type: map, expected a sequence",
        ]
    );
    assert_eq!((world.cluster.filling(), world.cluster.all_synced()), (vec![], true));
    let lists = world.script.calls(&list(PODS));
    assert_eq!((lists.len(), lists[0].query("limit"), lists[0].query("resourceVersion")), (1, "250", ""));
    let watches = world.script.calls(&watch(PODS));
    assert_eq!((watches[0].query("resourceVersion"), watches[0].query("allowWatchBookmarks")), ("10", "true"));
}

#[tokio::test]
async fn a_watch_tells_what_came_what_changed_and_what_went() {
    let world = World::new();
    let lines = world.start_with_pods(&[pod("a", "1")]).await;
    let mut changes = world.cluster.changes();
    lines.event("ADDED", &pod("b", "11"));
    lines.event("MODIFIED", &pod("a", "12"));
    // What can't be read stays as it was, and is told for as long as it can't be.
    lines.event("MODIFIED", &broken_pod("a", "13"));
    world.until_pods(&[("shop/a", "12"), ("shop/b", "11")]).await;
    until("the problem", || !world.problems().is_empty()).await;
    assert_eq!(world.problems(), ["API server: Pod shop/a: spec.volumes: invalid type: map, expected a sequence"]);
    lines.event("MODIFIED", &pod("a", "14"));
    lines.event("DELETED", &pod("b", "15"));
    world.until_pods(&[("shop/a", "14")]).await;
    assert_eq!(world.problems(), [""; 0]);
    let expected = [
        (Kind::Pod, "shop/b".to_owned(), None, text("11")),
        (Kind::Pod, "shop/a".to_owned(), text("1"), text("12")),
        (Kind::Pod, "shop/a".to_owned(), text("12"), text("14")),
        // The last state that the API server saw, and not the one that was here.
        (Kind::Pod, "shop/b".to_owned(), text("15"), None),
    ];
    for expected in expected {
        assert_eq!(told(&changes.next().await.unwrap()), expected);
    }
}

#[tokio::test]
async fn a_nodes_deletion_carries_the_node() {
    let world = World::new();
    world.script.push(&list(NODES), page("10", "", &[node("n1", "1")]));
    let lines = world.script.stream(NODES);
    world.start();
    world.cluster.filled().await;
    let mut changes = world.cluster.changes();
    let mut gone = node("n1", "11");
    gone["spec"] = json!({ "providerID": "aws:///us-east-1a/i-1" });
    lines.event("DELETED", &gone);
    let change = changes.next().await.unwrap();
    let Some(Object::Node(last)) = change.before else { panic!("{change:?}") };
    assert_eq!((change.kind, change.name, change.after), (Kind::Node, ObjectName::new("", "n1"), None));
    assert_eq!(last.provider_id.unwrap().provider_id, "aws:///us-east-1a/i-1");
}

#[tokio::test]
async fn a_version_that_is_gone_leads_to_a_list_that_is_put_in_as_one_step() {
    let world = World::new();
    let lines = world.start_with_pods(&[pod("a", "1"), pod("b", "2"), pod("c", "3")]).await;
    let mut changes = world.cluster.changes();
    // The second page comes only when it is sent.
    let (second, receiver) = tokio::sync::mpsc::unbounded_channel();
    world.script.push(&list(PODS), page("20", "more", &[pod("b", "2"), broken_pod("c", "9")]));
    world.script.push(&list(PODS), Answer::Stream(receiver));
    let again = world.script.stream(PODS);
    lines.event("ERROR", &json!({ "kind": "Status", "code": 410, "reason": "Expired", "message": "too old" }));
    until("the second page is asked for", || world.script.calls(&list(PODS)).len() == 3).await;
    assert_eq!(world.script.calls(&list(PODS))[2].query("continue"), "more");
    assert_eq!(world.pods().len(), 3);
    assert_eq!(changes.try_next(), None);
    let rest = json!({ "kind": "PodList", "metadata": { "resourceVersion": "20" }, "items": [pod("d", "19")] });
    second.send(Ok(rest.to_string())).unwrap();
    drop(second);
    // What is there and can't be read keeps its last state; what is the same is no change.
    world.until_pods(&[("shop/b", "2"), ("shop/c", "3"), ("shop/d", "19")]).await;
    let changes = [changes.next().await.unwrap(), changes.next().await.unwrap()];
    assert_eq!(
        changes.each_ref().map(told),
        [(Kind::Pod, "shop/d".to_owned(), None, text("19")), (Kind::Pod, "shop/a".to_owned(), text("1"), None)]
    );
    again.event("ADDED", &pod("e", "21"));
    world.until_pods(&[("shop/b", "2"), ("shop/c", "3"), ("shop/d", "19"), ("shop/e", "21")]).await;
    assert_eq!(world.cluster.interruptions(), [].into());
}

#[tokio::test]
async fn a_version_that_is_gone_before_the_watch_begins_leads_to_a_list_too() {
    let world = World::new();
    let lines = world.start_with_pods(&[pod("a", "1")]).await;
    world.script.push(&watch(PODS), refusal(410, "Expired", "too old"));
    world.script.push(&list(PODS), page("20", "", &[pod("b", "19")]));
    drop(lines);
    world.until_pods(&[("shop/b", "19")]).await;
}

#[tokio::test]
async fn a_watch_that_breaks_off_goes_on_where_it_was() {
    let world = World::new();
    let lines = world.start_with_pods(&[pod("a", "1")]).await;
    lines.event("ADDED", &pod("b", "11"));
    world.until_pods(&[("shop/a", "1"), ("shop/b", "11")]).await;
    let again = world.script.stream(PODS);
    lines.break_off();
    drop(lines);
    again.event("ADDED", &pod("c", "12"));
    world.until_pods(&[("shop/a", "1"), ("shop/b", "11"), ("shop/c", "12")]).await;
    let versions: Vec<_> =
        world.script.calls(&watch(PODS)).iter().map(|call| call.query("resourceVersion").to_owned()).collect();
    assert_eq!(versions, ["10", "11"]);
    assert_eq!(world.script.calls(&list(PODS)).len(), 1);
    assert_eq!(world.cluster.interruptions(), [].into());
}

#[tokio::test]
async fn a_watch_that_ends_is_begun_again_and_a_bookmark_moves_it() {
    let world = World::new();
    let lines = world.start_with_pods(&[pod("a", "1")]).await;
    let bookmark = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": { "resourceVersion": "90" } });
    lines.event("BOOKMARK", &bookmark);
    let again = world.script.stream(PODS);
    drop(lines);
    again.event("ADDED", &pod("b", "91"));
    world.until_pods(&[("shop/a", "1"), ("shop/b", "91")]).await;
    assert_eq!(world.script.calls(&watch(PODS))[1].query("resourceVersion"), "90");
}

#[tokio::test]
async fn what_is_no_event_leads_to_a_new_list_since_nobody_knows_what_it_was() {
    let world = World::new();
    let lines = world.start_with_pods(&[pod("a", "1")]).await;
    world.script.push(&list(PODS), page("20", "", &[pod("b", "19")]));
    lines.text("{\"type\":\"MODIFIED\",\"object\":nonsense}\n");
    world.until_pods(&[("shop/b", "19")]).await;
}

#[tokio::test]
async fn an_api_server_that_is_away_leaves_the_world_as_it_was_and_says_so() {
    let world = World::new();
    let lines = world.start_with_pods(&[pod("a", "1")]).await;
    for _ in 0..3 {
        world.script.push(&watch(PODS), Answer::Refused);
    }
    world.script.push(&watch(PODS), refusal(503, "ServiceUnavailable", "starting"));
    let _again = world.script.stream(PODS);
    drop(lines);
    until("the interruption is told", || !world.cluster.interruptions().is_empty()).await;
    assert_eq!(world.pods().len(), 1);
    until("the watch stands again", || {
        world.script.calls(&watch(PODS)).len() == 6 && world.cluster.interruptions().is_empty()
    })
    .await;
    assert_eq!(world.pods().len(), 1);
    assert_eq!(world.script.calls(&list(PODS)).len(), 1);
}

#[tokio::test]
async fn a_kind_that_may_not_be_listed_is_named_until_it_may_be() {
    let world = World::new();
    let message = "nodes is forbidden: User \"zonewarden\" cannot list resource \"nodes\"";
    world.script.push(&list(NODES), refusal(403, "Forbidden", message));
    world.script.push(&list(NODES), Answer::Text(502, "<html>Bad Gateway</html>"));
    world.script.push(&list(NODES), Answer::Text(200, "{\"items\": [{\"metadata\""));
    let gate = Lines::gate(&world.script, NODES);
    world.start();
    until("the third failure", || world.script.calls(&list(NODES)).len() == 4).await;
    until("all others", || world.cluster.filling() == [Kind::Node]).await;
    assert_eq!(world.cluster.interruptions().into_keys().collect::<Vec<_>>(), [Kind::Node]);
    gate.text(&json!({ "metadata": { "resourceVersion": "5" }, "items": [node("n1", "1")] }).to_string());
    drop(gate);
    world.cluster.filled().await;
    assert_eq!(world.cluster.read().nodes().len(), 1);
    assert_eq!(world.cluster.interruptions(), [].into());
}
