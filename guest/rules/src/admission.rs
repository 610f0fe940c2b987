//! Answers AdmissionReviews: PersistentVolumes are labelled as they are created, pods that name a volume directly get the
//! node affinity for it, and everything else is let in unchanged.
//!
//! The review is read as JSON into the few fields that are needed. A review that can't be read is an error; an object in it
//! that can't be read is let in with a warning, since it is the API server that refuses such objects.

mod object;
mod persistent_volume;
mod pod;
mod review;
#[cfg(test)]
mod tests;
mod warnings;

use zonewarden_bindings::admission::{AdmissionAnswer, ConcernedVolume, PatchOperation};
use zonewarden_bindings::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::labelling::{LabellingAnswer, LabellingQuestion};
use zonewarden_bindings::placement::{Injection, PodQuestion};
use zonewarden_bindings::types::{Error, Problem, Reason, SelectorTerm, Topology, VolumeEvidence, VolumeSource};

use self::review::Subject;
use self::warnings::Warnings;
use crate::answer::{problem, reason};
use crate::labelling::ec2_zone;
use crate::settings::Settings;

/// The rules that decide at admission what they decide elsewhere. A policy gives its own, so that what it overrides holds
/// here too.
pub trait Rules {
    /// What a volume source names.
    fn identify(&self, question: &VolumeQuestion) -> VolumeIdentity;

    /// What a PersistentVolume should carry.
    fn label(&self, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer;

    /// Which node affinity a pod needs, whose own required terms are `terms`.
    fn inject(&self, pod: &PodQuestion, terms: Option<&[SelectorTerm]>) -> Injection;
}

/// Says which volumes are to be looked up for this AdmissionReview.
///
/// # Errors
/// `Error::Question` for a text that is not an AdmissionReview of version 1.
pub fn concerns(settings: &Settings, review: &str) -> Result<Vec<ConcernedVolume>, Error> {
    Ok(Subject::parse(review)?.concerned(settings))
}

/// Answers this AdmissionReview. `evidence` belongs to what [`concerns`] answered, in that order.
///
/// # Errors
/// `Error::Question` for a text that is not an AdmissionReview of version 1, and for evidence of another length.
pub fn answer(
    settings: &Settings,
    review: &str,
    evidence: &[VolumeEvidence],
    topologies: &[Topology],
    rules: &impl Rules,
) -> Result<AdmissionAnswer, Error> {
    let subject = Subject::parse(review)?;
    let wanted = subject.concerned(settings).len();
    if evidence.len() != wanted {
        return Err(wrong_length(evidence.len(), wanted));
    }
    Ok(match subject {
        Subject::PersistentVolume(volume) => {
            let evidence = evidence.first().unwrap_or(&VolumeEvidence::Unknown).clone();
            volume.answer(settings, evidence, topologies, rules)
        }
        Subject::Pod(pod) => pod.answer(settings, evidence, rules),
        Subject::Template(volumes) => pod::answer_template(&volumes, evidence, rules),
        Subject::Unhandled(reason) => allow(reason, Warnings::default(), Vec::new()),
        Subject::Unreadable(object::Malformed(message)) => {
            let mut warnings = Warnings::default();
            warnings.add(&format!("Zonewarden can't read the object: {message}"));
            allow(reason("object-unreadable", message), warnings, Vec::new())
        }
    })
}

fn wrong_length(given: usize, wanted: usize) -> Error {
    let (message, accepted) = match wanted {
        1 => (
            format!("the review concerns 1 volume and comes with evidence about {given}"),
            "evidence about 1 volume".to_owned(),
        ),
        _ => (
            format!("the review concerns {wanted} volumes and comes with evidence about {given}"),
            format!("evidence about {wanted} volumes"),
        ),
    };
    Error::Question(problem("evidence", &given.to_string(), "evidence-length", message, &[&accepted]))
}

/// What is wrong with a volume's id, if its kind is ours.
fn rejection(rules: &impl Rules, source: &VolumeSource, evidence: &VolumeEvidence) -> Option<Problem> {
    match rules.identify(&VolumeQuestion { source: source.clone(), ec2_zone: ec2_zone(evidence) }) {
        VolumeIdentity::Rejected(problem) => Some(problem),
        VolumeIdentity::Identified(_) | VolumeIdentity::Foreign(_) => None,
    }
}

fn allow(reason: Reason, warnings: Warnings, operations: Vec<PatchOperation>) -> AdmissionAnswer {
    AdmissionAnswer { allowed: true, reason, warnings: warnings.into_list(), operations }
}

fn deny(problem: Problem) -> AdmissionAnswer {
    let reason = Reason { code: problem.rule, message: problem.message };
    AdmissionAnswer { allowed: false, reason, warnings: Vec::new(), operations: Vec::new() }
}
