//! Writes XML, escaped, without any white space between the elements.

/// A document that is being written.
#[derive(Debug, Default)]
pub(crate) struct Xml(String);

impl Xml {
    pub(crate) fn document() -> Self {
        Self("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned())
    }

    /// An element with elements in it.
    pub(crate) fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.element_with(name, "", content);
    }

    /// The same with attributes, written as they shall stand.
    pub(crate) fn element_with(&mut self, name: &str, attributes: &str, content: impl FnOnce(&mut Self)) {
        self.0.extend(["<", name, attributes, ">"]);
        content(self);
        self.0.extend(["</", name, ">"]);
    }

    /// An element with text in it.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        if text.is_empty() {
            self.0.extend(["<", name, "/>"]);
            return;
        }
        self.element(name, |xml| {
            for character in text.chars() {
                match character {
                    '&' => xml.0.push_str("&amp;"),
                    '<' => xml.0.push_str("&lt;"),
                    '>' => xml.0.push_str("&gt;"),
                    '"' => xml.0.push_str("&quot;"),
                    '\'' => xml.0.push_str("&apos;"),
                    other => xml.0.push(other),
                }
            }
        });
    }

    /// An element that is left out where there is nothing to say.
    pub(crate) fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// A list: each of `things` in an `item`.
    pub(crate) fn list<T>(&mut self, name: &str, things: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.element(name, |xml| {
            for thing in things {
                xml.element("item", |xml| item(xml, thing));
            }
        });
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}
