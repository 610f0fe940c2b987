//! A world of files that changes while it is looked at.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::fs;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tempfile::TempDir;
use zonewarden_cluster::api::Reply;
use zonewarden_cluster::{Api, ApiError, Changes, Cluster, FileWatch, FilesApi, Kind, Object, ObjectName, Write};

/// A node as YAML.
fn node(name: &str, provider_id: &str) -> String {
    format!("---\nkind: Node\nmetadata: {{name: {name}}}\nspec: {{providerID: {provider_id}}}\n")
}

struct World {
    folder: TempDir,
    cluster: Arc<Cluster>,
    watch: FileWatch,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cluster = Arc::new(Cluster::new());
        let watch = FileWatch::folder(folder.path(), Arc::clone(&cluster));
        let mut world = Self { folder, cluster, watch };
        for (name, text) in files {
            world.write(name, text);
        }
        assert!(world.watch.tick());
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn nodes(&self) -> Vec<String> {
        self.cluster.read().nodes().map(|node| node.identity.name.to_string()).collect()
    }

    /// Problems without the folder's path.
    fn problems(&self) -> Vec<String> {
        let folder = format!("{}/", self.folder.path().display());
        self.cluster.problems().0.iter().map(|problem| problem.to_string().replace(&folder, "")).collect()
    }
}

