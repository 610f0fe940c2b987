//! The reasons of an answer, which verdicts name by position.

use super::limits::Lack;
use super::question::Question;
use super::refusal::{Refusal, Stage};
use crate::selector::is_same;
use zonewarden_bindings::types::Reason;

/// How many reasons are looked back at for one in the same words: beyond what their place refuses few things can be said of
/// classes, and where each has words of its own, looking through all of them would cost more than it saves.
const LOOKED_BACK_AT: usize = 16;

/// A refusal whose reason is among the given ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) stage: Stage,
    /// The position of the pod's volume.
    pub(super) position: usize,
    pub(super) is_final: bool,
    /// The reason's position.
    pub(super) reason: u32,
}

/// What was given so far.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) reasons: Vec<Reason>,
    refusals: Vec<Noted>,
    /// What classes lacked.
    lacks: Vec<(Lack, Noted)>,
}

impl Given {
    /// Gives a refusal's reason. Refusals for different volumes are never in the same words.
    pub(super) fn note(&mut self, refusal: Refusal) -> Noted {
        let Refusal { stage, position, is_final, reason } = refusal;
        let recent = self.refusals.iter().rev().take(LOOKED_BACK_AT);
        let mut alike = recent.filter(|noted| noted.position == position);
        if let Some(known) = alike.find(|noted| is_the_same(&self.reasons[noted.reason as usize], &reason)) {
            return *known;
        }
        let noted = Noted { stage, position, is_final, reason: add(&mut self.reasons, reason) };
        self.refusals.push(noted);
        noted
    }

    /// Gives the reason of a lack: many classes have the same.
    pub(super) fn note_lack(&mut self, lack: Lack, question: &Question<'_>) -> Noted {
        if let Some((_, noted)) = self.lacks.iter().find(|(known, _)| *known == lack) {
            return *noted;
        }
        let noted = self.note(lack.refuse(question));
        self.lacks.push((lack, noted));
        noted
    }
}

/// Adds a reason to those that an answer gives, if it was not given a moment ago, and says where it stands.
///
/// # Panics
/// Where there are four billion reasons, for which an instance has no room.
pub fn give(reasons: &mut Vec<Reason>, reason: Reason) -> u32 {
    let recent = reasons.len().saturating_sub(LOOKED_BACK_AT);
    match reasons[recent..].iter().position(|given| is_the_same(given, &reason)) {
        Some(known) => position(recent + known),
        None => add(reasons, reason),
    }
}

fn add(reasons: &mut Vec<Reason>, reason: Reason) -> u32 {
    reasons.push(reason);
    position(reasons.len() - 1)
}

fn position(position: usize) -> u32 {
    u32::try_from(position).expect("there is no room for four billion reasons")
}

fn is_the_same(one: &Reason, other: &Reason) -> bool {
    is_same(&one.message, &other.message) && is_same(&one.code, &other.code)
}
