//! The reader: one pass over the text, nothing allocated.

use super::leniency::{Leniencies, Leniency};
use super::rejection::Rejection;
use super::url;
use crate::region;

/// What a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading<'a> {
    pub(super) id: &'a str,
    pub(super) zone_hint: Option<&'a str>,
    pub(super) askable: bool,
    pub(super) leniencies: Leniencies,
}

/// Reads a text as leniently as Kubernetes does.
pub(super) fn read(text: &str) -> Result<Reading<'_>, Rejection> {
    let mut leniencies = Leniencies::default();
    let (id, zone_hint) = match text.strip_prefix(url::PREFIX) {
        Some(rest) => of_url(rest, &mut leniencies)?,
        None => of_other(text, &mut leniencies)?,
    };
    let askable = is_askable(id);
    if !askable {
        judge_shape(id, &mut leniencies);
    }
    Ok(Reading { id, zone_hint, askable, leniencies })
}

/// Whether EC2 may be asked about the id (D-3): 8 or 17 lower case hexadecimal digits.
fn is_askable(id: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    id.strip_prefix("vol-").is_some_and(|digits| matches!(digits.len(), 8 | 17) && digits.bytes().all(is_digit))
}

/// A text that does not begin with `aws://`, which Kubernetes takes for an id whatever it is.
///
/// What begins with `aws://` once trimmed is read as a URL: nothing else makes the id of an id be itself.
fn of_other<'a>(text: &'a str, leniencies: &mut Leniencies) -> Result<(&'a str, Option<&'a str>), Rejection> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(Rejection::Empty);
    }
    if trimmed.len() != text.len() {
        leniencies.add(Leniency::SurroundingWhitespace);
    }
    match trimmed.strip_prefix(url::PREFIX) {
        Some(rest) => of_url(rest, leniencies),
        None => Ok((trimmed, None)),
    }
}

/// What follows `aws://`.
fn of_url<'a>(rest: &'a str, leniencies: &mut Leniencies) -> Result<(&'a str, Option<&'a str>), Rejection> {
    let parts = url::split(rest)?;
    if parts.has_query {
        leniencies.add(Leniency::Query);
    }
    if parts.has_fragment {
        leniencies.add(Leniency::Fragment);
    }
    let id = id_of_path(parts.path, leniencies);
    if id.is_empty() {
        let is_id = parts.path.is_empty() && parts.authority.starts_with("vol-");
        return Err(if is_id { Rejection::IdAsZone } else { Rejection::NoId });
    }
    check_id(id)?;
    let trimmed = id.trim_end();
    if trimmed.len() != id.len() {
        leniencies.add(Leniency::SurroundingWhitespace);
    }
    Ok((trimmed, zone_hint(parts.authority, leniencies)))
}

/// Strips the slashes around the id, percent-encoded ones too, since decoding comes before stripping in Kubernetes.
fn id_of_path<'a>(path: &'a str, leniencies: &mut Leniencies) -> &'a str {
    // The one slash that belongs there.
    let mut id = path.strip_prefix('/').unwrap_or(path);
    while let Some(rest) = strip_slash(id, |id, slash| id.strip_prefix(slash), leniencies) {
        leniencies.add(Leniency::ExtraSlash);
        id = rest;
    }
    while let Some(rest) = strip_slash(id, |id, slash| id.strip_suffix(slash), leniencies) {
        leniencies.add(Leniency::TrailingSlash);
        id = rest;
    }
    id
}

fn strip_slash<'a>(
    id: &'a str,
    strip: impl Fn(&'a str, &'static str) -> Option<&'a str>,
    leniencies: &mut Leniencies,
) -> Option<&'a str> {
    if let Some(rest) = strip(id, "/") {
        return Some(rest);
    }
    let rest = strip(id, "%2F").or_else(|| strip(id, "%2f"))?;
    leniencies.add(Leniency::PercentEncoding);
    Some(rest)
}

/// The translation library's pattern, which it holds against the decoded id, and then the host's law that an id occurs in its
/// text.
fn check_id(id: &str) -> Result<(), Rejection> {
    if id.contains('/') || id.contains("%2F") || id.contains("%2f") {
        return Err(Rejection::InnerSlash);
    }
    let mut prefix = [0; 4];
    for (place, byte) in prefix.iter_mut().zip(decoded(id)) {
        *place = byte;
    }
    if !prefix.eq_ignore_ascii_case(b"vol-") {
        Err(Rejection::Prefix)
    } else if prefix != *b"vol-" {
        Err(Rejection::PrefixCase)
    } else if id.contains('%') {
        Err(Rejection::NotLiteral)
    } else {
        Ok(())
    }
}

/// The bytes of a text whose escapes are sound, as Kubernetes decodes them.
fn decoded(text: &str) -> impl Iterator<Item = u8> {
    let mut bytes = text.bytes();
    std::iter::from_fn(move || match bytes.next()? {
        b'%' => {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()
        }
        byte => Some(byte),
    })
}

/// `vol-` in any case.
fn has_vol_prefix(id: &str) -> bool {
    id.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("vol-"))
}

/// The zone part, where it is a zone's name. Kubernetes never looks at it.
fn zone_hint<'a>(authority: &'a str, leniencies: &mut Leniencies) -> Option<&'a str> {
    if authority.is_empty() {
        return None;
    }
    if region::is_zone(authority) {
        return Some(authority);
    }
    leniencies.add(if region::is_zone_id(authority) { Leniency::ZoneId } else { Leniency::ZoneShape });
    None
}

/// What keeps the id from being one that EC2 gives.
fn judge_shape(id: &str, leniencies: &mut Leniencies) {
    if !has_vol_prefix(id) {
        leniencies.add(match id.get(..4) {
            Some("aws:") => Leniency::SchemeSlashes,
            Some(scheme) if scheme.eq_ignore_ascii_case("aws:") => Leniency::SchemeCase,
            _ => Leniency::NotVolPrefix,
        });
        return;
    }
    let (prefix, suffix) = id.split_at(4);
    if suffix.is_empty() {
        leniencies.add(Leniency::EmptySuffix);
    }
    if prefix != "vol-" {
        leniencies.add(Leniency::UpperCase);
    }
    let mut only_digits = !suffix.is_empty();
    for character in suffix.chars() {
        match character {
            '0'..='9' | 'a'..='f' => continue,
            'A'..='F' => {
                leniencies.add(Leniency::UpperCase);
                continue;
            }
            '/' => leniencies.add(Leniency::SlashInId),
            _ if character.is_whitespace() => leniencies.add(Leniency::InnerWhitespace),
            _ => leniencies.add(Leniency::NotHex),
        }
        only_digits = false;
    }
    if only_digits && !matches!(suffix.len(), 8 | 17) {
        leniencies.add(Leniency::UnusualLength);
    }
}
