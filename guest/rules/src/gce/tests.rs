//! Rows G-1 to G-12, B-13 and B-14.

use super::*;
use proptest::prelude::*;
use zonewarden_bindings::types::{CsiSource, KubernetesVolumeId, Severity};

fn label(key: &str, value: &str) -> Label {
    Label { key: key.to_owned(), value: value.to_owned() }
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn zonal(zone: &str) -> Disk {
    Disk::Zonal { zone: zone.to_owned() }
}

fn regional(region: &str, zones: &[&str]) -> Disk {
    Disk::Regional { region: region.to_owned(), replica_zones: set(zones) }
}

#[test]
fn g_1_only_a_disk_of_gce_is_labelled() {
    let id = |text: &str| KubernetesVolumeId { kubernetes_volume_id: text.to_owned() };
    let gce = |name: &str| VolumeSource::GcePersistentDisk(id(name));
    assert_eq!(disk_name(&gce("disk-1")), Some("disk-1"));
    assert_eq!(disk_name(&gce("placeholder-for-provisioning")), None);
    assert_eq!(disk_name(&gce("")), None);
    assert_eq!(disk_name(&VolumeSource::AwsElasticBlockStore(id("disk-1"))), None);
    assert_eq!(disk_name(&VolumeSource::Csi(CsiSource { driver: "pd".to_owned(), volume_handle: id("disk-1") })), None);
    assert_eq!(disk_name(&VolumeSource::Other("hostPath".to_owned())), None);
}

#[test]
fn g_2_g_3_g_4_g_5_the_hint_says_how_to_look() {
    let (ga, beta) = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
    let unreadable = |key: &str, value: &str| Hint::Unreadable { key: key.to_owned(), value: value.to_owned() };
    let zones = |names: &[&str]| Hint::Zones(set(names));
    for (labels, wanted, look) in [
        (vec![], Hint::None, Lookup::Everywhere),
        (vec![label("topology.kubernetes.io/region", "r")], Hint::None, Lookup::Everywhere),
        (vec![label(ga, "a")], zones(&["a"]), Lookup::Zonal("a")),
        (vec![label(beta, "b")], zones(&["b"]), Lookup::Zonal("b")),
        (vec![label(beta, "b"), label(ga, "a")], zones(&["a"]), Lookup::Zonal("a")),
        (vec![label(ga, " a ")], zones(&["a"]), Lookup::Zonal("a")),
        (vec![label(ga, "a__a")], zones(&["a"]), Lookup::Zonal("a")),
        (vec![label(ga, "b__a")], zones(&["a", "b"]), Lookup::Regional),
        (vec![label(ga, "a__")], unreadable(ga, "a__"), Lookup::Everywhere),
        (vec![label(beta, "")], unreadable(beta, ""), Lookup::Everywhere),
    ] {
        let found = hint(&labels);
        assert_eq!(found, wanted, "{labels:?}");
        assert_eq!(lookup(&found), look, "{labels:?}");
    }
}

#[test]
fn g_4_a_wrong_hint_is_told_and_does_not_hide_the_disk() {
    let zones = |names: &[&str]| Hint::Zones(set(names));
    let unreadable = Hint::Unreadable { key: "k".to_owned(), value: "a__".to_owned() };
    for (hint, disk, wanted) in [
        (Hint::None, zonal("a"), None),
        (zones(&["a"]), zonal("a"), None),
        (zones(&["b", "a"]), regional("r", &["a", "b"]), None),
        (zones(&["b"]), zonal("a"), Some(("disk-zone-mismatch", ["says b,", "in a,"]))),
        (zones(&["a"]), regional("r", &["a", "b"]), Some(("disk-zone-mismatch", ["says a,", "in a__b,"]))),
        (unreadable, zonal("a"), Some(("zone-label-unreadable", ["k has the value \"a__\"", "in a"]))),
    ] {
        let found = hint_mismatch(&hint, &disk);
        let code = found.as_ref().map(|finding| (finding.severity, finding.reason.code.as_str()));
        assert_eq!(code, wanted.map(|(code, _)| (Severity::Warning, code)), "{hint:?}");
        if let (Some(finding), Some((_, texts))) = (found, wanted) {
            assert!(texts.iter().all(|text| finding.reason.message.contains(text)), "{}", finding.reason.message);
        }
    }
}

#[test]
fn g_6_only_hits_count_and_a_failed_lookup_is_not_an_empty_one() {
    let found = |zone: &str| Searched::Found(zonal(zone));
    let failed = |text: &str| Searched::Failed(text.to_owned());
    let unknown = |text: &str| Err(NotFound::Unknown(text.to_owned()));
    for (searched, wanted) in [
        (vec![], Err(NotFound::Nowhere)),
        (vec![Searched::Nothing, Searched::Nothing], Err(NotFound::Nowhere)),
        (vec![found("a"), Searched::Nothing], Ok(zonal("a"))),
        (vec![Searched::Nothing, found("b")], Ok(zonal("b"))),
        (vec![found("a"), Searched::Nothing, found("b")], Err(NotFound::Ambiguous(vec![zonal("a"), zonal("b")]))),
        (vec![failed("quota"), Searched::Nothing], unknown("quota")),
        (vec![failed("first"), found("a"), failed("second")], unknown("first")),
        (vec![failed("quota"), found("a"), found("b")], Err(NotFound::Ambiguous(vec![zonal("a"), zonal("b")]))),
    ] {
        assert_eq!(find(searched.clone()), wanted, "{searched:?}");
    }
}

#[test]
fn g_7_g_8_g_9_g_10_what_a_disk_is_labelled_with() {
    let ab = ["us-central1-a", "us-central1-b"];
    for (disk, region, zone, values) in [
        (zonal("us-central1-a"), "us-central1", "us-central1-a", &ab[..1]),
        (zonal("a-b-c-d"), "a-b-c", "a-b-c-d", &["a-b-c-d"][..]),
        (regional("us-central1", &[ab[1], ab[0]]), "us-central1", "us-central1-a__us-central1-b", &ab[..]),
    ] {
        let topology = disk.topology().expect("a whole disk");
        let (region_key, zone_key) = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone");
        assert_eq!(topology.labels(), [label(region_key, region), label(zone_key, zone)]);
        let requirement = |key: &str, values: &[&str]| Requirement {
            key: key.to_owned(),
            operator: SelectorOperator::In,
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        assert_eq!(topology.requirements(), [requirement(region_key, &[region]), requirement(zone_key, values)]);
    }
    for (disk, wanted) in [
        (zonal("nodash"), NoLabels::NoRegion),
        (zonal(""), NoLabels::NoRegion),
        (zonal("-a"), NoLabels::NoRegion),
        (zonal("us-"), NoLabels::NoRegion),
        (regional("", &["a-1", "a-2"]), NoLabels::NoRegion),
        (regional("r", &[]), NoLabels::NoReplicaZones),
        (regional("r", &["r-a"]), NoLabels::NotTwoReplicaZones),
        (regional("r", &["r-a", "r-b", "r-c"]), NoLabels::NotTwoReplicaZones),
    ] {
        assert_eq!(disk.topology(), Err(wanted), "{disk:?}");
    }
}

#[test]
fn g_10_a_class_is_regional_by_its_replication_type() {
    for (parameters, wanted) in [
        (vec![], false),
        (vec![label("replication-type", "none")], false),
        (vec![label("replication-type", "regional-pd")], true),
        (vec![label("type", "pd-ssd"), label("Replication-Type", "Regional-PD")], true),
        (vec![label("type", "regional-pd")], false),
    ] {
        assert_eq!(is_regional_class(&parameters), wanted, "{parameters:?}");
    }
}

#[test]
fn g_11_regional_or_not_is_told_by_the_disk() {
    assert!(!zonal("a__b").is_regional());
    assert!(regional("r", &["r-a", "r-b"]).is_regional());
}

#[test]
fn b_14_g_12_a_handle_by_the_zones_of_the_disk() {
    for (zones, wanted) in [
        (set(&[]), Ok("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d")),
        (set(&["r1-a"]), Ok("projects/UNSPECIFIED/zones/r1-a/disks/d")),
        (set(&["nodash"]), Ok("projects/UNSPECIFIED/zones/nodash/disks/d")),
        (set(&["r1-b", "r1-a"]), Ok("projects/UNSPECIFIED/regions/r1/disks/d")),
        (set(&["r1-a", "r2-a"]), Err(BadHandle::Region)),
        (set(&["r1-a", "nodash"]), Err(BadHandle::Region)),
        (set(&["nodash", "other"]), Err(BadHandle::Region)),
    ] {
        let handle = Handle::of_zones("d", &zones).map(|handle| handle.to_string());
        assert_eq!(handle, wanted.map(str::to_owned), "{zones:?}");
    }
}

#[test]
fn b_13_a_handle_is_repaired_by_its_nodes_id() {
    let node = "projects/p/zones/r1-b/instances/n";
    for (handle, node, wanted) in [
        ("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", node, Ok(("projects/p/zones/r1-b/disks/d", true))),
        ("projects/UNSPECIFIED/zones/r1-a/disks/d", node, Ok(("projects/p/zones/r1-a/disks/d", false))),
        ("projects/UNSPECIFIED/regions/r1/disks/d", node, Ok(("projects/p/regions/r1/disks/d", false))),
        ("projects/q/zones/r1-a/disks/d", node, Ok(("projects/q/zones/r1-a/disks/d", false))),
        ("projects/q/zones/r1-a/disks/d", "n", Ok(("projects/q/zones/r1-a/disks/d", false))),
        ("projects/UNSPECIFIED/zones/r1-a/disks/d", "n", Err(BadHandle::NodeId)),
        ("projects/UNSPECIFIED/zones/r1-a/disks/d", "projects/p/zones//instances/n", Err(BadHandle::NodeId)),
        ("projects/UNSPECIFIED/zones/r1-a/disks/d", "projects/p/regions/r/instances/n", Err(BadHandle::NodeId)),
        ("projects/UNSPECIFIED/zones/r1-a/disks/d", "projects/p/zones/z/disks/n", Err(BadHandle::NodeId)),
        ("projects/UNSPECIFIED/regions/UNSPECIFIED/disks/d", node, Err(BadHandle::Form)),
        ("projects/p/places/z/disks/d", node, Err(BadHandle::Form)),
        ("projects/p/zones/z/instances/d", node, Err(BadHandle::Form)),
        ("projects/p/zones/z/disks/d/x", node, Err(BadHandle::Form)),
        ("projects/p/zones/z/disks/", node, Err(BadHandle::Form)),
        ("projects/p/zones/z/disks", node, Err(BadHandle::Form)),
        ("vol-1", node, Err(BadHandle::Form)),
    ] {
        let wanted = wanted.map(|(handle, guessed)| Repaired { handle: handle.to_owned(), zone_is_the_nodes: guessed });
        assert_eq!(repair(handle, node), wanted, "{handle} {node}");
    }
}

proptest! {
    #[test]
    fn b_14_a_handle_is_read_as_it_was_written(text in "\\PC*|projects/[a-zU]{1,3}/(zones|regions)/(UNSPECIFIED|[a-z0-9-]{1,9})/disks/[a-z]{1,3}") {
        if let Ok(handle) = Handle::parse(&text) {
            prop_assert_eq!(handle.to_string(), text);
        }
    }

    #[test]
    fn b_13_a_repaired_handle_needs_no_repair(zone in "(UNSPECIFIED|r1-a)") {
        let handle = format!("projects/UNSPECIFIED/zones/{zone}/disks/d");
        let once = repair(&handle, "projects/p/zones/r1-b/instances/n").expect("repaired");
        let twice = repair(&once.handle, "projects/q/zones/r2-c/instances/m").expect("whole");
        prop_assert_eq!(twice.handle, once.handle);
        prop_assert!(!twice.zone_is_the_nodes);
    }
}
