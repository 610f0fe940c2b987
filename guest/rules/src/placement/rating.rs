//! How good a class is for a pod's volumes, from 0 to 10 (h1).
//!
//! ```text
//! score = 0                                   where filter does not call the class feasible, else
//!         1                                   for that
//!       + zone      4  every volume is where the node is, and EC2 says so (or the pod has no such volume)
//!                   3  the objects say so: a label or an affinity that the node satisfies, or the id's own zone
//!                   1  nobody knows the zone of a volume
//!                   0  the node's zone is not known, or the id's own zone is another one
//!       + headroom  3  room for more than the pod adds, or no limit
//!                   2  just enough
//!                   0  nobody knows, or the CSINode lacks the driver
//!       + driver    2  the CSINode lists every driver that the pod needs
//!                   0  it does not
//! ```
//! The worst volume, and the worst driver, counts.

use super::places::Places;
use super::question::{Question, Volume};
use super::whereabouts::{KnownZone, node_zone};
use super::{limits, refusals};
use crate::answer::reason;
use crate::identity::Canonical;
use crate::settings::Settings;
use zonewarden_bindings::placement::{AttachHeadroom, ClassScore, NodeClass, PodQuestion};

/// Rates classes: one score a class, in their order.
#[must_use]
pub fn score(settings: &Settings, pod: &PodQuestion, classes: &[NodeClass]) -> Vec<ClassScore> {
    let question = Question::new(settings, pod, classes);
    let mut places = Places::default();
    classes.iter().map(|class| rate(&question, class, &mut places)).collect()
}

/// One part of the score, and why.
type Part = (u8, &'static str);

fn rate<'c>(question: &Question<'_>, class: &'c NodeClass, places: &mut Places<'c>) -> ClassScore {
    if let Some(first) = refusals(question, class, places).into_iter().next() {
        return ClassScore { score: 0, reason: first.reason };
    }
    let zone = question
        .volumes
        .iter()
        .map(|volume| rate_zone(volume, class))
        .min()
        .unwrap_or((4, "no volume is bound to a zone"));
    let drivers = question.demand.drivers();
    let headroom =
        (0..drivers.len()).map(|place| rate_headroom(question, place, class)).min().unwrap_or((3, "no volume counts"));
    let is_listed = drivers.iter().all(|driver| limits::driver_on(driver, class).is_some());
    let driver = if is_listed { (2, "every driver is there") } else { (0, "the CSINode lacks a driver") };
    let score = 1 + zone.0 + headroom.0 + driver.0;
    let message = format!(
        "1 for fitting, {} of 4 for the zone ({}), {} of 3 for attach headroom ({}), {} of 2 for drivers ({})",
        zone.0, zone.1, headroom.0, headroom.1, driver.0, driver.1
    );
    ClassScore { score, reason: reason("rated", message) }
}

fn rate_zone(volume: &Volume<'_>, class: &NodeClass) -> Part {
    let Canonical::Volume(_) = volume.canonical else { return (4, "no volume is bound to a zone") };
    let node = node_zone(&class.labels).map(|(_, zone)| zone);
    let by_object =
        volume.zone_label().is_some() || volume.bound.as_ref().is_some_and(|bound| bound.affinity.is_some());
    match (volume.whereabouts.zone, node) {
        (_, None) => (0, "the node's zone is not known"),
        (Some(KnownZone::Ec2(_)), Some(_)) => (4, "EC2 has the volumes in the node's zone"),
        (Some(KnownZone::Hint(hint)), Some(node)) if hint != node => (0, "a volume's own id names another zone"),
        (Some(KnownZone::Hint(_)), Some(_)) => (3, "labels, affinity or ids say that the zone is right"),
        (None, Some(_)) if by_object => (3, "labels, affinity or ids say that the zone is right"),
        (None, Some(_)) => (1, "nobody knows the zone of a volume"),
    }
}

/// Rates the room for volumes of one of the drivers that the pod needs, by its place among them.
fn rate_headroom(question: &Question<'_>, place: usize, class: &NodeClass) -> Part {
    let new = question.demand.new_volumes(place, class);
    match limits::driver_on(question.demand.drivers()[place], class).map(|found| found.headroom) {
        None => (0, "the CSINode lacks the driver"),
        Some(_) if new == 0 => (3, "the node holds the volumes already"),
        Some(AttachHeadroom::Unknown) => (0, "nobody knows how many more volumes the node can attach"),
        Some(AttachHeadroom::Left(left)) if left <= new => (2, "just enough"),
        Some(AttachHeadroom::Left(_) | AttachHeadroom::Unlimited) => (3, "room for more"),
    }
}
