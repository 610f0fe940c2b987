//! What the policy is asked: how long it takes, what it decides, and that it fails.

use std::collections::BTreeMap;
use std::time::Instant;

use metrics::{counter, histogram};
use zonewarden_engine::Error;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// What volume sources name.
    IdentifyVolumes,
    /// What stands behind Nodes.
    IdentifyNodes,
    /// What PersistentVolumes should carry.
    Label,
    /// What attachments mean.
    Judge,
}

impl Hook {
    const fn name(self) -> &'static str {
        match self {
            Self::IdentifyVolumes => "identify-volumes",
            Self::IdentifyNodes => "identify-nodes",
            Self::Label => "label",
            Self::Judge => "judge",
        }
    }
}

/// Asks about so many things at once, and counts what is decided about each of them.
pub(crate) fn asked<T>(
    hook: Hook,
    things: usize,
    ask: impl FnOnce() -> Result<Vec<T>, Error>,
    outcome: impl Fn(&T) -> &'static str,
) -> Result<Vec<T>, Error> {
    let hook = hook.name();
    let began = Instant::now();
    let answer = ask();
    histogram!("zonewarden_decision_duration_seconds", "hook" => hook).record(began.elapsed().as_secs_f64());
    let mut outcomes: BTreeMap<&'static str, u64> = BTreeMap::new();
    match &answer {
        Ok(decisions) => {
            for decision in decisions {
                *outcomes.entry(outcome(decision)).or_default() += 1;
            }
        }
        Err(error) => {
            counter!("zonewarden_wasm_traps_total", "hook" => hook, "kind" => error.kind()).increment(1);
            outcomes.insert("failed", u64::try_from(things).unwrap_or(u64::MAX));
        }
    }
    for (outcome, count) in outcomes {
        counter!("zonewarden_decisions_total", "hook" => hook, "outcome" => outcome).increment(count);
    }
    answer
}
