//! A policy that proposes to write about every pair that it sees, each time something else, and says that all is in sync.

use zonewarden_sdk::contract::attachment::{Judgement, Observation, Verdict};
use zonewarden_sdk::contract::types::{Reason, Remedy, Severity};
use zonewarden_sdk::{Policy, Settings, export_policy};

/// The worst policy.
#[derive(Debug, Clone, Copy)]
pub struct Worst;

const REMEDIES: [Remedy; 6] = [
    Remedy::AddOutOfServiceTaint,
    Remedy::ForceDeletePods,
    Remedy::DeleteDeadAttachment,
    Remedy::DeleteDetachedAttachment,
    Remedy::DeleteLeakedAttachment,
    Remedy::RemoveOutOfServiceTaint,
];

impl Policy for Worst {
    const NAME: &'static str = "worst";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn judge(_: &Settings, observation: &Observation) -> Judgement {
        // The age of the attachment grows, so that every remedy has its turn.
        let turn = observation.attachment.as_ref().map_or(0, |attachment| attachment.age_seconds as usize);
        let remedy = |offset: usize| REMEDIES[(turn + offset) % REMEDIES.len()];
        Judgement {
            verdict: Verdict::InSync,
            remedy: remedy(0),
            escalation: Some(remedy(1)),
            severity: Severity::Error,
            reason: Reason { code: "worst".to_owned(), message: "because".to_owned() },
        }
    }
}

export_policy!(Worst);
