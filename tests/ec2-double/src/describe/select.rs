//! Which of the candidates a question means.

use std::collections::BTreeSet;

use crate::describe::{Described, Reading};
use crate::faults::Fault;
use crate::request::Filter;

pub(super) struct Selection<T> {
    /// The ids that exist for the one who asks.
    pub(super) existing: BTreeSet<String>,
    /// What also passes the filters.
    pub(super) items: Vec<T>,
}

/// Says of each candidate what is to be said of it, and keeps what passes the filters.
pub(super) fn select<T: Described>(reading: Reading<'_, T>, filters: &[Filter], shows_hidden: bool) -> Selection<T> {
    let mut selection = Selection { existing: BTreeSet::new(), items: Vec::new() };
    if reading.faults.contains(&Fault::WrongRegion) {
        return selection;
    }
    for truth in reading.candidates {
        let id = truth.id().to_owned();
        let told = reading.lies.told(&id, &truth, reading.now);
        let told = told.filter(|told| shows_hidden || !told.is_hidden());
        let passes = told.as_ref().is_some_and(|told| passes(told, filters));
        // An answer concerns a thing that it should list, or lists.
        if passes || self::passes(&truth, filters) {
            reading.lies.count(&id);
        }
        if told.is_some() {
            selection.existing.insert(id);
        }
        selection.items.extend(told.filter(|_| passes));
    }
    selection
}

fn passes<T: Described>(thing: &T, filters: &[Filter]) -> bool {
    filters.iter().all(|filter| {
        let texts = thing.texts(&filter.name);
        filter.values.iter().any(|pattern| texts.iter().any(|text| matches(pattern.as_bytes(), text.as_bytes())))
    })
}

/// `*` stands for any text, `?` for any character.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skipped| matches(rest, &text[skipped..])),
        Some((b'?', rest)) => !text.is_empty() && matches(rest, &text[1..]),
        Some((byte, rest)) => text.first() == Some(byte) && matches(rest, &text[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_matches_with_its_wildcards() {
        let cases = [
            ("vol-1", "vol-1", true),
            ("vol-1", "vol-12", false),
            ("vol-*", "vol-12", true),
            ("*", "", true),
            ("v?l", "vol", true),
            ("v?l", "vl", false),
            ("*-east-*a", "us-east-1a", true),
            ("", "x", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} on {text}");
        }
    }
}
