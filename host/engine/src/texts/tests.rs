//! Which ids stand in which texts, and what becomes of an answer with one that does not.

use super::*;
use zonewarden_contract::identity::{IdentifiedNode, IdentifiedVolume};
use zonewarden_contract::types::{
    AwsVolumeId, CsiSource, InstanceId, KubernetesVolumeId, NodeName, ProviderId, Reason,
};

fn id(text: &str) -> KubernetesVolumeId {
    KubernetesVolumeId { kubernetes_volume_id: text.to_owned() }
}

fn identified(canonical: &str) -> VolumeIdentity {
    VolumeIdentity::Identified(IdentifiedVolume {
        volume: AwsVolumeId { aws_volume_id: canonical.to_owned() },
        zone_hint: None,
        askable: true,
        warnings: Vec::new(),
    })
}

fn foreign() -> Reason {
    Reason { code: "foreign-driver".to_owned(), message: "not ours".to_owned() }
}

fn refused(subject: &str, text: &str, what: &str, canonical: &str) -> Problem {
    Problem {
        subject: subject.to_owned(),
        text: text.to_owned(),
        rule: "canonical-not-in-text".to_owned(),
        message: format!(
            "the policy reads \"{text}\" as the {what} \"{canonical}\", which does not occur in it as a whole, so the host \
             does not accept it"
        ),
        accepted: Vec::new(),
    }
}

fn rejected(subject: &str, text: &str, canonical: &str) -> VolumeIdentity {
    VolumeIdentity::Rejected(refused(subject, text, "volume", canonical))
}

#[test]
fn an_id_is_a_whole_token_of_its_text() {
    const ID: &str = "vol-01234567";
    for text in [
        "vol-01234567",
        "aws://us-east-1a/vol-01234567",
        "aws:///vol-01234567/",
        "aws:///vol-01234567?x=1",
        " vol-01234567\n",
        "x-vol-01234567-x",
        // It is not the only occurrence that has to be whole.
        "vol-0123456789abcdef0/vol-01234567",
        "vol-012345677/vol-01234567",
        // In a URL a slash may be written otherwise.
        "aws:///%2Fvol-01234567%2f",
    ] {
        assert!(is_token_of(ID, text), "{text:?}");
    }
    for text in [
        "",
        "vol-0123456",
        "vol-0123456789abcdef0",
        "vol-012345678",
        "vol-01234567g",
        "xvol-01234567",
        "0vol-01234567",
        "VOL-01234567",
        "évol-01234567",
        "vol-01234567é",
        "2Fvol-01234567",
        "%Fvol-01234567",
        "%zFvol-01234567",
        "é2Fvol-01234567",
        // Letters and digits may be written otherwise too.
        "vol-01234567%38",
        "%78vol-01234567",
        "%C3%A9vol-01234567",
    ] {
        assert!(!is_token_of(ID, text), "{text:?}");
    }
    assert!(is_token_of("a-a", "ba-a-a"), "occurrences may overlap");
    assert!(!is_token_of("", "vol-01234567"));
    assert!(!is_token_of("", ""));
}

#[test]
fn a_volume_has_to_occur_in_its_text_and_a_bad_element_spoils_no_other() {
    let csi = |handle: &str| VolumeSource::Csi(CsiSource { driver: "d".to_owned(), volume_handle: id(handle) });
    let ebs = |text: &str| VolumeSource::AwsElasticBlockStore(id(text));
    let rows = [
        (ebs("aws://us-east-1a/vol-1"), identified("vol-1"), identified("vol-1")),
        (ebs("vol-1"), identified("vol-2"), rejected("awsElasticBlockStore.volumeID", "vol-1", "vol-2")),
        (csi("vol-3"), identified("vol-3"), identified("vol-3")),
        (csi("VOL-3"), identified("vol-3"), rejected("csi.volumeHandle", "VOL-3", "vol-3")),
        (csi("vol-31"), identified("vol-3"), rejected("csi.volumeHandle", "vol-31", "vol-3")),
        (csi("vol-4"), identified(""), rejected("csi.volumeHandle", "vol-4", "")),
        (csi("x"), VolumeIdentity::Foreign(foreign()), VolumeIdentity::Foreign(foreign())),
        (
            VolumeSource::GcePersistentDisk(id("disk")),
            identified("vol-5"),
            rejected("gcePersistentDisk.pdName", "disk", "vol-5"),
        ),
        (VolumeSource::Other("vol-6".to_owned()), identified("vol-6"), rejected("source", "", "vol-6")),
    ];
    let questions: Vec<_> =
        rows.iter().map(|(source, ..)| VolumeQuestion { source: source.clone(), ec2_zone: None }).collect();
    let mut identities: Vec<_> = rows.iter().map(|(_, answered, _)| answered.clone()).collect();
    hold_volumes(&mut identities, &questions);
    let expected: Vec<_> = rows.into_iter().map(|(.., expected)| expected).collect();
    assert_eq!(identities, expected);
}

