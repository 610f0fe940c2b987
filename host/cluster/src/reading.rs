//! What was read of one object, from wherever it came.
//!
//! One that can't be read is named as far as its metadata can be, so that it can be told, and so that what is known of it from
//! before is not taken for deleted.

use std::sync::Arc;

use zonewarden_documents::{Code, Document, Piece, Problem};

use crate::objects::{Kind, Object};
use crate::quantity;
use crate::records::{DEFAULT_NAMESPACE, ObjectName};

/// What was read of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace and name, as far as they could be read; an empty name where there is none.
    pub name: ObjectName,
    /// `metadata.resourceVersion`, as far as it could be read.
    pub resource_version: String,
    /// The object; `None` where it can't be read.
    pub object: Option<Object>,
    /// Why it can't be read, or what of it can't be.
    pub problems: Vec<Problem>,
}

impl Reading {
    /// An object that is there and can't be read, where why is told elsewhere.
    pub(crate) fn unreadable(kind: Kind, name: ObjectName) -> Self {
        Self { kind, name, resource_version: String::new(), object: None, problems: Vec::new() }
    }

    /// Reads one of a document's pieces as an object of this kind.
    pub(crate) fn of(kind: Kind, document: &Document<'_>, piece: &Piece<'_>) -> Self {
        let place = document.place_of(piece);
        let mut unreadable = Vec::new();
        match Object::read(kind, piece, &mut unreadable) {
            Ok(object) if object.name().name.is_empty() => {
                let problem = Problem::error(Code::MalformedField, place, "is empty; every object has a name");
                let problem = problem.in_object(kind.as_str()).in_field("metadata.name");
                Self { object: None, problems: vec![problem], ..Self::from(object) }
            }
            Ok(object) => {
                let described = describe(kind, object.name());
                let problems = unreadable.into_iter().map(|quantity| {
                    let message = format!("{:?} is no quantity; accepted is {}", quantity.text, quantity::FORMS);
                    let problem = Problem::warning(Code::MalformedQuantity, place.clone(), message);
                    problem.in_object(described.clone()).in_field(quantity.field)
                });
                Self { problems: problems.collect(), ..Self::from(object) }
            }
            Err(fault) => {
                let said = Said::of(piece);
                let problem = document.problem(fault).in_object(describe(kind, &said.name));
                let (name, resource_version) = (said.full_name(kind), said.resource_version);
                Self { kind, name, resource_version, object: None, problems: vec![problem] }
            }
        }
    }
}

impl From<Object> for Reading {
    fn from(object: Object) -> Self {
        Self {
            kind: object.kind(),
            name: object.name().clone(),
            resource_version: object.identity().resource_version.clone(),
            object: Some(object),
            problems: Vec::new(),
        }
    }
}

/// An object's name for people; its kind alone where it has none.
pub(crate) fn describe(kind: Kind, name: &ObjectName) -> String {
    if name.name.is_empty() { kind.to_string() } else { format!("{kind} {name}") }
}

/// What the metadata of an object says that can't be read, as far as it can be.
struct Said {
    /// As it stands there: the namespace may be missing.
    name: ObjectName,
    resource_version: String,
}

impl Said {
    fn of(piece: &Piece<'_>) -> Self {
        let metadata = piece.mapping("items").entry("metadata").map(|metadata| metadata.mapping("items"));
        let text = |key: &str| metadata.as_ref().and_then(|metadata| metadata.string(key)).unwrap_or_default();
        Self { name: ObjectName::new(&text("namespace"), &text("name")), resource_version: text("resourceVersion") }
    }

    /// The name under which the object is kept when it can be read.
    fn full_name(&self, kind: Kind) -> ObjectName {
        let namespace = match &*self.name.namespace {
            _ if !kind.is_namespaced() => "",
            "" => DEFAULT_NAMESPACE,
            namespace => namespace,
        };
        ObjectName { namespace: namespace.into(), name: Arc::clone(&self.name.name) }
    }
}
