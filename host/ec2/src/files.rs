//! EC2 from files: what `aws ec2 describe-volumes` and `aws ec2 describe-instances` print, as JSON or YAML.
//!
//! Several pages may follow one another in a file. A bare list, as `--query 'Volumes[]'` prints it, is read too. A volume
//! that no file lists is unknown and not missing: a listing may be filtered, by `--filters`, `--volume-ids` or the account
//! and region it was made with, and does not say so.
//!
//! The evidence of files has the age 0 by default, so that a dump of yesterday can be judged as it was; give
//! [`Files::observed_at`] the files' own time to have it age.

use std::collections::BTreeMap;
use std::future::ready;
use std::path::PathBuf;

use jiff::Timestamp;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName};
use zonewarden_documents::{Code, Document, Fault, Mapping, Piece, Place, Problem, Text, source};

use crate::records::{Instance, Volume};
use crate::verify::{Answer, BulkVerify, Evidence, Question, Sweep, UnknownCause};
use crate::wire;

/// What files gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The volumes, by id.
    pub volumes: BTreeMap<String, Volume>,
    /// The instances, by id.
    pub instances: BTreeMap<String, Instance>,
    /// What could not be read, and what is worth knowing, in the order of the files.
    pub problems: Vec<Problem>,
}

/// Reads files; `-` is standard input. A file that can't be read costs itself only.
pub fn load(paths: &[PathBuf]) -> Loaded {
    let mut reading = Reading::default();
    for path in paths {
        match source::read(path) {
            Ok(bytes) => reading.take(&bytes, &path.to_string_lossy()),
            Err(problem) => reading.loaded.problems.push(problem),
        }
    }
    reading.loaded
}

/// Reads the bytes of one file. `origin` is its name for the problems.
pub fn parse(bytes: &[u8], origin: &str) -> Loaded {
    let mut reading = Reading::default();
    reading.take(bytes, origin);
    reading.loaded
}

#[derive(Default)]
struct Reading {
    loaded: Loaded,
    /// Where each volume and instance stands, for the warning about a second one.
    places: BTreeMap<String, Place>,
}

/// What an element of a list is.
#[derive(Clone, Copy)]
enum Element {
    Volume,
    Reservation,
    Instance,
}

impl Reading {
    fn take(&mut self, bytes: &[u8], origin: &str) {
        let text = Text::new(origin, bytes);
        let documents = text.documents();
        if documents.is_empty() {
            let message =
                "there is nothing in it; aws ec2 describe-volumes and describe-instances print what is read here";
            self.loaded.problems.push(Problem::warning(Code::Empty, Place::file(origin), message));
        }
        for document in documents {
            match document {
                Ok(document) => self.take_document(&document),
                Err(problem) => self.loaded.problems.push(problem),
            }
        }
    }

    fn take_document(&mut self, document: &Document<'_>) {
        let volumes = document.piece.mapping("Volumes");
        if volumes.elements.is_some() && volumes.entries.is_empty() && is_list(&document.piece, &volumes) {
            self.take_bare_list(document, volumes);
            return;
        }
        let reservations = document.piece.mapping("Reservations");
        if volumes.elements.is_none() && reservations.elements.is_none() && volumes.fault.is_none() {
            let message = "there is neither a list Volumes nor a list Reservations; aws ec2 describe-volumes and \
                           describe-instances print what is read here";
            let place = document.place_of(&document.piece);
            self.loaded.problems.push(Problem::error(Code::UnexpectedDocument, place, message));
        }
        if volumes.string("NextToken").is_some_and(|token| !token.is_empty()) {
            let message = "NextToken says that there are more pages than this one; what they list is unknown here";
            let place = document.place_of(&document.piece);
            self.loaded.problems.push(Problem::warning(Code::Partial, place, message));
        }
        let fault = volumes.fault.clone().or_else(|| reservations.fault.clone());
        self.take_elements(document, volumes.elements, Element::Volume);
        self.take_elements(document, reservations.elements, Element::Reservation);
        self.loaded.problems.extend(fault.map(|fault| document.problem(fault)));
    }

    /// A list without a name: each element shows what it is by the key that it has.
    fn take_bare_list(&mut self, document: &Document<'_>, list: Mapping<'_>) {
        for piece in list.elements.into_iter().flatten() {
            let mapping = piece.mapping("Instances");
            let element = if mapping.elements.is_some() {
                Element::Reservation
            } else if mapping.entry("InstanceId").is_some() {
                Element::Instance
            } else {
                Element::Volume
            };
            self.take_elements(document, Some(vec![piece]), element);
        }
        self.loaded.problems.extend(list.fault.map(|fault| document.problem(fault)));
    }

