//! Rows of B1, B-16, D-6, D-34, D-39 and D-41 as whole answers.

use super::{Canonical, canonical, identify_node, identify_volume};
use crate::settings::{Settings, VolumeIds};
use proptest::prelude::*;
use zonewarden_bindings::identity::{
    IdentifiedNode, IdentifiedVolume, NodeIdentity, NodeQuestion, NodeResolution, VolumeIdentity, VolumeQuestion,
};
use zonewarden_bindings::types::{
    AwsVolumeId, CsiSource, Finding, InstanceId, KubernetesVolumeId, NodeName, ProviderId, Severity, VolumeSource, Zone,
};

mod nodes;

const VOLUME: &str = "vol-0123456789abcdef0";
const ID: &str = "i-0123456789abcdef0";
const OLD: &str = "i-0aaaaaaaaaaaaaaaa";

fn settings(volume_ids: VolumeIds) -> Settings {
    Settings { volume_ids, ..Settings::default() }
}

fn text(text: &str) -> KubernetesVolumeId {
    KubernetesVolumeId { kubernetes_volume_id: text.to_owned() }
}

fn ebs(id: &str) -> VolumeSource {
    VolumeSource::AwsElasticBlockStore(text(id))
}

fn csi(driver: &str, handle: &str) -> VolumeSource {
    VolumeSource::Csi(CsiSource { driver: driver.to_owned(), volume_handle: text(handle) })
}

fn zone(zone: &str) -> Option<Zone> {
    (!zone.is_empty()).then(|| Zone { zone: zone.to_owned() })
}

fn ask(mode: VolumeIds, source: VolumeSource, ec2_zone: Option<Zone>) -> VolumeIdentity {
    identify_volume(&settings(mode), &VolumeQuestion { source, ec2_zone })
}

/// Severities and codes; each message must name every one of `names`.
fn codes(findings: &[Finding], names: &[&str]) -> Vec<(Severity, String)> {
    let named = |finding: &Finding| names.iter().all(|name| finding.reason.message.contains(name));
    assert!(findings.iter().all(named), "{findings:?} name {names:?}");
    findings.iter().map(|finding| (finding.severity, finding.reason.code.clone())).collect()
}

#[test]
fn b_16_a_csi_handle_is_the_bare_id() {
    for mode in [VolumeIds::Lenient, VolumeIds::Strict] {
        let wanted = IdentifiedVolume {
            volume: AwsVolumeId { aws_volume_id: VOLUME.to_owned() },
            zone_hint: None,
            askable: true,
            warnings: Vec::new(),
        };
        assert_eq!(ask(mode, csi("ebs.csi.aws.com", VOLUME), None), VolumeIdentity::Identified(wanted));
    }
    for url in ["aws://us-east-1a/vol-0123456789abcdef0", " aws://us-east-1a/vol-0123456789abcdef0"] {
        let VolumeIdentity::Identified(lenient) = ask(VolumeIds::Lenient, csi("ebs.csi.aws.com", url), None) else {
            panic!("lenient mode identifies {url:?}")
        };
        assert_eq!(lenient.volume.aws_volume_id, VOLUME);
        assert_eq!(lenient.zone_hint, zone("us-east-1a"));
        let found =
            codes(&lenient.warnings[lenient.warnings.len() - 1..], &[&format!("{url:?}"), "\"vol-0123456789abcdef0\""]);
        assert_eq!(found, [(Severity::Error, "url-handle".to_owned())]);
    }
    let url = "aws://us-east-1a/vol-0123456789abcdef0";
    let VolumeIdentity::Rejected(strict) = ask(VolumeIds::Strict, csi("ebs.csi.aws.com", url), None) else {
        panic!("strict mode rejects it")
    };
    assert_eq!(
        (strict.subject.as_str(), strict.text.as_str(), strict.rule.as_str()),
        ("csi.volumeHandle", url, "url-handle")
    );
    assert!(matches!(ask(VolumeIds::Strict, ebs(url), None), VolumeIdentity::Identified(_)));
}

#[test]
fn b1_a_broken_id_is_rejected_with_its_field() {
    let VolumeIdentity::Rejected(problem) = ask(VolumeIds::Lenient, ebs("aws://vol-1"), None) else {
        panic!("rejected")
    };
    assert_eq!(problem.subject, "awsElasticBlockStore.volumeID");
    assert_eq!((problem.text.as_str(), problem.rule.as_str()), ("aws://vol-1", "format-id-as-zone"));
    let VolumeIdentity::Rejected(problem) = ask(VolumeIds::Lenient, csi("ebs.csi.aws.com", ""), None) else {
        panic!("rejected")
    };
    assert_eq!((problem.subject.as_str(), problem.rule.as_str()), ("csi.volumeHandle", "empty"));
}

