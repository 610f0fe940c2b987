//! A piece of a document: the whole of it, one entry of its mapping, or one element of its list.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use crate::outline::{Format, Position};
use crate::{Code, json, yaml};

/// How a piece's text stands to its value. In YAML an entry and an element keep their outline (`key: `, `- `), so that they
/// are YAML by themselves and every column stays what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    Whole,
    /// A mapping with one entry.
    Entry,
    /// A list with one element.
    Element,
}

/// A piece of a document, not yet read.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    pub(crate) format: Format,
    pub(crate) wrapper: Wrapper,
    pub(crate) text: Cow<'a, str>,
    pub(crate) position: Position,
    /// Whether positions in the text are positions in the file. They are not where the text had to be unfolded first.
    pub(crate) exact: bool,
}

/// Why a piece could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of fault.
    pub code: Code,
    /// The path of the field, where it is one field's fault.
    pub field: Option<String>,
    /// What was found and what was expected.
    pub message: String,
    /// Where in the file.
    pub position: Position,
}

/// A mapping cut into its entries, of which one may hold a list that is cut into its elements.
#[derive(Clone, Debug, Default)]
pub struct Mapping<'a> {
    /// The entries but for the list's, in their order.
    pub entries: Vec<(String, Piece<'a>)>,
    /// The elements of the list; `None` where the mapping has no list under that key.
    pub elements: Option<Vec<Piece<'a>>>,
    /// Why the mapping could not be followed to its end; what stood before is there.
    pub fault: Option<Fault>,
}

impl<'a> Mapping<'a> {
    /// The entry of this key.
    pub fn entry(&self, key: &str) -> Option<&Piece<'a>> {
        self.entries.iter().find(|(found, _)| found == key).map(|(_, piece)| piece)
    }

    /// The text that is the value of this key; `None` where there is none, or it is no text.
    pub fn string(&self, key: &str) -> Option<String> {
        self.entry(key)?.read(&[]).ok()
    }
}

impl<'a> Piece<'a> {
    pub(crate) fn whole(format: Format, text: &'a str, position: Position) -> Self {
        Self { format, wrapper: Wrapper::Whole, text: Cow::Borrowed(text), position, exact: true }
    }

    /// A part of this piece's text. It borrows what this piece borrows; of an owned text it is a copy.
    pub(crate) fn part(&self, wrapper: Wrapper, from: usize, to: usize, position: Position) -> Self {
        let text = match &self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[from..to]),
            Cow::Owned(text) => Cow::Owned(text[from..to].to_owned()),
        };
        let position = if self.exact { position } else { self.position };
        Self { format: self.format, wrapper, text, position, exact: self.exact }
    }

    /// The text, with its outline.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the text begins in the file.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Cuts a mapping into its entries, and the list under `list_key` into its elements. A list in the place of the mapping
    /// is cut into its elements. What is neither is a fault.
    pub fn mapping(&self, list_key: &str) -> Mapping<'a> {
        match self.format {
            Format::Json => json::mapping(self, list_key),
            Format::Yaml => yaml::mapping(self, list_key),
        }
    }

    /// Reads the piece's value. `unread` names entries of entries (`metadata.managedFields`) that `T` does not look at and
    /// that are long: in YAML they are left out before anything is parsed, which is most of the time that reading takes.
    ///
    /// # Errors
    /// A fault with the position and, where it is one field's, with its path.
    pub fn read<T: DeserializeOwned>(&self, unread: &[(&str, &str)]) -> Result<T, Fault> {
        match self.format {
            Format::Json => json::read(self),
            Format::Yaml => yaml::read(self, unread),
        }
    }

    /// The fault at a position that a parser counted from the beginning of this text, from 1.
    pub(crate) fn fault(&self, code: Code, field: Option<String>, message: String, line: u32, column: u32) -> Fault {
        let position = match (self.exact, line) {
            (false, _) | (_, 0) => self.position,
            (true, 1) => Position { line: self.position.line, column: self.position.column + column.saturating_sub(1) },
            (true, line) => Position { line: self.position.line + line - 1, column },
        };
        Fault { code, field, message, position }
    }
}
