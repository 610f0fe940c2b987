//! F-52 and F-53: claims that wait for their pod.

use super::world::*;
use zonewarden_bindings::placement::{
    BindingMode, Candidate, ClaimedClass, StorageClass, TieKind, TopologyRequirement, TopologyTerm, UnboundClaim,
};
use zonewarden_bindings::types::{NodeName, VolumeEvidence};

const NONE_TO_BIND: Wanted = never(&["no-volume-to-bind"]);
const NOT_ALLOWED: Wanted = never(&["topology-not-allowed"]);

fn with_class(change: impl FnOnce(&mut StorageClass)) -> UnboundClaim {
    let mut class = class(Some(BindingMode::WaitForFirstConsumer));
    change(&mut class);
    UnboundClaim { class: ClaimedClass::Found(class), ..waiting() }
}

/// A claim whose class makes no volumes.
fn static_only(candidates: Vec<Candidate>) -> UnboundClaim {
    UnboundClaim { candidates, ..with_class(|class| class.provisioner = "kubernetes.io/no-provisioner".to_owned()) }
}

fn allowing(terms: &[&[(&str, &[&str])]]) -> UnboundClaim {
    let requirement =
        |(key, values): &(&str, &[&str])| TopologyRequirement { key: (*key).to_owned(), values: strings(values) };
    let term = |term: &&[(&str, &[&str])]| TopologyTerm { requirements: term.iter().map(requirement).collect() };
    with_class(|class| class.allowed_topologies = terms.iter().map(term).collect())
}

fn alone(claim: UnboundClaim) -> zonewarden_bindings::placement::PodQuestion {
    pod(vec![claimed(0, unbound(claim))])
}

fn in_zone(name: &str, zone: &str) -> PersistentVolume {
    PersistentVolume { affinity: only(GA, &[zone]), ..pv(name) }
}

#[test]
fn f_52_allowed_topologies_limit_where_a_volume_is_made() {
    let a: &[&[(&str, &[&str])]] = &[&[(GA, &["a", "b"])]];
    check("F-52 inside", &alone(allowing(a)), &node(&[(GA, "b")]), FITS, &[]);
    let names = ["claim-0", "gp3", "topology.kubernetes.io/zone In [a, b]", "topology.kubernetes.io/zone=c"];
    check("F-52 outside", &alone(allowing(a)), &node(&[(GA, "c")]), NOT_ALLOWED, &names);
    check(
        "F-52 literally",
        &alone(allowing(a)),
        &node(&[(BETA, "a")]),
        NOT_ALLOWED,
        &["no topology.kubernetes.io/zone"],
    );
    check("F-52 [{}]", &alone(allowing(&[&[]])), &node(&[(GA, "a")]), NOT_ALLOWED, &["gp3"]);
    check("F-52 everywhere", &alone(allowing(&[])), &node(&[]), FITS, &[]);
    // No key is translated, on a migrated node neither.
    let migrated = migrated_node(&[(EBS_ZONE, "a")]);
    check("F-52 no translation", &alone(allowing(a)), &migrated, NOT_ALLOWED, &[]);
}

#[test]
fn f_52_a_class_without_a_provisioner_makes_nothing() {
    check("F-52", &alone(static_only(vec![])), &node(&[]), NONE_TO_BIND, &["claim-0", "gp3"]);
    let empty = with_class(|class| class.provisioner = String::new());
    check("F-52 empty", &alone(empty), &node(&[]), NONE_TO_BIND, &[]);
}

#[test]
fn f_52_a_selected_node_leaves_only_that_node_and_stops_the_search() {
    let selected = |claim| UnboundClaim { selected_node: Some(NodeName { node_name: "node-7".to_owned() }), ..claim };
    let there = node(&[(GA, "a")]).tied(&[(0, TieKind::SelectedFor)]);
    let other = node(&[(GA, "a")]).tied(&[(1, TieKind::SelectedFor)]);
    let pod = alone(selected(waiting()));
    check("F-52 there", &pod, &there, FITS, &[]);
    let wanted = never(&["selected-node-mismatch"]);
    check("F-52 elsewhere", &pod, &node(&[(GA, "a")]), wanted, &["claim-0", "node-7"]);
    check("F-52 another claim's", &pod, &other, wanted, &[]);
    let with_candidate = alone(selected(static_only(vec![candidate(in_zone("pv-1", "a"))])));
    check("F-52 no search", &with_candidate, &there, NONE_TO_BIND, &[]);
    check("F-52 without the annotation", &alone(static_only(vec![candidate(in_zone("pv-1", "a"))])), &there, FITS, &[]);
}