#[test]
fn d_6_somebody_elses_volumes_are_foreign() {
    let gce = VolumeSource::GcePersistentDisk(text("disk"));
    for (source, code, name) in [
        (csi("pd.csi.storage.gke.io", VOLUME), "other-driver", "pd.csi.storage.gke.io"),
        (csi("", VOLUME), "other-driver", "\"\""),
        (csi("pd.csi.storage.gke.io", "placeholder-for-provisioning"), "other-driver", "pd.csi.storage.gke.io"),
        (gce, "other-plugin", "gcePersistentDisk"),
        (VolumeSource::Other("hostPath".to_owned()), "other-source", "hostPath"),
        (csi("ebs.csi.aws.com", "local-ebs://nvme1"), "node-local-volume", "local-ebs://nvme1"),
        (ebs("local-ebs://nvme1"), "node-local-volume", "local-ebs://nvme1"),
        (ebs("placeholder-for-provisioning"), "placeholder", "placeholder-for-provisioning"),
        (csi("ebs.csi.aws.com", "<volume-provisioned>"), "placeholder", "<volume-provisioned>"),
    ] {
        let VolumeIdentity::Foreign(reason) = ask(VolumeIds::Strict, source, None) else { panic!("{code}: foreign") };
        assert_eq!(reason.code, code);
        assert!(reason.message.contains(name), "{}", reason.message);
    }
    let renamed = Settings { csi_driver: "ebs.example.com".to_owned(), ..Settings::default() };
    let question = |driver| VolumeQuestion { source: csi(driver, VOLUME), ec2_zone: None };
    assert!(matches!(identify_volume(&renamed, &question("ebs.example.com")), VolumeIdentity::Identified(_)));
    assert!(matches!(identify_volume(&renamed, &question("ebs.csi.aws.com")), VolumeIdentity::Foreign(_)));
}

#[test]
fn d_34_a_zone_that_ec2_contradicts_is_a_warning() {
    for (id, ec2, wanted) in [
        ("aws://us-east-1a/vol-0123456789abcdef0", "us-east-1b", Some(["us-east-1a", "us-east-1b"])),
        ("aws://us-east-1a/vol-0123456789abcdef0", "us-east-1a", None),
        ("aws://us-east-1a/vol-0123456789abcdef0", "", None),
        ("aws:///vol-0123456789abcdef0", "us-east-1b", None),
        (VOLUME, "us-east-1b", None),
    ] {
        for ec2_zone in [Some(Zone { zone: ec2.to_owned() }), zone(ec2)] {
            let VolumeIdentity::Identified(volume) = ask(VolumeIds::Strict, ebs(id), ec2_zone) else {
                panic!("identified")
            };
            let names = wanted.unwrap_or_default();
            let warnings = wanted.map(|_| (Severity::Warning, "zone-mismatch".to_owned()));
            assert_eq!(codes(&volume.warnings, &names), Vec::from_iter(warnings), "{id} {ec2}");
        }
    }
}

#[test]
fn d_3_warnings_of_the_id_come_with_it() {
    let VolumeIdentity::Identified(volume) = ask(VolumeIds::Lenient, ebs("aws://unknown/vol-1"), zone("us-east-1a"))
    else {
        panic!("identified")
    };
    assert_eq!((volume.zone_hint, volume.askable), (None, false));
    let wanted = ["zone-shape", "unusual-length"].map(|code| (Severity::Warning, code.to_owned()));
    assert_eq!(codes(&volume.warnings, &["aws://unknown/vol-1"]), wanted);
}

#[test]
fn b3_rules_that_compare_ask_for_the_canonical_id_alone() {
    let settings = Settings::default();
    let (bare, url) = (csi("ebs.csi.aws.com", VOLUME), ebs("aws://us-east-1a/vol-0123456789abcdef0"));
    let (Canonical::Volume(bare), Canonical::Volume(url)) = (canonical(&settings, &bare), canonical(&settings, &url))
    else {
        panic!("both are volumes")
    };
    assert_eq!(bare.id(), url.id());
    let broken = ebs("aws://z/i-1");
    let Canonical::Rejected(rejected) = canonical(&settings, &broken) else { panic!("rejected") };
    assert_eq!(rejected.code(), "format-prefix");
    assert_eq!(VolumeIdentity::Rejected(rejected.to_problem()), ask(VolumeIds::Lenient, ebs("aws://z/i-1"), None));
}

proptest! {
    #[test]
    fn every_volume_has_an_answer_whose_id_occurs_in_its_text(id in any::<String>(), zone in any::<String>(), is_csi: bool) {
        let source = if is_csi { csi("ebs.csi.aws.com", &id) } else { ebs(&id) };
        match ask(VolumeIds::Lenient, source, Some(Zone { zone })) {
            VolumeIdentity::Identified(volume) => prop_assert!(id.contains(&volume.volume.aws_volume_id)),
            VolumeIdentity::Rejected(problem) => prop_assert_eq!(problem.text, id),
            VolumeIdentity::Foreign(reason) => prop_assert!(!reason.code.is_empty()),
        }
    }
}
