//! A sorted collection whose copies share what they have in common.
//!
//! The elements stand in short runs, and a copy shares the runs: it costs a few hundred counters, whatever the elements hold,
//! and a change afterwards copies the one run that it is in. So a reader can keep a whole index for as long as it likes while
//! the writer goes on.

use std::cmp::Ordering;
use std::sync::Arc;

/// A run is split when it holds this many elements: a change copies at most as many, and 20,000 elements stand in some 200
/// runs.
const RUN_LIMIT: usize = 128;

/// A run's room grows by this many elements, and not by doubling: half of the memory would be empty.
const ROOM: usize = 8;

/// The collection. Whoever puts something in, or looks for it, says of what is there how it stands to that; by that order, always
/// the same one, the elements stand.
#[derive(Clone, Debug)]
pub(crate) struct Ordered<E> {
    /// In ascending order; no run is empty.
    runs: Vec<Arc<Vec<E>>>,
    len: usize,
}

impl<E> Default for Ordered<E> {
    fn default() -> Self {
        Self { runs: Vec::new(), len: 0 }
    }
}

impl<E> Ordered<E> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The elements in their order.
    pub(crate) fn iter(&self) -> Iter<'_, E> {
        Iter { runs: self.runs.iter(), run: [].iter(), left: self.len }
    }

    /// The element that is `Equal` where `place` says of each how it stands to the one that is looked for.
    pub(crate) fn get(&self, place: impl Fn(&E) -> Ordering) -> Option<&E> {
        let (run, at) = self.seek(&place);
        self.runs.get(run)?.get(at).filter(|element| place(element).is_eq())
    }

    /// All elements that are `Equal`.
    pub(crate) fn all(&self, place: impl Fn(&E) -> Ordering) -> impl Iterator<Item = &E> {
        let (run, at) = self.seek(&place);
        let first = self.runs.get(run).map_or(&[][..], |run| &run[at..]);
        let others = self.runs.iter().skip(run + 1).flat_map(|run| run.iter());
        first.iter().chain(others).take_while(move |element| place(element).is_eq())
    }

    /// The run and the place in it of the first element that is not `Less`.
    fn seek(&self, place: impl Fn(&E) -> Ordering) -> (usize, usize) {
        let is_before = |element: &E| place(element).is_lt();
        let run = self.runs.partition_point(|run| run.last().is_some_and(is_before));
        let at = self.runs.get(run).map_or(0, |run| run.partition_point(is_before));
        (run, at)
    }
}

impl<E: Clone> Ordered<E> {
    /// Takes an element in, in the place of the one that is `Equal`, which it returns.
    pub(crate) fn insert(&mut self, element: E, place: impl Fn(&E) -> Ordering) -> Option<E> {
        let (mut run, mut at) = self.seek(&place);
        if run == self.runs.len() {
            // Behind all others: at the end of the last run.
            let Some(last) = self.runs.last() else {
                self.runs.push(Arc::new(vec![element]));
                self.len = 1;
                return None;
            };
            (run, at) = (run - 1, last.len());
        }
        let elements = Arc::make_mut(&mut self.runs[run]);
        if let Some(found) = elements.get_mut(at).filter(|found| place(found).is_eq()) {
            return Some(std::mem::replace(found, element));
        }
        if elements.len() == elements.capacity() {
            elements.reserve_exact(ROOM);
        }
        elements.insert(at, element);
        self.len += 1;
        if elements.len() >= RUN_LIMIT {
            // What is filled in ascending order leaves full runs behind, and what is not, halves.
            let middle = if at + 1 == elements.len() { elements.len() - 1 } else { elements.len() / 2 };
            let behind = elements.split_off(middle);
            elements.shrink_to_fit();
            self.runs.insert(run + 1, Arc::new(behind));
        }
        None
    }

    /// Takes the element out that is `Equal`.
    pub(crate) fn remove(&mut self, place: impl Fn(&E) -> Ordering) -> Option<E> {
        let (run, at) = self.seek(&place);
        self.runs.get(run)?.get(at).filter(|element| place(element).is_eq())?;
        let elements = Arc::make_mut(&mut self.runs[run]);
        let element = elements.remove(at);
        self.len -= 1;
        if elements.is_empty() {
            self.runs.remove(run);
        }
        Some(element)
    }
}

/// The elements in their order.
#[derive(Debug)]
pub(crate) struct Iter<'a, E> {
    runs: std::slice::Iter<'a, Arc<Vec<E>>>,
    run: std::slice::Iter<'a, E>,
    left: usize,
}

impl<'a, E> Iterator for Iter<'a, E> {
    type Item = &'a E;

    fn next(&mut self) -> Option<&'a E> {
        loop {
            if let Some(element) = self.run.next() {
                self.left -= 1;
                return Some(element);
            }
            self.run = self.runs.next()?.iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<E> ExactSizeIterator for Iter<'_, E> {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn insert(ordered: &mut Ordered<(u16, u32)>, key: u16, value: u32) -> Option<(u16, u32)> {
        ordered.insert((key, value), |(other, _)| other.cmp(&key))
    }

    fn check_shape(ordered: &Ordered<(u16, u32)>) {
        assert!(ordered.runs.iter().all(|run| !run.is_empty() && run.len() < RUN_LIMIT));
        assert_eq!(ordered.iter().len(), ordered.iter().count());
    }

    proptest! {
        #[test]
        fn it_holds_what_a_sorted_map_holds(acts in prop::collection::vec((0_u16..400, any::<bool>()), 0..1_500)) {
            let (mut ordered, mut map) = (Ordered::default(), BTreeMap::new());
            for (number, (key, inserts)) in acts.into_iter().enumerate() {
                let value = number as u32;
                if inserts {
                    prop_assert_eq!(insert(&mut ordered, key, value).map(|(_, value)| value), map.insert(key, value));
                } else {
                    let removed = ordered.remove(|(other, _)| other.cmp(&key));
                    prop_assert_eq!(removed.map(|(_, value)| value), map.remove(&key));
                }
                let found = ordered.get(|(other, _)| other.cmp(&key)).map(|(_, value)| *value);
                prop_assert_eq!(found, map.get(&key).copied());
            }
            check_shape(&ordered);
            prop_assert_eq!(ordered.len(), map.len());
            prop_assert_eq!(ordered.iter().copied().collect::<Vec<_>>(), map.clone().into_iter().collect::<Vec<_>>());
            // Elements that have something in common: the same hundreds here.
            for hundred in 0..5 {
                let all: Vec<_> = ordered.all(|(key, _)| (key / 100).cmp(&hundred)).copied().collect();
                let expected: Vec<_> = map.range(hundred * 100..hundred * 100 + 100).map(|(k, v)| (*k, *v)).collect();
                prop_assert_eq!(all, expected);
            }
        }
    }

    #[test]
    fn a_copy_keeps_what_it_held_and_shares_the_runs_that_did_not_change() {
        let mut ordered = Ordered::default();
        for key in 0..1_000 {
            insert(&mut ordered, key, 1);
        }
        let copy = ordered.clone();
        insert(&mut ordered, 500, 2);
        ordered.remove(|(key, _)| key.cmp(&7));
        let held: Vec<(u16, u32)> = copy.iter().copied().collect();
        assert_eq!(held, (0..1_000).map(|key| (key, 1)).collect::<Vec<_>>());
        let shared = ordered.runs.iter().filter(|run| copy.runs.iter().any(|other| Arc::ptr_eq(run, other))).count();
        assert_eq!((ordered.len(), shared), (999, copy.runs.len() - 2));
    }
}
