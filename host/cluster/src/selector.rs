//! Label selectors, as the API server evaluates them.

use serde::{Deserialize, Serialize};
use zonewarden_contract::types::Label;

use crate::records::value_of;

/// A label selector: all of it must match. An empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Keys and the values that they must have.
    pub match_labels: Option<std::collections::BTreeMap<String, String>>,
    /// Requirements.
    pub match_expressions: Option<Vec<LabelRequirement>>,
}

/// One requirement of a label selector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelRequirement {
    /// The label's key.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`; anything else matches nothing.
    pub operator: String,
    /// The values, for `In` and `NotIn`.
    #[serde(default)]
    pub values: Option<Vec<String>>,
}

impl LabelSelector {
    /// Whether these labels, in ascending order of their keys, match.
    pub fn matches(&self, labels: &[Label]) -> bool {
        let mut expected = self.match_labels.iter().flatten();
        let mut requirements = self.match_expressions.iter().flatten();
        expected.all(|(key, value)| value_of(labels, key) == Some(value))
            && requirements.all(|requirement| requirement.matches(value_of(labels, &requirement.key)))
    }
}

impl LabelRequirement {
    fn matches(&self, value: Option<&str>) -> bool {
        let is_listed = value.is_some_and(|value| self.values.iter().flatten().any(|listed| listed == value));
        match &*self.operator {
            "In" => is_listed,
            "NotIn" => !is_listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;

    fn check(selector: &str, expected: bool) {
        let labels = [("app", "db"), ("tier", "")].map(|(key, value)| Label { key: key.into(), value: value.into() });
        let selector: LabelSelector = serde_json::from_str(selector).unwrap();
        assert_eq!(selector.matches(&labels), expected, "{selector:?}");
    }

    #[test]
    fn every_operator() {
        check(r#"{}"#, true);
        check(r#"{"matchLabels": null}"#, true);
        check(r#"{"matchLabels": {"app": "db"}}"#, true);
        check(r#"{"matchLabels": {"app": "web"}}"#, false);
        check(r#"{"matchLabels": {"app": "db", "zone": "a"}}"#, false);
        check(r#"{"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}"#, true);
        check(r#"{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}"#, false);
        check(r#"{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}"#, true);
        check(r#"{"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]}"#, false);
        check(r#"{"matchExpressions": [{"key": "tier", "operator": "Exists"}]}"#, true);
        check(r#"{"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}"#, false);
        check(r#"{"matchExpressions": [{"key": "app", "operator": "in", "values": ["db"]}]}"#, false);
        check(
            r#"{"matchLabels": {"app": "db"}, "matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}"#,
            false,
        );
    }
}
