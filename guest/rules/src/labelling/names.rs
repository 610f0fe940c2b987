//! Which texts can be written as a zone.

/// Whether the text can be written as a zone: a label's value that Kubernetes takes, and one that nobody reads as a set.
pub(super) fn is_writable(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= 63 && !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_that_is_written_is_a_label_value_and_no_set() {
        for text in ["us-east-1a", "a", "us-west-2-lax-1a", &"a".repeat(63)] {
            assert!(is_writable(text), "{text}");
        }
        for text in ["", "us-east-1a ", "a__b", "-a", "a-", "A", "ü", "a/b", &"a".repeat(64)] {
            assert!(!is_writable(text), "{text}");
        }
    }
}
