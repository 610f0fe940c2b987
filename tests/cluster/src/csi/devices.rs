//! The names under which an instance gets its volumes.

use std::collections::BTreeSet;

/// All names, in the order in which they are given out: 127.
fn names() -> impl Iterator<Item = String> {
    let letters = || ('a'..='z').map(String::from);
    let two = |first: char, last: char| ('a'..=last).map(move |letter| format!("/dev/xvd{first}{letter}"));
    let xvd = letters().skip(1).map(|letter| format!("/dev/xvd{letter}"));
    let sd = letters().skip(1).map(|letter| format!("/dev/sd{letter}"));
    // Some Windows images cannot take xvdc with a second letter.
    two('a', 'z').chain(two('b', 'z')).chain(two('d', 'x')).chain(xvd).chain(sd).chain(["/dev/sda2".to_owned()])
}

/// The first name that is not taken.
pub(super) fn free(taken: &BTreeSet<String>) -> Option<String> {
    names().find(|name| !taken.contains(name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{free, names};

    #[test]
    fn there_are_127_names_and_none_twice() {
        let all: Vec<String> = names().collect();
        assert_eq!(all.len(), 127);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 127);
        assert_eq!([&all[0], &all[25], &all[26], &all[52]], ["/dev/xvdaa", "/dev/xvdaz", "/dev/xvdba", "/dev/xvdda"]);
    }

    #[test]
    fn the_first_free_name_is_taken() {
        let taken = BTreeSet::from(["/dev/xvdaa".to_owned(), "/dev/xvdac".to_owned()]);
        assert_eq!(free(&taken), Some("/dev/xvdab".to_owned()));
        assert_eq!(free(&names().collect()), None);
    }
}
