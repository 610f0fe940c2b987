//! What could not be read, said so that its reader finds the place and knows what to do.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The file's path as it was given; `-` is standard input.
    pub file: Arc<str>,
    /// The document in the file, counted from 1; 0 where the file as a whole is meant.
    pub document: u32,
    /// The line in the file, counted from 1; 0 where none can be named.
    pub line: u32,
    /// The character in the line, counted from 1; 0 where none can be named.
    pub column: u32,
}

impl Place {
    /// The file as a whole.
    pub fn file(file: impl Into<Arc<str>>) -> Self {
        Self { file: file.into(), document: 0, line: 0, column: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.file {
            "-" => f.write_str("standard input")?,
            file => f.write_str(file)?,
        }
        if self.document > 0 {
            write!(f, ", document {}", self.document)?;
        }
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ", column {}", self.column)?;
        }
        Ok(())
    }
}

/// How much a problem costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Everything was read; something about it is worth knowing.
    Warning,
    /// Something was not read, and the answer lacks it.
    Error,
}

/// What kind of problem it is, for programs and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// There is no such file.
    FileMissing,
    /// A directory stands where a file is meant.
    FileIsDirectory,
    /// The operating system does not let us read it.
    FileUnreadable,
    /// The file is larger than [`crate::source::SIZE_LIMIT`].
    FileTooLarge,
    /// Neither UTF-8 nor, by its mark, UTF-16.
    NotText,
    /// Nothing in it: no document, or no object.
    Empty,
    /// It ends before it is complete.
    Truncated,
    /// Not JSON.
    BrokenJson,
    /// Not YAML.
    BrokenYaml,
    /// A document of another kind than is read here.
    UnexpectedDocument,
    /// A field is not of the form that it must have.
    MalformedField,
    /// A quantity that can't be read; the object is there without it.
    MalformedQuantity,
    /// One object stands there twice.
    Duplicate,
    /// Objects of a kind that is not read here.
    UnknownKind,
    /// A listing that says itself that it is not complete.
    Partial,
    /// Lists within lists, too deep to follow.
    TooDeep,
    /// A service asked us to slow down.
    Throttled,
    /// A service does not accept our credentials, or does not allow the request.
    Denied,
    /// A service gave no answer that can be read.
    Unavailable,
    /// A service answered with an error about what was asked.
    Rejected,
}

impl Code {
    /// The stable code in kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileMissing => "file-missing",
            Self::FileIsDirectory => "file-is-directory",
            Self::FileUnreadable => "file-unreadable",
            Self::FileTooLarge => "file-too-large",
            Self::NotText => "not-text",
            Self::Empty => "empty",
            Self::Truncated => "truncated",
            Self::BrokenJson => "broken-json",
            Self::BrokenYaml => "broken-yaml",
            Self::UnexpectedDocument => "unexpected-document",
            Self::MalformedField => "malformed-field",
            Self::MalformedQuantity => "malformed-quantity",
            Self::Duplicate => "duplicate",
            Self::UnknownKind => "unknown-kind",
            Self::Partial => "partial",
            Self::TooDeep => "too-deep",
            Self::Throttled => "throttled",
            Self::Denied => "denied",
            Self::Unavailable => "unavailable",
            Self::Rejected => "rejected",
        }
    }
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What it costs.
    pub severity: Severity,
    /// What kind of problem it is.
    pub code: Code,
    /// Where it is.
    pub place: Place,
    /// The object that it is in, where one can be named: `PersistentVolume pv-1`.
    pub object: Option<String>,
    /// The field that it is in, where one can be named: `spec.csi.volumeHandle`.
    pub field: Option<String>,
    /// One sentence without a full stop: the offending text, what is accepted, what to do.
    pub message: String,
}

impl Problem {
    /// A problem that costs something.
    pub fn error(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, place, object: None, field: None, message: message.into() }
    }

    /// A problem that costs nothing.
    pub fn warning(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, place, message) }
    }

    /// Whether it costs a whole document, and not just something in it: so whoever edits a file leaves it for a moment.
    #[must_use]
    pub fn costs_a_document(&self) -> bool {
        let broken = matches!(self.code, Code::NotText | Code::Truncated | Code::BrokenJson | Code::BrokenYaml);
        broken && self.severity == Severity::Error
    }

    /// The same, with the object that it is in.
    #[must_use]
    pub fn in_object(self, object: impl Into<String>) -> Self {
        Self { object: Some(object.into()), ..self }
    }

    /// The same, with the field that it is in.
    #[must_use]
    pub fn in_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(object) = &self.object {
            write!(f, "{object}: ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)
    }
}