#[test]
fn f_53_a_candidate_must_suit_the_claim_and_the_node() {
    let change = |change: fn(&mut Candidate)| {
        let mut found = candidate(in_zone("pv-1", "a"));
        change(&mut found);
        alone(static_only(vec![found]))
    };
    let of = |volume: PersistentVolume| alone(static_only(vec![candidate(volume)]));
    let (in_a, bare) = (in_zone("pv-1", "a"), pv("pv-1"));
    for (row, pod, wanted) in [
        ("F-53 suits", change(|_| ()), FITS),
        ("F-53 larger", change(|found| found.capacity_bytes = Some(11)), FITS),
        ("F-53 smaller", change(|found| found.capacity_bytes = Some(9)), NONE_TO_BIND),
        ("F-53 unreadable", change(|found| found.capacity_bytes = None), NONE_TO_BIND),
        ("F-53 not available", change(|found| found.available = false), NONE_TO_BIND),
        ("F-53 not selected", change(|found| found.selected = false), NONE_TO_BIND),
        ("F-53 modes", change(|found| found.access_modes = strings(&["ReadOnlyMany"])), NONE_TO_BIND),
        ("F-53 volume mode", change(|found| found.volume_mode = "Block".to_owned()), NONE_TO_BIND),
        ("F-53 affinity", of(in_zone("pv-1", "b")), NONE_TO_BIND),
        ("F-53 no affinity", of(bare), FITS),
        ("F-53 labels are not read", of(labelled(in_a.clone(), &[(GA, "b")])), FITS),
        ("F-53 as written", of(PersistentVolume { source: in_tree(VOL), ..in_a }), FITS),
    ] {
        check(row, &pod, &migrated_node(&[(GA, "a")]), wanted, &[]);
    }
    let both_modes = UnboundClaim {
        access_modes: strings(&["ReadWriteOnce", "ReadWriteMany"]),
        ..static_only(vec![candidate(pv("pv-1"))])
    };
    check("F-53 every mode counts", &alone(both_modes), &node(&[]), NONE_TO_BIND, &[]);
    let unreadable = UnboundClaim { requested_bytes: None, ..static_only(vec![candidate(pv("pv-1"))]) };
    check("F-53 unreadable request", &alone(unreadable), &node(&[]), NONE_TO_BIND, &[]);
}

#[test]
fn f_53_where_none_suits_a_volume_is_made_if_the_class_allows_it() {
    let candidates = vec![candidate(in_zone("pv-1", "a"))];
    let pod = alone(UnboundClaim { candidates, ..allowing(&[&[(GA, &["b"])]]) });
    check("F-53 bound", &pod, &node(&[(GA, "a")]), FITS, &[]);
    check("F-53 made", &pod, &node(&[(GA, "b")]), FITS, &[]);
    check("F-53 neither", &pod, &node(&[(GA, "c")]), NOT_ALLOWED, &[]);
}

#[test]
fn f_53_one_volume_serves_one_claim_and_the_smallest_request_chooses_first() {
    let size = |bytes, name: &str| Candidate { capacity_bytes: Some(bytes), ..candidate(in_zone(name, "a")) };
    let asking = |bytes, candidates| UnboundClaim { requested_bytes: Some(bytes), ..static_only(candidates) };
    let class = node(&[(GA, "a")]);
    let one = || vec![size(20, "pv-20")];
    let pod_a = pod(vec![claimed(0, unbound(asking(10, one()))), claimed(1, unbound(asking(10, one())))]);
    check("F-53 one for two", &pod_a, &class, NONE_TO_BIND, &["claim-1"]);
    let two = || vec![size(20, "pv-20"), size(10, "pv-10")];
    let pod_b = pod(vec![claimed(0, unbound(asking(20, two()))), claimed(1, unbound(asking(10, two())))]);
    check("F-53 the smallest that fits", &pod_b, &class, FITS, &[]);
    let pod_c = pod(vec![
        claimed(0, unbound(asking(20, two()))),
        claimed(1, unbound(asking(5, two()))),
        claimed(2, unbound(asking(5, two()))),
    ]);
    // The two small requests come first and take both volumes.
    check("F-53 greedy", &pod_c, &class, NONE_TO_BIND, &["claim-0"]);
}

#[test]
fn f_53_kubernetes_never_gives_a_volume_back() {
    let any = |name: &str, bytes| Candidate { capacity_bytes: Some(bytes), ..candidate(in_zone(name, "a")) };
    let shared = Candidate { access_modes: strings(&["ReadWriteMany", "ReadWriteOnce"]), ..any("pv-shared", 10) };
    let plain = any("pv-plain", 20);
    let candidates = || vec![shared.clone(), plain.clone()];
    let once = UnboundClaim { requested_bytes: Some(5), ..static_only(candidates()) };
    let many = UnboundClaim { access_modes: strings(&["ReadWriteMany"]), ..static_only(candidates()) };
    // A matching exists (once takes pv-plain), but the smallest volume is taken first, and so Kubernetes refuses.
    let pod = pod(vec![claimed(0, unbound(once)), claimed(1, unbound(many))]);
    check("F-53", &pod, &node(&[(GA, "a")]), NONE_TO_BIND, &["claim-1"]);
}

#[test]
fn f_53_what_ec2_says_of_the_volume_that_kubernetes_would_take_counts_too() {
    let found = |evidence| candidate(PersistentVolume { evidence, ..in_zone("pv-1", "us-east-1a") });
    let class = node(&[(GA, "us-east-1a")]);
    check("F-53 right", &alone(static_only(vec![found(ec2("us-east-1a"))])), &class, FITS, &[]);
    let names = ["pv-1", "claim-0", "us-east-1b", "zone=us-east-1a"];
    let wrong = alone(static_only(vec![found(ec2("us-east-1b"))]));
    check("F-53 H-5", &wrong, &class, ours(&["ec2-zone-mismatch"]), &names);
    let gone = alone(static_only(vec![found(VolumeEvidence::Missing(3))]));
    check("F-53 gone", &gone, &class, ours_now(&["volume-missing"]), &["pv-1", "claim-0"]);
    check("F-53 not taken", &gone, &node(&[(GA, "us-east-1b")]), NONE_TO_BIND, &[]);
}
