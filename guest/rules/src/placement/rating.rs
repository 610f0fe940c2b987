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

use super::judge::Judge;
use super::limits::Load;
use super::nodes::{Class, Nodes};
use super::question::{Question, Volume};
use super::topologies::Topology;
use super::whereabouts::{KnownZone, node_zone};
use crate::answer::reason;
use crate::identity::Canonical;
use crate::settings::Settings;
use zonewarden_bindings::placement::{AttachHeadroom, ClassScore, Place, PodQuestion};

/// Rates classes: one score a class, in their order.
///
/// # Panics
/// As [`filter`](super::filter).
#[must_use]
pub fn score(settings: &Settings, pod: &PodQuestion, nodes: &Nodes<'_>) -> Vec<ClassScore> {
    let topologies = Topology::all(pod);
    let question = Question::new(settings, pod, &topologies, nodes);
    let mut judge = Judge::new(&question, nodes);
    nodes.classes().iter().map(|class| rate(&question, class, &mut judge)).collect()
}

/// One part of the score, and why.
type Part = (u8, &'static str);

fn rate<'q>(question: &Question<'_>, class: &Class<'q>, judge: &mut Judge<'q, '_>) -> ClassScore {
    if let Some(first) = judge.refusals(class).first() {
        return ClassScore { score: 0, reason: judge.reason(first).clone() };
    }
    let zone = question
        .volumes()
        .map(|volume| rate_zone(volume, class.place()))
        .min()
        .unwrap_or((4, "no volume is bound to a zone"));
    let loads = judge.loads(class);
    let rated = loads.iter().map(|load| rate_headroom(question, load, class));
    let headroom = rated.min().unwrap_or((3, "no volume counts"));
    let is_listed = loads.iter().all(|load| load.listed.is_some());
    let driver = if is_listed { (2, "every driver is there") } else { (0, "the CSINode lacks a driver") };
    let score = 1 + zone.0 + headroom.0 + driver.0;
    let message = format!(
        "1 for fitting, {} of 4 for the zone ({}), {} of 3 for attach headroom ({}), {} of 2 for drivers ({})",
        zone.0, zone.1, headroom.0, headroom.1, driver.0, driver.1
    );
    ClassScore { score, reason: reason("rated", message) }
}

fn rate_zone(volume: &Volume<'_>, place: &Place) -> Part {
    let Canonical::Volume(_) = volume.canonical else { return (4, "no volume is bound to a zone") };
    let node = node_zone(&place.labels).map(|(_, zone)| zone);
    let by_object =
        volume.zone_label().is_some() || volume.bound.as_ref().is_some_and(|bound| bound.topology.affinity.is_some());
    match (volume.whereabouts.zone, node) {
        (_, None) => (0, "the node's zone is not known"),
        (Some(KnownZone::Ec2(_)), Some(_)) => (4, "EC2 has the volumes in the node's zone"),
        (Some(KnownZone::Hint(hint)), Some(node)) if hint != node => (0, "a volume's own id names another zone"),
        (Some(KnownZone::Hint(_)), Some(_)) => (3, "labels, affinity or ids say that the zone is right"),
        (None, Some(_)) if by_object => (3, "labels, affinity or ids say that the zone is right"),
        (None, Some(_)) => (1, "nobody knows the zone of a volume"),
    }
}

/// Rates the room for volumes of one of the drivers that the pod needs.
fn rate_headroom(question: &Question<'_>, load: &Load, class: &Class<'_>) -> Part {
    let new = question.demand.new_volumes(load, class);
    match class.headroom_for(load) {
        None => (0, "the CSINode lacks the driver"),
        Some(_) if new == 0 => (3, "the node holds the volumes already"),
        Some(AttachHeadroom::Unknown) => (0, "nobody knows how many more volumes the node can attach"),
        Some(AttachHeadroom::Left(left)) if left <= new => (2, "just enough"),
        Some(AttachHeadroom::Left(_) | AttachHeadroom::Unlimited) => (3, "room for more"),
    }
}
