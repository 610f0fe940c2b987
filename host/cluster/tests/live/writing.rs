//! The closed list of writes: each as the request that goes out, whole, and what the API server's refusals mean.

use serde_json::{Value, json};
use zonewarden_cluster::api::{Event, Reference};
use zonewarden_cluster::records::Taint;
use zonewarden_cluster::{Api, ApiError, Kind, ObjectName, Precondition, Write};
use zonewarden_contract::types::{Label, Requirement, SelectorOperator, SelectorTerm};

use crate::server::{Answer, once, refusal};

fn precondition() -> Precondition {
    Precondition { uid: "u-1".to_owned(), resource_version: "42".to_owned() }
}

/// Method, path with the query, content type and body of the request that a write becomes.
async fn check(write: &Write, method: &str, target: &str, form: &str, body: Value) {
    let (client, script) = once(Answer::Json(200, json!({})));
    assert_eq!(client.reporting_as("zonewarden-0").write(write).await, Ok(()));
    let call = script.call();
    let query: Vec<_> = call.query.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let found = if query.is_empty() { call.path } else { format!("{}?{}", call.path, query.join("&")) };
    assert_eq!((&*call.method, &*found, &*call.form), (method, target, form));
    assert_eq!(call.body, body);
}

fn volume() -> ObjectName {
    ObjectName::new("", "pv-1")
}

fn label(key: &str, value: &str) -> Label {
    Label { key: key.to_owned(), value: value.to_owned() }
}

#[tokio::test]
async fn labels_are_applied_as_ours_to_the_very_object_and_never_by_force() {
    let labels =
        vec![label("topology.kubernetes.io/region", "us-east-1"), label("topology.kubernetes.io/zone", "us-east-1a")];
    check(
        &Write::SetLabels { volume: volume(), precondition: precondition(), labels },
        "PATCH",
        "/api/v1/persistentvolumes/pv-1?fieldManager=zonewarden",
        "application/apply-patch+yaml",
        json!({
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {
                "name": "pv-1",
                "uid": "u-1",
                "resourceVersion": "42",
                "labels": { "topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": "us-east-1a" },
            },
        }),
    )
    .await;
}

#[tokio::test]
async fn affinity_is_set_where_there_is_none() {
    let requirement = |key: &str, operator, values: &[&str]| Requirement {
        key: key.to_owned(),
        operator,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let requirements = vec![
        requirement("topology.ebs.csi.aws.com/zone", SelectorOperator::In, &["us-east-1a"]),
        requirement("example.com/other", SelectorOperator::DoesNotExist, &[]),
    ];
    let terms = vec![SelectorTerm { requirements, has_match_fields: false }];
    check(
        &Write::SetAffinity { volume: volume(), precondition: precondition(), terms },
        "PATCH",
        "/api/v1/persistentvolumes/pv-1?fieldManager=zonewarden",
        "application/json-patch+json",
        json!([
            { "op": "replace", "path": "/metadata/uid", "value": "u-1" },
            { "op": "replace", "path": "/metadata/resourceVersion", "value": "42" },
            { "op": "test", "path": "/spec/nodeAffinity", "value": null },
            { "op": "add", "path": "/spec/nodeAffinity", "value": { "required": { "nodeSelectorTerms": [
                { "matchExpressions": [
                    { "key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": ["us-east-1a"] },
                    { "key": "example.com/other", "operator": "DoesNotExist" },
                ] },
            ] } } },
        ]),
    )
    .await;
}

fn taint(key: &str, value: &str, effect: &str, added: Option<&str>) -> Taint {
    let added = added.map(|added| added.parse().unwrap());
    Taint { key: key.to_owned(), value: value.to_owned(), effect: effect.to_owned(), added }
}

#[tokio::test]
async fn taints_are_replaced_together_with_the_word_whose_one_is() {
    let taints = vec![
        taint("node.kubernetes.io/unreachable", "", "NoExecute", Some("2026-12-01T14:00:00Z")),
        taint("node.kubernetes.io/out-of-service", "nodeshutdown", "NoExecute", None),
    ];
    let node = ObjectName::new("", "n1");
    let write = Write::SetTaints {
        node: node.clone(),
        precondition: precondition(),
        taints,
        annotation: Some("u-1".to_owned()),
    };
    let target = "/api/v1/nodes/n1?fieldManager=zonewarden";
    let form = "application/merge-patch+json";
    let body = json!({
        "metadata": {
            "uid": "u-1",
            "resourceVersion": "42",
            "annotations": { "zonewarden.io/out-of-service-taint": "u-1" },
        },
        "spec": { "taints": [
            { "key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": "2026-12-01T14:00:00Z" },
            { "key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute" },
        ] },
    });
    check(&write, "PATCH", target, form, body).await;
    let write = Write::SetTaints { node, precondition: precondition(), taints: vec![], annotation: None };
    let body = json!({
        "metadata": {
            "uid": "u-1",
            "resourceVersion": "42",
            "annotations": { "zonewarden.io/out-of-service-taint": null },
        },
        "spec": { "taints": [] },
    });
    check(&write, "PATCH", target, form, body).await;
}

#[tokio::test]
async fn an_attachment_is_deleted_with_its_preconditions_and_its_finalizers_stay() {
    check(
        &Write::DeleteAttachment { attachment: ObjectName::new("", "csi-1"), precondition: precondition() },
        "DELETE",
        "/apis/storage.k8s.io/v1/volumeattachments/csi-1",
        "application/json",
        json!({ "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": { "uid": "u-1", "resourceVersion": "42" } }),
    )
    .await;
}

#[tokio::test]
async fn a_pod_is_deleted_at_once_with_its_preconditions() {
    check(
        &Write::DeletePod { pod: ObjectName::new("shop", "web-0"), precondition: precondition() },
        "DELETE",
        "/api/v1/namespaces/shop/pods/web-0",
        "application/json",
        json!({ "apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
            "preconditions": { "uid": "u-1", "resourceVersion": "42" } }),
    )
    .await;
}

fn event(regarding: Reference, note: &str) -> Event {
    Event {
        regarding,
        related: None,
        warning: true,
        reason: "VolumeZoneMismatch".to_owned(),
        action: "Compare".to_owned(),
        note: note.to_owned(),
        time: "2026-12-01T14:00:00.123456Z".parse().unwrap(),
    }
}

fn reference(kind: Kind, namespace: &str, name: &str, uid: &str) -> Reference {
    Reference { kind, name: ObjectName::new(namespace, name), uid: uid.to_owned() }
}

#[tokio::test]
async fn an_event_is_in_the_namespace_of_what_it_is_about() {
    let claim = reference(Kind::PersistentVolumeClaim, "shop", "data-0", "u-2");
    let related = Some(reference(Kind::VolumeAttachment, "", "csi-1", ""));
    check(
        &Write::Event(Event { related, warning: false, ..event(claim, "The note.") }),
        "POST",
        "/apis/events.k8s.io/v1/namespaces/shop/events?fieldManager=zonewarden",
        "application/json",
        json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": { "name": "data-0.18ed25fe34808a00.volumezonemismatch", "namespace": "shop" },
            "eventTime": "2026-12-01T14:00:00.123456Z",
            "reportingController": "zonewarden",
            "reportingInstance": "zonewarden-0",
            "type": "Normal",
            "reason": "VolumeZoneMismatch",
            "action": "Compare",
            "note": "The note.",
            "regarding": { "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "shop", "name": "data-0",
                "uid": "u-2" },
            "related": { "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "name": "csi-1" },
        }),
    )
    .await;
}

