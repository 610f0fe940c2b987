//! The closed list of writes as HTTP requests: all that ever changes something on an API server, but for our own Lease.
//!
//! Each carries what it was decided on, so that the API server itself refuses it where the object is another one or a newer one
//! by now: deletes as preconditions, patches as `metadata.uid` and `metadata.resourceVersion`.

use http::{Method, Request};
use serde_json::{Value, json};
use zonewarden_contract::types::{Label, Requirement, SelectorOperator, SelectorTerm};

use super::{events, resources};
use crate::api::{Precondition, TAINT_ANNOTATION, Write};
use crate::objects::Kind;
use crate::records::{ObjectName, Taint};

/// The field manager of everything that is written.
pub(super) const FIELD_MANAGER: &str = "zonewarden";

const JSON: &str = "application/json";
/// Server-side apply takes YAML, and JSON is YAML.
const APPLY_PATCH: &str = "application/apply-patch+yaml";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// The request that carries out a write. `instance` is who of us reports an event.
pub(super) fn request(write: &Write, instance: &str) -> Result<Request<Vec<u8>>, http::Error> {
    match write {
        Write::SetLabels { volume, precondition, labels } => {
            patch(Kind::PersistentVolume, volume, APPLY_PATCH, &applied_labels(volume, precondition, labels))
        }
        Write::SetAffinity { volume, precondition, terms } => {
            patch(Kind::PersistentVolume, volume, JSON_PATCH, &affinity_patch(precondition, terms))
        }
        Write::SetTaints { node, precondition, taints, annotation } => {
            let body = taints_patch(precondition, taints, annotation.as_deref());
            patch(Kind::Node, node, MERGE_PATCH, &body)
        }
        Write::DeleteAttachment { attachment, precondition } => {
            delete(Kind::VolumeAttachment, attachment, &delete_options(precondition, None))
        }
        Write::DeletePod { pod, precondition } => delete(Kind::Pod, pod, &delete_options(precondition, Some(0))),
        Write::Event(event) => {
            let (namespace, body) = events::body(event, instance);
            let path = format!("/apis/events.k8s.io/v1/namespaces/{namespace}/events?fieldManager={FIELD_MANAGER}");
            send(Method::POST, path, JSON, &body)
        }
    }
}

fn patch(kind: Kind, name: &ObjectName, form: &str, body: &Value) -> Result<Request<Vec<u8>>, http::Error> {
    let path = format!("{}?fieldManager={FIELD_MANAGER}", resources::object(kind, name));
    send(Method::PATCH, path, form, body)
}

fn delete(kind: Kind, name: &ObjectName, options: &Value) -> Result<Request<Vec<u8>>, http::Error> {
    send(Method::DELETE, resources::object(kind, name), JSON, options)
}

/// A request with a JSON body.
pub(super) fn send(method: Method, path: String, form: &str, body: &Value) -> Result<Request<Vec<u8>>, http::Error> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header(http::header::CONTENT_TYPE, form).header(http::header::ACCEPT, JSON);
    request.body(body.to_string().into_bytes())
}

/// The uid also keeps the apply from making a volume where there is none.
fn applied_labels(
    volume: &ObjectName,
    Precondition { uid, resource_version }: &Precondition,
    labels: &[Label],
) -> Value {
    let labels: serde_json::Map<_, _> =
        labels.iter().map(|label| (label.key.clone(), Value::from(&*label.value))).collect();
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": &*volume.name,
            "uid": uid,
            "resourceVersion": resource_version,
            "labels": labels,
        },
    })
}

/// A replaced resource version that is not the object's own is a conflict (409), where a failed test would be invalid (422).
fn affinity_patch(Precondition { uid, resource_version }: &Precondition, terms: &[SelectorTerm]) -> Value {
    let terms: Vec<_> = terms.iter().map(term).collect();
    json!([
        { "op": "replace", "path": "/metadata/uid", "value": uid },
        { "op": "replace", "path": "/metadata/resourceVersion", "value": resource_version },
        { "op": "test", "path": "/spec/nodeAffinity", "value": null },
        { "op": "add", "path": "/spec/nodeAffinity", "value": { "required": { "nodeSelectorTerms": terms } } },
    ])
}

fn term(term: &SelectorTerm) -> Value {
    let expressions: Vec<_> = term.requirements.iter().map(expression).collect();
    json!({ "matchExpressions": expressions })
}

fn expression(Requirement { key, operator, values }: &Requirement) -> Value {
    let operator = match operator {
        SelectorOperator::In => "In",
        SelectorOperator::NotIn => "NotIn",
        SelectorOperator::Exists => "Exists",
        SelectorOperator::DoesNotExist => "DoesNotExist",
        SelectorOperator::Gt => "Gt",
        SelectorOperator::Lt => "Lt",
        SelectorOperator::Other(other) => other,
    };
    if values.is_empty() {
        json!({ "key": key, "operator": operator })
    } else {
        json!({ "key": key, "operator": operator, "values": values })
    }
}

/// A merge patch replaces a list as a whole; the resource version keeps out what others did to it in the meantime.
fn taints_patch(
    Precondition { uid, resource_version }: &Precondition,
    taints: &[Taint],
    annotation: Option<&str>,
) -> Value {
    let taints: Vec<_> = taints.iter().map(taint).collect();
    json!({
        "metadata": {
            "uid": uid,
            "resourceVersion": resource_version,
            "annotations": { TAINT_ANNOTATION: annotation },
        },
        "spec": { "taints": taints },
    })
}

fn taint(taint: &Taint) -> Value {
    let mut body = json!({ "key": taint.key, "effect": taint.effect });
    if !taint.value.is_empty() {
        body["value"] = Value::from(&*taint.value);
    }
    if let Some(added) = taint.added {
        body["timeAdded"] = Value::from(format!("{added:.0}"));
    }
    body
}

fn delete_options(Precondition { uid, resource_version }: &Precondition, grace_seconds: Option<u32>) -> Value {
    let mut options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid, "resourceVersion": resource_version },
    });
    if let Some(seconds) = grace_seconds {
        options["gracePeriodSeconds"] = Value::from(seconds);
    }
    options
}
