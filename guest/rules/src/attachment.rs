//! What observations of an attachment mean, and what should be done about them (E1 to E12, E15, D-8 to D-21, D-39 to D-57).
//!
//! The subject is a pair of a volume and an instance, never of a volume and a Node name. Every observation gets a verdict. The
//! steps below are the order of arbitration: the first that has something to say decides. What is unknown, young or
//! contradictory is said to be so and changes nothing.

mod agreement;
mod death;
mod detach;
mod evidence;
mod holders;
mod recovery;
mod taint;
mod unused;
mod verdict;
mod volume;

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod fields;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;

use zonewarden_bindings::attachment::{Judgement, Observation};
use zonewarden_bindings::types::Remedy;

use crate::settings::Settings;
use evidence::Pair;

/// What [`judge`] may propose, as a remedy or as an escalation, beside nothing at all.
pub const REMEDIES: [Remedy; 7] = [
    Remedy::Event,
    Remedy::AddOutOfServiceTaint,
    Remedy::RemoveOutOfServiceTaint,
    Remedy::DeleteDeadAttachment,
    Remedy::DeleteDetachedAttachment,
    Remedy::DeleteLeakedAttachment,
    Remedy::ForceDeletePods,
];

/// Judges one pair.
///
/// The order is that of the tables: foreign attachment, same name, deleted volume, dead instance, stuck. An outdated taint of
/// ours comes before all of it, since it concerns every pod of a living node and is gone one sweep later.
#[must_use]
pub fn judge(settings: &Settings, observation: &Observation) -> Judgement {
    let pair = Pair::new(settings, observation);
    taint::outdated(&pair)
        .or_else(|| agreement::not_needed(&pair))
        .or_else(|| volume::inconsistent(&pair))
        .or_else(|| holders::foreign(&pair))
        .or_else(|| holders::service(&pair))
        .or_else(|| holders::too_many(&pair))
        .or_else(|| recovery::same_name(&pair))
        .or_else(|| volume::not_usable(&pair))
        .or_else(|| detach::deleting(&pair))
        .or_else(|| recovery::terminated(&pair))
        .or_else(|| agreement::instance_not_told(&pair))
        .or_else(|| holders::elsewhere(&pair))
        .or_else(|| detach::moving(&pair))
        .or_else(|| agreement::apis_disagree(&pair))
        .or_else(|| unused::leaked(&pair))
        .unwrap_or_else(|| agreement::compare(&pair))
}