#[tokio::test]
async fn an_event_about_what_has_no_namespace_is_in_default_and_its_note_has_its_limit() {
    let volume = reference(Kind::PersistentVolume, "", "pv-1", "u-1");
    check(
        &Write::Event(event(volume, &"é".repeat(2_000))),
        "POST",
        "/apis/events.k8s.io/v1/namespaces/default/events?fieldManager=zonewarden",
        "application/json",
        json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": { "name": "pv-1.18ed25fe34808a00.volumezonemismatch", "namespace": "default" },
            "eventTime": "2026-12-01T14:00:00.123456Z",
            "reportingController": "zonewarden",
            "reportingInstance": "zonewarden-0",
            "type": "Warning",
            "reason": "VolumeZoneMismatch",
            "action": "Compare",
            "note": format!("{}…", "é".repeat(510)),
            "regarding": { "apiVersion": "v1", "kind": "PersistentVolume", "name": "pv-1", "uid": "u-1" },
        }),
    )
    .await;
}

#[tokio::test]
async fn an_event_that_is_there_already_was_written() {
    let (client, _) = once(refusal(409, "AlreadyExists", "events \"x\" already exists"));
    let claim = reference(Kind::PersistentVolumeClaim, "shop", "data-0", "u-2");
    assert_eq!(client.write(&Write::Event(event(claim, "note"))).await, Ok(()));
}

async fn refused(write: &Write, answer: Answer) -> ApiError {
    once(answer).0.write(write).await.unwrap_err()
}

#[tokio::test]
async fn a_refusal_says_whether_the_object_changed_or_the_write_is_no_good() {
    let delete = Write::DeleteAttachment { attachment: ObjectName::new("", "csi-1"), precondition: precondition() };
    let changed = "Precondition failed: UID in precondition: u-1, UID in object meta: u-2";
    assert_eq!(refused(&delete, refusal(409, "Conflict", changed)).await, ApiError::Conflict(changed.to_owned()));
    assert_eq!(
        refused(&delete, refusal(404, "NotFound", "not found")).await,
        ApiError::Conflict("not found".to_owned())
    );
    let affinity = Write::SetAffinity { volume: volume(), precondition: precondition(), terms: vec![] };
    assert_eq!(
        refused(&affinity, refusal(422, "Invalid", "field is immutable")).await,
        ApiError::Invalid("field is immutable".to_owned())
    );
    assert_eq!(
        refused(&affinity, refusal(403, "Forbidden", "cannot patch")).await,
        ApiError::Forbidden("cannot patch".to_owned())
    );
    assert_eq!(
        refused(&affinity, refusal(500, "InternalError", "etcd")).await,
        ApiError::Unavailable("etcd".to_owned())
    );
}
