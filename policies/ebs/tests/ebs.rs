//! The default policy is the standard rules under the standard settings.

use zonewarden_policy_ebs::Ebs;
use zonewarden_sdk::contract::identity::{IdentifiedVolume, VolumeIdentity, VolumeQuestion};
use zonewarden_sdk::contract::labelling::{LabellingBasis, LabellingQuestion};
use zonewarden_sdk::contract::types::{
    AwsVolumeId, KubernetesVolumeId, Label, Remedy, Topology, VolumeAffinity, VolumeEvidence, VolumeSource, Zone,
};
use zonewarden_sdk::{Policy, Settings};

const TEXT: &str = "aws://us-east-1a/vol-0123456789abcdef0";

fn in_tree(id: &str) -> VolumeSource {
    VolumeSource::AwsElasticBlockStore(KubernetesVolumeId { kubernetes_volume_id: id.to_owned() })
}

fn identify(id: &str) -> VolumeIdentity {
    let settings = Ebs::settings(&[]).expect("the standard settings are good");
    Ebs::identify_volume(&settings, &VolumeQuestion { source: in_tree(id), ec2_zone: None })
}

#[test]
fn its_settings_are_the_standard_ones() {
    assert_eq!(Ebs::settings(&[]), Ok(Settings::default()));
    assert_eq!(Ebs::validate_settings(&[]), []);
}

#[test]
fn it_describes_itself() {
    let info = Ebs::describe(&Settings::default());
    assert_eq!((info.name.as_str(), info.version.as_str()), ("ebs", env!("CARGO_PKG_VERSION")));
    assert_eq!(info.csi_drivers, ["ebs.csi.aws.com"]);
    assert_eq!(info.in_tree_plugins, ["kubernetes.io/aws-ebs"]);
    assert!(info.remedies.contains(&Remedy::SetLabels) && info.remedies.contains(&Remedy::AddOutOfServiceTaint));
}

#[test]
fn b1_an_id_is_read_leniently() {
    let identified = IdentifiedVolume {
        volume: AwsVolumeId { aws_volume_id: "vol-0123456789abcdef0".to_owned() },
        zone_hint: Some(Zone { zone: "us-east-1a".to_owned() }),
        askable: true,
        warnings: Vec::new(),
    };
    assert_eq!(identify(TEXT), VolumeIdentity::Identified(identified));
    let VolumeIdentity::Identified(odd) = identify("vol-xyz") else { panic!("lenient mode takes it") };
    let codes: Vec<_> = odd.warnings.iter().map(|warning| warning.reason.code.as_str()).collect();
    assert_eq!((odd.askable, codes), (false, vec!["not-hex"]));
}

#[test]
fn e13_a_hint_is_enough_for_labels() {
    let question = LabellingQuestion {
        persistent_volume: "pv-1".to_owned(),
        source: in_tree(TEXT),
        labels: Vec::new(),
        owned_labels: Vec::new(),
        annotations: Vec::new(),
        affinity: VolumeAffinity::Unset,
        evidence: VolumeEvidence::Unknown,
        creating: true,
    };
    let label = |key: &str, value: &str| Label { key: key.to_owned(), value: value.to_owned() };
    let wanted =
        [label("topology.kubernetes.io/zone", "us-east-1a"), label("topology.kubernetes.io/region", "us-east-1")];
    let nodes = [Topology { labels: wanted.to_vec() }];
    let answer = Ebs::label_volume(&Settings::default(), &nodes, &question);
    assert_eq!((answer.basis, answer.reason.code.as_str()), (LabellingBasis::Hint, "zone-from-id"));
    assert_eq!(answer.labels, wanted);
}
