//! The cluster from files: what `kubectl get … -o yaml` and `-o json` print, and what people write by hand.
//!
//! Lists of any kind, lists of lists, several documents in a file, several files. What can't be read is a [`Problem`] that
//! names the place, and everything else is still there. Of two objects with one name the later wins, files in the order in
//! which they are given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use zonewarden_documents::{Code, Document, Mapping, Piece, Place, Problem, Text, source};

use crate::index::Index;
use crate::objects::{Kind, Object};
use crate::reading::{Reading, describe};
use crate::records::ObjectName;
use crate::sharing::Common;

mod api;
mod watch;

pub use api::FilesApi;
pub use watch::FileWatch;

/// The endings of the files that a world's folder `cluster` is read from.
pub const EXTENSIONS: &[&str] = &["yaml", "yml", "json"];

/// Lists within lists are followed this deep. kubectl prints one level.
const DEPTH_LIMIT: u32 = 8;

/// What files gave.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The objects.
    pub index: Index,
    /// What could not be read, and what is worth knowing, in the order of the files.
    pub problems: Vec<Problem>,
    /// How many objects of each kind the index holds.
    pub counts: BTreeMap<Kind, usize>,
    /// The objects that could not be read, as far as their names could be.
    pub unreadable: Vec<(Kind, ObjectName)>,
    /// How many objects of other kinds there were, by `kind` or `kind.group`.
    pub unknown_kinds: BTreeMap<String, usize>,
}

/// Reads files; `-` is standard input. A file that can't be read costs itself only.
pub fn load(paths: &[PathBuf]) -> Loaded {
    let mut reading = Gathering::default();
    for path in paths {
        match source::read(path) {
            Ok(bytes) => reading.take(&bytes, &path.to_string_lossy()),
            Err(problem) => reading.loaded.problems.push(problem),
        }
    }
    reading.finish()
}

/// Reads the files of a folder that have one of [`EXTENSIONS`], in the order of their names.
pub fn load_folder(folder: &Path) -> Loaded {
    match source::files_in(folder, EXTENSIONS) {
        Ok(files) if files.is_empty() => Loaded { problems: vec![nothing_in(folder)], ..Loaded::default() },
        Ok(files) => load(&files),
        Err(problem) => Loaded { problems: vec![problem], ..Loaded::default() },
    }
}

fn nothing_in(folder: &Path) -> Problem {
    let message = format!("there is no file in it that ends in .{}", EXTENSIONS.join(", ."));
    Problem::warning(Code::Empty, Place::file(folder.to_string_lossy()), message)
}

/// Reads the bytes of one file. `origin` is its name for the problems.
pub fn parse(bytes: &[u8], origin: &str) -> Loaded {
    let mut reading = Gathering::default();
    reading.take(bytes, origin);
    reading.finish()
}

#[derive(Default)]
struct Gathering {
    loaded: Loaded,
    common: Common,
    /// Where each object stands, for the warning about a second one.
    places: BTreeMap<(Kind, ObjectName), Place>,
}

impl Gathering {
    fn take(&mut self, bytes: &[u8], origin: &str) {
        let text = Text::new(origin, bytes);
        let documents = text.documents();
        if documents.is_empty() {
            let message = "there is nothing in it; kubectl get -o yaml or -o json prints what is read here";
            self.loaded.problems.push(Problem::warning(Code::Empty, Place::file(origin), message));
        }
        for document in documents {
            match document {
                Ok(document) => self.take_piece(&document, &document.piece, None, 0),
                Err(problem) => self.loaded.problems.push(problem),
            }
        }
    }

    /// Takes an object, or the objects of a list. `listed` is the kind and the API version that the list itself has.
    fn take_piece(&mut self, document: &Document<'_>, piece: &Piece<'_>, listed: Option<&Head>, depth: u32) {
        let mapping = piece.mapping("items");
        let head = Head::of(&mapping, listed);
        if let Some(elements) = &mapping.elements {
            self.take_elements(document, elements, &head, depth);
        }
        if let Some(fault) = mapping.fault {
            self.loaded.problems.push(document.problem(fault));
        } else if mapping.elements.is_none() {
            self.take_object(document, piece, &head);
        }
    }

