//! Objects by what they belong to.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Record;
use super::ordered::Ordered;

/// What an object belongs to: a namespace, empty where there is none, and a name.
pub(super) type Group<'a> = (&'a str, &'a str);

/// An object, and by the how-manieth of its groups it stands where it stands.
type Member<T> = (usize, Arc<T>);

/// The objects of a kind in the order of what they belong to, and then of their names. The objects are those of the index.
#[derive(Debug)]
pub(super) struct Groups<T> {
    /// The groups of an object, by their number; `None` behind the last one. In one that comes twice it stands once.
    group: fn(&T, usize) -> Option<Group<'_>>,
    members: Ordered<Member<T>>,
}

impl<T> Clone for Groups<T> {
    fn clone(&self) -> Self {
        Self { group: self.group, members: self.members.clone() }
    }
}

impl<T: Record> Groups<T> {
    pub(super) fn by(group: fn(&T, usize) -> Option<Group<'_>>) -> Self {
        Self { group, members: Ordered::default() }
    }

    /// The objects of a group.
    pub(super) fn of<'a>(&'a self, group: Group<'_>) -> impl Iterator<Item = &'a T> {
        self.members.all(move |member| (self.group)(&member.1, member.0).cmp(&Some(group))).map(|(_, object)| &**object)
    }

    /// Takes in an object that is not here.
    pub(super) fn insert(&mut self, object: &Arc<T>) {
        for number in self.numbers(object) {
            let group = self.group;
            self.members.insert((number, Arc::clone(object)), |member| order(group, member, (number, object)));
        }
    }

    /// Takes an object out.
    pub(super) fn remove(&mut self, object: &T) {
        for number in self.numbers(object) {
            let group = self.group;
            self.members.remove(|member| order(group, member, (number, object)));
        }
    }

    fn numbers(&self, object: &T) -> std::ops::Range<usize> {
        0..(0..).take_while(|number| (self.group)(object, *number).is_some()).count()
    }
}

fn order<T: Record>(
    group: fn(&T, usize) -> Option<Group<'_>>,
    (number, member): &Member<T>,
    (other_number, other): (usize, &T),
) -> Ordering {
    let groups = group(member, *number).cmp(&group(other, other_number));
    groups.then_with(|| member.identity().name.cmp(&other.identity().name))
}
