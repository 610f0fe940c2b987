//! What holds for every text.

use super::{Leniency, parse};
use crate::settings::VolumeIds;
use proptest::prelude::*;

/// Any text, and texts that are nearly volume ids.
fn text() -> impl Strategy<Value = String> {
    let near = "[ \n]{0,1}(aws://?|AWS://|aws:///){0,1}[a-z0-9:@%\\[ -]{0,12}/{0,3}(vol-|%2F|%76ol-|/){0,2}[0-9a-fA-F%/ ]{0,9}[/?#% \n]{0,2}";
    prop_oneof![any::<String>(), near, "(aws://(us-east-1a)?/)?vol-([0-9a-f]{8}|[0-9a-f]{17}|[0-9a-f]{1,3})"]
}

proptest! {
    /// The host's second law.
    #[test]
    fn a_canonical_id_occurs_literally_in_its_text(text in text()) {
        if let Ok(parsed) = parse(&text, VolumeIds::Lenient) {
            prop_assert!(text.contains(parsed.id().as_str()) && !parsed.id().as_str().is_empty());
            prop_assert!(parsed.zone_hint().is_none_or(|zone| text.contains(zone)));
        }
    }

    #[test]
    fn a_canonical_id_is_its_own_canonical_id(text in text()) {
        if let Ok(parsed) = parse(&text, VolumeIds::Lenient) {
            let shown = parsed.id().to_string();
            let again = parse(&shown, VolumeIds::Lenient).expect("an id is accepted");
            prop_assert_eq!(again.id(), parsed.id());
            prop_assert_eq!(again.is_askable(), parsed.is_askable());
            prop_assert!(!again.leniencies().has(Leniency::SurroundingWhitespace));
        }
    }

    #[test]
    fn d_3_an_id_that_ec2_may_not_be_asked_about_has_a_warning_and_strict_mode_rejects_no_other(text in text()) {
        let lenient = parse(&text, VolumeIds::Lenient);
        let strict = parse(&text, VolumeIds::Strict);
        if let Ok(parsed) = lenient {
            prop_assert!(parsed.is_askable() || !parsed.warnings().is_empty());
            let harmless = parsed.leniencies().iter().all(|leniency| leniency == Leniency::UnusualLength);
            prop_assert_eq!(harmless, strict.is_ok());
        } else {
            prop_assert_eq!(lenient, strict);
        }
    }

    #[test]
    fn strict_mode_accepts_the_documented_spellings(zone in "(us-east-1a)?", digits in "[0-9a-f]{1,20}", bare: bool) {
        let text = if bare { format!("vol-{digits}") } else { format!("aws://{zone}/vol-{digits}") };
        let parsed = parse(&text, VolumeIds::Strict).expect("documented");
        prop_assert_eq!(parsed.id().as_str(), format!("vol-{digits}"));
        prop_assert_eq!(parsed.zone_hint(), (!bare && !zone.is_empty()).then_some("us-east-1a"));
        prop_assert_eq!(parsed.is_askable(), matches!(digits.len(), 8 | 17));
    }
}
