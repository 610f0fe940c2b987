//! Volume ids: one reader for every spelling of them, and one canonical id to compare by (B1, B3).
//!
//! A Kubernetes object names an EBS volume as `vol-…`, `aws:///vol-…` or `aws://<zone>/vol-…`, and Kubernetes lets much more
//! pass. [`parse`] reads all of it. Lenient mode accepts what Kubernetes' translation library accepts, with one warning for
//! each [`Leniency`]; strict mode accepts the three documented spellings. Where we differ from the library:
//!
//! - empty text names no volume; the library returns it as an id;
//! - an id that is percent-encoded is rejected, since a canonical id must occur in its text as it stands: so every id is a
//!   slice of its text, and reading one allocates nothing;
//! - whitespace around an id is trimmed (D-4); the library keeps it, and EC2 would then not find the volume;
//! - the zone part is a hint where it is a zone's name, and a warning where it is not; the library ignores it.

mod grammar;
mod leniency;
mod rejection;
mod url;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod table;

pub use leniency::{Leniencies, Leniency};
pub use rejection::{ACCEPTED, Rejection};

use crate::answer::finding;
use crate::settings::VolumeIds;
use std::fmt;
use zonewarden_bindings::types::{AwsVolumeId, Finding, Problem, Severity, Zone};

/// A canonical volume id. Two texts name one volume where their canonical ids are equal.
///
/// It borrows from the text that it was read from; only this module makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeId<'a>(&'a str);

impl<'a> VolumeId<'a> {
    /// The id as EC2 writes it.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

impl fmt::Display for VolumeId<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl AsRef<str> for VolumeId<'_> {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl From<VolumeId<'_>> for AwsVolumeId {
    fn from(id: VolumeId<'_>) -> Self {
        Self { aws_volume_id: id.0.to_owned() }
    }
}

/// A text that was accepted, and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedVolumeId<'a> {
    text: &'a str,
    reading: grammar::Reading<'a>,
}

impl<'a> ParsedVolumeId<'a> {
    /// The canonical id.
    #[must_use]
    pub const fn id(&self) -> VolumeId<'a> {
        VolumeId(self.reading.id)
    }

    /// The text, byte for byte.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// The zone that the text names, where it is a zone's name. Nobody ever checked it.
    #[must_use]
    pub const fn zone_hint(&self) -> Option<&'a str> {
        self.reading.zone_hint
    }

    /// The same as the contract's record.
    #[must_use]
    pub fn to_zone(&self) -> Option<Zone> {
        self.zone_hint().map(|zone| Zone { zone: zone.to_owned() })
    }

    /// Whether EC2 may be asked about the id (D-3): `vol-` and 8 or 17 lower case hexadecimal digits.
    #[must_use]
    pub const fn is_askable(&self) -> bool {
        self.reading.askable
    }

    /// Whether the text begins with `aws://`, whitespace aside.
    #[must_use]
    pub fn is_url(&self) -> bool {
        self.text.trim_start().starts_with(url::PREFIX)
    }

    /// What Kubernetes let pass in the text.
    #[must_use]
    pub const fn leniencies(&self) -> Leniencies {
        self.reading.leniencies
    }

    /// One warning for each leniency. For an id in one of the documented spellings, an empty list and no allocation.
    #[must_use]
    pub fn warnings(&self) -> Vec<Finding> {
        let warning = |leniency: Leniency| {
            finding(Severity::Warning, leniency.code(), format!("volume id {:?}: {}", self.text, leniency.cause()))
        };
        self.leniencies().iter().map(warning).collect()
    }
}

/// Reads a volume id, as [`read`] does.
///
/// # Errors
/// The problem, with the subject `volume id`: callers that know the object's field use [`read`].
pub fn parse(text: &str, mode: VolumeIds) -> Result<ParsedVolumeId<'_>, Problem> {
    read(text, mode).map_err(|rejection| rejection.into_problem("volume id", text))
}

/// Reads a volume id.
///
/// # Errors
/// The rule that the text breaks in this mode.
pub fn read(text: &str, mode: VolumeIds) -> Result<ParsedVolumeId<'_>, Rejection> {
    let reading = grammar::read(text)?;
    let forbidden = match mode {
        VolumeIds::Lenient => None,
        VolumeIds::Strict => reading.leniencies.iter().find(|leniency| leniency.is_strict()),
    };
    forbidden.map_or(Ok(ParsedVolumeId { text, reading }), |leniency| Err(Rejection::Strict(leniency)))
}
