//! Node selector terms and allowed topologies, matched as the scheduler matches them (F-52, F-54).

use std::borrow::Cow;
use std::cell::OnceCell;
use zonewarden_bindings::placement::{TopologyRequirement, TopologyTerm};
use zonewarden_bindings::types::{Label, Requirement, SelectorOperator, SelectorTerm};

/// A node selector: its terms are alternatives.
///
/// Which of its terms can match at all is found once; after that a node costs comparisons only. It is put into words once too,
/// the first time that somebody asks.
#[derive(Debug, Clone)]
pub struct NodeSelector<'a> {
    terms: Cow<'a, [SelectorTerm]>,
    usable: Vec<usize>,
    words: OnceCell<String>,
}

impl<'a> NodeSelector<'a> {
    /// Reads the terms. One that Kubernetes can't parse, and one without any requirement, is skipped (F-54).
    #[must_use]
    pub fn new(terms: impl Into<Cow<'a, [SelectorTerm]>>) -> Self {
        let terms = terms.into();
        let usable = terms.iter().enumerate().filter(|(_, term)| is_usable(term)).map(|(index, _)| index).collect();
        Self { terms, usable, words: OnceCell::new() }
    }

    /// Whether nodes with these labels match. `matchFields` are not judged.
    #[must_use]
    pub fn matches(&self, labels: &[Label]) -> bool {
        self.usable_terms().any(|term| term.requirements.iter().all(|requirement| holds(requirement, labels)))
    }

    /// The terms that can match a node.
    pub fn usable_terms(&self) -> impl Iterator<Item = &SelectorTerm> {
        self.usable.iter().map(|&index| &self.terms[index])
    }

    /// The terms in words: `topology.kubernetes.io/zone In [us-east-1a]`.
    #[must_use]
    pub fn describe(&self) -> &str {
        self.words.get_or_init(|| {
            let mut words = Vec::new();
            for term in self.usable_terms() {
                if !words.is_empty() {
                    words.push(" or ");
                }
                describe_term(term, &mut words);
            }
            if words.is_empty() { "terms of which none can match a node".to_owned() } else { words.concat() }
        })
    }

    /// What nodes with these labels have under the keys that the terms name: the words one after the other, to be put into a
    /// sentence without a text between.
    pub(crate) fn describe_labels<'s>(&'s self, labels: &'s [Label], words: &mut Vec<&'s str>) {
        let keys =
            || self.usable_terms().flat_map(|term| &term.requirements).map(|requirement| requirement.key.as_str());
        for (index, key) in keys().enumerate() {
            if keys().take(index).any(|earlier| earlier == key) {
                continue;
            }
            if index > 0 {
                words.push(", ");
            }
            match value(labels, key) {
                Some(value) => words.extend([key, "=", value]),
                None => words.extend(["no ", key]),
            }
        }
        if keys().next().is_none() {
            words.push("no label that could help");
        }
    }
}

/// The node's value of a key.
#[must_use]
pub fn value<'a>(labels: &'a [Label], key: &str) -> Option<&'a str> {
    labels.iter().find(|label| is_same(&label.key, key)).map(|label| label.value.as_str())
}

/// Whether two texts are equal, eight bytes at a time from the end: what WebAssembly has for `==` goes byte by byte, and keys of
/// labels, names of zones and sentences about them are long and alike at their beginning.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let ((one_rest, one), (other_rest, other)) = (one.as_bytes().as_rchunks(), other.as_bytes().as_rchunks());
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    one.len() == other.len()
        && one_rest.len() == other_rest.len()
        && one.iter().zip(other).rev().all(|(one, other)| word(one) == word(other))
        && one_rest.iter().zip(other_rest).all(|(one, other)| one == other)
}

/// `key=value`, or `no key`.
pub(crate) fn describe_label(labels: &[Label], key: &str) -> String {
    value(labels, key).map_or_else(|| ["no ", key].concat(), |value| [key, "=", value].concat())
}

/// Whether nodes with these labels satisfy a requirement that Kubernetes can parse.
#[must_use]
pub fn holds(requirement: &Requirement, labels: &[Label]) -> bool {
    let found = value(labels, &requirement.key);
    let listed = |found: &str| requirement.values.iter().any(|value| is_same(value, found));
    match &requirement.operator {
        SelectorOperator::In => found.is_some_and(listed),
        SelectorOperator::NotIn => !found.is_some_and(listed),
        SelectorOperator::Exists => found.is_some(),
        SelectorOperator::DoesNotExist => found.is_none(),
        SelectorOperator::Gt => compared(found, &requirement.values).is_some_and(|(node, bound)| node > bound),
        SelectorOperator::Lt => compared(found, &requirement.values).is_some_and(|(node, bound)| node < bound),
        SelectorOperator::Other(_) => false,
    }
}

fn compared(found: Option<&str>, values: &[String]) -> Option<(i64, i64)> {
    Some((found?.parse().ok()?, values.first()?.parse().ok()?))
}

