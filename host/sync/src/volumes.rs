//! What each PersistentVolume should carry.

use zonewarden_cluster::records::PersistentVolume;
use zonewarden_contract::identity::VolumeIdentity;
use zonewarden_contract::labelling::{LabellingAnswer, LabellingQuestion};
use zonewarden_engine::Error;

use crate::metering::{Hook, asked};
use crate::{BATCH, Survey};

/// A PersistentVolume and what the policy says of it.
#[derive(Debug)]
pub struct LabelledVolume<'a> {
    /// The object.
    pub volume: &'a PersistentVolume,
    /// What its source names.
    pub identity: &'a VolumeIdentity,
    /// What it should carry.
    pub answer: LabellingAnswer,
}

impl Survey<'_> {
    /// Every PersistentVolume, in the order of their names.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn volumes(&self) -> Result<Vec<LabelledVolume<'_>>, Error> {
        self.label(&self.cluster.volumes().collect::<Vec<_>>())
    }

    /// Some PersistentVolumes.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn label<'a>(&'a self, volumes: &[&'a PersistentVolume]) -> Result<Vec<LabelledVolume<'a>>, Error> {
        let topologies = self.groups().topologies();
        let mut labelled = Vec::with_capacity(volumes.len());
        for batch in volumes.chunks(BATCH) {
            let questions: Vec<_> = batch.iter().map(|volume| self.labelling_question(volume)).collect();
            let ask = || self.policy.label_volumes(&topologies, &questions);
            let answers = asked(Hook::Label, questions.len(), ask, outcome)?;
            for (volume, answer) in batch.iter().zip(answers) {
                let identity = self.identities.volume(&volume.source).expect("every source of the world was asked for");
                labelled.push(LabelledVolume { volume, identity, answer });
            }
        }
        Ok(labelled)
    }

    fn labelling_question(&self, volume: &PersistentVolume) -> LabellingQuestion {
        let declared = &self.policy.info().annotation_keys;
        let annotations = volume.annotations.iter().filter(|annotation| declared.contains(&annotation.key));
        LabellingQuestion {
            persistent_volume: volume.identity.name.name.to_string(),
            source: volume.source.clone(),
            labels: volume.labels.to_vec(),
            owned_labels: volume.owned_labels.to_vec(),
            annotations: annotations.cloned().collect(),
            affinity: volume.affinity.clone(),
            evidence: self.evidence(&volume.source),
            creating: false,
        }
    }
}

fn outcome(answer: &LabellingAnswer) -> &'static str {
    let changes = !answer.labels.is_empty() || answer.affinity.is_some();
    if changes { "change" } else { "no-change" }
}
