//! Where the pod's volumes are, held against where a class's nodes are.

use super::question::{Question, Volume};
use super::refusal::Refusal;
use super::{binding, labels, limits, whereabouts};
use crate::selector::is_same;
use zonewarden_bindings::placement::NodeClass;
use zonewarden_bindings::types::Label;

/// How many places are looked back at. A cluster has a few zones; where each node is a place of its own, looking for its like
/// among all others would cost more than judging it.
const LOOKED_BACK_AT: usize = 8;

/// The places that were judged before. Classes that differ only in what they hold and what room they have are in one place,
/// and are refused by the pod's volumes in the same words.
#[derive(Debug, Default)]
pub(super) struct Places<'c> {
    judged: Vec<(&'c NodeClass, Vec<Refusal>)>,
}

impl<'c> Places<'c> {
    /// What refuses the class because of where the volumes that exist are.
    pub(super) fn judge(&mut self, question: &Question<'_>, class: &'c NodeClass) -> &[Refusal] {
        let recent = self.judged.len().saturating_sub(LOOKED_BACK_AT);
        let known = self.judged[recent..].iter().position(|(judged, _)| is_one_place(judged, class));
        let index = known.map_or(self.judged.len(), |position| recent + position);
        if index == self.judged.len() {
            self.judged.push((class, judge_all(question, class)));
        }
        &self.judged[index].1
    }
}

/// Whether all that this module judges a class by is equal.
fn is_one_place(one: &NodeClass, other: &NodeClass) -> bool {
    let is_same_label =
        |(one, other): (&Label, &Label)| is_same(&one.value, &other.value) && is_same(&one.key, &other.key);
    one.has_csi_node == other.has_csi_node
        && one.labels.len() == other.labels.len()
        && one.labels.iter().zip(&other.labels).all(is_same_label)
        && one.migrated_plugins == other.migrated_plugins
}

/// A volume is refused once, and not for its affinity, again for its label and again by EC2, which mostly say the same. But
/// where Kubernetes refuses for now only, what we refuse for good is told beside it.
fn judge_all(question: &Question<'_>, class: &NodeClass) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for volume in &question.volumes {
        let by_kubernetes = refused_by_kubernetes(volume, class);
        let is_settled = by_kubernetes.as_ref().is_some_and(|refusal| refusal.is_final);
        refusals.extend(by_kubernetes);
        if !is_settled {
            refusals.extend(whereabouts::judge(volume, class, question.refuses_unlabelled));
        }
    }
    refusals
}

/// The strongest of Kubernetes' own refusals of a volume: one that stays before one that can pass, then the one that Kubernetes
/// itself comes to first (F-59).
fn refused_by_kubernetes(volume: &Volume<'_>, class: &NodeClass) -> Option<Refusal> {
    let binding = binding::judge(volume, class);
    if binding.as_ref().is_some_and(|refusal| refusal.is_final) {
        return binding;
    }
    labels::judge(volume, class).or_else(|| limits::judge_id(volume, class)).or(binding)
}
