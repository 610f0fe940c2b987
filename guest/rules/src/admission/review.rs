//! Reads an AdmissionReview: which kind of object, which operation, and the parts of it that the rules need.

use serde_json::Value;
use zonewarden_bindings::admission::ConcernedVolume;
use zonewarden_bindings::types::{Error, Reason};

use super::object::{Field, Malformed};
use super::persistent_volume::PersistentVolume;
use super::pod::{Direct, Pod};
use crate::answer::{problem, reason};
use crate::settings::Settings;

/// How many bytes of a text that is no review are told back.
const MOST_ECHOED: usize = 256;

/// What an AdmissionReview is about.
pub(super) enum Subject {
    /// A PersistentVolume, created or updated.
    PersistentVolume(PersistentVolume),
    /// A pod, created.
    Pod(Pod),
    /// The volumes that a controller's pod template names directly.
    Template(Vec<Direct>),
    /// Something that is let in unchanged.
    Unhandled(Reason),
    /// An object of a kind that the rules handle, with a field of the wrong type. The API server itself refuses it.
    Unreadable(Malformed),
}

impl Subject {
    /// Reads the review.
    ///
    /// # Errors
    /// `Error::Question` for a text that is not an AdmissionReview of version 1.
    pub(super) fn parse(review: &str) -> Result<Self, Error> {
        // The parser's own limit on nesting is what keeps a hostile text from the stack.
        let document: Value = serde_json::from_str(review)
            .map_err(|error| bad("not-json", review, format!("the AdmissionReview is not JSON: {error}")))?;
        let root = Field::root(&document);
        let read = Request::read(&root).map_err(|Malformed(text)| bad("not-an-admission-review", review, text))?;
        Ok(read.subject(&root).unwrap_or_else(Self::Unreadable))
    }

    /// The volumes to look up, in a fixed order.
    pub(super) fn concerned(&self, settings: &Settings) -> Vec<ConcernedVolume> {
        let direct = |volumes: &[Direct]| volumes.iter().map(Direct::concerned).collect();
        match self {
            Self::PersistentVolume(volume) => volume.concerned(settings).into_iter().collect(),
            Self::Pod(pod) if pod.placed_by_others().is_none() => direct(&pod.volumes),
            Self::Template(volumes) => direct(volumes),
            Self::Pod(_) | Self::Unhandled(_) | Self::Unreadable(_) => Vec::new(),
        }
    }
}

/// The envelope of a review.
struct Request<'a> {
    operation: &'a str,
    group: &'a str,
    kind: &'a str,
    sub_resource: &'a str,
    namespace: &'a str,
}

impl<'a> Request<'a> {
    fn read(root: &Field<'a>) -> Result<Self, Malformed> {
        let (version, kind) = (root.get("apiVersion")?.text()?, root.get("kind")?.text()?);
        if (version, kind) != ("admission.k8s.io/v1", "AdmissionReview") {
            return Err(Malformed(format!(
                "apiVersion {version:?} and kind {kind:?} are not those of an AdmissionReview: give admission.k8s.io/v1 and AdmissionReview"
            )));
        }
        let request = root.get("request")?;
        let text = |keys: &[&str]| request.at(keys)?.text();
        let read = Self {
            operation: text(&["operation"])?,
            group: text(&["kind", "group"])?,
            kind: text(&["kind", "kind"])?,
            sub_resource: text(&["subResource"])?,
            namespace: text(&["namespace"])?,
        };
        if read.operation.is_empty() || read.kind.is_empty() {
            return Err(Malformed("request.operation and request.kind.kind must be there".to_owned()));
        }
        Ok(read)
    }

    fn subject(&self, root: &Field<'_>) -> Result<Subject, Malformed> {
        let creating = self.operation == "CREATE";
        let object = Field::root_of(&root.at(&["request", "object"])?);
        if !self.sub_resource.is_empty() || !(creating || self.operation == "UPDATE") {
            return Ok(self.unhandled());
        }
        match (self.group, self.kind) {
            ("", "PersistentVolume") => Ok(Subject::PersistentVolume(PersistentVolume::read(&object, creating)?)),
            ("", "Pod") if creating => Ok(Subject::Pod(Pod::read(&object, self.namespace)?)),
            _ => match template_path(self.group, self.kind) {
                Some(path) => Ok(Subject::Template(Direct::read_all(&object.at(path)?)?)),
                None => Ok(self.unhandled()),
            },
        }
    }

    fn unhandled(&self) -> Subject {
        let slash = if self.sub_resource.is_empty() { "" } else { "/" };
        let message = format!(
            "{} of {}{slash}{} does not concern any volume's zone",
            self.operation, self.kind, self.sub_resource
        );
        Subject::Unhandled(reason("not-handled", message))
    }
}

/// Where a controller keeps the spec of its pods.
fn template_path(group: &str, kind: &str) -> Option<&'static [&'static str]> {
    match (group, kind) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => Some(&["spec", "template", "spec"]),
        ("batch", "CronJob") => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        ("", "PodTemplate") => Some(&["template", "spec"]),
        _ => None,
    }
}

fn bad(rule: &str, review: &str, message: String) -> Error {
    const ACCEPTED: &[&str] = &["an AdmissionReview of admission.k8s.io/v1 as JSON"];
    // A review may be megabytes long; its beginning tells what it is.
    let beginning = &review[..review.floor_char_boundary(MOST_ECHOED)];
    Error::Question(problem("review", beginning, rule, message, ACCEPTED))
}
