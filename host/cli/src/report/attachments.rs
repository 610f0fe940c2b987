//! The attachments of an answer.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use zonewarden_contract::attachment::Verdict;
use zonewarden_contract::types::{Remedy, Severity};
use zonewarden_sync::{JudgedAttachment, Survey};

use crate::output::kebab;

/// A pair of a volume and an instance.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attachment {
    /// The VolumeAttachment's name; null for an attachment that only EC2 knows.
    pub(crate) volume_attachment: Option<String>,
    /// The PersistentVolume's name.
    pub(crate) persistent_volume: Option<String>,
    /// The canonical id; null where no object names the volume any more.
    pub(crate) aws_volume_id: Option<String>,
    /// The Node's name.
    pub(crate) node: Option<String>,
    /// The instance; null where nobody knows it.
    pub(crate) instance: Option<String>,
    /// in-sync, in-progress, unknown, unstable or drift.
    pub(crate) verdict: String,
    /// Which drift.
    pub(crate) drift: Option<String>,
    /// What would be done.
    pub(crate) remedy: String,
    /// What could be done beyond that, where the operator allows it.
    pub(crate) escalation: Option<String>,
    /// How grave it is.
    pub(crate) severity: String,
    /// A stable code.
    pub(crate) code: String,
    /// Why.
    pub(crate) reason: String,
}

impl Attachment {
    /// Whether there is something to tell or to do.
    pub(crate) fn tells(&self) -> bool {
        self.severity != kebab(&Severity::Info) || !matches!(self.remedy.as_str(), "none" | "event")
    }

    /// One pair.
    pub(crate) fn new(judged: &JudgedAttachment<'_>) -> Self {
        let JudgedAttachment { attachment, node, observation, judgement } = judged;
        let volume = &observation.volume.aws_volume_id;
        Self {
            volume_attachment: attachment.map(|attachment| attachment.identity.name.name.to_string()),
            persistent_volume: observation.persistent_volume.clone(),
            aws_volume_id: (!volume.is_empty()).then(|| volume.clone()),
            node: node.as_ref().map(|node| node.node_name.clone()),
            instance: observation.instance.as_ref().map(|instance| instance.instance_id.clone()),
            verdict: kebab(&judgement.verdict),
            drift: match &judgement.verdict {
                Verdict::Drift(drift) => Some(kebab(drift)),
                Verdict::InSync | Verdict::InProgress | Verdict::Unknown | Verdict::Unstable => None,
            },
            remedy: kebab(&judgement.remedy),
            escalation: judgement.escalation.filter(|remedy| *remedy != Remedy::None).map(|remedy| kebab(&remedy)),
            severity: kebab(&judgement.severity),
            code: judgement.reason.code.clone(),
            reason: judgement.reason.message.clone(),
        }
    }
}

/// Every pair.
pub(super) fn of(survey: &Survey<'_>) -> Result<Vec<Attachment>> {
    Ok(survey.attachments()?.iter().map(Attachment::new).collect())
}
