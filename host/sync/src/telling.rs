//! What people are told, and that they are told it once.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use zonewarden_cluster::Kind;
use zonewarden_cluster::api::Event;
use zonewarden_contract::attachment::{Drift, Verdict};
use zonewarden_contract::types::{Remedy, Severity};

use crate::act::{Act, Deed, Finding};
use crate::clock::Moment;
use crate::remedies::Outcome;

/// What stays as it is is told again after so long: events are kept for an hour.
const AGAIN: Duration = Duration::from_secs(3_600);

/// What was told, and when.
#[derive(Debug, Default)]
pub(crate) struct Told {
    told: HashMap<(String, String), Moment>,
    /// What came of deeds that are tried over and over, and when that was last so.
    repeated: HashMap<(Deed, &'static str), Moment>,
    /// The decisions that stand and were counted.
    counted: HashSet<Decision>,
}

/// That a remedy about something was not carried out, or was, and for which reason it was proposed. A finding that stands is judged
/// every second and decided once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decision {
    subject: String,
    code: String,
    remedy: Remedy,
    result: &'static str,
}

impl Decision {
    /// One about a remedy that the rails did not permit.
    pub(crate) fn of_finding(finding: &Finding, remedy: Remedy, result: &'static str) -> Self {
        Self { subject: finding.subject.clone(), code: finding.reason.code.clone(), remedy, result }
    }

    /// One about an act.
    pub(crate) fn of_act(act: &Act, result: &'static str) -> Self {
        Self { subject: act.deed.subject(), code: act.reason.code.clone(), remedy: act.deed.remedy(), result }
    }
}

impl Told {
    /// Whether a finding has to be told now; it counts as told from here on.
    pub(crate) fn is_news(&mut self, finding: &Finding, now: Moment) -> bool {
        if !finding.told {
            return false;
        }
        let key = (finding.subject.clone(), finding.reason.code.clone());
        let is_news = self.told.get(&key).is_none_or(|last| now - *last >= AGAIN);
        if is_news {
            self.told.insert(key, now);
        }
        is_news
    }

    /// Whether a decision is not the one that stands already.
    pub(crate) fn is_new_decision(&mut self, decision: Decision) -> bool {
        self.counted.insert(decision)
    }

    /// Whether what came of an act has to be counted: each write and each try, and what was decided against once.
    pub(crate) fn is_to_be_counted(&mut self, act: &Act, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Done(0) => false,
            Outcome::Done(_) if is_repeated(act) => self.is_new_decision(Decision::of_act(act, "done")),
            Outcome::Done(_) | Outcome::Failed(_) => true,
            Outcome::Withheld(withheld) => self.is_new_decision(Decision::of_act(act, withheld.0)),
        }
    }

    /// Whether what came of an act has to be told: what was done always, what was not once.
    pub(crate) fn is_news_of_act(&mut self, act: &Act, outcome: &Outcome, now: Moment) -> bool {
        let code = match outcome {
            Outcome::Done(0) => return false,
            Outcome::Done(_) if is_repeated(act) => "done",
            Outcome::Done(_) => return true,
            Outcome::Withheld(withheld) => withheld.0,
            Outcome::Failed(_) => "failed",
        };
        self.repeated.retain(|_, last| now - *last < AGAIN);
        self.repeated.insert((act.deed.clone(), code), now).is_none()
    }

    /// Forgets what is not found any more, so that it is news when it comes back.
    pub(crate) fn keep(&mut self, findings: &[Finding]) {
        let found: HashSet<(&str, &str)> =
            findings.iter().map(|finding| (finding.subject.as_str(), finding.reason.code.as_str())).collect();
        let acts = findings
            .iter()
            .flat_map(|finding| finding.acts.iter().map(|act| (finding.subject.as_str(), act.reason.code.as_str())));
        let standing: HashSet<(&str, &str)> = found.iter().copied().chain(acts).collect();
        self.counted.retain(|decision| standing.contains(&(decision.subject.as_str(), decision.code.as_str())));
        self.told.retain(|(subject, code), _| found.contains(&(subject.as_str(), code.as_str())));
    }
}

/// Whether an act is done over and over while its finding stands: a pod that a finalizer holds is deleted and still there.
fn is_repeated(act: &Act) -> bool {
    act.deed.remedy() == Remedy::ForceDeletePods
}

