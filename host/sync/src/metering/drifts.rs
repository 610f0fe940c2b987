//! When drifts begin and end.

use std::collections::HashMap;
use std::time::Duration;

use zonewarden_contract::attachment::{Drift, Verdict};

use super::drift_of;
use crate::act::Finding;
use crate::clock::Moment;

/// The drifts that were found and not yet seen to end, by what they are about.
#[derive(Debug, Default)]
pub(super) struct Drifts(HashMap<String, (Drift, Moment)>);

/// What changed with a look.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Turn {
    /// The drifts that are new.
    pub(super) begun: Vec<Drift>,
    /// Those that are over, with the time since they were found.
    pub(super) ended: Vec<(Drift, Duration)>,
}

impl Drifts {
    /// Takes in what a look found: one at everything (`is_whole`), or at a part. Where nothing can be told of a drift for a
    /// while, it goes on.
    pub(super) fn take(&mut self, findings: &[Finding], is_whole: bool, now: Moment) -> Turn {
        let verdicts: HashMap<&str, Verdict> =
            findings.iter().filter_map(|finding| Some((finding.subject.as_str(), finding.verdict?))).collect();
        let mut turn = Turn::default();
        self.0.retain(|subject, (drift, since)| {
            let goes_on = match verdicts.get(subject.as_str()) {
                Some(Verdict::Drift(found)) => found == drift,
                Some(Verdict::Unknown | Verdict::Unstable) => true,
                Some(Verdict::InSync | Verdict::InProgress) => false,
                None => !is_whole,
            };
            if !goes_on {
                turn.ended.push((*drift, now - *since));
            }
            goes_on
        });
        for finding in findings {
            if let Some(drift) = drift_of(finding)
                && !self.0.contains_key(&finding.subject)
            {
                self.0.insert(finding.subject.clone(), (drift, now));
                turn.begun.push(drift);
            }
        }
        turn
    }
}
