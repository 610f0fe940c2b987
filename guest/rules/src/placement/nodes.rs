//! The nodes of a question: classes, each in a place that others may share.

use super::limits::Load;
use crate::answer::problem;
use zonewarden_bindings::placement::{AttachHeadroom, NodeClasses, Place, Tie, TieKind};
use zonewarden_bindings::types::Problem;

/// The classes of a question, which were found to fit their places.
#[derive(Debug, Clone)]
pub struct Nodes<'a> {
    places: &'a [Place],
    classes: Vec<Class<'a>>,
}

/// A class and its place.
#[derive(Debug, Clone, Copy)]
pub struct Class<'a> {
    position: usize,
    place_position: usize,
    place: &'a Place,
    headroom: &'a [AttachHeadroom],
    /// The ties of all classes: hardly a question has any.
    ties: &'a [Tie],
}

impl<'a> Nodes<'a> {
    /// Takes the table apart.
    ///
    /// # Errors
    /// What is wrong with the first class that names a place which is not there, or with the headroom, where it is not one for
    /// each driver of each class's place.
    pub fn new(nodes: &'a NodeClasses) -> Result<Self, Problem> {
        let NodeClasses { places, classes: named, headroom, ties } = nodes;
        let mut classes = Vec::with_capacity(named.len());
        let mut from = 0;
        for (position, &named) in named.iter().enumerate() {
            let place_position = at(named);
            let place = places.get(place_position).ok_or_else(|| {
                let (subject, who) = (format!("nodes.classes[{position}]"), format!("class {position}"));
                not_there(&subject, &who, ["place", "places"], named, places.len())
            })?;
            let to = from + place.drivers.len();
            // Whether there is headroom left over, or not enough, is only known at the end.
            let headroom = headroom.get(from..to).unwrap_or_default();
            classes.push(Class { position, place_position, place, headroom, ties });
            from = to;
        }
        if from == headroom.len() { Ok(Self { places, classes }) } else { Err(headroom_count(headroom.len(), from)) }
    }

    /// The classes, in their order.
    #[must_use]
    pub fn classes(&self) -> &[Class<'a>] {
        &self.classes
    }

    /// How many places there are.
    pub(super) const fn place_count(&self) -> usize {
        self.places.len()
    }
}

impl<'a> Class<'a> {
    /// What the nodes have in common with those of other classes.
    #[must_use]
    pub const fn place(&self) -> &'a Place {
        self.place
    }

    /// The CSINode's drivers, and the headroom of each.
    pub fn headroom(&self) -> impl Iterator<Item = (&'a str, AttachHeadroom)> + use<'a> {
        self.place.drivers.iter().map(String::as_str).zip(self.headroom.iter().copied())
    }

    /// Whether the nodes hold the pod's volume at this position already.
    #[must_use]
    pub fn holds(&self, volume: usize) -> bool {
        self.is_tied(volume, TieKind::Holds)
    }

    /// Whether this is the node that the claim at this position is to get its volume on.
    #[must_use]
    pub fn is_selected_for(&self, volume: usize) -> bool {
        self.is_tied(volume, TieKind::SelectedFor)
    }

    /// Whether anything ties the nodes to a volume of the pod.
    pub(super) fn is_tied_to_any(&self) -> bool {
        self.ties.iter().any(|tie| at(tie.class) == self.position)
    }

    fn is_tied(&self, volume: usize, kind: TieKind) -> bool {
        let is_it = |tie: &Tie| at(tie.class) == self.position && at(tie.volume) == volume && tie.kind == kind;
        self.ties.iter().any(is_it)
    }

    /// The headroom of what the pod adds; `None` where the CSINode does not list its driver.
    pub(super) fn headroom_for(&self, load: &Load) -> Option<AttachHeadroom> {
        load.listed.map(|driver| self.headroom[driver])
    }

    /// The position of the place.
    pub(super) const fn place_position(&self) -> usize {
        self.place_position
    }
}

/// A position of the contract as one of Rust; one that no list can have, where it does not fit.
pub(super) fn at(position: u32) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// What is wrong with a question in which `who` names, by position, one of `of` things that is not there; `what` is one of them
/// and many.
pub(super) fn not_there(subject: &str, who: &str, what: [&str; 2], position: u32, of: usize) -> Problem {
    let [one, many] = what;
    let (there, accepted) = match of {
        0 => (format!("there are no {many}"), None),
        1 => (format!("there is only 1 {one}"), Some("the position 0".to_owned())),
        _ => (format!("there are only {of} {many}"), Some(format!("a position from 0 to {}", of - 1))),
    };
    let message = format!("{who} names {one} {position}, and {there}");
    let accepted: Vec<&str> = accepted.iter().map(String::as_str).collect();
    problem(subject, &position.to_string(), &format!("no-such-{one}"), message, &accepted)
}

fn headroom_count(given: usize, drivers: usize) -> Problem {
    let counted = if given == 1 { "1 driver".to_owned() } else { format!("{given} drivers") };
    let message = format!("the headroom is that of {counted}, and the places of the classes have {drivers}");
    let accepted = ["one headroom for each driver of each class's place, class by class"];
    problem("nodes.headroom", &given.to_string(), "headroom-count", message, &accepted)
}
