//! YAML: cut by its indentation where it is in block style, unfolded by the parser where it is not, read by serde.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{Error, Options};

use crate::outline::{Format, Position};
use crate::piece::Wrapper;
use crate::skeleton::{self, Line};
use crate::{Code, Fault, Mapping, Piece, json};

/// Up to this many bytes a text that may have anchors is unfolded as a whole, since an element could name another's anchor.
/// No tool prints anchors; a longer text is cut all the same, and the elements that use them are at fault.
const ANCHORS_LIMIT: usize = 4 << 20;

/// Cuts a mapping into its entries, and the list under `list_key` into its elements.
pub(crate) fn mapping<'a>(piece: &Piece<'a>, list_key: &str) -> Mapping<'a> {
    let may_have_anchors = piece.text.len() <= ANCHORS_LIMIT && has_anchors(&piece.text);
    let is_cuttable = piece.wrapper != Wrapper::Entry;
    if is_cuttable
        && !may_have_anchors
        && let Some(mapping) = cut(piece, list_key, Oddity::Refused)
    {
        return mapping;
    }
    let unfolded = unfold(piece, list_key);
    if is_cuttable
        && unfolded.fault.is_some()
        && let Some(mapping) = cut(piece, list_key, Oddity::Ignored)
        && mapping.elements.is_some()
    {
        return mapping;
    }
    unfolded
}

/// What becomes of a line that does not look like block style.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Oddity {
    /// The text is not cut.
    Refused,
    /// It belongs to the piece before it, which is at fault when it is read. For a text that the parser refuses as a whole.
    Ignored,
}

/// Whether something looks like an anchor or an alias. A quoted text may look so too.
fn has_anchors(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins_value = |at: usize| at == 0 || b" ,[{\n".contains(&bytes[at - 1]);
    let is_named = |at: usize| bytes.get(at + 1).is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.match_indices(['&', '*']).any(|(at, _)| begins_value(at) && is_named(at))
}

/// Cuts a block mapping, or a block list. `None` where it looks like something else.
fn cut<'a>(piece: &Piece<'a>, list_key: &str, oddity: Oddity) -> Option<Mapping<'a>> {
    let mut cut = Cut { piece, list_key, base: None, stage: Stage::Start, open: None, mapping: Mapping::default() };
    for line in skeleton::lines(&piece.text, piece.wrapper == Wrapper::Element) {
        let is_taken = line.is_idle() || cut.take(&line).is_some();
        if !is_taken && (oddity == Oddity::Refused || cut.open.is_none()) {
            return None;
        }
    }
    cut.close(piece.text.len());
    cut.base.map(|_| cut.mapping)
}

/// What the last line began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing yet.
    Start,
    /// An element of a list that stands in the mapping's place.
    RootElement,
    /// An entry.
    Entry,
    /// The entry that holds the list; its elements are still to come.
    ListKey,
    /// An element of that list, whose dashes are indented so far.
    Element(usize),
}

/// A piece whose end is not reached yet.
struct Open<'b> {
    /// The entry's key; `None` for an element.
    key: Option<&'b str>,
    from: usize,
    position: Position,
}

struct Cut<'a, 'b> {
    piece: &'b Piece<'a>,
    list_key: &'b str,
    /// The mapping's own indentation.
    base: Option<usize>,
    stage: Stage,
    open: Option<Open<'b>>,
    mapping: Mapping<'a>,
}

impl<'b> Cut<'_, 'b> {
    fn take(&mut self, line: &Line<'b>) -> Option<()> {
        let base = *self.base.get_or_insert(line.indent);
        let (at_base, is_element) = (line.indent == base, line.is_element());
        match self.stage {
            _ if line.indent < base => None,
            Stage::Start | Stage::RootElement if at_base && is_element => self.start_element(line, Stage::RootElement),
            Stage::RootElement => (!at_base).then_some(()),
            // Also the dashes of another entry's list.
            Stage::Entry if !at_base || is_element => Some(()),
            Stage::ListKey if is_element => self.start_element(line, Stage::Element(line.indent)),
            Stage::Element(indent) if is_element && line.indent == indent => self.start_element(line, self.stage),
            Stage::Element(indent) if line.indent > indent => Some(()),
            Stage::Start | Stage::Entry | Stage::ListKey | Stage::Element(_) if at_base => self.start_entry(line),
            Stage::Start | Stage::Entry | Stage::ListKey | Stage::Element(_) => None,
        }
    }

    fn start_entry(&mut self, line: &Line<'b>) -> Option<()> {
        let (key, value) = line.entry()?;
        self.close(line.at);
        if key != self.list_key {
            self.stage = Stage::Entry;
            self.open(line, Some(key));
            return Some(());
        }
        self.mapping.elements.get_or_insert_default();
        match value {
            "" => self.stage = Stage::ListKey,
            "[]" | "null" | "~" => self.stage = Stage::Entry,
            _ => return None,
        }
        Some(())
    }

    fn start_element(&mut self, line: &Line<'b>, stage: Stage) -> Option<()> {
        self.close(line.at);
        self.stage = stage;
        self.open(line, None);
        Some(())
    }

    /// An entry begins at its key, so that it is a mapping by itself; an element with the whole line.
    fn open(&mut self, line: &Line<'b>, key: Option<&'b str>) {
        let skipped = if key.is_some() { line.indent } else { 0 };
        let first_column = if line.number == 0 { self.piece.position.column } else { 1 };
        let position = Position { line: self.piece.position.line + line.number, column: first_column + skipped as u32 };
        self.open = Some(Open { key, from: line.at + skipped, position });
    }

    fn close(&mut self, to: usize) {
        let Some(Open { key, from, position }) = self.open.take() else { return };
        match key {
            Some(key) => {
                let entry = self.piece.part(Wrapper::Entry, from, to, position);
                self.mapping.entries.push((key.to_owned(), entry));
            }
            None => {
                let element = self.piece.part(Wrapper::Element, from, to, position);
                self.mapping.elements.get_or_insert_default().push(element);
            }
        }
    }
}

