//! The contract's `placement` interface: which nodes fit a pod's volumes, how well, and which affinity to write into a pod.
//!
//! Kubernetes comes first. `claims` and `question` read the pod once, as the scheduler's PreFilters do; then each class is
//! held against VolumeBinding (`binding`), VolumeZone (`labels`) and NodeVolumeLimits (`limits`). What Kubernetes would
//! refuse is refused, for its reason. Only then comes what EC2 knows beyond that (`whereabouts`), and a refusal from there
//! says that it is ours.

mod binding;
mod claims;
mod groups;
mod injection;
mod judge;
mod labels;
mod limits;
mod nodes;
mod places;
mod question;
mod rating;
mod reasons;
mod refusal;
mod topologies;
mod whereabouts;

#[cfg(test)]
mod tests;

pub use injection::inject;
pub use nodes::{Class, Nodes};
pub use rating::score;
pub use reasons::give;
pub use topologies::problem_of;

use crate::settings::Settings;
use judge::Judge;
use question::Question;
use refusal::Stage;
use topologies::Topology;
use zonewarden_bindings::placement::{ClassDecision, ClassVerdict, PodQuestion, RefusalOrigin, Verdicts};

/// Says which classes fit the pod's volumes: one verdict a class, in their order.
///
/// # Panics
/// Where a volume names a topology that is not there, which [`problem_of`] finds and the SDK asks first.
#[must_use]
pub fn filter(settings: &Settings, pod: &PodQuestion, nodes: &Nodes<'_>) -> Verdicts {
    let topologies = Topology::all(pod);
    let question = Question::new(settings, pod, &topologies, nodes);
    let mut judge = Judge::new(&question, nodes);
    let classes = nodes.classes().iter().map(|class| verdict(class, &mut judge)).collect();
    Verdicts { reasons: judge.reasons(), classes }
}

fn verdict<'q>(class: &Class<'q>, judge: &mut Judge<'q, '_>) -> ClassVerdict {
    let refusals = judge.refusals(class);
    let Some(first) = refusals.first() else {
        return ClassVerdict {
            decision: ClassDecision::Feasible,
            origin: RefusalOrigin::Kubernetes,
            reasons: vec![judge.fits(class)],
        };
    };
    // The decision is the gravest: what no other pod's end changes stays so beside what one may change.
    let is_final = refusals.iter().any(|refusal| refusal.is_final);
    ClassVerdict {
        decision: if is_final { ClassDecision::Unresolvable } else { ClassDecision::Refused },
        origin: if first.stage == Stage::Ours { RefusalOrigin::Zonewarden } else { RefusalOrigin::Kubernetes },
        reasons: refusals.iter().map(|refusal| refusal.reason).collect(),
    }
}