    fn take_elements(&mut self, document: &Document<'_>, pieces: Option<Vec<Piece<'_>>>, element: Element) {
        for piece in pieces.into_iter().flatten() {
            match element {
                Element::Volume => self.take_volume(document, &piece),
                Element::Instance => self.take_instance(document, &piece),
                Element::Reservation => {
                    let mapping = piece.mapping("Instances");
                    self.loaded.problems.extend(mapping.fault.map(|fault| document.problem(fault)));
                    self.take_elements(document, mapping.elements, Element::Instance);
                }
            }
        }
    }

    fn take_volume(&mut self, document: &Document<'_>, piece: &Piece<'_>) {
        match piece.read::<wire::Volume>(&[]).map(wire::Volume::into_record) {
            Ok(volume) => {
                let id = volume.id.aws_volume_id.clone();
                if self.is_named(document, piece, ("volume", "VolumeId"), &id) {
                    self.loaded.volumes.insert(id, volume);
                }
            }
            Err(fault) => self.refuse(document, piece, ("volume", "VolumeId"), fault),
        }
    }

    fn take_instance(&mut self, document: &Document<'_>, piece: &Piece<'_>) {
        match piece.read::<wire::Instance>(&[]).map(wire::Instance::into_record) {
            Ok(instance) => {
                let id = instance.id.instance_id.clone();
                if self.is_named(document, piece, ("instance", "InstanceId"), &id) {
                    self.loaded.instances.insert(id, instance);
                }
            }
            Err(fault) => self.refuse(document, piece, ("instance", "InstanceId"), fault),
        }
    }

    /// Whether there is an id; a second element of the same id is noted, and the later one is used.
    fn is_named(&mut self, document: &Document<'_>, piece: &Piece<'_>, (what, key): (&str, &str), id: &str) -> bool {
        let place = document.place_of(piece);
        if id.is_empty() {
            let problem = Problem::error(Code::MalformedField, place, "is empty; EC2 gives every one an id");
            self.loaded.problems.push(problem.in_object(what).in_field(key));
            return false;
        }
        if let Some(before) = self.places.insert(format!("{what} {id}"), place.clone()) {
            let message = format!("stands at {before} too; the later one is used");
            let problem = Problem::warning(Code::Duplicate, place, message);
            self.loaded.problems.push(problem.in_object(format!("{what} {id}")));
        }
        true
    }

    fn refuse(&mut self, document: &Document<'_>, piece: &Piece<'_>, (what, key): (&str, &str), fault: Fault) {
        let object = match piece.mapping("Instances").string(key) {
            Some(id) => format!("{what} {id}"),
            None => what.to_owned(),
        };
        self.loaded.problems.push(document.problem(fault).in_object(object));
    }
}

/// Whether the document is itself a list, and not a mapping whose only entry is one.
fn is_list(piece: &Piece<'_>, mapping: &Mapping<'_>) -> bool {
    let other = piece.mapping("Reservations");
    other.entries.is_empty() && other.elements.as_ref().map(Vec::len) == mapping.elements.as_ref().map(Vec::len)
}

/// Files as something that can be asked.
#[derive(Clone, Debug)]
pub struct Files {
    /// What they hold.
    pub loaded: Loaded,
    /// When it was observed, for the age of the evidence.
    pub observed_at: Timestamp,
}

impl Files {
    /// Reads files (see [`load`]) as of a moment; again after an edit, for the whole of what they hold then.
    pub fn load(paths: &[PathBuf], observed_at: Timestamp) -> Self {
        Self { loaded: load(paths), observed_at }
    }

    /// The answer, at once.
    pub fn sweep(&self, question: &Question) -> Sweep {
        let Loaded { volumes, instances, problems } = &self.loaded;
        let volume = |id: &AwsVolumeId| self.evidence(volumes.get(&id.aws_volume_id), volumes.is_empty());
        let instance = |id: &InstanceId| self.evidence(instances.get(&id.instance_id), instances.is_empty());
        Sweep {
            volumes: question.volumes.iter().map(volume).collect(),
            instances: question.instances.iter().map(instance).collect(),
            names: question.names.iter().map(|name| self.is_name_taken(name)).collect(),
            problems: problems.clone(),
        }
    }

    fn is_name_taken(&self, name: &NodeName) -> Option<bool> {
        let instances = &self.loaded.instances;
        (!instances.is_empty()).then(|| instances.values().any(|instance| instance.bears(name)))
    }

    fn evidence<T: Clone>(&self, record: Option<&T>, is_empty: bool) -> Evidence<T> {
        match record {
            Some(record) => Evidence::Found { observed_at: self.observed_at, record: record.clone() },
            None if is_empty => Evidence::Unknown(UnknownCause::NotAsked),
            None => Evidence::Unknown(UnknownCause::NotListed),
        }
    }
}

impl BulkVerify for Files {
    fn verify<'a>(&'a self, question: &'a Question) -> Answer<'a> {
        Box::pin(ready(self.sweep(question)))
    }
}
