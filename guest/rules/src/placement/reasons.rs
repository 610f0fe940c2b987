//! The reasons of an answer, which verdicts name by position.

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

/// Adds a reason to those that an answer gives, if it was not given a moment ago, and says where it stands.
///
/// # Panics
/// Where there are four billion reasons, for which an instance has no room.
pub fn give(reasons: &mut Vec<Reason>, reason: Reason) -> u32 {
    let recent = reasons.len().saturating_sub(LOOKED_BACK_AT);
    let same = |given: &Reason| is_same(&given.message, &reason.message) && is_same(&given.code, &reason.code);
    let known = reasons[recent..].iter().position(same);
    let position = known.map_or(reasons.len(), |known| recent + known);
    if known.is_none() {
        reasons.push(reason);
    }
    u32::try_from(position).expect("there is no room for four billion reasons")
}

impl Noted {
    /// Gives a refusal's reason.
    pub(super) fn new(reasons: &mut Vec<Reason>, refusal: Refusal) -> Self {
        let Refusal { stage, position, is_final, reason } = refusal;
        Self { stage, position, is_final, reason: give(reasons, reason) }
    }
}