/// Lets the parser read all of it and cuts what it read.
fn unfold<'a>(piece: &Piece<'a>, list_key: &str) -> Mapping<'a> {
    let value: serde_json::Value = match read_with(piece, &[], &options(false)) {
        Ok(value) => value,
        Err(fault) => return Mapping { fault: Some(fault), ..Mapping::default() },
    };
    if !value.is_object() && !value.is_array() {
        return Mapping::default();
    }
    let unfolded = Piece {
        format: Format::Json,
        wrapper: Wrapper::Whole,
        text: Cow::Owned(value.to_string()),
        position: piece.position,
        exact: false,
    };
    json::mapping(&unfolded, list_key)
}

/// Reads a value.
pub(crate) fn read<T: DeserializeOwned>(piece: &Piece<'_>, unread: &[(&str, &str)]) -> Result<T, Fault> {
    read_with(piece, unread, &options(true))
}

/// `is_typed`: whether a plain `true` or `5` is refused where a text is meant, as Kubernetes refuses it.
fn options(is_typed: bool) -> Options {
    serde_saphyr::options! {
        with_snippet: false,
        no_schema: is_typed,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
    }
}

fn read_with<T: DeserializeOwned>(piece: &Piece<'_>, unread: &[(&str, &str)], options: &Options) -> Result<T, Fault> {
    let text = if unread.is_empty() {
        Cow::Borrowed(&*piece.text)
    } else {
        skeleton::without(&piece.text, piece.wrapper == Wrapper::Element, unread)
    };
    let mut path = None;
    let outcome = match piece.wrapper {
        Wrapper::Whole => parse(&text, options, &mut path),
        Wrapper::Element => parse(&text, options, &mut path).map(|(value,): (T,)| value),
        Wrapper::Entry => parse(&text, options, &mut path).map(|OnlyEntry(value)| value),
    };
    outcome.map_err(|error| {
        let is_yaml = parse::<IgnoredAny>(&text, options, &mut None).is_ok();
        let code = if is_yaml { Code::MalformedField } else { Code::BrokenYaml };
        let field = path.filter(|_| is_yaml).and_then(|path| field_of(&path, piece.wrapper));
        let (line, column) = error.location().map_or((0, 0), |found| (found.line() as u32, found.column() as u32));
        piece.fault(code, field, message_of(&error), line, column)
    })
}

/// Parses once, and where that fails a second time for the field's path, which costs time.
fn parse<T: DeserializeOwned>(text: &str, options: &Options, path: &mut Option<String>) -> Result<T, Error> {
    let error = match serde_saphyr::from_str_with_options(text, options.clone()) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let tracked = serde_saphyr::with_deserializer_from_str_with_options(text, options.clone(), |deserializer| {
        serde_path_to_error::deserialize::<_, T>(deserializer).map_err(|error| {
            *path = Some(error.path().to_string());
            error.into_inner()
        })
    });
    Err(tracked.err().unwrap_or(error))
}

/// The value of a mapping with one entry.
struct OnlyEntry<T>(T);

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for OnlyEntry<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = BTreeMap::<String, T>::deserialize(deserializer)?;
        entries.into_values().next().map(OnlyEntry).ok_or_else(|| serde::de::Error::custom("there is no value"))
    }
}

/// The field's path without the piece's own outline.
fn field_of(path: &str, wrapper: Wrapper) -> Option<String> {
    let path = match wrapper {
        Wrapper::Whole => path,
        Wrapper::Element => path.strip_prefix("[0]").unwrap_or(path),
        Wrapper::Entry => path.split_once('.').map_or("", |(_, rest)| rest),
    };
    let path = path.strip_prefix('.').unwrap_or(path);
    (!path.is_empty() && path != "?").then(|| path.to_owned())
}

/// The message without the position, which counts from the beginning of the piece.
fn message_of(error: &Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) if error.location().is_some() => text[..end].to_owned(),
        _ => text,
    }
}