fn node(name: &str, provider_id: Option<&str>, csi_node_id: Option<&str>) -> NodeQuestion {
    NodeQuestion {
        node: NodeName { node_name: name.to_owned() },
        provider_id: provider_id.map(|text| ProviderId { provider_id: text.to_owned() }),
        csi_node_id: csi_node_id.map(str::to_owned),
    }
}

fn found(instance: &str, resolution: NodeResolution) -> NodeIdentity {
    NodeIdentity::Identified(IdentifiedNode {
        instance: InstanceId { instance_id: instance.to_owned() },
        resolution,
        zone_hint: None,
        warnings: Vec::new(),
    })
}

fn unresolved(subject: &str, text: &str, canonical: &str) -> NodeIdentity {
    NodeIdentity::Unresolved(refused(subject, text, "instance", canonical))
}

#[test]
fn an_instance_has_to_occur_in_the_text_that_it_was_found_by() {
    use NodeResolution::{ByCsiNodeId, ByNodeName, ByProviderId};
    const PROVIDER: &str = "aws:///us-east-1a/i-0123456789abcdef0";
    let provider = Some(PROVIDER);
    let csi = Some("i-0fedcba9876543210");
    let both = || node("ip-10-0-0-1", provider, csi);
    let rows = [
        (both(), found("i-0123456789abcdef0", ByProviderId), found("i-0123456789abcdef0", ByProviderId)),
        (both(), found("i-0fedcba9876543210", ByCsiNodeId), found("i-0fedcba9876543210", ByCsiNodeId)),
        // Another node's instance, a part of this one's, and one that another text names.
        (both(), found("i-0aaa", ByProviderId), unresolved("spec.providerID", PROVIDER, "i-0aaa")),
        (both(), found("i-01234567", ByProviderId), unresolved("spec.providerID", PROVIDER, "i-01234567")),
        (
            both(),
            found("i-0fedcba9876543210", ByProviderId),
            unresolved("spec.providerID", PROVIDER, "i-0fedcba9876543210"),
        ),
        // What was not given names nothing.
        (
            node("n", None, csi),
            found("i-0fedcba9876543210", ByProviderId),
            unresolved("spec.providerID", "", "i-0fedcba9876543210"),
        ),
        (node("n", provider, None), found("i-1", ByCsiNodeId), unresolved("csi.nodeID", "", "i-1")),
        (node("i-1.ec2.internal", None, None), found("i-1", ByNodeName), found("i-1", ByNodeName)),
        (node("i-12", None, None), found("i-1", ByNodeName), unresolved("metadata.name", "i-12", "i-1")),
        (node("n", None, Some("hyperpod-x-i-1")), found("i-1", ByCsiNodeId), found("i-1", ByCsiNodeId)),
        (node("n", provider, None), found("", ByNodeName), unresolved("metadata.name", "n", "")),
        (node("n", None, None), NodeIdentity::Foreign(foreign()), NodeIdentity::Foreign(foreign())),
    ];
    let questions: Vec<_> = rows.iter().map(|(question, ..)| question.clone()).collect();
    let mut identities: Vec<_> = rows.iter().map(|(_, answered, _)| answered.clone()).collect();
    hold_nodes(&mut identities, &questions);
    let expected: Vec<_> = rows.into_iter().map(|(.., expected)| expected).collect();
    assert_eq!(identities, expected);
}
