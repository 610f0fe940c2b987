//! Positions in a text, and which format it has.

use std::str::Chars;

/// A line and a character in it, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

/// The format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
}

impl Format {
    /// JSON begins with a bracket, followed by what can stand after it in JSON; everything else is YAML, flow mappings with
    /// unquoted keys too.
    pub(crate) fn of(text: &str) -> Self {
        let mut chars = text.trim_start().chars();
        let is_json = match chars.next() {
            Some('{') => matches!(after_blanks(&mut chars), None | Some('"' | '}')),
            Some('[') => matches!(after_blanks(&mut chars), None | Some('{' | ']' | '[' | '"')),
            _ => false,
        };
        if is_json { Self::Json } else { Self::Yaml }
    }
}

fn after_blanks(chars: &mut Chars<'_>) -> Option<char> {
    chars.find(|char| !char.is_whitespace())
}

/// Goes through a text once, from left to right, and knows the position at each step.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    position: Position,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, position: Position) -> Self {
        Self { text, at: 0, position }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn position(&self) -> Position {
        self.position
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes on to this byte, which must be at the beginning of a character and not before the present one.
    pub(crate) fn advance_to(&mut self, at: usize) {
        let passed = &self.text[self.at..at];
        let lines = passed.matches('\n').count();
        let (first_column, last_line) = match passed.rfind('\n') {
            Some(end) => (1, &passed[end + 1..]),
            None => (self.position.column, passed),
        };
        self.position.line += lines as u32;
        self.position.column = first_column + last_line.chars().count() as u32;
        self.at = at;
    }

    /// Goes on over blank lines, to the beginning of the first line that has content.
    pub(crate) fn skip_blank_lines(&mut self) {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start().len();
        if let Some(end) = rest[..blank].rfind('\n') {
            self.advance_to(self.at + end + 1);
        }
    }

    /// Goes on over what JSON calls whitespace.
    pub(crate) fn skip_whitespace(&mut self) {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.advance_to(self.at + blanks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_shows_at_the_beginning() {
        for json in ["{}", " {\n \"a\"", "[]", "[ {", "{", "[\"a\"]", "[["] {
            assert_eq!(Format::of(json), Format::Json, "{json}");
        }
        for yaml in ["{a: 1}", "a: 1", "- {", "[a]", "", "\"a\": 1", "# {}", "{'a': 1}"] {
            assert_eq!(Format::of(yaml), Format::Yaml, "{yaml}");
        }
    }

    #[test]
    fn a_cursor_counts_lines_and_characters() {
        let mut cursor = Cursor::new("\u{e9}x\r\n  \u{1f600}y", Position { line: 3, column: 5 });
        cursor.advance_to("\u{e9}".len());
        assert_eq!(cursor.position(), Position { line: 3, column: 6 });
        cursor.advance_to("\u{e9}x\r\n  \u{1f600}".len());
        assert_eq!((cursor.position(), cursor.rest()), (Position { line: 4, column: 4 }, "y"));
    }
}
