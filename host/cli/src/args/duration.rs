//! Durations as people write them: `15s`, `2m`, `1h30m`.

use std::time::Duration;

use jiff::SignedDuration;

/// A shorter interval than this is a slip of the pen, or would ask EC2 more than any account may.
const SHORTEST: Duration = Duration::from_millis(100);
/// What happens less often than daily is not kept up with at all.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Reads a duration that an interval may have.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    let parsed = text.trim().parse::<SignedDuration>().ok().and_then(|duration| Duration::try_from(duration).ok());
    let Some(duration) = parsed else {
        return Err("a number with its unit is meant, as 500ms, 15s, 2m or 1h30m".to_owned());
    };
    if (SHORTEST..=LONGEST).contains(&duration) {
        return Ok(duration);
    }
    Err("between 100ms and 24h is meant".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_with_its_unit() {
        for (text, milliseconds) in [
            ("60s", 60_000),
            ("2m", 120_000),
            ("500ms", 500),
            ("100ms", 100),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("15 seconds", 15_000),
            ("1.5s", 1_500),
            ("PT2M", 120_000),
            (" 24h ", 86_400_000),
        ] {
            assert_eq!(interval(text), Ok(Duration::from_millis(milliseconds)), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_duration_is_told_the_accepted_forms() {
        let forms = "a number with its unit is meant, as 500ms, 15s, 2m or 1h30m";
        for text in ["", "60", "s", "sixty", "-5s", "5s ago", "60 parsecs", "1e3s", "NaN", "99999999999999999999s"] {
            assert_eq!(interval(text), Err(forms.to_owned()), "{text:?}");
        }
        for text in ["0s", "99ms", "1ns", "24h1s", "365d"] {
            let error = interval(text).expect_err("it is out of bounds");
            assert!(["between 100ms and 24h is meant", forms].contains(&&*error), "{text:?}: {error}");
        }
        assert_eq!(interval("0s"), Err("between 100ms and 24h is meant".to_owned()));
    }
}