/// Whether nodes with these labels satisfy a class's `allowedTopologies`: taken literally, and everywhere if empty (F-52).
#[must_use]
pub fn topology_allows(terms: &[TopologyTerm], labels: &[Label]) -> bool {
    let satisfied = |TopologyRequirement { key, values }: &TopologyRequirement| {
        value(labels, key).is_some_and(|found| values.iter().any(|value| value == found))
    };
    let parses = |TopologyRequirement { key, values }: &TopologyRequirement| {
        !values.is_empty() && is_label_key(key) && values.iter().all(|value| is_label_value(value))
    };
    let matches = |term: &TopologyTerm| {
        !term.requirements.is_empty()
            && term.requirements.iter().all(|requirement| satisfied(requirement) && parses(requirement))
    };
    terms.is_empty() || terms.iter().any(matches)
}

/// `allowedTopologies` in words.
pub(crate) fn describe_topology(terms: &[TopologyTerm]) -> String {
    let words = |requirement: &TopologyRequirement| {
        [requirement.key.as_str(), " In [", &requirement.values.join(", "), "]"].concat()
    };
    let term = |term: &TopologyTerm| term.requirements.iter().map(words).collect::<Vec<_>>().join(" and ");
    terms.iter().map(term).collect::<Vec<_>>().join(" or ")
}

/// Whether a term can match a node: it has a requirement, and Kubernetes can parse all of them.
///
/// A term of `matchFields` alone has requirements, which are not judged: Kubernetes does not check them either (F-54).
#[must_use]
pub fn is_usable(term: &SelectorTerm) -> bool {
    (!term.requirements.is_empty() || term.has_match_fields) && term.requirements.iter().all(parses)
}

fn parses(requirement: &Requirement) -> bool {
    let Requirement { key, operator, values } = requirement;
    let counted = match operator {
        SelectorOperator::In | SelectorOperator::NotIn => !values.is_empty(),
        SelectorOperator::Exists | SelectorOperator::DoesNotExist => values.is_empty(),
        SelectorOperator::Gt | SelectorOperator::Lt => {
            matches!(values.as_slice(), [value] if value.parse::<i64>().is_ok())
        }
        SelectorOperator::Other(_) => false,
    };
    counted && is_label_key(key) && values.iter().all(|value| is_label_value(value))
}

/// Kubernetes' form of a label's key: a name, with or without a DNS subdomain and a slash before it.
fn is_label_key(key: &str) -> bool {
    let bytes = key.as_bytes();
    let (prefix, name) = match bytes.iter().position(|byte| *byte == b'/') {
        Some(slash) => (Some(&bytes[..slash]), &bytes[slash + 1..]),
        None => (None, bytes),
    };
    !name.is_empty() && is_name(name) && prefix.is_none_or(is_dns_subdomain)
}

/// Kubernetes' form of a label's value: empty, or up to 63 letters, digits and `-_.`, with a letter or digit at both ends.
fn is_label_value(value: &str) -> bool {
    is_name(value.as_bytes())
}

fn is_name(bytes: &[u8]) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let edge = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    bytes.len() <= 63 && bytes.iter().copied().all(inner) && edge(bytes.first()) && edge(bytes.last())
}

fn is_dns_subdomain(prefix: &[u8]) -> bool {
    let part = |part: &[u8]| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let edge = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b'-');
        part.iter().copied().all(inner) && edge(part.first()) && edge(part.last())
    };
    prefix.len() <= 253 && prefix.split(|byte| *byte == b'.').all(part)
}

fn describe_term<'t>(term: &'t SelectorTerm, words: &mut Vec<&'t str>) {
    for (index, requirement) in term.requirements.iter().enumerate() {
        if index > 0 {
            words.push(" and ");
        }
        add_requirement(requirement, words);
    }
    if term.requirements.is_empty() {
        words.push("matchFields, which are not judged");
    }
}

/// A requirement in words.
pub(crate) fn describe_requirement(requirement: &Requirement) -> String {
    let mut words = Vec::new();
    add_requirement(requirement, &mut words);
    words.concat()
}

fn add_requirement<'r>(requirement: &'r Requirement, words: &mut Vec<&'r str>) {
    let Requirement { key, operator, values } = requirement;
    let (operator, takes_values) = match operator {
        SelectorOperator::In => ("In", true),
        SelectorOperator::NotIn => ("NotIn", true),
        SelectorOperator::Exists => ("Exists", false),
        SelectorOperator::DoesNotExist => ("DoesNotExist", false),
        SelectorOperator::Gt => ("Gt", true),
        SelectorOperator::Lt => ("Lt", true),
        SelectorOperator::Other(other) => (other.as_str(), true),
    };
    words.extend([key, " ", operator]);
    if !takes_values {
        return;
    }
    words.push(" [");
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            words.push(", ");
        }
        words.push(value);
    }
    words.push("]");
}

#[cfg(test)]
mod tests;
