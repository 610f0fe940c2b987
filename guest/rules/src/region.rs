//! The region that an availability zone's name lies in, told by the known shapes of names (B-10, B-11, D-38).
//!
//! Two upstream rules disagree and both fail somewhere: the translation library's count of dashes refuses `us-west-10a`, and
//! the cloud provider's pattern takes `us-east-1` and `us-east-1-whatever` for zones. Here a name is a zone only in one of the
//! three shapes that AWS uses; a zone id (`use1-az6`) is none, since what it names differs from account to account (D-37).

/// The region of a zone's name, as a slice of it; `None` where the name does not have the shape of a zone.
///
/// | shape | zone | region |
/// |---|---|---|
/// | availability zone | `us-west-10a` | `us-west-10` |
/// | Local Zone | `us-west-2-lax-1a` | `us-west-2` |
/// | Wavelength Zone | `us-east-1-wl1-bos-wlz-1` | `us-east-1` |
#[must_use]
pub fn of_zone(zone: &str) -> Option<&str> {
    let tail = after_region(zone)?;
    let is_zone = is_letter(tail) || is_local(tail) || is_wavelength(tail);
    is_zone.then(|| &zone[..zone.len() - tail.len()])
}

/// Whether the name has the shape of a zone.
#[must_use]
pub fn is_zone(name: &str) -> bool {
    of_zone(name).is_some()
}

/// Whether the text has the shape of a zone id (`use1-az6`, `usw2-lax1-az1`, `use1-wl1-bos1-wlz1`), which is not a name (D-37).
#[must_use]
pub fn is_zone_id(text: &str) -> bool {
    let mut parts = text.split('-');
    let region = parts.next().and_then(letters_and_number).is_some();
    let last = parts.next_back();
    let zone = last.is_some_and(|part| numbered(part, "az") || numbered(part, "wlz"));
    region && zone && parts.all(|part| letters_and_number(part).is_some())
}

/// What follows the region's name: two or more words with a dash behind each, and a number (`us-gov-east-1`).
fn after_region(zone: &str) -> Option<&str> {
    let mut rest = zone;
    let mut words = 0;
    while let Some(behind) = word(rest).and_then(|(_, behind)| behind.strip_prefix('-')) {
        words += 1;
        rest = behind;
    }
    let behind = number(rest)?;
    (words >= 2).then_some(behind)
}

/// `a`
fn is_letter(tail: &str) -> bool {
    matches!(word(tail), Some((word, "")) if word.len() == 1)
}

/// `-lax-1a`
fn is_local(tail: &str) -> bool {
    let place = tail.strip_prefix('-').and_then(word).and_then(|(_, behind)| behind.strip_prefix('-'));
    place.and_then(number).is_some_and(is_letter)
}

/// `-wl1-bos-wlz-1`
fn is_wavelength(tail: &str) -> bool {
    let place = tail.strip_prefix("-wl").and_then(number).and_then(|behind| behind.strip_prefix('-')).and_then(word);
    place.and_then(|(_, behind)| behind.strip_prefix("-wlz-")).and_then(number) == Some("")
}

/// Splits off lower case letters, at least one.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_lowercase).count();
    (end > 0).then(|| text.split_at(end))
}

/// What follows a number without a leading zero.
fn number(text: &str) -> Option<&str> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0 && !text.starts_with('0')).then(|| &text[end..])
}

/// `use1`
fn letters_and_number(part: &str) -> Option<()> {
    let (_, behind) = word(part)?;
    number(behind)?.is_empty().then_some(())
}

/// `az6`
fn numbered(part: &str, kind: &str) -> bool {
    part.strip_prefix(kind).and_then(number) == Some("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn b_10_b_11_d_38_every_shape_of_a_zone_gives_its_region() {
        for (zone, region) in [
            ("us-east-1a", "us-east-1"),
            ("us-east-1z", "us-east-1"),
            ("ap-southeast-2a", "ap-southeast-2"),
            ("us-west-10a", "us-west-10"),
            ("us-gov-east-1b", "us-gov-east-1"),
            ("us-isob-east-1a", "us-isob-east-1"),
            ("eusc-de-east-1a", "eusc-de-east-1"),
            ("cn-north-1a", "cn-north-1"),
            ("us-west-2-lax-1a", "us-west-2"),
            ("ap-southeast-2-per-1b", "ap-southeast-2"),
            ("us-gov-east-1-bos-12a", "us-gov-east-1"),
            ("us-east-1-wl1-bos-wlz-1", "us-east-1"),
            ("eu-west-2-wl2-man-wlz-10", "eu-west-2"),
        ] {
            assert_eq!(of_zone(zone), Some(region), "{zone}");
            assert!(is_zone(zone), "{zone}");
            assert!(!is_zone_id(zone), "{zone}");
        }
    }

    #[test]
    fn b_11_d_37_what_is_no_zone_has_no_region() {
        for text in [
            "",
            "-",
            "a",
            "1a",
            "vol-1a",
            "us-east-1",
            "us-east-1aa",
            "us-east-1-",
            "us-east-1A",
            "US-EAST-1A",
            "us-east-01a",
            "us-east-1a ",
            " us-east-1a",
            "us--east-1a",
            "us-east-a",
            "useast1a",
            "us-east1-a",
            "us-central1-a",
            "us-west-2-lax-1",
            "us-west-2-lax-a",
            "us-west-2-lax1a",
            "us-west-2-lax-1aa",
            "us-west-2--1a",
            "us-west-2lax-1a",
            "us-east-1-wl-bos-wlz-1",
            "us-east-1-wl1-bos-wlz-1a",
            "us-east-1-wl1-bos-wlz-",
            "us-east-1-wl1--wlz-1",
            "us-east-1-wl1bos-wlz-1",
            "us-east-1-wl1-bos-xlz-1",
            "use1-az6",
            "usw2-lax1-az1",
            "use1-wl1-bos1-wlz1",
            "unknown",
            "wrong-zone",
            "us-east-1ä",
        ] {
            assert_eq!(of_zone(text), None, "{text:?}");
            assert!(!is_zone(text), "{text:?}");
        }
    }

    #[test]
    fn d_37_a_zone_id_is_told_from_a_name_and_from_garbage() {
        for id in ["use1-az6", "usw2-lax1-az1", "use1-wl1-bos1-wlz1", "apse2-az10"] {
            assert!(is_zone_id(id), "{id}");
        }
        for text in
            ["", "az6", "use1", "use-az6", "1-az6", "use1-az", "use1-az06", "use1-x-az6", "use1-az6a", "use1-az6-lax1"]
        {
            assert!(!is_zone_id(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn b_10_a_region_is_the_beginning_of_its_zone_and_no_zone_itself(text in "\\PC*|[a-z]{2}(-[a-z]{1,9}){1,2}-[0-9]{1,2}(-[a-z]{1,3}-[0-9])?[a-z]") {
            if let Some(region) = of_zone(&text) {
                prop_assert!(text.starts_with(region) && text.len() > region.len());
                prop_assert_eq!(of_zone(region), None);
            }
        }
    }
}
