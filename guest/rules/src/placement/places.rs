//! Where the pod's volumes are, held against where nodes are.

use super::question::{Question, Volume};
use super::refusal::Refusal;
use super::{binding, labels, limits, whereabouts};
use zonewarden_bindings::placement::Place;

/// What refuses the nodes because of where the volumes that exist are.
///
/// A volume is refused once, and not for its affinity, again for its label and again by EC2, which mostly say the same. But
/// where Kubernetes refuses for now only, what we refuse for good is told beside it.
pub(super) fn judge(question: &Question<'_>, place: &Place) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let has_place = !labels::has_no_place(&place.labels);
    for volume in &question.volumes {
        let by_kubernetes = refused_by_kubernetes(volume, place, has_place);
        let is_settled = by_kubernetes.as_ref().is_some_and(|refusal| refusal.is_final);
        refusals.extend(by_kubernetes);
        if !is_settled {
            refusals.extend(whereabouts::judge(volume, place, question.refuses_unlabelled));
        }
    }
    refusals
}

/// The strongest of Kubernetes' own refusals of a volume: one that stays before one that can pass, then the one that Kubernetes
/// itself comes to first (F-59).
fn refused_by_kubernetes(volume: &Volume<'_>, place: &Place, has_place: bool) -> Option<Refusal> {
    let binding = binding::judge(volume, place);
    if binding.as_ref().is_some_and(|refusal| refusal.is_final) {
        return binding;
    }
    let by_label = if has_place { labels::judge(volume, place) } else { None };
    by_label.or_else(|| limits::judge_id(volume, place)).or(binding)
}
