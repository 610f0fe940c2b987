//! The volumes of an answer.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use zonewarden_contract::identity::VolumeIdentity;
use zonewarden_contract::labelling::LabellingBasis;
use zonewarden_contract::types::{Severity, VolumeEvidence, VolumeSource};
use zonewarden_sync::{LabelledVolume, Survey};

use super::{Finding, Labels, Requirement, labels, terms};
use crate::output::kebab;

/// A PersistentVolume.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Volume {
    /// The PersistentVolume's name.
    pub(crate) persistent_volume: String,
    /// The volume id as the object has it; null for a volume without one.
    pub(crate) kubernetes_volume_id: Option<String>,
    /// The canonical id; null where the policy does not handle the volume, or its id is broken.
    pub(crate) aws_volume_id: Option<String>,
    /// The zone, as far as it is known.
    pub(crate) zone: Option<String>,
    /// The region, as far as it is known.
    pub(crate) region: Option<String>,
    /// What that rests on: ec2, hint or nothing.
    pub(crate) basis: String,
    /// EC2's state of the volume; null where EC2's facts do not hold it.
    pub(crate) state: Option<String>,
    /// What is worth telling.
    pub(crate) findings: Vec<Finding>,
    /// What should be set.
    pub(crate) proposed: Proposed,
    /// Why.
    pub(crate) reason: Finding,
}

/// What a PersistentVolume should carry and does not.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Proposed {
    /// Labels to set.
    pub(crate) labels: Labels,
    /// The terms to write to nodeAffinity.required; null: leave it.
    pub(crate) affinity: Option<Vec<Vec<Requirement>>>,
}

impl Volume {
    /// Whether there is something to tell or to set.
    pub(crate) fn tells(&self) -> bool {
        self.findings.iter().any(Finding::tells) || !self.proposed.labels.is_empty() || self.proposed.affinity.is_some()
    }
}

/// Every PersistentVolume.
pub(super) fn of(survey: &Survey<'_>) -> Result<Vec<Volume>> {
    Ok(survey.volumes()?.iter().map(|labelled| Volume::new(survey, labelled)).collect())
}

impl Volume {
    /// One PersistentVolume.
    pub(crate) fn new(survey: &Survey<'_>, labelled: &LabelledVolume<'_>) -> Self {
        let LabelledVolume { volume, identity, answer } = labelled;
        let mut findings: Vec<Finding> = Vec::new();
        let mut add = |finding: Finding| {
            // Identity and labelling may both tell of one contradiction.
            if !findings.iter().any(|known| known.code == finding.code && known.message == finding.message) {
                findings.push(finding);
            }
        };
        let aws_volume_id = match identity {
            VolumeIdentity::Identified(identified) => {
                identified.warnings.iter().map(Finding::new).for_each(&mut add);
                Some(identified.volume.aws_volume_id.clone())
            }
            VolumeIdentity::Foreign(_) | VolumeIdentity::Rejected(_) => None,
        };
        answer.findings.iter().map(Finding::new).for_each(&mut add);
        let state = match survey.evidence(&volume.source) {
            VolumeEvidence::Found(facts) => Some(kebab(&facts.state)),
            VolumeEvidence::Missing(_) | VolumeEvidence::Unknown => None,
        };
        Self {
            persistent_volume: volume.identity.name.name.to_string(),
            kubernetes_volume_id: kubernetes_volume_id(&volume.source).map(str::to_owned),
            aws_volume_id,
            zone: answer.zone.as_ref().map(|zone| zone.zone.clone()),
            region: answer.region.as_ref().map(|region| region.region.clone()),
            basis: match answer.basis {
                LabellingBasis::Ec2 => "ec2",
                LabellingBasis::Hint => "hint",
                LabellingBasis::Nothing => "nothing",
            }
            .to_owned(),
            state,
            findings,
            proposed: Proposed { labels: labels(&answer.labels), affinity: answer.affinity.as_deref().map(terms) },
            reason: Finding::of(Severity::Info, &answer.reason),
        }
    }
}

/// The id as the object has it.
pub(crate) fn kubernetes_volume_id(source: &VolumeSource) -> Option<&str> {
    match source {
        VolumeSource::AwsElasticBlockStore(id) | VolumeSource::GcePersistentDisk(id) => Some(&id.kubernetes_volume_id),
        VolumeSource::Csi(csi) => Some(&csi.volume_handle.kubernetes_volume_id),
        VolumeSource::Other(_) => None,
    }
}