    fn take_elements(&mut self, document: &Document<'_>, elements: &[Piece<'_>], list: &Head, depth: u32) {
        for element in elements {
            if depth < DEPTH_LIMIT {
                self.take_piece(document, element, Some(list), depth + 1);
                continue;
            }
            let message = format!("lists within lists are followed {DEPTH_LIMIT} deep, and this one is deeper");
            self.loaded.problems.push(Problem::error(Code::TooDeep, document.place_of(element), message));
            return;
        }
    }

    fn take_object(&mut self, document: &Document<'_>, piece: &Piece<'_>, head: &Head) {
        let place = document.place_of(piece);
        let Some(name) = &head.kind else {
            // Where the text is broken, its own fault says more than what is missing in it.
            if let Err(fault) = piece.read::<serde::de::IgnoredAny>(&[]) {
                self.loaded.problems.push(document.problem(fault));
                return;
            }
            let message = "there is no field kind; a Kubernetes object has apiVersion, kind and metadata";
            self.loaded.problems.push(Problem::error(Code::UnexpectedDocument, place, message));
            return;
        };
        let Some(kind) = Kind::find(head.group(), name) else {
            self.count_unknown(head, name, place);
            return;
        };
        let reading = Reading::of(kind, document, piece);
        self.loaded.problems.extend(reading.problems);
        match reading.object {
            Some(object) => self.keep(object, place),
            None => self.loaded.unreadable.push((kind, reading.name)),
        }
    }

    fn keep(&mut self, mut object: Object, place: Place) {
        let key = (object.kind(), object.name().clone());
        if let Some(before) = self.places.insert(key, place.clone()) {
            let message = format!("stands at {before} too; the later one is used");
            let described = describe(object.kind(), object.name());
            self.loaded.problems.push(Problem::warning(Code::Duplicate, place, message).in_object(described));
        } else {
            *self.loaded.counts.entry(object.kind()).or_default() += 1;
        }
        self.common.share(&mut object);
        self.loaded.index.apply(object);
    }

    /// An unknown kind is named once and counted.
    fn count_unknown(&mut self, head: &Head, name: &str, place: Place) {
        let full = match head.group() {
            None | Some("") => name.to_owned(),
            Some(group) => format!("{name}.{group}"),
        };
        if !self.loaded.unknown_kinds.contains_key(&full) {
            let message = format!("objects of kind {full} are not read, and not needed");
            self.loaded.problems.push(Problem::warning(Code::UnknownKind, place, message));
        }
        *self.loaded.unknown_kinds.entry(full).or_default() += 1;
    }

    fn finish(self) -> Loaded {
        self.loaded
    }
}

/// What an object says it is.
#[derive(Default)]
struct Head {
    api_version: Option<String>,
    kind: Option<String>,
}

impl Head {
    /// The elements of a `PodList` need not say that they are pods.
    fn of(mapping: &Mapping<'_>, listed: Option<&Self>) -> Self {
        let kind = mapping.string("kind");
        let api_version = mapping.string("apiVersion");
        if kind.is_some() {
            return Self { api_version, kind };
        }
        let list = listed.and_then(|list| list.kind.as_deref()).and_then(|kind| kind.strip_suffix("List"));
        let kind = list.filter(|kind| !kind.is_empty()).map(str::to_owned);
        let inherited = listed.and_then(|list| list.api_version.clone());
        Self { api_version: api_version.or(inherited), kind }
    }

    /// The API group; `None` where there is no API version.
    fn group(&self) -> Option<&str> {
        let version = self.api_version.as_deref()?;
        Some(version.split_once('/').map_or("", |(group, _)| group))
    }
}
