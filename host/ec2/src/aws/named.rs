//! Which of the ids that were asked an error's text names.
//!
//! The text is searched for the ids as they stand, never parsed for what an id looks like: nothing in the host knows that.

use std::ops::Range;

/// The positions in `asked` of the ids that stand in the text as whole words, in ascending order. Where a longer id that was
/// asked too covers a shorter one, only the longer one stands there.
pub(super) fn named(text: &str, asked: &[&str]) -> Vec<usize> {
    let mut spots: Vec<(Range<usize>, usize)> = vec![];
    for (position, id) in asked.iter().enumerate().filter(|(_, id)| !id.is_empty()) {
        let starts = text.match_indices(*id).map(|(start, _)| start);
        let ranges = starts.map(|start| start..start + id.len()).filter(|range| is_whole(text, range));
        spots.extend(ranges.map(|range| (range, position)));
    }
    let covers = |outer: &Range<usize>, inner: &Range<usize>| {
        outer.start <= inner.start && inner.end <= outer.end && inner.len() < outer.len()
    };
    let stands = |(range, _): &&(Range<usize>, usize)| !spots.iter().any(|(other, _)| covers(other, range));
    let mut positions: Vec<_> = spots.iter().filter(stands).map(|(_, position)| *position).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Whether nothing that could belong to a longer id touches the word that stands there.
fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].chars().next_back();
    let after = text[range.end..].chars().next();
    !before.is_some_and(continues_a_word) && !after.is_some_and(continues_a_word)
}

fn continues_a_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, asked: &[&str], expected: &[usize]) {
        assert_eq!(named(text, asked), expected, "{text}");
    }

    #[test]
    fn d_1_only_ids_that_were_asked_count() {
        check("The volume 'vol-0a' does not exist.", &["vol-0b", "vol-0a"], &[1]);
        check("The volume 'vol-0c' does not exist.", &["vol-0b", "vol-0a"], &[]);
        check("The volumes 'vol-0a, vol-0b' do not exist.", &["vol-0b", "vol-0a"], &[0, 1]);
        check(r#"Invalid id: "vol-0a""#, &["vol-0a"], &[0]);
        check("Value (vol-0a) for parameter volumes is invalid. Expected: 'vol-...'.", &["vol-0b", "vol-0a"], &[1]);
        check("There is no vol-0a.", &["vol-0a"], &[0]);
        check("vol-0a", &["vol-0a"], &[0]);
        check("", &["vol-0a"], &[]);
        check("'' is no id", &[""], &[]);
    }

    #[test]
    fn d_1_an_id_inside_a_longer_one_does_not_count() {
        check("The volume 'vol-0ab' does not exist.", &["vol-0a"], &[]);
        check("The volume 'my-vol-0a' does not exist.", &["vol-0a"], &[]);
        check("The volumes 'vol-0ab, vol-0a' do not exist.", &["vol-0a"], &[0]);
        check("The volume 'vol-0a_b' does not exist.", &["vol-0a"], &[]);
        check("Das Volume ‚vol-0aé‘ gibt es nicht.", &["vol-0a"], &[]);
    }

    #[test]
    fn an_id_may_hold_anything() {
        check("Value (a b/c) is invalid", &["a b/c"], &[0]);
        check("Value (é) is invalid", &["é"], &[0]);
        check("Value (é é) is invalid", &["é", "e"], &[0]);
        check(r#"Invalid id: "vol-0a/""#, &["vol-0a", "vol-0a/"], &[1]);
        check(r#"Invalid ids: "vol-0a/", "vol-0a""#, &["vol-0a", "vol-0a/"], &[0, 1]);
    }
}
