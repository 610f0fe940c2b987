//! What a policy is shown of the nodes, and what becomes of its verdicts about them.

use zonewarden_cluster::{Index, ObjectName};
use zonewarden_contract::placement::{AttachHeadroom, ClassDecision, Place, TieKind};
use zonewarden_contract::types::{Label, NodeName};
use zonewarden_sync::{NodeClass, PlacedPod, Survey};

use crate::{VOLUME, ZONE_KEY, cluster, ec2, mk_claim, mk_node, mk_pod, policy, survey};

/// Asks where the pod of this name may go.
fn place<'a>(survey: &'a Survey<'_>, cluster: &'a Index, pod: &str) -> PlacedPod<'a> {
    survey.place(cluster.pod(&ObjectName::new("default", pod)).unwrap()).unwrap()
}

/// The names of each class, what the policy was shown of it, and its decision.
fn classes(placed: &PlacedPod<'_>) -> Vec<(Vec<String>, NodeClass, ClassDecision)> {
    let rows = placed.classes.iter().map(|(class, verdict)| {
        let names = class.nodes.iter().map(|node| node.node_name.clone()).collect();
        (names, class.class.clone(), verdict.decision)
    });
    rows.collect()
}

/// The place of each class.
fn places(placed: &PlacedPod<'_>) -> Vec<Place> {
    placed.classes.iter().map(|(class, _)| placed.place_of(class).clone()).collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn mk_class(place: u32, left: u32, ties: &[(u32, TieKind)]) -> NodeClass {
    NodeClass { place, headroom: vec![AttachHeadroom::Left(left)], ties: ties.to_vec() }
}

/// The place of the nodes of a zone, which have these labels beside those of the zone.
fn mk_place(labels: &[(&str, &str)], zone: &str) -> Place {
    let of_zone = [(ZONE_KEY, zone), ("topology.kubernetes.io/zone", zone)];
    let label = |(key, value): &(&str, &str)| Label { key: (*key).to_owned(), value: (*value).to_owned() };
    Place {
        labels: labels.iter().chain(&of_zone).map(label).collect(),
        has_csi_node: true,
        drivers: names(&["ebs.csi.aws.com"]),
        migrated_plugins: vec![],
    }
}

/// Nodes of two zones with room for different numbers of volumes, and a pod whose volume is in the first zone.
fn mk_two_zones() -> String {
    let nodes =
        [("a01", "us-east-1a", 25), ("a02", "us-east-1a", 3), ("a03", "us-east-1a", 0), ("b01", "us-east-1b", 9)];
    let mut text: String = nodes.iter().map(|(name, zone, limit)| mk_node(name, zone, *limit)).collect();
    text += &mk_claim("data", VOLUME, "us-east-1a", ZONE_KEY);
    text + &mk_pod("web", "data", "")
}

#[test]
fn nodes_that_no_rule_can_tell_apart_are_one_class_and_headroom_is_clipped_to_the_need() {
    let (policy, ec2, cluster) = (policy(), ec2("Volumes: []"), cluster(&mk_two_zones()));
    let survey = survey(&cluster, &policy, &ec2);
    let placed = place(&survey, &cluster, "web");
    assert_eq!(
        classes(&placed),
        [
            (names(&["a01", "a02"]), mk_class(0, 1, &[]), ClassDecision::Feasible),
            (names(&["a03"]), mk_class(0, 0, &[]), ClassDecision::Refused),
            (names(&["b01"]), mk_class(1, 1, &[]), ClassDecision::Unresolvable),
        ]
    );
    let (first, second) = (mk_place(&[], "us-east-1a"), mk_place(&[], "us-east-1b"));
    assert_eq!(places(&placed), [first.clone(), first, second]);
}

#[test]
fn each_verdict_gives_the_reasons_that_it_names() {
    let (policy, ec2, cluster) = (policy(), ec2("Volumes: []"), cluster(&mk_two_zones()));
    let survey = survey(&cluster, &policy, &ec2);
    let placed = place(&survey, &cluster, "web");
    let reasons_of = |node: &str| {
        let verdict = placed.verdict_of(&NodeName { node_name: node.to_owned() })?;
        Some(placed.reasons(verdict).map(|reason| reason.code.as_str()).collect::<Vec<_>>())
    };
    for (node, codes) in [("a01", "fits"), ("a02", "fits"), ("a03", "attach-limit"), ("b01", "affinity-conflict")] {
        assert_eq!(reasons_of(node), Some(vec![codes]), "{node}");
    }
    assert_eq!(reasons_of("nobody"), None);
}

#[test]
fn a_node_that_holds_the_volume_is_a_class_of_its_own_and_needs_no_room_for_it() {
    let (policy, ec2) = (policy(), ec2("Volumes: []"));
    let mut text = mk_node("a01", "us-east-1a", 1) + &mk_node("a02", "us-east-1a", 1);
    text += &mk_claim("data", VOLUME, "us-east-1a", ZONE_KEY);
    text += &(mk_pod("first", "data", "a01") + &mk_pod("second", "data", ""));
    let cluster = cluster(&text);
    let survey = survey(&cluster, &policy, &ec2);
    let placed = place(&survey, &cluster, "second");
    assert_eq!(
        classes(&placed),
        [
            (names(&["a01"]), mk_class(0, 0, &[(0, TieKind::Holds)]), ClassDecision::Feasible),
            (names(&["a02"]), mk_class(0, 1, &[]), ClassDecision::Feasible),
        ]
    );
    assert_eq!(places(&placed), [mk_place(&[], "us-east-1a"), mk_place(&[], "us-east-1a")]);
}

#[test]
fn a_label_key_that_the_question_names_tells_nodes_apart() {
    let (policy, ec2) = (policy(), ec2("Volumes: []"));
    let mut text = mk_node("a01", "us-east-1a", 25) + &mk_node("a02", "us-east-1a", 25);
    text += &(mk_claim("data", VOLUME, "a02", "disk") + &mk_pod("web", "data", ""));
    let cluster = cluster(&text);
    let survey = survey(&cluster, &policy, &ec2);
    let placed = place(&survey, &cluster, "web");
    assert_eq!(
        classes(&placed),
        [
            (names(&["a01"]), mk_class(0, 1, &[]), ClassDecision::Unresolvable),
            (names(&["a02"]), mk_class(1, 1, &[]), ClassDecision::Feasible),
        ]
    );
    let place_of = |name: &str| mk_place(&[("disk", name)], "us-east-1a");
    assert_eq!(places(&placed), [place_of("a01"), place_of("a02")]);
}

/// A claim whose volume is to be made on the node `a02`.
const WAITING: &str = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default, annotations: {volume.kubernetes.io/selected-node: a02}}
spec: {storageClassName: gp3, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---";

#[test]
fn the_node_that_is_to_get_a_claim_s_volume_is_a_class_of_its_own_until_there_is_a_volume() {
    let (policy, ec2) = (policy(), ec2("Volumes: []"));
    let nodes = mk_node("a01", "us-east-1a", 25) + &mk_node("a02", "us-east-1a", 25) + &mk_pod("web", "data", "");
    let waiting = cluster(&(nodes.clone() + WAITING));
    let survey_of_waiting = survey(&waiting, &policy, &ec2);
    assert_eq!(
        classes(&place(&survey_of_waiting, &waiting, "web")),
        [
            (names(&["a01"]), mk_class(0, 1, &[]), ClassDecision::Unresolvable),
            (names(&["a02"]), mk_class(0, 1, &[(0, TieKind::SelectedFor)]), ClassDecision::Feasible),
        ]
    );
    let bound = mk_claim("data", VOLUME, "us-east-1a", ZONE_KEY);
    let bound = cluster(&(nodes + &bound.replace("'yes'", "'yes', volume.kubernetes.io/selected-node: a02")));
    let survey_of_bound = survey(&bound, &policy, &ec2);
    assert_eq!(
        classes(&place(&survey_of_bound, &bound, "web")),
        [(names(&["a01", "a02"]), mk_class(0, 1, &[]), ClassDecision::Feasible)]
    );
}

/// F-63: a claim of the in-tree plugin's class gets a volume of the driver that took over.
#[test]
fn a_volume_that_an_in_tree_class_is_to_make_needs_room_of_the_driver_that_took_over() {
    const REQUIRED: &str = "
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: ebs.csi.aws.com}
spec: {preventPodSchedulingIfMissing: true}
---";
    let (policy, ec2) = (policy(), ec2("Volumes: []"));
    let nodes = mk_node("a01", "us-east-1a", 25) + &mk_node("a02", "us-east-1a", 0) + &mk_pod("web", "data", "");
    let waiting = WAITING
        .replace("provisioner: ebs.csi.aws.com", "provisioner: kubernetes.io/aws-ebs")
        .replace(", annotations: {volume.kubernetes.io/selected-node: a02}", "");
    for more in ["", REQUIRED] {
        let cluster = cluster(&(nodes.clone() + &waiting + more));
        let survey = survey(&cluster, &policy, &ec2);
        assert_eq!(
            classes(&place(&survey, &cluster, "web")),
            [
                (names(&["a01"]), mk_class(0, 1, &[]), ClassDecision::Feasible),
                (names(&["a02"]), mk_class(0, 0, &[]), ClassDecision::Refused),
            ]
        );
    }
}

