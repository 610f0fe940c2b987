//! What can't be read: counted by kind, and named as long as it is so.

use std::collections::BTreeMap;

use zonewarden_documents::{Problem, Severity};

use crate::objects::Kind;
use crate::records::ObjectName;

/// So many problems are named at once. A cluster with more has one cause, and it is among them.
const NAMED_LIMIT: usize = 100;

/// The problems of objects that are kept; beyond it they are only counted, until others are solved.
const KEPT_LIMIT: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Complaints {
    skipped: BTreeMap<Kind, u64>,
    objects: BTreeMap<(Kind, ObjectName), Vec<Problem>>,
    others: Vec<Problem>,
}

impl Complaints {
    /// What there is to say about an object now, in the place of what was said before.
    pub(super) fn replace(&mut self, kind: Kind, name: &ObjectName, is_skipped: bool, problems: Vec<Problem>) {
        if is_skipped {
            *self.skipped.entry(kind).or_default() += 1;
        }
        if problems.is_empty() {
            return self.withdraw(kind, name);
        }
        let key = (kind, name.clone());
        if self.objects.len() < KEPT_LIMIT || self.objects.contains_key(&key) {
            self.objects.insert(key, problems);
        }
    }

    /// The object is gone, or nothing is wrong with it any more.
    pub(super) fn withdraw(&mut self, kind: Kind, name: &ObjectName) {
        if !self.objects.is_empty() {
            self.objects.remove(&(kind, name.clone()));
        }
    }

    /// All that there is to say about a kind: the name, whether it was skipped, and why.
    pub(super) fn reset(&mut self, kind: Kind, complaints: Vec<(ObjectName, bool, Vec<Problem>)>) {
        self.objects.retain(|(other, _), _| *other != kind);
        for (name, is_skipped, problems) in complaints {
            self.replace(kind, &name, is_skipped, problems);
        }
    }

    pub(super) fn set_others(&mut self, problems: Vec<Problem>) {
        self.others = problems;
    }

    pub(super) fn skipped(&self) -> &BTreeMap<Kind, u64> {
        &self.skipped
    }

    /// At most [`NAMED_LIMIT`], those first that cost something, and how many more there are.
    pub(super) fn list(&self) -> (Vec<Problem>, usize) {
        let all = || self.others.iter().chain(self.objects.values().flatten());
        let of = |severity| all().filter(move |problem| problem.severity == severity);
        let named: Vec<_> = of(Severity::Error).chain(of(Severity::Warning)).take(NAMED_LIMIT).cloned().collect();
        let more = all().count() - named.len();
        (named, more)
    }
}

#[cfg(test)]
mod tests {
    use zonewarden_documents::{Code, Place};

    use super::*;

    #[test]
    fn of_what_is_kept_the_last_word_counts_however_much_is_kept() {
        let mut complaints = Complaints::default();
        let name = |number: usize| ObjectName::new("", &format!("n{number:05}"));
        let problem = |message: &str| vec![Problem::error(Code::MalformedField, Place::file("f"), message)];
        for number in 0..KEPT_LIMIT + 5 {
            complaints.replace(Kind::Node, &name(number), true, problem("first"));
        }
        complaints.replace(Kind::Node, &name(0), true, problem("second"));
        let (named, more) = complaints.list();
        assert_eq!((named[0].message.as_str(), named[1].message.as_str()), ("second", "first"));
        assert_eq!(named.len() + more, KEPT_LIMIT);
        assert_eq!(complaints.skipped().get(&Kind::Node), Some(&(KEPT_LIMIT as u64 + 6)));
        complaints.withdraw(Kind::Node, &name(0));
        complaints.replace(Kind::Node, &name(KEPT_LIMIT), true, problem("there is room again"));
        assert_eq!(complaints.list().0.len() + complaints.list().1, KEPT_LIMIT);
    }
}
