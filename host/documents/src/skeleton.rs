//! YAML's block style by its indentation, as far as that can be told without a parser.
//!
//! In a block mapping every line at the mapping's own indentation begins an entry, is a comment, or (where a list stands
//! under a key without further indentation) begins an element: YAML wants every continued text deeper. What does not look
//! like that is left to the parser.

use std::borrow::Cow;

/// One line of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Where it begins.
    pub(crate) at: usize,
    /// The number of lines before it.
    pub(crate) number: u32,
    /// How deep its content stands. For the line that begins an element, the element's content is meant.
    pub(crate) indent: usize,
    /// The content, without the blanks at its end.
    pub(crate) content: &'a str,
}

impl<'a> Line<'a> {
    /// Whether it is blank or a comment.
    pub(crate) fn is_idle(&self) -> bool {
        self.content.is_empty() || self.content.starts_with('#')
    }

    /// Whether it begins an element of a list.
    pub(crate) fn is_element(&self) -> bool {
        self.content == "-" || self.content.starts_with("- ") || self.content.starts_with("-\t")
    }

    /// The key and the value's first line, where it begins an entry with a plain key.
    pub(crate) fn entry(&self) -> Option<(&'a str, &'a str)> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        let length = self.content.bytes().take_while(|byte| is_plain(*byte)).count();
        let value = self.content[length..].strip_prefix(':')?;
        let is_entry = length > 0 && !self.content.starts_with('-') && (value.is_empty() || value.starts_with(' '));
        let value = value.trim_start();
        let value = if value.starts_with('#') { "" } else { value };
        is_entry.then_some((&self.content[..length], value))
    }
}

/// The lines of a text. In an element's text the dash on the first line counts as a blank.
pub(crate) fn lines(text: &str, is_element: bool) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    let mut is_first = is_element;
    text.split_inclusive('\n').enumerate().map(move |(number, line)| {
        let start = at;
        at += line.len();
        let trimmed = line.trim_end();
        let mut content = trimmed.trim_start_matches(' ');
        if std::mem::take(&mut is_first) && content.starts_with("- ") {
            content = content[1..].trim_start_matches(' ');
        }
        Line { at: start, number: number as u32, indent: trimmed.len() - content.len(), content }
    })
}

/// The text without the entries that nobody reads: `("metadata", "managedFields")` is the entry `managedFields` of the
/// mapping that is the entry `metadata`. Each of their lines becomes an empty comment, so that line numbers stay.
pub(crate) fn without<'a>(text: &'a str, is_element: bool, unread: &[(&str, &str)]) -> Cow<'a, str> {
    let mut kept = String::new();
    let mut copied = 0;
    let mut scan = Scan::default();
    for line in lines(text, is_element) {
        if !scan.is_unread(&line, unread) {
            continue;
        }
        let end = text[line.at..].find('\n').map_or(text.len(), |end| line.at + end + 1);
        kept.push_str(&text[copied..line.at]);
        kept.push_str("#\n");
        copied = end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Where in the outline a scan stands.
#[derive(Default)]
struct Scan<'a> {
    base: Option<usize>,
    /// The entry at the base, where its value stands on the lines below.
    outer: Option<&'a str>,
    /// The indentation of that value's entries.
    inner_indent: Option<usize>,
    is_dropping: bool,
}

impl<'a> Scan<'a> {
    fn is_unread(&mut self, line: &Line<'a>, unread: &[(&str, &str)]) -> bool {
        if line.is_idle() {
            return self.is_dropping;
        }
        let base = *self.base.get_or_insert(line.indent);
        if line.indent <= base {
            self.is_dropping = false;
            self.inner_indent = None;
            self.outer = line.entry().filter(|(_, value)| line.indent == base && value.is_empty()).map(|(key, _)| key);
            return false;
        }
        let Some(outer) = self.outer else { return false };
        let inner = *self.inner_indent.get_or_insert(line.indent);
        if line.indent > inner || (self.is_dropping && line.indent == inner && line.is_element()) {
            return self.is_dropping;
        }
        self.is_dropping = line.indent == inner
            && line.entry().is_some_and(|(key, value)| value.is_empty() && unread.contains(&(outer, key)));
        self.is_dropping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_element: bool, expected: &str) {
        assert_eq!(without(text, is_element, &[("metadata", "managedFields"), ("status", "images")]), expected);
    }

    #[test]
    fn unread_entries_become_comments() {
        check(
            "kind: Node\nmetadata:\n  managedFields:\n  - manager: x\n\n    a: b\n  name: n\nstatus:\n  images:\n    - a\n",
            false,
            "kind: Node\nmetadata:\n#\n#\n#\n#\n  name: n\nstatus:\n#\n#\n",
        );
        check(
            "- metadata:\r\n    name: n\r\n    managedFields:\r\n    - a\r\n  kind: Node\r\n",
            true,
            "- metadata:\r\n    name: n\r\n#\n#\n  kind: Node\r\n",
        );
    }

    #[test]
    fn the_same_words_elsewhere_stay() {
        for text in [
            "metadata:\n  annotations:\n    managedFields:\n      a: b\n",
            "metadata:\n  annotations:\n    a: |\n      metadata:\n        managedFields:\n          x\n",
            "spec:\n  managedFields:\n    a: b\n",
            "metadata: {managedFields: []}\n",
            "metadata:\n  managedFields: []\n  name: a\n",
            "metadata: |\n  managedFields:\n    text\n",
        ] {
            check(text, false, text);
        }
    }

    #[test]
    fn an_entry_has_a_plain_key() {
        let entry = |text| lines(text, false).next().and_then(|line| line.entry());
        assert_eq!(entry("  items: # all\n"), Some(("items", "")));
        assert_eq!(entry("a.b/c-d: x: y"), Some(("a.b/c-d", "x: y")));
        for text in ["\"a\": b", "- a: b", "-a: b", "a:b", "a", ": b", "? a", "a b: c"] {
            assert_eq!(entry(text), None, "{text}");
        }
    }
}
