//! Which of the candidates a question means.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::describe::{Described, Reading};
use crate::faults::Fault;
use crate::lies::Lies;
use crate::request::Filter;

pub(super) struct Selection<T> {
    /// The ids that exist for the one who asks; empty where no ids were asked for.
    pub(super) existing: BTreeSet<String>,
    /// What also passes the filters.
    pub(super) items: Vec<T>,
}

/// What a question means beside its ids.
pub(super) struct Wanted {
    pub(super) filters: Vec<Filter>,
    pub(super) shows_hidden: bool,
    pub(super) asks_by_id: bool,
}

/// Says of each candidate what is to be said of it, and keeps what passes the filters.
pub(super) fn select<T: Described>(reading: Reading<'_, T>, wanted: &Wanted) -> Selection<T> {
    let mut selection = Selection { existing: BTreeSet::new(), items: Vec::new() };
    if reading.faults.contains(&Fault::WrongRegion) {
        return selection;
    }
    for truth in reading.candidates {
        let Some(told) = tell(truth, reading.lies, reading.now, wanted) else { continue };
        if !wanted.shows_hidden && told.is_hidden() {
            continue;
        }
        if wanted.asks_by_id {
            selection.existing.insert(told.id().to_owned());
        }
        if passes(&told, &wanted.filters) {
            selection.items.push(told);
        }
    }
    selection
}

/// What is said of a thing. A lie counts as told where the answer lists the thing or should list it.
fn tell<T: Described>(truth: T, lies: &mut Lies<T>, now: Timestamp, wanted: &Wanted) -> Option<T> {
    let id = truth.id().to_owned();
    if !lies.concern(&id) {
        return Some(truth);
    }
    let told = lies.told(&id, &truth, now);
    if passes(&truth, &wanted.filters) || told.as_ref().is_some_and(|told| passes(told, &wanted.filters)) {
        lies.count(&id);
    }
    told
}

fn passes<T: Described>(thing: &T, filters: &[Filter]) -> bool {
    filters.iter().all(|filter| {
        let texts = thing.texts(&filter.name);
        filter.values.iter().any(|pattern| {
            let has_wildcards = pattern.contains(['*', '?']);
            let fits =
                |text: &String| text == pattern || (has_wildcards && matches(pattern.as_bytes(), text.as_bytes()));
            texts.iter().any(fits)
        })
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
