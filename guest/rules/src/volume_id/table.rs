//! The rows of table B1, each in both modes.

use super::{ParsedVolumeId, parse};
use crate::settings::VolumeIds;

/// A row's answer in one mode.
#[derive(Debug, PartialEq, Eq)]
enum Answer<'a> {
    /// The id, the zone hint, whether EC2 may be asked, the warnings' codes.
    Is(&'a str, Option<&'a str>, bool, Vec<String>),
    /// The broken rule.
    No(String),
}

fn is<'a>(id: &'a str, warnings: &[&str]) -> Answer<'a> {
    in_zone(id, None, warnings)
}

fn in_zone<'a>(id: &'a str, zone: Option<&'a str>, warnings: &[&str]) -> Answer<'a> {
    Answer::Is(id, zone, false, warnings.iter().map(|code| (*code).to_owned()).collect())
}

fn askable<'a>(id: &'a str, zone: Option<&'a str>, warnings: &[&str]) -> Answer<'a> {
    Answer::Is(id, zone, true, warnings.iter().map(|code| (*code).to_owned()).collect())
}

fn no(rule: &str) -> Answer<'_> {
    Answer::No(rule.to_owned())
}

fn answer(text: &str, mode: VolumeIds) -> Answer<'_> {
    match parse(text, mode) {
        Ok(parsed) => accepted(text, parsed),
        Err(problem) => {
            assert_eq!(problem.subject, "volume id");
            assert_eq!(problem.text, text);
            assert!(problem.message.starts_with(&format!("{text:?} is no volume id: ")), "{}", problem.message);
            assert_eq!(problem.accepted.len(), 3);
            Answer::No(problem.rule)
        }
    }
}

fn accepted<'a>(text: &'a str, parsed: ParsedVolumeId<'a>) -> Answer<'a> {
    assert_eq!(parsed.text(), text);
    assert_eq!(parsed.id().as_ref(), parsed.id().as_str());
    let warnings = parsed.warnings();
    for warning in &warnings {
        assert!(warning.reason.message.starts_with(&format!("volume id {text:?}: ")), "{}", warning.reason.message);
    }
    let codes = warnings.into_iter().map(|warning| warning.reason.code).collect();
    Answer::Is(parsed.id().as_str(), parsed.zone_hint(), parsed.is_askable(), codes)
}

