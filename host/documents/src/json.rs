//! JSON: cut by its brackets, then read by serde.

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::outline::{Cursor, Position};
use crate::piece::Wrapper;
use crate::{Code, Fault, Mapping, Piece};

/// Where the value that begins at `start` ends; `None` where the text ends first. Only strings and brackets are looked at:
/// whether the value is JSON is found out when it is read.
pub(crate) fn value_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match *bytes.get(at)? {
            b'"' => at = string_end(text, at)?,
            b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
            b'}' | b']' if depth == 0 => return Some(at),
            b'}' | b']' => (at, depth) = (at + 1, depth - 1),
            b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return Some(at),
            b',' | b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            _ if depth > 0 => at += 1,
            _ => {
                let is_end = |byte: &u8| b",:{}[]\" \t\r\n".contains(byte);
                return Some(bytes[at..].iter().position(is_end).map_or(bytes.len(), |length| at + length.max(1)));
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The quote that has an even number of backslashes before it ends the string.
fn string_end(text: &str, start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let quote = at + text[at..].find('"')?;
        let backslashes = text.as_bytes()[start + 1..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        at = quote + 1;
        if backslashes % 2 == 0 {
            return Some(at);
        }
    }
}

/// Cuts an object into its entries, and the list under `list_key` into its elements.
pub(crate) fn mapping<'a>(piece: &Piece<'a>, list_key: &str) -> Mapping<'a> {
    let mut mapping = Mapping::default();
    let mut cursor = Cursor::new(&piece.text, piece.position);
    cursor.skip_whitespace();
    let outcome = match cursor.peek() {
        Some(b'{') => object(piece, list_key, &mut cursor, &mut mapping),
        Some(b'[') => elements(piece, &mut cursor, &mut mapping),
        _ => Err(unexpected(&cursor, "an object or a list")),
    };
    mapping.fault =
        outcome.err().map(|fault| if piece.exact { fault } else { Fault { position: piece.position, ..fault } });
    mapping
}

fn object<'a>(piece: &Piece<'a>, list_key: &str, cursor: &mut Cursor<'_>, into: &mut Mapping<'a>) -> Result<(), Fault> {
    step(cursor);
    if cursor.peek() == Some(b'}') {
        return Ok(());
    }
    loop {
        if cursor.peek() != Some(b'"') {
            return Err(unexpected(cursor, "a key in double quotes"));
        }
        let end = value_end(&piece.text, cursor.at()).ok_or_else(|| truncated(cursor))?;
        let key: String = serde_json::from_str(&piece.text[cursor.at()..end])
            .map_err(|error| broken(cursor.position(), &message_of(&error)))?;
        cursor.advance_to(end);
        cursor.skip_whitespace();
        if cursor.peek() != Some(b':') {
            return Err(unexpected(cursor, "a colon"));
        }
        step(cursor);
        if key == list_key && cursor.peek() == Some(b'[') {
            elements(piece, cursor, into)?;
        } else {
            let value = value(piece, cursor)?;
            into.entries.push((key, value));
        }
        if !goes_on(cursor, b'}', "a comma or the object's end")? {
            return Ok(());
        }
    }
}

fn elements<'a>(piece: &Piece<'a>, cursor: &mut Cursor<'_>, into: &mut Mapping<'a>) -> Result<(), Fault> {
    let found = into.elements.get_or_insert_default();
    step(cursor);
    if cursor.peek() == Some(b']') {
        step(cursor);
        return Ok(());
    }
    loop {
        found.push(value(piece, cursor)?);
        if !goes_on(cursor, b']', "a comma or the list's end")? {
            return Ok(());
        }
    }
}

fn value<'a>(piece: &Piece<'a>, cursor: &mut Cursor<'_>) -> Result<Piece<'a>, Fault> {
    let (from, position) = (cursor.at(), cursor.position());
    let to = value_end(&piece.text, from).ok_or_else(|| truncated(cursor))?;
    if to == from {
        return Err(unexpected(cursor, "a value"));
    }
    cursor.advance_to(to);
    Ok(piece.part(Wrapper::Whole, from, to, position))
}

/// Whether a comma announces more; the bracket that ends it is stepped over.
fn goes_on(cursor: &mut Cursor<'_>, end: u8, expected: &str) -> Result<bool, Fault> {
    cursor.skip_whitespace();
    match cursor.peek() {
        Some(b',') => step(cursor),
        Some(byte) if byte == end => {
            step(cursor);
            return Ok(false);
        }
        _ => return Err(unexpected(cursor, expected)),
    }
    Ok(true)
}

/// Goes on over one ASCII character and the whitespace behind it.
fn step(cursor: &mut Cursor<'_>) {
    let next = cursor.at() + 1;
    cursor.advance_to(next);
    cursor.skip_whitespace();
}

fn unexpected(cursor: &Cursor<'_>, expected: &str) -> Fault {
    match cursor.rest().chars().next() {
        Some(found) => broken(cursor.position(), &format!("found {found:?} where {expected} is expected")),
        None => truncated(cursor),
    }
}

fn truncated(cursor: &Cursor<'_>) -> Fault {
    let message = "the text ends before this value does; what stood before it was read".to_owned();
    Fault { code: Code::Truncated, field: None, message, position: cursor.position() }
}

fn broken(position: Position, message: &str) -> Fault {
    Fault { code: Code::BrokenJson, field: None, message: message.to_owned(), position }
}

/// Reads a value. The path of the field costs time, so it is looked for only once there is a fault.
pub(crate) fn read<T: DeserializeOwned>(piece: &Piece<'_>) -> Result<T, Fault> {
    let error = match serde_json::from_str(&piece.text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let mut deserializer = serde_json::Deserializer::from_str(&piece.text);
    let path = serde_path_to_error::deserialize::<_, T>(&mut deserializer).err().map(|error| error.path().to_string());
    Err(fault(piece, &error, path))
}

fn fault(piece: &Piece<'_>, error: &serde_json::Error, path: Option<String>) -> Fault {
    let (code, field) = match error.classify() {
        Category::Data => (Code::MalformedField, path.filter(|path| path != ".")),
        Category::Eof => (Code::Truncated, None),
        Category::Syntax | Category::Io => (Code::BrokenJson, None),
    };
    piece.fault(code, field, message_of(error), error.line() as u32, error.column() as u32)
}

/// The message without the position that serde_json writes behind it, which counts from the beginning of the piece.
fn message_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) if error.line() > 0 => text[..end].to_owned(),
        _ => text,
    }
}
