//! All objects of a kind, gathered before they replace those that are there.

use std::collections::BTreeSet;

use zonewarden_documents::Problem;

use crate::index::Index;
use crate::objects::Kind;
use crate::reading::Reading;
use crate::records::ObjectName;
use crate::sharing::Common;

/// A list of all objects of a kind. They stand in it as they will in the store, so that gathering takes no memory of its own.
#[derive(Debug)]
pub struct Listing {
    pub(super) kind: Kind,
    pub(super) index: Index,
    common: Common,
    /// The objects that are there and can't be read.
    pub(super) unreadable: BTreeSet<ObjectName>,
    pub(super) complaints: Vec<(ObjectName, bool, Vec<Problem>)>,
}

impl Listing {
    /// An empty list of a kind.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            index: Index::default(),
            common: Common::default(),
            unreadable: BTreeSet::new(),
            complaints: Vec::new(),
        }
    }

    /// Takes in what was read of one object; of another kind it is left out.
    pub fn take(&mut self, reading: Reading) {
        let Reading { kind, name, object, problems, .. } = reading;
        if kind != self.kind {
            return;
        }
        if object.is_none() || !problems.is_empty() {
            self.complaints.push((name.clone(), object.is_none(), problems));
        }
        match object {
            Some(mut object) => {
                self.common.share(&mut object);
                self.index.apply(object);
            }
            None => drop(self.unreadable.insert(name)),
        }
    }

    /// Takes in all objects of the kind that an index holds, and shares them; returns the names of those that were here
    /// already.
    pub(crate) fn share(&mut self, index: &Index) -> Vec<ObjectName> {
        self.index.absorb(self.kind, index)
    }

    /// How many objects it holds.
    pub fn len(&self) -> usize {
        self.index.count(self.kind)
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
