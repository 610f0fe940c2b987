//! What each attachment means.

use zonewarden_cluster::records::VolumeAttachment;
use zonewarden_contract::attachment::{Judgement, Observation, Verdict};
use zonewarden_contract::types::NodeName;
use zonewarden_engine::Error;

use crate::metering::{Hook, asked};
use crate::observations::Pair;
use crate::{BATCH, Survey};

/// A pair of a volume and an instance, and what the policy says of it.
#[derive(Debug)]
pub struct JudgedAttachment<'a> {
    /// The VolumeAttachment; `None` for an attachment that only EC2 knows.
    pub attachment: Option<&'a VolumeAttachment>,
    /// The Node that the pair is about.
    pub node: Option<NodeName>,
    /// What the policy was shown.
    pub observation: Observation,
    /// What it says.
    pub judgement: Judgement,
}

impl Survey<'_> {
    /// Every VolumeAttachment of a volume that the policy handles, in the order of their names, and after them every attachment
    /// that EC2 knows and Kubernetes does not.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn attachments(&self) -> Result<Vec<JudgedAttachment<'_>>, Error> {
        let mut pairs = self.pairs(&|_| true);
        pairs.extend(self.orphans(&pairs));
        self.judge(pairs)
    }

    /// The VolumeAttachments on some Nodes.
    pub(crate) fn attachments_of(&self, on: &dyn Fn(&NodeName) -> bool) -> Result<Vec<JudgedAttachment<'_>>, Error> {
        self.judge(self.pairs(on))
    }

    fn judge<'a>(&'a self, mut pairs: Vec<Pair<'a>>) -> Result<Vec<JudgedAttachment<'a>>, Error> {
        let mut judged = Vec::with_capacity(pairs.len());
        while !pairs.is_empty() {
            let batch: Vec<_> = pairs.drain(..pairs.len().min(BATCH)).collect();
            let observations: Vec<_> = batch.iter().map(|pair| pair.observation.clone()).collect();
            let ask = || self.policy.judge(&observations);
            let judgements = asked(Hook::Judge, observations.len(), ask, |judgement| outcome(&judgement.verdict))?;
            judged.extend(batch.into_iter().zip(judgements).map(|(pair, judgement)| JudgedAttachment {
                attachment: pair.attachment,
                node: pair.node,
                observation: pair.observation,
                judgement,
            }));
        }
        Ok(judged)
    }
}

const fn outcome(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::InSync => "in-sync",
        Verdict::InProgress => "in-progress",
        Verdict::Unknown => "unknown",
        Verdict::Unstable => "unstable",
        Verdict::Drift(_) => "drift",
    }
}