#[test]
fn b1_every_spelling_in_both_modes() {
    let z = "us-east-1a";
    let id = "vol-0123456789abcdef0";
    let length = "unusual-length";
    for (text, lenient, strict) in [
        // The three documented spellings.
        ("vol-1234", is("vol-1234", &[length]), is("vol-1234", &[length])),
        ("aws:///vol-1234", is("vol-1234", &[length]), is("vol-1234", &[length])),
        ("aws://us-east-1a/vol-1234", in_zone("vol-1234", Some(z), &[length]), in_zone("vol-1234", Some(z), &[length])),
        ("vol-0123456789abcdef0", askable(id, None, &[]), askable(id, None, &[])),
        ("aws:///vol-0123456789abcdef0", askable(id, None, &[]), askable(id, None, &[])),
        ("aws://us-east-1a/vol-0123456789abcdef0", askable(id, Some(z), &[]), askable(id, Some(z), &[])),
        ("vol-1234abcd", askable("vol-1234abcd", None, &[]), askable("vol-1234abcd", None, &[])),
        // URLs that Kubernetes accepts.
        ("aws://wrong-zone/vol-1234", is("vol-1234", &["zone-shape", length]), no("zone-shape")),
        ("aws://unknown/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://use1-az6/vol-1234abcd", askable("vol-1234abcd", None, &["zone-id"]), no("zone-id")),
        ("aws:////vol-1234", is("vol-1234", &["extra-slash", length]), no("extra-slash")),
        ("aws://us-east-1a/vol-1234/", in_zone("vol-1234", Some(z), &["trailing-slash", length]), no("trailing-slash")),
        ("aws://z/vol-1234///", is("vol-1234", &["trailing-slash", "zone-shape", length]), no("trailing-slash")),
        ("aws:///vol-", is("vol-", &["empty-suffix"]), no("empty-suffix")),
        ("aws:///vol-1?x=y", is("vol-1", &["query", length]), no("query")),
        ("aws:///vol-1?", is("vol-1", &["query", length]), no("query")),
        ("aws:///vol-1#f", is("vol-1", &["fragment", length]), no("fragment")),
        ("aws:///vol-1#", is("vol-1", &["fragment", length]), no("fragment")),
        ("aws:///vol-1?x#f?y", is("vol-1", &["query", "fragment", length]), no("query")),
        ("aws:///vol-%2F", is("vol-", &["trailing-slash", "percent-encoding", "empty-suffix"]), no("trailing-slash")),
        ("aws:///%2fvol-1", is("vol-1", &["extra-slash", "percent-encoding", length]), no("extra-slash")),
        ("aws:///vol-a b", is("vol-a b", &["inner-whitespace"]), no("inner-whitespace")),
        ("aws:///vol-1 ", is("vol-1", &["surrounding-whitespace", length]), no("surrounding-whitespace")),
        ("aws://z:/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://z:80/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://z:1:2/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://z/vol-1234", is("vol-1234", &["zone-shape", length]), no("zone-shape")),
        ("aws://z/vol-1234/", is("vol-1234", &["trailing-slash", "zone-shape", length]), no("trailing-slash")),
        ("aws://z/vol-", is("vol-", &["zone-shape", "empty-suffix"]), no("zone-shape")),
        ("aws://z/vol-1?x=y", is("vol-1", &["query", "zone-shape", length]), no("query")),
        ("aws://z/vol-1#f", is("vol-1", &["fragment", "zone-shape", length]), no("fragment")),
        (
            "aws://z/vol-%2F",
            is("vol-", &["trailing-slash", "percent-encoding", "zone-shape", "empty-suffix"]),
            no("trailing-slash"),
        ),
        ("aws://z/vol-a b", is("vol-a b", &["zone-shape", "inner-whitespace"]), no("zone-shape")),
        ("aws://a:b@z/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://%25z/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://%80/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://%7f/vol-1", no("parse-escape"), no("parse-escape")),
        ("aws://%C3%84/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws://Ä/vol-1", is("vol-1", &["zone-shape", length]), no("zone-shape")),
        ("aws:///vol-ABCDEF01", is("vol-ABCDEF01", &["upper-case"]), no("upper-case")),
        ("aws:///vol-xyz", is("vol-xyz", &["not-hex"]), no("not-hex")),
        // URLs that Kubernetes rejects for their form.
        ("aws://z/a/vol-1234", no("format-inner-slash"), no("format-inner-slash")),
        ("aws://z/a%2Fvol-1234", no("format-inner-slash"), no("format-inner-slash")),
        ("aws://z/a%2fvol-1234", no("format-inner-slash"), no("format-inner-slash")),
        ("aws:///vol-1/ ", no("format-inner-slash"), no("format-inner-slash")),
        ("aws://vol-1234", no("format-id-as-zone"), no("format-id-as-zone")),
        ("aws://vol-1234/", no("format-no-id"), no("format-no-id")),
        ("aws://z/", no("format-no-id"), no("format-no-id")),
        ("aws://z", no("format-no-id"), no("format-no-id")),
        ("aws://", no("format-no-id"), no("format-no-id")),
        ("aws:////", no("format-no-id"), no("format-no-id")),
        ("aws://z/i-1234", no("format-prefix"), no("format-prefix")),
        ("aws://z/ vol-1", no("format-prefix"), no("format-prefix")),
        ("aws://z/VOL-1", no("format-prefix-case"), no("format-prefix-case")),
        // URLs that can't be parsed.
        ("aws://z y/vol-1", no("parse-zone-character"), no("parse-zone-character")),
        ("aws://z{/vol-1", no("parse-zone-character"), no("parse-zone-character")),
        ("aws://[::1]/vol-1", no("parse-zone-character"), no("parse-zone-character")),
        ("aws://z:x/vol-1", no("parse-zone-port"), no("parse-zone-port")),
        ("aws://z:1:x/vol-1", no("parse-zone-port"), no("parse-zone-port")),
        ("aws://a b@z/vol-1", no("parse-user-info"), no("parse-user-info")),
        ("aws://%zz@z/vol-1", no("parse-escape"), no("parse-escape")),
        ("aws://z/vol-%zz", no("parse-escape"), no("parse-escape")),
        ("aws://z/vol-%", no("parse-escape"), no("parse-escape")),
        ("aws://z/vol-%1", no("parse-escape"), no("parse-escape")),
        ("aws://%41/vol-1", no("parse-escape"), no("parse-escape")),
        ("aws://%4/vol-1", no("parse-escape"), no("parse-escape")),
        ("aws:///vol-1#%zz", no("parse-escape"), no("parse-escape")),
        ("aws:///vol-1\n", no("parse-control-character"), no("parse-control-character")),
        ("aws:///vol-1\u{7f}", no("parse-control-character"), no("parse-control-character")),
        // An id that does not stand in the text.
        ("aws:///vol-%31", no("not-literal"), no("not-literal")),
        ("aws:///%76ol-1", no("not-literal"), no("not-literal")),
        ("aws:///vol-1%20", no("not-literal"), no("not-literal")),
        ("aws:///%76%6f%6C%2d1", no("not-literal"), no("not-literal")),
        // Encoded or not, Kubernetes rejects what does not begin with "vol-" once it is decoded.
        ("aws://z/i-%31", no("format-prefix"), no("format-prefix")),
        ("aws://z/%69-1234", no("format-prefix"), no("format-prefix")),
        ("aws://z/vo%31-1234", no("format-prefix"), no("format-prefix")),
        ("aws://z/%2576ol-1", no("format-prefix"), no("format-prefix")),
        ("aws://z/%20vol-1", no("format-prefix"), no("format-prefix")),
        ("aws://z/VOL-%31", no("format-prefix-case"), no("format-prefix-case")),
        ("aws://z/%56ol-1", no("format-prefix-case"), no("format-prefix-case")),
        // Texts that Kubernetes takes for ids.
        ("AWS://z/vol-1", is("AWS://z/vol-1", &["scheme-case"]), no("scheme-case")),
        ("aws:/vol-1", is("aws:/vol-1", &["scheme-slashes"]), no("scheme-slashes")),
        ("", no("empty"), no("empty")),
        (" \n", no("empty"), no("empty")),
        ("garbage", is("garbage", &["not-vol-prefix"]), no("not-vol-prefix")),
        ("i-1234abcd", is("i-1234abcd", &["not-vol-prefix"]), no("not-vol-prefix")),
        ("Ämter", is("Ämter", &["not-vol-prefix"]), no("not-vol-prefix")),
        (" vol-1", is("vol-1", &["surrounding-whitespace", length]), no("surrounding-whitespace")),
        ("vol-1 ", is("vol-1", &["surrounding-whitespace", length]), no("surrounding-whitespace")),
        ("vol-1234abcd\n", askable("vol-1234abcd", None, &["surrounding-whitespace"]), no("surrounding-whitespace")),
        (
            " aws://us-east-1a/vol-1234abcd\n",
            askable("vol-1234abcd", Some(z), &["surrounding-whitespace"]),
            no("surrounding-whitespace"),
        ),
        ("vol-1/x", is("vol-1/x", &["slash-in-id", "not-hex"]), no("slash-in-id")),
        ("vol-1/", is("vol-1/", &["slash-in-id"]), no("slash-in-id")),
        ("vol-", is("vol-", &["empty-suffix"]), no("empty-suffix")),
        ("vol-%31", is("vol-%31", &["not-hex"]), no("not-hex")),
        ("VOL-1234abcd", is("VOL-1234abcd", &["upper-case"]), no("upper-case")),
        ("vol-ABC", is("vol-ABC", &["upper-case", length]), no("upper-case")),
        ("vol-12 34", is("vol-12 34", &["inner-whitespace"]), no("inner-whitespace")),
        ("vol-123456789", is("vol-123456789", &[length]), is("vol-123456789", &[length])),
        ("vol-1234567", is("vol-1234567", &[length]), is("vol-1234567", &[length])),
    ] {
        assert_eq!(answer(text, VolumeIds::Lenient), lenient, "lenient {text:?}");
        assert_eq!(answer(text, VolumeIds::Strict), strict, "strict {text:?}");
    }
}

#[test]
fn b1_a_text_that_is_no_url_tells_the_input_and_the_cause() {
    for (text, cause) in [
        ("aws://z y/vol-1", "no host name may hold"),
        ("aws://z:x/vol-1", "no port number"),
        ("aws://z/vol-%zz", "two hexadecimal digits"),
        ("aws://vol-1234", "three slashes"),
        ("aws://z/a/vol-1", "more than one part"),
        ("", "names no volume"),
    ] {
        let problem = parse(text, VolumeIds::Lenient).expect_err(text);
        assert!(
            problem.message.contains(&format!("{text:?}")) && problem.message.contains(cause),
            "{}",
            problem.message
        );
    }
}

#[test]
fn d_4_a_leniency_tells_the_input_and_the_cause_in_either_mode() {
    let text = " vol-1234abcd";
    let warnings = parse(text, VolumeIds::Lenient).expect(text).warnings();
    let problem = parse(text, VolumeIds::Strict).expect_err(text);
    for message in [&warnings[0].reason.message, &problem.message] {
        assert!(message.contains(&format!("{text:?}")) && message.contains("Kubernetes does not trim"), "{message}");
    }
}
