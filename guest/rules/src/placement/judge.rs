//! The verdicts of one question as they come: what was found and said for one class holds for others too.

use super::limits::{self, Lack};
use super::nodes::{Class, Nodes};
use super::question::Question;
use super::reasons::{Noted, give};
use super::{binding, places};
use crate::answer::reason;
use zonewarden_bindings::types::Reason;

/// A question, and what was said so far.
#[derive(Debug)]
pub(super) struct Judge<'q, 'a> {
    question: &'q Question<'a>,
    /// The reasons that were given.
    pub(super) reasons: Vec<Reason>,
    /// What refuses every class.
    everywhere: Vec<Noted>,
    /// What refuses each place, once a class in it was judged.
    places: Vec<Option<Vec<Noted>>>,
    /// What classes lacked.
    lacks: Vec<(Lack, Noted)>,
    /// Why classes are feasible of which all is known.
    fits: Option<u32>,
}

impl<'q, 'a> Judge<'q, 'a> {
    pub(super) fn new(question: &'q Question<'a>, nodes: &Nodes<'_>) -> Self {
        let mut reasons = Vec::new();
        let everywhere = question.refusals.iter().map(|refusal| Noted::new(&mut reasons, refusal.clone())).collect();
        let places = vec![None; nodes.place_count()];
        Self { question, reasons, everywhere, places, lacks: Vec::new(), fits: None }
    }

    /// What refuses the class: Kubernetes' own refusals first, in the order of its plugins (F-51, F-59), then ours; within one
    /// plugin in the pod's order of volumes.
    pub(super) fn refusals(&mut self, class: &Class<'_>) -> Vec<Noted> {
        let (question, reasons) = (self.question, &mut self.reasons);
        let place = self.places[class.place_position()].get_or_insert_with(|| {
            places::judge(question, class.place()).into_iter().map(|refusal| Noted::new(reasons, refusal)).collect()
        });
        let mut delayed = Vec::new();
        binding::judge_delayed(question, class, &mut delayed);
        let mut lacks = Vec::new();
        limits::judge(question, class, &mut lacks);
        let mut refusals = Vec::with_capacity(self.everywhere.len() + place.len() + delayed.len() + lacks.len());
        refusals.extend_from_slice(&self.everywhere);
        refusals.extend_from_slice(place);
        refusals.extend(delayed.into_iter().map(|refusal| Noted::new(reasons, refusal)));
        refusals.extend(lacks.into_iter().map(|lack| self.note(lack)));
        refusals.sort_by_key(|refusal| (refusal.stage, refusal.position));
        refusals
    }

    fn note(&mut self, lack: Lack) -> Noted {
        if let Some((_, noted)) = self.lacks.iter().find(|(known, _)| *known == lack) {
            return *noted;
        }
        let noted = Noted::new(&mut self.reasons, lack.refuse(self.question));
        self.lacks.push((lack, noted));
        noted
    }

    /// Why a class is feasible, and what nobody knows of it.
    pub(super) fn fits(&mut self, class: &Class<'_>) -> u32 {
        let (question, reasons) = (self.question, &mut self.reasons);
        if let Some(driver) = limits::unknown_headroom(question, class) {
            let unknown = [FITS, &question.pod.pod, FROM, ", but nobody knows how many more volumes of ", driver];
            return give(reasons, reason("fits-headroom-unknown", [&unknown.concat(), " they can attach"].concat()));
        }
        *self.fits.get_or_insert_with(|| give(reasons, fits(question)))
    }
}

const FITS: &str = "nothing keeps the volumes of pod ";
const FROM: &str = " from these nodes";

/// Why a class is feasible that has room.
fn fits(question: &Question<'_>) -> Reason {
    let pod = question.pod.pod.as_str();
    if question.pod.volumes.is_empty() {
        return reason("no-volumes", ["pod ", pod, " has no volume that limits where it runs"].concat());
    }
    match question.volumes.iter().find(|volume| volume.is_nowhere()) {
        Some(volume) => {
            let text = [FITS, pod, FROM, ", but nobody knows the zone of volume ", volume.name];
            reason("fits-zone-unknown", text.concat())
        }
        None => reason("fits", [FITS, pod, FROM].concat()),
    }
}
