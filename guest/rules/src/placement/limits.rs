//! NodeVolumeLimits on a node: how many volumes the pod adds, and whether the driver is there at all (F-63, H-4, H-7).

use super::binding::failed_translation;
use super::nodes::Class;
use super::question::{Question, Volume};
use super::refusal::{Refusal, Stage};
use crate::selector::is_same;
use crate::settings::VolumeIds;
use crate::translation::Migration;
use crate::volume_id;
use zonewarden_bindings::placement::{AttachHeadroom, Place};
use zonewarden_bindings::types::VolumeSource;

/// What the pod adds to its node.
#[derive(Debug, Default)]
pub(super) struct Demand<'a> {
    attachments: Vec<Attachment<'a>>,
    /// The drivers, each once.
    drivers: Vec<&'a str>,
}

/// One of the pod's volumes, as far as it counts.
#[derive(Debug)]
struct Attachment<'a> {
    position: usize,
    /// Its driver's place among the drivers.
    driver: usize,
    /// What Kubernetes counts by. Two volumes of one driver and one name are one.
    name: Name<'a>,
    /// The first attachment of the same driver and name: this one, where there is no earlier one.
    same_as: usize,
    /// Volumes of an in-tree plugin count only on nodes that have a CSINode; whether that lists the plugin as migrated does
    /// not matter for the two plugins that we know.
    needs_csi_node: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name<'a> {
    /// A CSI handle byte for byte, or what an in-tree id is translated to.
    Handle(&'a str),
    /// A claim whose volume is not made yet.
    Claim(&'a str),
}

impl<'a> Demand<'a> {
    /// Counts a volume that exists.
    pub(super) fn add(&mut self, volume: &Volume<'a>) {
        let source = volume.bound.as_ref().map(|bound| &bound.volume.source);
        let (driver, name, needs_csi_node) = match (source, volume.migration) {
            (Some(VolumeSource::Csi(csi)), _) => (csi.driver.as_str(), volume.text, false),
            (_, Some(migration)) => (migration.driver, translated(volume.text), true),
            (_, None) => return,
        };
        if !volume.fails_translation {
            self.push(driver, volume.position, Name::Handle(name), needs_csi_node);
        }
    }

    /// Counts a claim whose volume is not there yet, for the driver that would make it.
    pub(super) fn add_delayed(&mut self, position: usize, claim: &'a str, provisioner: &'a str) {
        let migration = Migration::of_plugin(provisioner);
        let driver = migration.map_or(provisioner, |migration| migration.driver);
        self.push(driver, position, Name::Claim(claim), migration.is_some());
    }

    /// Names are compared here, once, and not for each class.
    fn push(&mut self, driver: &'a str, position: usize, name: Name<'a>, needs_csi_node: bool) {
        let driver = self.drivers.iter().position(|known| is_same(known, driver)).unwrap_or_else(|| {
            self.drivers.push(driver);
            self.drivers.len() - 1
        });
        let is_same = |earlier: &Attachment<'_>| earlier.driver == driver && earlier.name == name;
        let same_as = self.attachments.iter().position(is_same).unwrap_or(self.attachments.len());
        self.attachments.push(Attachment { position, driver, name, same_as, needs_csi_node });
    }

    /// The pod's volumes of a driver, by its place, that count on the class's nodes, each name once.
    fn counted<'d>(&'d self, driver: usize, place: &'d Place) -> impl Iterator<Item = &'d Attachment<'a>> {
        let counts = move |attachment: &Attachment<'_>| {
            attachment.driver == driver && (place.has_csi_node || !attachment.needs_csi_node)
        };
        self.attachments.iter().enumerate().filter_map(move |(index, attachment)| {
            let is_repeated = self.attachments[attachment.same_as..index]
                .iter()
                .any(|earlier| counts(earlier) && earlier.same_as == attachment.same_as);
            (counts(attachment) && !is_repeated).then_some(attachment)
        })
    }

    /// What the pod adds to nodes of a place, for each of its drivers.
    pub(super) fn loads(&self, place: &Place) -> Vec<Load> {
        let load = |(driver, name): (usize, &&str)| Load {
            driver,
            listed: place.drivers.iter().position(|listed| is_same(listed, name)),
            first: self.counted(driver, place).next().map(|attachment| attachment.position),
            volumes: count(self.counted(driver, place)),
        };
        self.drivers.iter().enumerate().map(load).collect()
    }

    /// How many volumes of a load the nodes do not hold yet.
    pub(super) fn new_volumes(&self, load: &Load, class: &Class<'_>) -> u32 {
        if !class.is_tied_to_any() {
            return load.volumes;
        }
        let is_held = |attachment: &&Attachment<'_>| {
            let same = |other: &&Attachment<'_>| other.same_as == attachment.same_as;
            self.attachments.iter().filter(same).any(|other| class.holds(other.position))
        };
        count(self.counted(load.driver, class.place()).filter(|attachment| !is_held(attachment)))
    }
}

