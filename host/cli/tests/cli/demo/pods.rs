//! The pods of the demo.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{demo, object};

/// For each node of a pod (by the part of its name that differs) the decision, its origin and its codes.
fn by_node(pod: &Value) -> BTreeMap<String, String> {
    let groups = ["feasible", "refused"].map(|list| pod[list].as_array().expect("a list of groups").clone()).concat();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut nodes = BTreeMap::new();
    for group in groups {
        let reasons = group["reasons"].as_array().expect("a list of reasons").iter();
        let codes: Vec<String> = reasons.map(|reason| text(&reason["code"])).collect();
        let told = format!("{} {} {}", text(&group["decision"]), text(&group["origin"]), codes.join(" "));
        for node in group["nodes"].as_array().expect("a list of nodes") {
            let name = text(node).replace("ip-10-0-", "").replace(".ec2.internal", "");
            assert_eq!(nodes.insert(name, told.clone()), None, "{node} stands in two groups");
        }
    }
    nodes
}

#[test]
fn every_node_is_feasible_or_refused_with_its_reasons() {
    let report = demo();
    let fits = "feasible kubernetes fits";
    let by_ec2 = "unresolvable zonewarden ec2-zone-mismatch";
    let by_affinity = "unresolvable kubernetes affinity-conflict";
    let by_label = "unresolvable kubernetes zone-mismatch";
    let by_class = "unresolvable kubernetes topology-not-allowed";
    let unlabelled = "unresolvable zonewarden unlabelled-node";
    let no_key = "unresolvable kubernetes topology-key-missing unlabelled-node";
    let names = ["1-11", "1-12", "2-21", "2-22", "3-31", "3-32"];
    for (pod, node, expected) in [
        ("blog", Some("1-11"), [by_ec2, by_ec2, fits, fits, by_ec2, unlabelled]),
        ("archive", Some("1-11"), [fits, fits, by_ec2, by_ec2, by_ec2, unlabelled]),
        ("cart-0", Some("1-11"), [by_ec2, by_ec2, by_label, by_label, by_label, unlabelled]),
        ("orders-0", Some("1-12"), [fits, fits, by_affinity, by_affinity, by_affinity, no_key]),
        ("queue-0", Some("2-22"), [by_affinity, by_affinity, fits, fits, by_affinity, no_key]),
        ("report", None, [fits, fits, by_class, by_class, fits, by_class]),
        ("search-0", Some("3-31"), [by_affinity, by_affinity, by_affinity, by_affinity, fits, no_key]),
        ("web-0", Some("2-21"), [by_affinity, by_affinity, fits, fits, by_affinity, no_key]),
    ] {
        let found = object(&report, "pods", "name", pod);
        let expected = names.map(str::to_owned).into_iter().zip(expected.map(str::to_owned)).collect();
        assert_eq!(by_node(&found), expected, "{pod}");
        assert_eq!(found["node"], json!(node.map(|node| format!("ip-10-0-{node}.ec2.internal"))), "{pod}");
    }
}

#[test]
fn a_pod_without_a_volume_yet_is_told_whole() {
    let zone = |zone: &str| {
        json!({
            "topology.ebs.csi.aws.com/zone": zone,
            "topology.kubernetes.io/region": "us-east-1",
            "topology.kubernetes.io/zone": zone,
        })
    };
    let fits = json!([{"code": "fits", "message": "nothing keeps the volumes of pod shop/report from these nodes"}]);
    let refused = |what: &str| {
        let message = format!(
            "claim report-scratch can have its volume made only where StorageClass gp3-ac allows it \
             (topology.kubernetes.io/zone In [us-east-1a, us-east-1c]), and the node has {what}"
        );
        json!([{"code": "topology-not-allowed", "message": message}])
    };
    let group = |labels: Value, nodes: &[&str], decision: &str, reasons: Value| {
        let nodes: Vec<String> = nodes.iter().map(|node| format!("ip-10-0-{node}.ec2.internal")).collect();
        json!({
            "labels": labels, "nodeCount": nodes.len(), "nodes": nodes, "decision": decision, "origin": "kubernetes",
            "reasons": reasons,
        })
    };
    let wrong_zone = refused("topology.kubernetes.io/zone=us-east-1b");
    assert_eq!(
        object(&demo(), "pods", "name", "report"),
        json!({
            "namespace": "shop",
            "name": "report",
            "node": null,
            "feasible": [
                group(zone("us-east-1a"), &["1-11", "1-12"], "feasible", fits.clone()),
                group(zone("us-east-1c"), &["3-31"], "feasible", fits.clone()),
            ],
            "refused": [
                group(zone("us-east-1b"), &["2-21", "2-22"], "unresolvable", wrong_zone),
                group(json!({}), &["3-32"], "unresolvable", refused("no topology.kubernetes.io/zone")),
            ],
            "affinity": null,
            "findings": [],
        })
    );
}

#[test]
fn pods_that_wait_on_a_wrong_node_and_affinity_that_lacks_are_found() {
    let report = demo();
    let codes = |pod: &str| -> Vec<String> {
        let pod = object(&report, "pods", "name", pod);
        let findings = pod["findings"].as_array().expect("findings are a list").iter();
        findings.map(|finding| format!("{} {}", finding["severity"], finding["code"]).replace('"', "")).collect()
    };
    assert_eq!(codes("blog"), ["error placed-on-wrong-node", "warning zone-of-direct-volume"]);
    assert_eq!(codes("cart-0"), ["error placed-on-wrong-node"]);
    for pod in ["archive", "orders-0", "queue-0", "report", "search-0", "web-0"] {
        assert_eq!(codes(pod), Vec::<String>::new(), "{pod}");
    }
    assert_eq!(
        object(&report, "pods", "name", "blog")["affinity"],
        json!([[{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1b"]}]])
    );
}
