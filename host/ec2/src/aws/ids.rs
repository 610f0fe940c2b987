//! The ids of a question, each once. Everything that is learnt in a sweep refers to them by position.

use std::collections::HashMap;

use crate::verify::{Evidence, UnknownCause};

/// The ids of a question.
#[derive(Debug)]
pub(super) struct Ids<'q> {
    texts: Vec<&'q str>,
    positions: HashMap<&'q str, usize>,
    /// For each element of the question the position of its id; `None` where it is empty.
    asked: Vec<Option<usize>>,
}

impl<'q> Ids<'q> {
    pub(super) fn new(question: impl Iterator<Item = &'q str>) -> Self {
        let mut ids = Self { texts: vec![], positions: HashMap::new(), asked: vec![] };
        for id in question {
            let position = (!id.is_empty()).then(|| ids.enter(id));
            ids.asked.push(position);
        }
        ids
    }

    fn enter(&mut self, id: &'q str) -> usize {
        *self.positions.entry(id).or_insert_with(|| {
            self.texts.push(id);
            self.texts.len() - 1
        })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn text(&self, position: usize) -> &'q str {
        self.texts[position]
    }

    pub(super) fn texts(&self, positions: &[usize]) -> Vec<&'q str> {
        positions.iter().map(|&position| self.texts[position]).collect()
    }

    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// What is known by position, in the order of the question, where an id may come twice.
    pub(super) fn in_order<R: Clone>(&self, evidence: Vec<Evidence<R>>) -> Vec<Evidence<R>> {
        let mut evidence: Vec<_> = evidence.into_iter().map(Some).collect();
        let mut given = vec![0; evidence.len()];
        let mut answers: Vec<Evidence<R>> = Vec::with_capacity(self.asked.len());
        for position in &self.asked {
            let answer = match position {
                // Only an empty id is not asked.
                None => Evidence::Unknown(UnknownCause::NotAsked),
                Some(position) => match evidence[*position].take() {
                    Some(evidence) => {
                        given[*position] = answers.len();
                        evidence
                    }
                    None => answers[given[*position]].clone(),
                },
            };
            answers.push(answer);
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_5_an_id_that_comes_twice_has_one_position_and_two_answers() {
        let ids = Ids::new(["b", "a", "", "b"].into_iter());
        assert_eq!((ids.len(), ids.text(0), ids.text(1)), (2, "b", "a"));
        assert_eq!([ids.position("a"), ids.position("")], [Some(1), None]);
        let [b, a] = [UnknownCause::Throttled, UnknownCause::NotListed].map(Evidence::<String>::Unknown);
        let expected = [b.clone(), a.clone(), Evidence::Unknown(UnknownCause::NotAsked), b.clone()];
        assert_eq!(ids.in_order(vec![b, a]), expected);
    }
}