/// Name, and the provider ids before and after.
fn told(changes: &mut Changes) -> Vec<(String, Option<String>, Option<String>)> {
    let id = |object| match object {
        Some(Object::Node(node)) => node.provider_id.map(|id| id.provider_id),
        _ => None,
    };
    let one = || changes.try_next().map(|change| (change.name.to_string(), id(change.before), id(change.after)));
    std::iter::from_fn(one).collect()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn an_edited_file_changes_only_what_differs() {
    let mut world =
        World::new(&[("a.yaml", &(node("n1", "i-1") + &node("n2", "i-2"))), ("b.yaml", &node("n3", "i-3"))]);
    assert!(world.cluster.all_synced());
    assert_eq!(world.nodes(), ["n1", "n2", "n3"]);
    assert!(!world.watch.tick());
    let mut changes = world.cluster.changes();
    world.write("a.yaml", &(node("n1", "i-1") + &node("n4", "i-4")));
    world.write("b.yaml", &node("n3", "i-5"));
    assert!(world.watch.tick());
    assert_eq!(
        told(&mut changes),
        [
            ("n3".to_owned(), text("i-3"), text("i-5")),
            ("n4".to_owned(), None, text("i-4")),
            ("n2".to_owned(), text("i-2"), None)
        ]
    );
    assert!(!world.watch.tick());
}

#[test]
fn a_file_that_comes_is_read_and_one_that_goes_has_a_look_of_grace() {
    let mut world = World::new(&[("a.yaml", &node("n1", "i-1"))]);
    world.write("b.json", r#"{"kind":"Node","metadata":{"name":"n2"}}"#);
    world.write("c.txt", &node("n3", "i-3"));
    assert!(world.watch.tick());
    assert_eq!(world.nodes(), ["n1", "n2"]);
    // An editor puts a new file in the place of the old one.
    fs::remove_file(world.path("b.json")).unwrap();
    assert!(world.watch.tick());
    assert_eq!(world.nodes(), ["n1", "n2"]);
    assert_eq!(world.problems(), ["b.json: there is no such file; what it gave before is used"]);
    world.write("b.json", r#"{"kind":"Node","metadata":{"name":"n4"}}"#);
    assert!(world.watch.tick());
    assert_eq!((world.nodes(), world.problems()), (vec!["n1".to_owned(), "n4".to_owned()], vec![]));
    fs::remove_file(world.path("b.json")).unwrap();
    assert!(world.watch.tick());
    assert!(world.watch.tick());
    assert_eq!((world.nodes(), world.problems()), (vec!["n1".to_owned()], vec![]));
    assert!(!world.watch.tick());
}

#[test]
fn a_broken_file_keeps_what_it_gave_before() {
    let mut world = World::new(&[("a.json", r#"{"kind":"Node","metadata":{"name":"n1"}}"#)]);
    world.write("a.json", r#"{"kind":"List","items":[{"kind":"Node","metadata":{"name":"n2"}},"#);
    assert!(world.watch.tick());
    assert_eq!(world.nodes(), ["n1"]);
    let problems = world.problems();
    assert!(problems[0].starts_with("a.json, document 1, line 1, column "), "{problems:?}");
    assert!(problems[0].ends_with("; what it gave before is used"), "{problems:?}");
    assert!(!world.watch.tick());
    world.write("a.json", r#"{"kind":"List","items":[{"kind":"Node","metadata":{"name":"n2"}}]}"#);
    assert!(world.watch.tick());
    assert_eq!((world.nodes(), world.problems()), (vec!["n2".to_owned()], vec![]));
}

#[test]
fn an_object_that_becomes_malformed_keeps_its_last_state_and_the_others_move_on() {
    let mut world = World::new(&[("a.yaml", &(node("n1", "i-1") + &node("n2", "i-2")))]);
    let mut changes = world.cluster.changes();
    world
        .write("a.yaml", &("kind: Node\nmetadata: {name: n1}\nspec: {taints: none}\n".to_owned() + &node("n2", "i-3")));
    assert!(world.watch.tick());
    assert_eq!(told(&mut changes), [("n2".to_owned(), text("i-2"), text("i-3"))]);
    assert_eq!(world.nodes(), ["n1", "n2"]);
    assert_eq!(world.cluster.skipped(), [(Kind::Node, 1)].into());
    let problems = world.problems();
    assert!(problems[0].contains("Node n1: spec.taints: "), "{problems:?}");
}

#[test]
fn an_empty_file_is_believed_when_it_stays_empty() {
    let mut world = World::new(&[("a.yaml", &node("n1", "i-1"))]);
    world.write("a.yaml", "");
    world.watch.tick();
    assert_eq!(world.nodes(), ["n1"]);
    assert!(world.watch.tick());
    assert_eq!(world.nodes(), [""; 0]);
}

#[test]
fn the_same_object_in_two_files_is_the_later_ones_and_told() {
    let world = World::new(&[("a.yaml", &node("n1", "i-1")), ("b.yaml", &node("n1", "i-2"))]);
    let index = world.cluster.read();
    assert_eq!(index.node("n1").unwrap().provider_id.as_ref().unwrap().provider_id, "i-2");
    assert_eq!(world.problems(), ["b.yaml: Node n1: stands in an earlier file too; this one is used"]);
}

#[test]
fn a_folder_that_is_not_there_fills_nothing_until_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Arc::new(Cluster::new());
    let path = folder.path().join("cluster");
    let mut watch = FileWatch::folder(&path, Arc::clone(&cluster));
    assert!(watch.tick());
    assert_eq!((cluster.all_synced(), cluster.problems().0.len()), (false, 1));
    fs::create_dir(&path).unwrap();
    fs::write(path.join("a.yaml"), node("n1", "i-1")).unwrap();
    assert!(watch.tick());
    assert_eq!((cluster.all_synced(), cluster.problems().0), (true, vec![]));
    // Gone again, it leaves the world as it was.
    fs::remove_dir_all(&path).unwrap();
    assert!(watch.tick());
    assert_eq!((cluster.read().nodes().len(), cluster.problems().0.len()), (1, 2));
}

#[test]
fn files_that_are_named_are_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Arc::new(Cluster::new());
    let path = folder.path().join("a.yaml");
    let mut watch = FileWatch::files([path.clone()], Arc::clone(&cluster));
    assert!(watch.tick());
    assert_eq!((cluster.all_synced(), cluster.problems().0.len()), (true, 1));
    fs::write(&path, node("n1", "i-1")).unwrap();
    assert!(watch.tick());
    fs::remove_file(&path).unwrap();
    for expected in [true, false, false] {
        assert_eq!(watch.tick(), expected);
        assert!(cluster.read().node("n1").is_some());
    }
}

#[test]
fn a_taint_that_is_ours_says_so_in_a_file_too() {
    let annotations = "annotations: {zonewarden.io/out-of-service-taint: u-1, example.com/long: text}";
    let text = format!("kind: Node\nmetadata:\n  name: n1\n  {annotations}\n");
    let world = World::new(&[("a.yaml", &text)]);
    let index = world.cluster.read();
    assert_eq!(index.node("n1").unwrap().taint_annotation.as_deref(), Some("u-1"));
    assert_eq!(world.cluster.read().object(Kind::Node, &ObjectName::new("", "n2")), None);
}

/// The answer of a world of files, which has it at once.
fn now<T>(reply: Reply<'_, T>) -> Result<T, ApiError> {
    let mut reply = pin!(reply);
    match reply.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("no answer"),
    }
}

#[test]
fn a_world_of_files_answers_what_it_was_read_as_and_is_never_written() {
    let pods = r"
kind: Pod
metadata: {name: p, namespace: shop, uid: u, resourceVersion: '1'}
spec: {nodeName: n1}
---
kind: Pod
metadata: {name: q, namespace: other}
spec: {nodeName: n1}
";
    let world = World::new(&[("a.yaml", pods)]);
    let api = FilesApi::new(Arc::clone(&world.cluster));
    let name = ObjectName::new("shop", "p");
    let index = world.cluster.read();
    assert_eq!(now(api.get(Kind::Pod, &name)), Ok(index.object(Kind::Pod, &name)));
    assert_eq!(now(api.get(Kind::Node, &ObjectName::new("", "n1"))), Ok(None));
    let all: Vec<_> = index.pods().cloned().collect();
    assert_eq!(now(api.pods_on_node("n1")), Ok(all));
    assert_eq!(now(api.pods_in_namespace("shop")), Ok(vec![index.pod(&name).unwrap().clone()]));
    let write = Write::DeletePod { pod: name.clone(), precondition: (&index.pod(&name).unwrap().identity).into() };
    assert_eq!(now(api.write(&write)), Err(ApiError::Forbidden("a world of files is never written".to_owned())));
    assert!(world.cluster.read().pod(&name).is_some());
}
