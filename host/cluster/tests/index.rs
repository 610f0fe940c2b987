//! The index moves with its objects.

use zonewarden_cluster::{Index, Kind, Object, ObjectName, parse};

/// The objects of a JSON list's elements.
fn objects(elements: &str) -> Vec<Object> {
    let loaded = parse(format!(r#"{{"kind":"List","items":[{elements}]}}"#).as_bytes(), "f");
    assert_eq!(loaded.problems, []);
    let index = loaded.index;
    let volumes = index.volumes().cloned().map(Object::PersistentVolume);
    let claims = index.claims().cloned().map(Object::PersistentVolumeClaim);
    let pods = index.pods().cloned().map(Object::Pod);
    let attachments = index.attachments().cloned().map(Object::VolumeAttachment);
    volumes.chain(claims).chain(pods).chain(attachments).collect()
}

fn index(elements: &str) -> Index {
    let mut index = Index::default();
    for object in objects(elements) {
        index.apply(object);
    }
    index
}

fn pod(name: &str, node: &str, claim: &str) -> String {
    format!(
        r#"{{"kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"nodeName":"{node}",
        "volumes":[{{"name":"v","persistentVolumeClaim":{{"claimName":"{claim}"}}}},{{"name":"w","ephemeral":{{}}}}]}}}}"#
    )
}

fn claim(name: &str) -> ObjectName {
    ObjectName::new("default", name)
}

fn names<'a>(pods: impl Iterator<Item = &'a zonewarden_cluster::records::Pod>) -> Vec<String> {
    pods.map(|pod| pod.identity.name.to_string()).collect()
}

#[test]
fn a_pod_that_moves_leaves_its_old_place() {
    let mut index = index(&pod("p", "n1", "c1"));
    assert_eq!(names(index.pods_on_node("n1")), ["default/p"]);
    assert_eq!(names(index.pods_of_claim(&claim("c1"))), ["default/p"]);
    assert_eq!(names(index.pods_of_claim(&claim("p-w"))), ["default/p"]);
    for object in objects(&pod("p", "n2", "c2")) {
        index.apply(object);
    }
    assert_eq!(
        (names(index.pods_on_node("n1")), names(index.pods_on_node("n2"))),
        (vec![], vec!["default/p".to_owned()])
    );
    assert_eq!(names(index.pods_of_claim(&claim("c1"))), [""; 0]);
    assert_eq!(names(index.pods_of_claim(&claim("c2"))), ["default/p"]);
}

#[test]
fn what_is_deleted_is_gone_from_every_join() {
    let attachment = r#"{"kind":"VolumeAttachment","metadata":{"name":"a"},
        "spec":{"attacher":"d","nodeName":"n1","source":{"persistentVolumeName":"v"}}}"#;
    let mut index = index(&format!("{},{attachment}", pod("p", "n1", "c1")));
    assert_eq!((index.attachments_of_node("n1").count(), index.attachments_of_volume("v").count()), (1, 1));
    assert!(index.delete(Kind::VolumeAttachment, &ObjectName::new("", "a")).is_some());
    assert!(index.delete(Kind::VolumeAttachment, &ObjectName::new("", "a")).is_none());
    assert_eq!((index.attachments_of_node("n1").count(), index.attachments_of_volume("v").count()), (0, 0));
    index.delete(Kind::Pod, &claim("p"));
    assert_eq!((index.pods().len(), names(index.pods_on_node("n1")).len()), (0, 0));
}

#[test]
fn a_reset_replaces_one_kind_only() {
    let mut index = index(&format!(
        "{},{}",
        pod("p", "n1", "c"),
        r#"{"kind":"PersistentVolume","metadata":{"name":"v"},"spec":{}}"#
    ));
    let others = objects(&format!(
        "{},{}",
        pod("q", "n1", "c"),
        r#"{"kind":"PersistentVolume","metadata":{"name":"w"},"spec":{}}"#
    ));
    index.reset(Kind::Pod, others);
    assert_eq!(names(index.pods_on_node("n1")), ["default/q"]);
    assert_eq!(index.volumes().map(|volume| volume.identity.name.to_string()).collect::<Vec<_>>(), ["v"]);
}

#[test]
fn candidates_are_those_of_the_class_that_nobody_else_has() {
    let volume = |name: &str, class: &str, phase: &str, claim: &str| {
        format!(
            r#"{{"kind":"PersistentVolume","metadata":{{"name":"{name}","labels":{{"tier":"{class}"}}}},
            "spec":{{"storageClassName":"{class}","claimRef":{claim}}},"status":{{"phase":"{phase}"}}}}"#
        )
    };
    let reference = |name: &str, uid: &str| format!(r#"{{"namespace":"default","name":"{name}","uid":"{uid}"}}"#);
    let elements = [
        volume("free", "a", "Available", "null"),
        volume("pending", "a", "Pending", "null"),
        volume("other-class", "b", "Available", "null"),
        volume("ours", "a", "Bound", &reference("c", "u")),
        volume("by-name", "a", "Available", &reference("c", "")),
        volume("of-an-older-claim", "a", "Released", &reference("c", "old")),
        volume("theirs", "a", "Bound", &reference("d", "u")),
        r#"{"kind":"PersistentVolumeClaim","metadata":{"name":"c","uid":"u"},"spec":{"storageClassName":"a",
            "selector":{"matchLabels":{"tier":"a"}}}}"#
            .to_owned(),
        r#"{"kind":"PersistentVolumeClaim","metadata":{"name":"none","annotations":
            {"volume.beta.kubernetes.io/storage-class":""}},"spec":{"storageClassName":"a"}}"#
            .to_owned(),
    ];
    let index = index(&elements.join(","));
    let found = |name: &str| -> Vec<_> {
        let candidates = index.candidates(index.claim(&claim(name)).expect("the claim is in the index"));
        candidates.map(|one| (one.volume.identity.name.to_string(), one.available, one.selected)).collect()
    };
    let expected = [("free", true, true), ("pending", false, true), ("by-name", true, true), ("ours", true, true)];
    assert_eq!(found("c"), expected.map(|(name, available, selected)| (name.to_owned(), available, selected)));
    assert_eq!(found("none"), []);
}
