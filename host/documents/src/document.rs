//! A text as documents: YAML's `---`, and JSON values one after the other.
//!
//! A line that begins with `---` ends a document whatever it stands in: YAML allows it in no scalar, and a JSON text has no
//! line end inside one. So the cut needs no parser, and a broken document can't swallow the next.

use std::borrow::Cow;
use std::sync::Arc;

use crate::outline::{Cursor, Format, Position};
use crate::{Code, Fault, Piece, Place, Problem, encoding, json};

/// One document of a text.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// The name of the file.
    pub file: Arc<str>,
    /// The document's number in the file, counted from 1.
    pub number: u32,
    /// The document's text.
    pub piece: Piece<'a>,
}

impl Document<'_> {
    /// The place where one of this document's pieces begins.
    pub fn place_of(&self, piece: &Piece<'_>) -> Place {
        self.place(piece.position())
    }

    /// The problem that one of this document's pieces has.
    pub fn problem(&self, fault: Fault) -> Problem {
        let problem = Problem::error(fault.code, self.place(fault.position), fault.message);
        Problem { field: fault.field, ..problem }
    }

    fn place(&self, Position { line, column }: Position) -> Place {
        Place { file: Arc::clone(&self.file), document: self.number, line, column }
    }
}

/// A file's text, which its documents borrow.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    file: Arc<str>,
    utf8: Cow<'a, [u8]>,
}

impl<'a> Text<'a> {
    /// The text of a file of this name. UTF-8 is expected, or UTF-16 with its mark.
    pub fn new(file: &str, bytes: &'a [u8]) -> Self {
        Self { file: file.into(), utf8: encoding::to_utf8(bytes) }
    }

    /// The documents in their order. A document without content (blank lines, comments) is none. One that is not text is a
    /// problem in its place.
    pub fn documents(&self) -> Vec<Result<Document<'_>, Problem>> {
        let mut documents = Vec::new();
        for (segment, line) in segments(&self.utf8) {
            let number = documents.len() as u32 + 1;
            match std::str::from_utf8(segment) {
                // No text that people write holds a NUL, and every other byte of UTF-16 is one.
                Ok(text) if text.contains('\0') => {
                    let at = text.find('\0').unwrap_or_default();
                    documents.push(Err(self.not_text(segment, at, line, number)));
                }
                Ok(text) => documents.extend(self.values(text, line, number).into_iter().map(Ok)),
                Err(error) => documents.push(Err(self.not_text(segment, error.valid_up_to(), line, number))),
            }
        }
        documents
    }

    /// The documents of one segment: one for YAML, one for each value for JSON.
    fn values<'b>(&'b self, text: &'b str, line: u32, number: u32) -> Vec<Document<'b>> {
        let mut cursor = Cursor::new(text, Position { line, column: 1 });
        skip_marker(&mut cursor);
        if !has_content(cursor.rest()) {
            return vec![];
        }
        let document = |number, piece| Document { file: Arc::clone(&self.file), number, piece };
        if Format::of(cursor.rest()) == Format::Yaml {
            return vec![document(number, Piece::whole(Format::Yaml, cursor.rest(), cursor.position()))];
        }
        let mut documents = Vec::new();
        cursor.skip_whitespace();
        while !cursor.rest().is_empty() {
            let end = json::value_end(text, cursor.at()).unwrap_or(text.len()).max(cursor.at() + 1);
            let end = (end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            let piece = Piece::whole(Format::Json, &text[cursor.at()..end], cursor.position());
            documents.push(document(number + documents.len() as u32, piece));
            cursor.advance_to(end);
            cursor.skip_whitespace();
        }
        documents
    }

    fn not_text(&self, segment: &[u8], valid: usize, line: u32, number: u32) -> Problem {
        let before = std::str::from_utf8(&segment[..valid]).unwrap_or_default();
        let mut cursor = Cursor::new(before, Position { line, column: 1 });
        cursor.advance_to(before.len());
        let Position { line, column } = cursor.position();
        let place = Place { file: Arc::clone(&self.file), document: number, line, column };
        let byte = segment.get(valid).copied().unwrap_or_default();
        let message =
            format!("byte 0x{byte:02x} is not UTF-8 text; save the file as UTF-8, or as UTF-16 with its mark");
        Problem::error(Code::NotText, place, message)
    }
}