fn count<T>(of: impl Iterator<Item = T>) -> u32 {
    u32::try_from(of.count()).unwrap_or(u32::MAX)
}

/// What the pod adds to nodes of a place through one of its drivers.
#[derive(Debug)]
pub(super) struct Load {
    /// The driver's place among those that the pod needs.
    driver: usize,
    /// The driver's place among those of the CSINode; `None` where it does not list it.
    pub(super) listed: Option<usize>,
    /// The position of the first volume that counts; `None` where none does.
    first: Option<usize>,
    /// How many volumes count, where the nodes hold none of them yet.
    volumes: u32,
}

/// What Kubernetes translates an in-tree id to: what does not begin with `aws://` verbatim (F-61).
fn translated(text: &str) -> &str {
    if !text.starts_with("aws://") {
        return text;
    }
    volume_id::read(text, VolumeIds::Lenient).map_or(text, |parsed| parsed.id().as_str())
}

/// Holds a volume that the pod names directly against the nodes: its id has to be read to be counted. A bound volume's
/// translation is not an error here, and judged where it is one.
pub(super) fn judge_id(volume: &Volume<'_>, place: &Place) -> Option<Refusal> {
    let fails = volume.bound.is_none() && volume.fails_translation && place.has_csi_node;
    fails.then(|| failed_translation(Stage::Limits, volume))
}

/// What NodeVolumeLimits has against nodes. Many classes lack the same, and are told so in the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lack {
    /// The driver's place among those that the pod needs.
    driver: usize,
    /// The position of the pod's first volume of the driver.
    position: usize,
    what: Lacking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lacking {
    /// The driver, in a CSINode or with the whole of it.
    Driver { has_csi_node: bool },
    /// Room: the pod adds more volumes than are left.
    Room { new: u32, left: u32 },
}

/// Holds what the pod adds through one of its drivers against the class.
pub(super) fn judge(question: &Question<'_>, class: &Class<'_>, load: &Load) -> Option<Lack> {
    let position = load.first?;
    let what = match class.headroom_for(load) {
        None => {
            let name = question.demand.drivers[load.driver];
            let is_required = question.pod.required_drivers.iter().any(|required| required == name);
            is_required.then_some(Lacking::Driver { has_csi_node: class.place().has_csi_node })?
        }
        Some(AttachHeadroom::Left(left)) => {
            let new = question.demand.new_volumes(load, class);
            (new > left).then_some(Lacking::Room { new, left })?
        }
        Some(AttachHeadroom::Unknown | AttachHeadroom::Unlimited) => return None,
    };
    Some(Lack { driver: load.driver, position, what })
}

impl Lack {
    /// The same in words.
    pub(super) fn refuse(self, question: &Question<'_>) -> Refusal {
        let (pod, driver) = (question.pod.pod.as_str(), question.demand.drivers[self.driver]);
        let (code, message) = match self.what {
            Lacking::Driver { has_csi_node } => {
                let lack = if has_csi_node { "the node's CSINode does not list it" } else { "the node has no CSINode" };
                let asks = ", whose CSIDriver says preventPodSchedulingIfMissing, and ";
                ("driver-missing", ["pod ", pod, " needs the driver ", driver, asks, lack].concat())
            }
            Lacking::Room { new, left } => {
                let volumes = if new == 1 { " volume of the driver " } else { " volumes of the driver " };
                let (new, left) = (new.to_string(), left.to_string());
                let room = ", and the node can attach ";
                ("attach-limit", ["pod ", pod, " adds ", &new, volumes, driver, room, &left, " more"].concat())
            }
        };
        Refusal::passing(Stage::Limits, self.position, code, message)
    }
}

/// A driver of whose headroom nobody knows, though the pod adds volumes of it.
pub(super) fn unknown_headroom<'a>(question: &Question<'a>, class: &Class<'_>, loads: &[Load]) -> Option<&'a str> {
    let is_unknown = |load: &&Load| {
        matches!(class.headroom_for(load), Some(AttachHeadroom::Unknown))
            && question.demand.new_volumes(load, class) > 0
    };
    loads.iter().find(is_unknown).map(|load| question.demand.drivers[load.driver])
}
