//! Single reads.

use serde_json::json;
use zonewarden_cluster::{Api, ApiError, Kind, Object, ObjectName};

use crate::server::{Answer, Call, client, once, page, refusal};

fn call(path: &str, query: &[(&str, &str)]) -> Call {
    Call {
        method: "GET".to_owned(),
        path: path.to_owned(),
        query: query.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        form: String::new(),
        body: json!(null),
    }
}

#[tokio::test]
async fn one_object_is_read_afresh() {
    let lease = json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": "n1", "namespace": "kube-node-lease", "resourceVersion": "7" },
        "spec": { "holderIdentity": "n1", "leaseDurationSeconds": 40, "renewTime": "2026-12-01T14:00:00.000000Z" } });
    let (client, script) = once(Answer::Json(200, lease));
    let object = client.get(Kind::Lease, &ObjectName::new("kube-node-lease", "n1")).await.unwrap().unwrap();
    let Object::Lease(lease) = object else { panic!("{object:?}") };
    assert_eq!((lease.identity.resource_version.as_str(), lease.duration_seconds), ("7", Some(40)));
    assert_eq!(lease.renewed, Some("2026-12-01T14:00:00Z".parse().unwrap()));
    // No resource version: the API server's own cache will not do.
    assert_eq!(script.call(), call("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", &[]));
}

#[tokio::test]
async fn an_object_that_is_not_there_is_none_and_a_path_that_is_not_there_is_no_answer() {
    let name = ObjectName::new("", "a");
    let (client, script) = once(refusal(404, "NotFound", "volumeattachments.storage.k8s.io \"a\" not found"));
    assert_eq!(client.get(Kind::VolumeAttachment, &name).await, Ok(None));
    assert_eq!(script.call(), call("/apis/storage.k8s.io/v1/volumeattachments/a", &[]));
    let (client, _) = once(Answer::Text(404, "404 page not found"));
    let error = client.get(Kind::VolumeAttachment, &name).await.unwrap_err();
    assert_eq!(error, ApiError::Unavailable("404 page not found".to_owned()));
}

#[tokio::test]
async fn an_object_that_cant_be_read_is_unreadable_and_not_absent() {
    let node = json!({ "metadata": { "name": "n1" }, "spec": { "taints": "none" } });
    let (client, _) = once(Answer::Json(200, node));
    let error = client.get(Kind::Node, &ObjectName::new("", "n1")).await.unwrap_err();
    let expected = "API server: Node n1: spec.taints: invalid type: string \"none\", expected a sequence";
    assert_eq!(error, ApiError::Unreadable(expected.to_owned()));
}

#[tokio::test]
async fn who_may_not_read_is_told_so() {
    let (client, _) = once(refusal(403, "Forbidden", "no"));
    let error = client.get(Kind::Node, &ObjectName::new("", "n1")).await.unwrap_err();
    assert_eq!(error, ApiError::Forbidden("no".to_owned()));
    let (client, _) = once(Answer::Refused);
    let error = client.get(Kind::Node, &ObjectName::new("", "n1")).await.unwrap_err();
    assert_eq!(error, ApiError::Unavailable("ServiceError: connection refused".to_owned()));
}

#[tokio::test]
async fn the_pods_of_a_node_come_from_all_pages() {
    let pod = |name: &str| json!({ "metadata": { "name": name, "namespace": "shop" }, "spec": { "nodeName": "n1" } });
    let (client, script) = once(page("5", "next/page", &[pod("a"), pod("b")]));
    let pods = client.pods_on_node("n1").await.unwrap();
    let names: Vec<_> = pods.iter().map(|pod| pod.identity.name.to_string()).collect();
    // The second page is what is scripted for nothing: empty.
    assert_eq!(names, ["shop/a", "shop/b"]);
    let selector = ("fieldSelector", "spec.nodeName%3Dn1");
    assert_eq!(
        script.calls(&crate::server::list("/api/v1/pods")),
        [
            call("/api/v1/pods", &[selector, ("limit", "500")]),
            call("/api/v1/pods", &[selector, ("limit", "500"), ("continue", "next%2Fpage")]),
        ]
    );
}

#[tokio::test]
async fn a_list_that_does_not_go_on_is_no_answer() {
    let client = client(|_| std::future::ready(page("5", "again", &[])));
    let why = "the list does not go on: its continue token came twice";
    assert_eq!(client.pods_on_node("n1").await, Err(ApiError::Unreadable(why.to_owned())));
}

#[tokio::test]
async fn pods_of_which_one_cant_be_read_are_no_answer() {
    let pods = [json!({ "metadata": { "name": "a", "namespace": "shop" } }), json!({ "metadata": { "name": 5 } })];
    let (client, script) = once(page("5", "", &pods));
    let error = client.pods_in_namespace("shop").await.unwrap_err();
    assert!(matches!(&error, ApiError::Unreadable(why) if why.contains("metadata.name")), "{error}");
    assert_eq!(script.call(), call("/api/v1/namespaces/shop/pods", &[("limit", "500")]));
    let (client, _) = once(Answer::Text(200, "{\"items\": [{\"metadata\": {}},"));
    let error = client.pods_in_namespace("shop").await.unwrap_err();
    assert!(matches!(error, ApiError::Unreadable(_)), "{error}");
}

#[tokio::test]
async fn an_empty_list_holds_no_pod_and_what_is_no_list_is_no_answer() {
    let (client, _) = once(page("5", "", &[]));
    assert_eq!(client.pods_in_namespace("shop").await, Ok(vec![]));
    let (client, _) = once(Answer::Json(200, json!({ "kind": "PodList", "items": null, "metadata": {} })));
    assert_eq!(client.pods_in_namespace("shop").await, Ok(vec![]));
    for text in ["", "{}", "welcome", "{\"kind\": \"Status\"}"] {
        let (client, _) = once(Answer::Text(200, text));
        let answer = client.pods_in_namespace("shop").await;
        assert!(matches!(answer, Err(ApiError::Unreadable(_))), "{text:?}: {answer:?}");
    }
}