/// The text between the lines that begin with `---` (which stays at the head of its segment) or `...`.
fn segments(utf8: &[u8]) -> Vec<(&[u8], u32)> {
    let mut segments = Vec::new();
    let (mut start, mut start_line) = (0, 1);
    let (mut at, mut line) = (0, 1);
    for text in utf8.split_inclusive(|byte| *byte == b'\n') {
        let is_end = is_marker(text, b"...");
        if is_end || is_marker(text, b"---") {
            segments.push((&utf8[start..at], start_line));
            let skipped = if is_end { text.len() } else { 0 };
            (start, start_line) = (at + skipped, line + u32::from(is_end));
        }
        at += text.len();
        line += 1;
    }
    segments.push((&utf8[start..], start_line));
    segments.retain(|(segment, _)| !segment.is_empty());
    segments
}

fn is_marker(line: &[u8], marker: &[u8]) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

/// Steps over the marks that a document may begin with.
fn skip_marker(cursor: &mut Cursor<'_>) {
    for mark in ["\u{feff}", "---", "\u{feff}"] {
        if cursor.rest().starts_with(mark) {
            let at = cursor.at() + mark.len();
            cursor.advance_to(at);
        }
        cursor.skip_blank_lines();
    }
}

/// Whether there is more than blank lines, comments and directives.
fn has_content(text: &str) -> bool {
    text.lines().any(|line| {
        let content = line.trim_start();
        !content.is_empty() && !content.starts_with('#') && !line.starts_with('%')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number, line, column and text of each document; a problem as its text.
    fn check(bytes: &[u8], expected: &[(u32, u32, u32, &str)]) {
        let text = Text::new("f", bytes);
        let found: Vec<_> = text
            .documents()
            .into_iter()
            .map(|document| match document {
                Ok(Document { number, piece, .. }) => {
                    let Position { line, column } = piece.position();
                    (number, line, column, piece.text().to_owned())
                }
                Err(problem) => {
                    let Place { document, line, column, .. } = problem.place.clone();
                    (document, line, column, problem.message)
                }
            })
            .collect();
        let found: Vec<_> =
            found.iter().map(|(number, line, column, text)| (*number, *line, *column, &**text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn yaml_documents_are_cut_at_their_marks() {
        check(b"a: 1\n---\nb: 2\n", &[(1, 1, 1, "a: 1\n"), (2, 3, 1, "b: 2\n")]);
        check(b"---\na: 1\n...\n---\r\nb: 2", &[(1, 2, 1, "a: 1\n"), (2, 5, 1, "b: 2")]);
        check(b"--- {a: 1}\n", &[(1, 1, 4, " {a: 1}\n")]);
        check(b"a: |\n  ---\n  x\n---x: 1\n", &[(1, 1, 1, "a: |\n  ---\n  x\n---x: 1\n")]);
    }

    #[test]
    fn what_has_no_content_is_no_document() {
        check(b"", &[]);
        check(b"\n  \n# nothing\n", &[]);
        check(b"%YAML 1.2\n---\na: 1\n---\n---\n# end\n", &[(1, 3, 1, "a: 1\n")]);
    }

    #[test]
    fn json_values_are_cut_where_they_end() {
        check(
            b"{\"a\": \"}\"}\n{\"b\": 2} [1]",
            &[(1, 1, 1, "{\"a\": \"}\"}"), (2, 2, 1, "{\"b\": 2}"), (3, 2, 10, "[1]")],
        );
        check(b"---\n{\"a\": [1, {}\n", &[(1, 2, 1, "{\"a\": [1, {}\n")]);
        check(b"{}\n---\nb: 1\n", &[(1, 1, 1, "{}"), (2, 3, 1, "b: 1\n")]);
    }

    #[test]
    fn marks_of_byte_order_are_no_content() {
        check(b"\xEF\xBB\xBFa: 1\n---\n\xEF\xBB\xBFb: 1\n", &[(1, 1, 1, "a: 1\n"), (2, 3, 2, "b: 1\n")]);
        check(b"\xFF\xFE{\0}\0", &[(1, 1, 1, "{}")]);
    }

    #[test]
    fn a_byte_that_is_not_text_costs_its_document_only() {
        let message = "byte 0xff is not UTF-8 text; save the file as UTF-8, or as UTF-16 with its mark";
        check(b"a: 1\n---\nb: \xFF\n---\nc: 1\n", &[(1, 1, 1, "a: 1\n"), (2, 3, 4, message), (3, 5, 1, "c: 1\n")]);
    }
}
