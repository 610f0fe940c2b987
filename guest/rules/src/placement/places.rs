//! Where the pod's volumes are, held against where nodes are.

use super::groups::Group;
use super::limits::Load;
use super::question::Question;
use super::refusal::Refusal;
use super::{binding, labels, limits, whereabouts};
use zonewarden_bindings::placement::Place;

/// A place, and what was read of it once for all of the pod's volumes.
#[derive(Debug)]
pub(super) struct Site<'q> {
    pub(super) place: &'q Place,
    /// The zone that the nodes are in, and the label that says so.
    pub(super) zone: Option<(&'static str, &'q str)>,
    /// Whether the nodes carry one of the labels that VolumeZone reads.
    pub(super) has_place: bool,
    /// What the pod adds, driver by driver.
    pub(super) loads: Vec<Load>,
}

impl<'q> Site<'q> {
    pub(super) fn new(question: &Question<'_>, place: &'q Place) -> Self {
        Self {
            place,
            zone: whereabouts::node_zone(&place.labels),
            has_place: !labels::has_no_place(&place.labels),
            loads: question.demand.loads(place),
        }
    }
}

/// What refuses the nodes because of where the volumes that exist are.
///
/// A volume is refused once, and not for its affinity, again for its label and again by EC2, which mostly say the same. But
/// where Kubernetes refuses for now only, what we refuse for good is told beside it.
pub(super) fn judge(question: &Question<'_>, site: &Site<'_>, mut refuse: impl FnMut(Refusal)) {
    for group in &question.groups {
        let by_kubernetes = refused_by_kubernetes(group, site);
        let is_settled = by_kubernetes.as_ref().is_some_and(|refusal| refusal.is_final);
        by_kubernetes.into_iter().for_each(&mut refuse);
        if !is_settled {
            let ours = |volume| whereabouts::judge(volume, site, question.refuses_unlabelled);
            group.volumes.iter().filter_map(ours).for_each(&mut refuse);
        }
    }
}

/// The strongest of Kubernetes' own refusals of volumes: one that stays before one that can pass, then the one that Kubernetes
/// itself comes to first (F-59).
fn refused_by_kubernetes(group: &Group<'_>, site: &Site<'_>) -> Option<Refusal> {
    let binding = binding::judge(group, site);
    if binding.as_ref().is_some_and(|refusal| refusal.is_final) {
        return binding;
    }
    let by_label = if site.has_place { labels::judge(group, site.place) } else { None };
    by_label.or_else(|| limits::judge_id(group.first(), site.place)).or(binding)
}
