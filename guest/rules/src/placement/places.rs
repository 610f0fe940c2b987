//! Where the pod's volumes are, held against where nodes are.

use super::nodes::{Class, Nodes};
use super::question::{Question, Volume};
use super::reasons::Noted;
use super::refusal::Refusal;
use super::{binding, labels, limits, whereabouts};
use zonewarden_bindings::placement::Place;
use zonewarden_bindings::types::Reason;

/// The verdicts of one question as they come: what refuses a place is found once, for the first class that is in it.
#[derive(Debug)]
pub(super) struct Judge<'q, 'a> {
    question: &'q Question<'a>,
    /// The reasons that were given so far.
    pub(super) reasons: Vec<Reason>,
    /// What refuses every class.
    everywhere: Vec<Noted>,
    /// What refuses each place, where that is known.
    places: Vec<Option<Vec<Noted>>>,
}

impl<'q, 'a> Judge<'q, 'a> {
    pub(super) fn new(question: &'q Question<'a>, nodes: &Nodes<'_>) -> Self {
        let mut reasons = Vec::new();
        let everywhere = question.refusals.iter().map(|refusal| Noted::new(&mut reasons, refusal.clone())).collect();
        Self { question, reasons, everywhere, places: vec![None; nodes.place_count()] }
    }

    /// What refuses the class: Kubernetes' own refusals first, in the order of its plugins (F-51, F-59), then ours; within one
    /// plugin in the pod's order of volumes.
    pub(super) fn refusals(&mut self, class: &Class<'_>) -> Vec<Noted> {
        let (question, reasons) = (self.question, &mut self.reasons);
        let place = self.places[class.place_position()].get_or_insert_with(|| {
            judge_place(question, class.place()).into_iter().map(|refusal| Noted::new(reasons, refusal)).collect()
        });
        let mut own = Vec::new();
        binding::judge_delayed(question, class, &mut own);
        limits::judge(question, class, &mut own);
        let mut refusals = Vec::with_capacity(self.everywhere.len() + place.len() + own.len());
        refusals.extend_from_slice(&self.everywhere);
        refusals.extend_from_slice(place);
        refusals.extend(own.into_iter().map(|refusal| Noted::new(reasons, refusal)));
        refusals.sort_by_key(|refusal| (refusal.stage, refusal.position));
        refusals
    }
}

/// What refuses the nodes because of where the volumes that exist are.
///
/// A volume is refused once, and not for its affinity, again for its label and again by EC2, which mostly say the same. But
/// where Kubernetes refuses for now only, what we refuse for good is told beside it.
fn judge_place(question: &Question<'_>, place: &Place) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for volume in &question.volumes {
        let by_kubernetes = refused_by_kubernetes(volume, place);
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
fn refused_by_kubernetes(volume: &Volume<'_>, place: &Place) -> Option<Refusal> {
    let binding = binding::judge(volume, place);
    if binding.as_ref().is_some_and(|refusal| refusal.is_final) {
        return binding;
    }
    labels::judge(volume, place).or_else(|| limits::judge_id(volume, place)).or(binding)
}
