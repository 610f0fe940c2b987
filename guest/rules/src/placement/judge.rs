//! The verdicts of one question as they come: what was found and said for one class holds for others too.

use super::binding;
use super::limits::{self, Load};
use super::nodes::{Class, Nodes};
use super::places::{self, Site};
use super::question::Question;
use super::reasons::{Given, Noted, give};
use crate::answer::reason;
use zonewarden_bindings::types::Reason;

/// A question, and what was said so far.
#[derive(Debug)]
pub(super) struct Judge<'q, 'a> {
    question: &'q Question<'a>,
    /// The reasons that were given.
    given: Given,
    /// What refuses every class.
    everywhere: Vec<Noted>,
    /// Each place, once a class in it was judged.
    sites: Vec<Option<(Site<'q>, Vec<Noted>)>>,
    /// Why classes are feasible of which all is known.
    fits: Option<u32>,
}

impl<'q, 'a> Judge<'q, 'a> {
    pub(super) fn new(question: &'q Question<'a>, nodes: &Nodes<'_>) -> Self {
        let mut given = Given::default();
        let everywhere = question.refusals.iter().map(|refusal| given.note(refusal.clone())).collect();
        let sites = (0..nodes.place_count()).map(|_| None).collect();
        Self { question, given, everywhere, sites, fits: None }
    }

    /// The reasons that were given.
    pub(super) fn reasons(self) -> Vec<Reason> {
        self.given.reasons
    }

    /// The reason of a refusal.
    pub(super) fn reason(&self, refusal: &Noted) -> &Reason {
        &self.given.reasons[refusal.reason as usize]
    }

    /// What refuses the class: Kubernetes' own refusals first, in the order of its plugins (F-51, F-59),
    /// then ours; within one plugin in the pod's order of volumes.
    pub(super) fn refusals(&mut self, class: &Class<'q>) -> Vec<Noted> {
        let (question, given, everywhere) = (self.question, &mut self.given, &self.everywhere);
        let (site, common) = self.sites[class.place_position()].get_or_insert_with(|| {
            let site = Site::new(question, class.place());
            let mut common = everywhere.clone();
            places::judge(question, &site, |refusal| common.push(given.note(refusal)));
            sort(&mut common);
            (site, common)
        });
        let mut refusals = Vec::with_capacity(common.len() + site.loads.len());
        refusals.extend_from_slice(common);
        let delayed = binding::judge_delayed(question, class, site);
        refusals.extend(delayed.into_iter().map(|refusal| given.note(refusal)));
        let lacks = site.loads.iter().filter_map(|load| limits::judge(question, class, load));
        refusals.extend(lacks.map(|lack| given.note_lack(lack, question)));
        sort(&mut refusals);
        refusals
    }

    /// What the pod adds to the nodes of a class that was judged, for each of its drivers.
    pub(super) fn loads(&self, class: &Class<'_>) -> &[Load] {
        self.sites[class.place_position()].as_ref().map_or(&[], |(site, _)| &site.loads)
    }

    /// Why a class is feasible, and what nobody knows of it.
    pub(super) fn fits(&mut self, class: &Class<'_>) -> u32 {
        let question = self.question;
        let unknown = limits::unknown_headroom(question, class, self.loads(class));
        let reasons = &mut self.given.reasons;
        if let Some(driver) = unknown {
            let unknown = [FITS, &question.pod.pod, FROM, ", but nobody knows how many more volumes of ", driver];
            return give(reasons, reason("fits-headroom-unknown", [&unknown.concat(), " they can attach"].concat()));
        }
        *self.fits.get_or_insert_with(|| give(reasons, fits(question)))
    }
}

/// Sorts refusals as [`Judge::refusals`] gives them.
fn sort(refusals: &mut [Noted]) {
    refusals.sort_by_key(|refusal| (refusal.stage, refusal.position));
}

const FITS: &str = "nothing keeps the volumes of pod ";
const FROM: &str = " from these nodes";

/// Why a class is feasible that has room.
fn fits(question: &Question<'_>) -> Reason {
    let pod = question.pod.pod.as_str();
    if question.pod.volumes.is_empty() {
        return reason("no-volumes", ["pod ", pod, " has no volume that limits where it runs"].concat());
    }
    match question.volumes().filter(|volume| volume.is_nowhere()).min_by_key(|volume| volume.position) {
        Some(volume) => {
            let text = [FITS, pod, FROM, ", but nobody knows the zone of volume ", volume.name];
            reason("fits-zone-unknown", text.concat())
        }
        None => reason("fits", [FITS, pod, FROM].concat()),
    }
}
