//! What a policy is tried on before it decides: one question of each kind.
//!
//! The answers' meaning is the policy's own and is not judged. That there is an answer, of the length that the contract asks
//! for and within every limit, is what the trial is about: a policy that traps whenever it is asked to judge should be found out
//! while the one before it still decides. The texts are samples of what stands in a cluster; nothing here reads them.

use zonewarden_contract::attachment::{InstanceReport, NodeReport, Observation, Usage, VolumeReport};
use zonewarden_contract::identity::{NodeQuestion, VolumeQuestion};
use zonewarden_contract::labelling::LabellingQuestion;
use zonewarden_contract::placement::{InlineVolume, NodeClasses, Place, PodQuestion, PodVolume, PodVolumeSource};
use zonewarden_contract::types::{
    AwsVolumeId, InstanceId, KubernetesVolumeId, NodeName, ProviderId, Topology, VolumeAffinity, VolumeEvidence,
    VolumeSource,
};

use crate::error::Error;
use crate::policy::ConfiguredPolicy;

const VOLUME: &str = "vol-0123456789abcdef0";
const INSTANCE: &str = "i-0123456789abcdef0";
const PROVIDER_ID: &str = "aws:///us-east-1a/i-0123456789abcdef0";
const NAME: &str = "sample";
const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
    "uid":"00000000-0000-0000-0000-000000000000","kind":{"group":"","version":"v1","kind":"PersistentVolume"},
    "resource":{"group":"","version":"v1","resource":"persistentvolumes"},"name":"sample","operation":"CREATE","dryRun":true,
    "object":{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"sample"},
    "spec":{"awsElasticBlockStore":{"volumeID":"vol-0123456789abcdef0"}}}}}"#;

/// Asks a policy one question of each kind.
pub(crate) fn of(policy: &ConfiguredPolicy) -> Result<(), Error> {
    policy.identify_volumes(&[VolumeQuestion { source: source(), ec2_zone: None }])?;
    policy.identify_nodes(&[node()])?;
    policy.label_volumes(&topologies(), &[persistent_volume()])?;
    policy.filter(&pod(), &nodes())?;
    policy.score(&pod(), &nodes())?;
    policy.inject(&pod(), None)?;
    policy.judge(&[observation()])?;
    let concerned = policy.concerns(REVIEW)?;
    policy.answer(REVIEW, &vec![VolumeEvidence::Unknown; concerned.len()], &topologies())?;
    // That this is no question of the contract is a good answer.
    policy.evaluate("{}").map(|_| ())
}

fn source() -> VolumeSource {
    VolumeSource::AwsElasticBlockStore(KubernetesVolumeId { kubernetes_volume_id: VOLUME.to_owned() })
}

fn node() -> NodeQuestion {
    NodeQuestion {
        node: NodeName { node_name: NAME.to_owned() },
        provider_id: Some(ProviderId { provider_id: PROVIDER_ID.to_owned() }),
        csi_node_id: Some(INSTANCE.to_owned()),
    }
}

fn topologies() -> [Topology; 1] {
    [Topology { labels: Vec::new() }]
}

fn persistent_volume() -> LabellingQuestion {
    LabellingQuestion {
        persistent_volume: NAME.to_owned(),
        source: source(),
        labels: Vec::new(),
        owned_labels: Vec::new(),
        annotations: Vec::new(),
        affinity: VolumeAffinity::Unset,
        evidence: VolumeEvidence::Unknown,
        creating: false,
    }
}

fn pod() -> PodQuestion {
    let inline = InlineVolume { source: source(), evidence: VolumeEvidence::Unknown };
    PodQuestion {
        pod: format!("{NAME}/{NAME}"),
        volumes: vec![PodVolume { name: NAME.to_owned(), source: PodVolumeSource::Inline(inline) }],
        topologies: Vec::new(),
        required_drivers: Vec::new(),
    }
}

fn nodes() -> NodeClasses {
    let place = Place { labels: Vec::new(), has_csi_node: false, drivers: Vec::new(), migrated_plugins: Vec::new() };
    NodeClasses { places: vec![place], classes: vec![0], headroom: Vec::new(), ties: Vec::new() }
}

fn observation() -> Observation {
    Observation {
        volume: AwsVolumeId { aws_volume_id: VOLUME.to_owned() },
        instance: Some(InstanceId { instance_id: INSTANCE.to_owned() }),
        persistent_volume: Some(NAME.to_owned()),
        persistent_volume_missing: false,
        attach_required: true,
        attachment: None,
        volume_report: VolumeReport::Unknown,
        instance_report: InstanceReport::Unknown,
        node: NodeReport::Unknown,
        usage: Usage { pods_on_node: 0, started_on_node: 0, pods_elsewhere: 0, unused_seconds: 0, bound_to_node: 0 },
        attributes: Vec::new(),
    }
}
