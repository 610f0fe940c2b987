//! The nodes of a question: classes, each in a place that others may share.

use crate::answer::problem;
use crate::selector::is_same;
use zonewarden_bindings::placement::{AttachHeadroom, NodeClass, Place, Tie};
use zonewarden_bindings::types::Problem;

/// The classes of a question, which were found to fit their places.
#[derive(Debug, Clone, Copy)]
pub struct Nodes<'a> {
    places: &'a [Place],
    classes: &'a [NodeClass],
}

/// A class and its place.
#[derive(Debug, Clone, Copy)]
pub struct Class<'a> {
    place: &'a Place,
    class: &'a NodeClass,
}

impl<'a> Nodes<'a> {
    /// Holds the classes against the places.
    ///
    /// # Errors
    /// What is wrong with the first class that names a place which is not there, or has not one headroom for each driver of
    /// its place.
    pub fn new(places: &'a [Place], classes: &'a [NodeClass]) -> Result<Self, Problem> {
        for (position, class) in classes.iter().enumerate() {
            match places.get(at(class.place)) {
                None => return Err(no_such_place(position, class.place, places.len())),
                Some(place) if place.drivers.len() != class.headroom.len() => {
                    return Err(headroom_count(position, class.headroom.len(), place.drivers.len()));
                }
                Some(_) => {}
            }
        }
        Ok(Self { places, classes })
    }

    /// The classes, in their order.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = Class<'a>> + use<'a> {
        let places = self.places;
        self.classes.iter().map(move |class| Class { place: &places[at(class.place)], class })
    }

    /// How many classes there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is no class.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.classes.is_empty()
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

    /// What ties the nodes to the pod's volumes.
    #[must_use]
    pub fn ties(&self) -> &'a [Tie] {
        &self.class.ties
    }

    /// The CSINode's drivers, and the headroom of each.
    pub fn headroom(&self) -> impl Iterator<Item = (&'a str, AttachHeadroom)> + use<'a> {
        self.place.drivers.iter().map(String::as_str).zip(self.class.headroom.iter().copied())
    }

    /// The headroom of a driver; `None` where the CSINode does not list it.
    pub(super) fn headroom_of(&self, driver: &str) -> Option<AttachHeadroom> {
        self.headroom().find(|(name, _)| is_same(name, driver)).map(|(_, headroom)| headroom)
    }

    /// Whether the nodes hold the pod's volume at this position already.
    pub(super) fn holds(&self, volume: usize) -> bool {
        self.ties().iter().any(|tie| matches!(tie, Tie::Holds(held) if at(*held) == volume))
    }

    /// Whether this is the node that the claim at this position is to get its volume on.
    pub(super) fn is_selected_for(&self, volume: usize) -> bool {
        self.ties().iter().any(|tie| matches!(tie, Tie::SelectedFor(claim) if at(*claim) == volume))
    }

    /// The position of the place.
    pub(super) fn place_position(&self) -> usize {
        at(self.class.place)
    }
}

/// A position of the contract as one of Rust; one that no list can have, where it does not fit.
fn at(position: u32) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

fn no_such_place(class: usize, place: u32, places: usize) -> Problem {
    let (there, accepted) = match places {
        0 => ("there are no places".to_owned(), None),
        1 => ("there is only 1 place".to_owned(), Some("the position 0".to_owned())),
        _ => (format!("there are only {places} places"), Some(format!("a position from 0 to {}", places - 1))),
    };
    let message = format!("class {class} names place {place}, and {there}");
    let accepted: Vec<&str> = accepted.iter().map(String::as_str).collect();
    problem(&format!("classes[{class}].place"), &place.to_string(), "no-such-place", message, &accepted)
}

fn headroom_count(class: usize, given: usize, drivers: usize) -> Problem {
    let counted = if given == 1 { "1 driver".to_owned() } else { format!("{given} drivers") };
    let message = format!("class {class} has the headroom of {counted}, and its place has {drivers}");
    let accepted = ["one headroom for each driver of the place, in their order"];
    problem(&format!("classes[{class}].headroom"), &given.to_string(), "headroom-count", message, &accepted)
}
