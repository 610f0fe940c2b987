//! PersistentVolumes at admission: completed when they are created, only warned about later (F-1).

use zonewarden_bindings::admission::{AdmissionAnswer, ConcernedVolume, PatchOperation};
use zonewarden_bindings::labelling::{LabellingBasis, LabellingQuestion};
use zonewarden_bindings::types::{
    CsiSource, KubernetesVolumeId, Label, Topology, VolumeAffinity, VolumeEvidence, VolumeSource,
};

use super::object::{Field, Malformed};
use super::warnings::Warnings;
use super::{Rules, deny};
use crate::settings::{Settings, VolumeIds};

/// The volume sources that the rules tell apart, in the order in which they are looked for. The API server refuses an object
/// that has two sources.
const SOURCES: [&str; 3] = ["awsElasticBlockStore", "csi", "gcePersistentDisk"];

/// The fields of a PersistentVolume's spec that are no volume source.
const NOT_SOURCES: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

/// What the rules need of a PersistentVolume.
pub(super) struct PersistentVolume {
    name: String,
    labels: Vec<Label>,
    annotations: Vec<Label>,
    source: VolumeSource,
    affinity: VolumeAffinity,
    creating: bool,
}

impl PersistentVolume {
    pub(super) fn read(object: &Field<'_>, creating: bool) -> Result<Self, Malformed> {
        let (metadata, spec) = (object.get("metadata")?, object.get("spec")?);
        Ok(Self {
            name: name(&metadata)?,
            labels: metadata.get("labels")?.pairs()?,
            annotations: metadata.get("annotations")?.pairs()?,
            source: source(&spec)?,
            affinity: affinity(&spec.get("nodeAffinity")?)?,
            creating,
        })
    }

    pub(super) fn concerned(&self, settings: &Settings) -> Option<ConcernedVolume> {
        let field = match &self.source {
            VolumeSource::AwsElasticBlockStore(_) => "spec.awsElasticBlockStore.volumeID",
            VolumeSource::Csi(csi) if csi.driver == settings.csi_driver => "spec.csi.volumeHandle",
            VolumeSource::Csi(_) | VolumeSource::GcePersistentDisk(_) | VolumeSource::Other(_) => return None,
        };
        Some(ConcernedVolume { field: field.to_owned(), source: self.source.clone() })
    }

    pub(super) fn answer(
        self,
        settings: &Settings,
        evidence: VolumeEvidence,
        topologies: &[Topology],
        rules: &impl Rules,
    ) -> AdmissionAnswer {
        if self.creating
            && settings.volume_ids == VolumeIds::Strict
            && let Some(problem) = super::rejection(rules, &self.source, &evidence)
        {
            return deny(problem);
        }
        let question = LabellingQuestion {
            persistent_volume: self.name,
            source: self.source,
            labels: self.labels,
            // Who wrote a label is not told at admission.
            owned_labels: Vec::new(),
            annotations: self.annotations,
            affinity: self.affinity,
            evidence,
            creating: self.creating,
        };
        let answer = rules.label(topologies, &question);
        let mut warnings = Warnings::default();
        warnings.add_findings(&answer.findings);
        let mut operations = Vec::new();
        if question.creating {
            let missing = answer.labels.into_iter().filter(|label| !question.labels.contains(label));
            operations.extend(missing.map(PatchOperation::SetLabel));
            match answer.affinity {
                Some(terms) if answer.basis == LabellingBasis::Ec2 => {
                    operations.push(PatchOperation::SetVolumeAffinity(terms));
                }
                // An affinity can't be taken back, so a hint is not enough. The backfill sets it once EC2 has answered.
                Some(_) => warnings.add(&format!(
                    "PersistentVolume {} gets no node affinity before EC2 tells its zone",
                    question.persistent_volume
                )),
                None => {}
            }
        }
        AdmissionAnswer { allowed: true, reason: answer.reason, warnings: warnings.into_list(), operations }
    }
}

/// `metadata.name`, or what it will begin with.
pub(super) fn name(metadata: &Field<'_>) -> Result<String, Malformed> {
    let name = metadata.get("name")?.text()?;
    Ok(if name.is_empty() { metadata.get("generateName")?.text()? } else { name }.to_owned())
}

fn source(spec: &Field<'_>) -> Result<VolumeSource, Malformed> {
    let id = |field: &Field<'_>, key: &str| {
        Ok(KubernetesVolumeId { kubernetes_volume_id: field.get(key)?.text()?.to_owned() })
    };
    let keys = spec.keys()?;
    let known = SOURCES.into_iter().find(|source| keys.contains(source));
    let Some(kind) = known.or_else(|| keys.into_iter().find(|key| !NOT_SOURCES.contains(key))) else {
        return Ok(VolumeSource::Other(String::new()));
    };
    let field = spec.get(kind)?;
    Ok(match kind {
        "awsElasticBlockStore" => VolumeSource::AwsElasticBlockStore(id(&field, "volumeID")?),
        "gcePersistentDisk" => VolumeSource::GcePersistentDisk(id(&field, "pdName")?),
        "csi" => VolumeSource::Csi(CsiSource {
            driver: field.get("driver")?.text()?.to_owned(),
            volume_handle: id(&field, "volumeHandle")?,
        }),
        other => VolumeSource::Other(other.to_owned()),
    })
}

fn affinity(field: &Field<'_>) -> Result<VolumeAffinity, Malformed> {
    let required = field.get("required")?;
    Ok(if field.is_absent() {
        VolumeAffinity::Unset
    } else if required.is_absent() {
        VolumeAffinity::Unrestricted
    } else {
        VolumeAffinity::Required(required.get("nodeSelectorTerms")?.terms()?)
    })
}
