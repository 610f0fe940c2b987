//! The contract's `placement` interface: which nodes fit a pod's volumes, how well, and which affinity to write into a pod.
//!
//! Kubernetes comes first. `claims` and `question` read the pod once, as the scheduler's PreFilters do; then each class is
//! held against VolumeBinding (`binding`), VolumeZone (`labels`) and NodeVolumeLimits (`limits`). What Kubernetes would
//! refuse is refused, for its reason. Only then comes what EC2 knows beyond that (`whereabouts`), and a refusal from there
//! says that it is ours.

mod binding;
mod claims;
mod injection;
mod labels;
mod limits;
mod question;
mod rating;
mod refusal;
mod whereabouts;

#[cfg(test)]
mod tests;

pub use injection::inject;
pub use rating::score;

use crate::answer::reason;
use crate::settings::Settings;
use question::{Question, Volume};
use refusal::{Refusal, Stage};
use zonewarden_bindings::placement::{ClassDecision, ClassVerdict, NodeClass, PodQuestion, RefusalOrigin};
use zonewarden_bindings::types::Reason;

/// Says which classes fit the pod's volumes: one verdict a class, in their order.
#[must_use]
pub fn filter(settings: &Settings, pod: &PodQuestion, classes: &[NodeClass]) -> Vec<ClassVerdict> {
    let question = Question::new(settings, pod, classes);
    classes.iter().map(|class| verdict(&question, class)).collect()
}

fn verdict(question: &Question<'_>, class: &NodeClass) -> ClassVerdict {
    let refusals = refusals(question, class);
    let Some(first) = refusals.first() else {
        return ClassVerdict {
            decision: ClassDecision::Feasible,
            origin: RefusalOrigin::Kubernetes,
            reasons: vec![fits(question, class)],
        };
    };
    // The decision is the gravest: what no other pod's end changes stays so beside what one may change.
    let is_final = refusals.iter().any(|refusal| refusal.is_final);
    ClassVerdict {
        decision: if is_final { ClassDecision::Unresolvable } else { ClassDecision::Refused },
        origin: if first.stage == Stage::Ours { RefusalOrigin::Zonewarden } else { RefusalOrigin::Kubernetes },
        reasons: refusals.into_iter().map(|refusal| refusal.reason).collect(),
    }
}

/// What refuses the class: Kubernetes' own refusals first, in the order of its plugins (F-51, F-59), then ours; within one
/// plugin in the pod's order of volumes.
///
/// A volume is refused once, and not for its affinity, again for its label and again by EC2, which mostly say the same. But
/// where Kubernetes refuses for now only, what we refuse for good is told beside it.
fn refusals(question: &Question<'_>, class: &NodeClass) -> Vec<Refusal> {
    let mut refusals = question.refusals.clone();
    refusals.extend(question.volumes.iter().filter_map(|volume| refused_by_kubernetes(volume, class)));
    binding::judge_delayed(question, class, &mut refusals);
    limits::judge(question, class, &mut refusals);
    for volume in &question.volumes {
        let is_settled = refusals.iter().any(|refusal| refusal.position == volume.position && refusal.is_final);
        if !is_settled {
            refusals.extend(whereabouts::judge(volume, class, question.refuses_unlabelled));
        }
    }
    refusals.sort_by_key(|refusal| (refusal.stage, refusal.position));
    refusals
}

/// The strongest of Kubernetes' own refusals of a volume: one that stays before one that can pass, then the one that Kubernetes
/// itself comes to first (F-59).
fn refused_by_kubernetes(volume: &Volume<'_>, class: &NodeClass) -> Option<Refusal> {
    let binding = binding::judge(volume, class);
    if binding.as_ref().is_some_and(|refusal| refusal.is_final) {
        return binding;
    }
    labels::judge(volume, class).or(binding)
}

/// Why a class is feasible, and what nobody knows of it.
fn fits(question: &Question<'_>, class: &NodeClass) -> Reason {
    let pod = question.pod.pod.as_str();
    if question.pod.volumes.is_empty() {
        return reason("no-volumes", ["pod ", pod, " has no volume that limits where it runs"].concat());
    }
    if let Some(driver) = limits::unknown_headroom(question, class) {
        let text = [
            "nothing keeps the volumes of pod ",
            pod,
            " from these nodes, but nobody knows how many more volumes of ",
            driver,
            " they can attach",
        ];
        return reason("fits-headroom-unknown", text.concat());
    }
    if let Some(volume) = question.volumes.iter().find(|volume| volume.is_nowhere()) {
        let text = [
            "nothing keeps the volumes of pod ",
            pod,
            " from these nodes, but nobody knows the zone of volume ",
            volume.name,
        ];
        return reason("fits-zone-unknown", text.concat());
    }
    reason("fits", ["nothing keeps the volumes of pod ", pod, " from these nodes"].concat())
}
