//! A policy that answers as the standard one does until it is asked about a dead instance, which is when it is needed most. Then
//! it breaks down, in a way that the PersistentVolume's name chooses.

use zonewarden_sdk::contract::attachment::{InstanceReport, InstanceState, Judgement, Observation};
use zonewarden_sdk::contract::types::Reason;
use zonewarden_sdk::{Policy, Settings, export_policy, rules};

/// The fragile policy.
#[derive(Debug, Clone, Copy)]
pub struct Fragile;

/// More than a host reads.
const TOO_MUCH: usize = 17 << 20;

impl Policy for Fragile {
    const NAME: &'static str = "fragile";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn judge(settings: &Settings, observation: &Observation) -> Judgement {
        let standard = rules::attachment::judge(settings, observation);
        let is_dead = match &observation.instance_report {
            InstanceReport::Found(found) => matches!(found.state, InstanceState::Terminated),
            InstanceReport::Missing(_) | InstanceReport::Unknown => false,
        };
        match observation.persistent_volume.as_deref().and_then(|name| name.chars().next_back()) {
            Some('1') if is_dead => std::process::abort(),
            Some('2') if is_dead => loop {
                std::hint::spin_loop();
            },
            Some('3') if is_dead => {
                let reason = Reason { message: "x".repeat(TOO_MUCH), ..standard.reason };
                Judgement { reason, ..standard }
            }
            _ => standard,
        }
    }
}

export_policy!(Fragile);
