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
mod places;
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
use places::Places;
use question::Question;
use refusal::{Refusal, Stage};
use zonewarden_bindings::placement::{ClassDecision, ClassVerdict, NodeClass, PodQuestion, RefusalOrigin};
use zonewarden_bindings::types::Reason;

/// Says which classes fit the pod's volumes: one verdict a class, in their order.
#[must_use]
pub fn filter(settings: &Settings, pod: &PodQuestion, classes: &[NodeClass]) -> Vec<ClassVerdict> {
    let question = Question::new(settings, pod, classes);
    let mut places = Places::default();
    classes.iter().map(|class| verdict(&question, class, &mut places)).collect()
}

fn verdict<'c>(question: &Question<'_>, class: &'c NodeClass, places: &mut Places<'c>) -> ClassVerdict {
    let refusals = refusals(question, class, places);
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
fn refusals<'c>(question: &Question<'_>, class: &'c NodeClass, places: &mut Places<'c>) -> Vec<Refusal> {
    let mut refusals = question.refusals.clone();
    refusals.extend_from_slice(places.judge(question, class));
    binding::judge_delayed(question, class, &mut refusals);
    limits::judge(question, class, &mut refusals);
    refusals.sort_by_key(|refusal| (refusal.stage, refusal.position));
    refusals
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
