//! Sets of zones as one label's value: `us-east-1a__us-east-1b` (F-20, F-21, F-64).

use std::collections::BTreeSet;

/// What stands between two zones of one value.
pub const SEPARATOR: &str = "__";

/// The parts of a label's value, each trimmed. Nearly all values are one zone, which is not searched for a separator.
pub fn split(value: &str) -> impl Iterator<Item = &str> {
    let is_set = value.bytes().any(|byte| byte == b'_');
    let parts = is_set.then(|| value.split(SEPARATOR)).into_iter().flatten();
    (!is_set).then_some(value).into_iter().chain(parts).map(str::trim)
}

/// Reads a label's value as a set (F-20): split at `__`, each part trimmed.
///
/// An empty part spoils the whole value, as it does in Kubernetes: `None`.
#[must_use]
pub fn parse(value: &str) -> Option<BTreeSet<String>> {
    split(value).map(|zone| (!zone.is_empty()).then(|| zone.to_owned())).collect()
}

/// Reads a comma-separated list, as StorageClass parameters have it (F-22).
#[must_use]
pub fn parse_comma_separated(value: &str) -> Option<BTreeSet<String>> {
    value.split(',').map(str::trim).map(|zone| (!zone.is_empty()).then(|| zone.to_owned())).collect()
}

/// Writes a set as a label's value, sorted, so that one set has one text (F-21 leaves the order open).
#[must_use]
pub fn join(zones: &BTreeSet<String>) -> String {
    zones.iter().map(String::as_str).collect::<Vec<_>>().join(SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(zones: &[&str]) -> Option<BTreeSet<String>> {
        Some(zones.iter().map(|zone| (*zone).to_owned()).collect())
    }

    #[test]
    fn f_20_a_value_is_split_at_two_underscores_and_an_empty_part_spoils_it() {
        for (value, wanted) in [
            ("a", set(&["a"])),
            ("b__a", set(&["a", "b"])),
            (" a __ b ", set(&["a", "b"])),
            ("a__a", set(&["a"])),
            ("a_b", set(&["a_b"])),
            ("a___b", set(&["a", "_b"])),
            ("", None),
            ("__", None),
            ("a__", None),
            ("__a", None),
            ("a____b", None),
            ("a__ __b", None),
        ] {
            assert_eq!(parse(value), wanted, "{value:?}");
        }
    }

    #[test]
    fn f_21_one_set_is_written_in_one_way() {
        assert_eq!(parse("b__a__c").map(|zones| join(&zones)).as_deref(), Some("a__b__c"));
    }

    #[test]
    fn f_22_the_comma_form_is_a_parser_of_its_own() {
        assert_eq!(parse_comma_separated("b, a"), set(&["a", "b"]));
        assert_eq!(parse_comma_separated("a__b"), set(&["a__b"]));
        assert_eq!(parse_comma_separated("a,"), None);
    }
}