/// The event about a finding, one for each object that people read.
pub(crate) fn of_finding(finding: &Finding, time: Timestamp) -> Vec<Event> {
    let reason = match &finding.verdict {
        Some(Verdict::Drift(drift)) => reason_of(*drift),
        Some(Verdict::Unknown) => "VolumeStateUnknown",
        Some(Verdict::Unstable) => "VolumeStateUnstable",
        Some(Verdict::InProgress) => "VolumeChanging",
        Some(Verdict::InSync) => "VolumeInSync",
        None if finding.regarding.iter().any(|one| one.kind == Kind::Node) => "OutOfServiceTaintOutdated",
        None => "VolumeZoneMismatch",
    };
    let parts = Parts { warning: finding.severity != Severity::Info, reason, action: "Judge" };
    events(&finding.regarding, &parts, &finding.reason.message, time)
}

/// The event about an act that was carried out, or was tried.
pub(crate) fn of_act(act: &Act, outcome: &Outcome, time: Timestamp) -> Vec<Event> {
    let (note, reason, warning) = match outcome {
        Outcome::Done(_) => (act.reason.message.clone(), done(act.deed.remedy()), false),
        Outcome::Withheld(code) => (format!("not done, {code}: {}", act.reason.message), "RemedySkipped", true),
        Outcome::Failed(error) => (format!("not done, {error}: {}", act.reason.message), "RemedyFailed", true),
    };
    events(&act.regarding, &Parts { warning, reason, action: "Remedy" }, &note, time)
}

struct Parts {
    warning: bool,
    reason: &'static str,
    action: &'static str,
}

fn events(regarding: &[zonewarden_cluster::api::Reference], parts: &Parts, note: &str, time: Timestamp) -> Vec<Event> {
    let related = regarding.last().filter(|last| regarding.first() != Some(last));
    let event = |reference: &zonewarden_cluster::api::Reference| Event {
        regarding: reference.clone(),
        related: related.filter(|related| *related != reference).cloned(),
        warning: parts.warning,
        reason: parts.reason.to_owned(),
        action: parts.action.to_owned(),
        note: note.to_owned(),
        time,
    };
    regarding.iter().map(event).collect()
}

fn done(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SetLabels => "VolumeZoneLabeled",
        Remedy::SetNodeAffinity => "VolumeNodeAffinitySet",
        Remedy::AddOutOfServiceTaint => "OutOfServiceTaintAdded",
        Remedy::RemoveOutOfServiceTaint => "OutOfServiceTaintRemoved",
        Remedy::DeleteDeadAttachment | Remedy::DeleteDetachedAttachment | Remedy::DeleteLeakedAttachment => {
            "StaleVolumeAttachmentDeleted"
        }
        Remedy::ForceDeletePods => "PodsOfDeadInstanceDeleted",
        Remedy::None | Remedy::Event => "Told",
    }
}

/// Every drift there is.
pub(crate) const DRIFTS: [Drift; 16] = [
    Drift::InstanceTerminated,
    Drift::DetachFailing,
    Drift::AttachedElsewhere,
    Drift::AttachedToForeignInstance,
    Drift::StuckAttaching,
    Drift::StuckDetaching,
    Drift::VolumeDeleted,
    Drift::DetachedInUse,
    Drift::DetachedWaiting,
    Drift::OrphanAttachment,
    Drift::SameNameNode,
    Drift::LeakedAttachment,
    Drift::DeviceMismatch,
    Drift::VolumeError,
    Drift::TooManyHolders,
    Drift::TaintOutdated,
];

/// The names that people search for.
fn reason_of(drift: Drift) -> &'static str {
    match drift {
        Drift::InstanceTerminated => "VolumeDetachedInstanceTerminated",
        Drift::DetachFailing => "VolumeDetachFailing",
        Drift::AttachedElsewhere => "VolumeAttachedElsewhere",
        Drift::AttachedToForeignInstance => "VolumeAttachedToForeignInstance",
        Drift::StuckAttaching => "VolumeStuckAttaching",
        Drift::StuckDetaching => "VolumeStuckDetaching",
        Drift::VolumeDeleted => "VolumeDeleted",
        Drift::DetachedInUse => "VolumeDetachedInUse",
        Drift::DetachedWaiting => "VolumeDetachedWaiting",
        Drift::OrphanAttachment => "VolumeAttachmentOrphaned",
        Drift::SameNameNode => "NodeNameReused",
        Drift::LeakedAttachment => "VolumeAttachmentLeaked",
        Drift::DeviceMismatch => "VolumeDeviceMismatch",
        Drift::VolumeError => "VolumeError",
        Drift::TooManyHolders => "VolumeTooManyHolders",
        Drift::TaintOutdated => "OutOfServiceTaintOutdated",
    }
}

#[cfg(test)]
mod tests;
