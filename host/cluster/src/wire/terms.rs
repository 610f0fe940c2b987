//! Node selector terms.

use serde::Deserialize;
use serde::de::IgnoredAny;
use zonewarden_contract::types::{Requirement, SelectorOperator, SelectorTerm, VolumeAffinity};

/// A node selector.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeSelector {
    #[serde(default)]
    node_selector_terms: Option<Vec<Term>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    #[serde(default)]
    match_expressions: Option<Vec<Expression>>,
    #[serde(default)]
    match_fields: Option<Vec<IgnoredAny>>,
}

#[derive(Debug, Deserialize)]
struct Expression {
    key: String,
    operator: String,
    #[serde(default)]
    values: Option<Vec<String>>,
}

impl NodeSelector {
    pub(crate) fn into_terms(self) -> Vec<SelectorTerm> {
        self.node_selector_terms.into_iter().flatten().map(Term::into_term).collect()
    }
}

impl Term {
    fn into_term(self) -> SelectorTerm {
        SelectorTerm {
            requirements: self.match_expressions.into_iter().flatten().map(Expression::into_requirement).collect(),
            has_match_fields: self.match_fields.is_some_and(|fields| !fields.is_empty()),
        }
    }
}

impl Expression {
    fn into_requirement(self) -> Requirement {
        let operator = match &*self.operator {
            "In" => SelectorOperator::In,
            "NotIn" => SelectorOperator::NotIn,
            "Exists" => SelectorOperator::Exists,
            "DoesNotExist" => SelectorOperator::DoesNotExist,
            "Gt" => SelectorOperator::Gt,
            "Lt" => SelectorOperator::Lt,
            _ => SelectorOperator::Other(self.operator),
        };
        Requirement { key: self.key, operator, values: self.values.unwrap_or_default() }
    }
}

/// `spec.nodeAffinity` of a PersistentVolume.
#[derive(Debug, Deserialize)]
pub(crate) struct VolumeNodeAffinity {
    #[serde(default)]
    required: Option<NodeSelector>,
}

/// A field that is not there can still be set; one that is there and asks for nothing can't be changed any more.
pub(crate) fn volume_affinity(affinity: Option<VolumeNodeAffinity>) -> VolumeAffinity {
    match affinity {
        None => VolumeAffinity::Unset,
        Some(VolumeNodeAffinity { required: None }) => VolumeAffinity::Unrestricted,
        Some(VolumeNodeAffinity { required: Some(selector) }) => VolumeAffinity::Required(selector.into_terms()),
    }
}