#[test]
fn what_a_policy_may_see_of_a_node_is_in_ascending_order() {
    let node = "
apiVersion: v1
kind: Node
metadata: {name: a01, labels: {topology.kubernetes.io/zone: us-east-1a, topology.kubernetes.io/region: us-east-1, disk: a}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata:
  name: a01
  annotations: {storage.alpha.kubernetes.io/migrated-plugins: 'kubernetes.io/gce-pd,kubernetes.io/aws-ebs'}
spec:
  drivers:
  - {name: other.example.com, nodeID: a01, topologyKeys: []}
  - {name: ebs.csi.aws.com, nodeID: i-0000000000000a01, topologyKeys: [], allocatable: {count: 25}}
---
apiVersion: v1
kind: Node
metadata: {name: a02}
";
    let (policy, ec2, cluster) = (policy(), ec2("Volumes: []"), cluster(node));
    let survey = survey(&cluster, &policy, &ec2);
    let label = |key: &str, value: &str| Label { key: key.to_owned(), value: value.to_owned() };
    let with_drivers = Place {
        labels: vec![
            label("topology.kubernetes.io/region", "us-east-1"),
            label("topology.kubernetes.io/zone", "us-east-1a"),
        ],
        has_csi_node: true,
        drivers: names(&["ebs.csi.aws.com", "other.example.com"]),
        migrated_plugins: names(&["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd"]),
    };
    let bare = Place { labels: vec![], has_csi_node: false, drivers: vec![], migrated_plugins: vec![] };
    let class_of = |name: &str| survey.class_of(&NodeName { node_name: name.to_owned() });
    assert_eq!(class_of("a01"), Some((&with_drivers, &[AttachHeadroom::Left(25), AttachHeadroom::Unlimited][..])));
    assert_eq!(class_of("a02"), Some((&bare, &[][..])));
    assert_eq!(class_of("nobody"), None);
}
