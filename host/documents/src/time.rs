//! Points in time, as Kubernetes and EC2 write them.

use jiff::Timestamp;
use serde::de::{Deserialize, Deserializer, Error};

/// A point in time in RFC 3339, with any offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Timestamp);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Time).map_err(|_| {
            D::Error::custom(format!(
                "{text:?} is no point in time; accepted is RFC 3339, such as 2026-11-03T09:12:48Z"
            ))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_fractions_are_read() {
        let read = |text: &str| serde_json::from_str::<Time>(&format!("{text:?}")).map(|Time(time)| time.to_string());
        assert_eq!(read("2026-11-03T09:12:48Z").unwrap(), "2026-11-03T09:12:48Z");
        assert_eq!(read("2026-11-03T09:12:48.5+01:00").unwrap(), "2026-11-03T08:12:48.5Z");
        let message = read("yesterday").unwrap_err().to_string();
        assert!(message.starts_with("\"yesterday\" is no point in time; accepted is RFC 3339"), "{message}");
    }
}
