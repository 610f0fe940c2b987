//! Kubernetes quantities (`10Gi`, `5e9`, `100M`) as whole numbers, rounded up as Kubernetes rounds them.

/// The forms that are accepted, for messages.
pub const FORMS: &str =
    "a decimal number, alone or with a suffix (Ki Mi Gi Ti Pi Ei, n u m k M G T P E) or an exponent (5e9)";

/// The number that a quantity stands for, rounded up; `None` where it is none, is negative, or is too large.
pub fn to_u64(text: &str) -> Option<u64> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let length = unsigned.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, suffix) = unsigned.split_at(length);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let digits = format!("{whole}{}", fraction.trim_end_matches('0'));
    let digits = digits.trim_start_matches('0');
    let digits: u128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let places = fraction.trim_end_matches('0').len() as i32;
    let (factor, exponent) = scale(suffix)?;
    let digits = digits.checked_mul(factor)?;
    if digits == 0 {
        return Some(0);
    }
    u64::try_from(shift(digits, exponent - places)?).ok()
}

/// The suffix as a factor and a power of ten.
fn scale(suffix: &str) -> Option<(u128, i32)> {
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|known| *known == suffix);
    if let Some(power) = binary {
        return Some((1 << (10 * (power + 1)), 0));
    }
    let exponent = match suffix {
        "" => 0,
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => {
            let digits = suffix.strip_prefix(['e', 'E'])?;
            let is_number = digits.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<i32>().ok().filter(|exponent| is_number && exponent.abs() < 1000)?
        }
    };
    Some((1, exponent))
}

/// Times a power of ten, rounded up.
fn shift(digits: u128, exponent: i32) -> Option<u128> {
    let power = 10_u128.checked_pow(exponent.unsigned_abs());
    if exponent >= 0 { digits.checked_mul(power?) } else { Some(power.map_or(1, |power| digits.div_ceil(power))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form() {
        for (text, expected) in [
            ("0", 0),
            ("10", 10),
            ("+10", 10),
            ("1Ki", 1024),
            ("10Gi", 10 << 30),
            ("1.5Gi", 3 << 29),
            (".5Ki", 512),
            ("5.", 5),
            ("8Ei", 8 << 60),
            ("100M", 100_000_000),
            ("1k", 1000),
            ("2T", 2_000_000_000_000),
            ("5e9", 5_000_000_000),
            ("5E+3", 5000),
            ("5E", 5_000_000_000_000_000_000),
            ("12e-1", 2),
            ("1500m", 2),
            ("1n", 1),
            ("1u", 1),
            ("0.0010", 1),
            ("1e-900", 1),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(to_u64(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity() {
        for text in [
            "", "Gi", ".", "1.2.3", "-1", "10gi", "10 Gi", "10GiB", "1e", "1e+", "1e9Gi", "ten", "16Ei", "1e30",
            "10Gi\n",
        ] {
            assert_eq!(to_u64(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,30}") {
            to_u64(&text);
        }

        #[test]
        fn a_number_is_itself(number in any::<u64>()) {
            prop_assert_eq!(to_u64(&number.to_string()), Some(number));
        }
    }
}
