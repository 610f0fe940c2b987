//! As much of a URL's grammar as Kubernetes applies to a volume id: that of the Go language's parser, whose errors are ours.
//!
//! One thing differs: a zone part with an opening bracket is an error here, while Go reads an IP address in brackets. No zone
//! is one, and the parser's releases differ in what they take.

use super::rejection::Rejection;

/// What makes Kubernetes read a text as a URL.
pub(super) const PREFIX: &str = "aws://";

/// The parts of what follows [`PREFIX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// Up to the first slash: the zone.
    pub(super) authority: &'a str,
    /// From the first slash on, not decoded.
    pub(super) path: &'a str,
    pub(super) has_query: bool,
    pub(super) has_fragment: bool,
}

/// Splits what follows the prefix; an error where Go finds one.
pub(super) fn split(rest: &str) -> Result<Parts<'_>, Rejection> {
    let (rest, fragment) = cut(rest, '#');
    if rest.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(Rejection::ControlCharacter);
    }
    let (rest, query) = cut(rest, '?');
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    check_authority(authority)?;
    check_escapes(path)?;
    check_escapes(fragment.unwrap_or_default())?;
    Ok(Parts { authority, path, has_query: query.is_some(), has_fragment: fragment.is_some() })
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

fn check_authority(authority: &str) -> Result<(), Rejection> {
    let Some((user, host)) = authority.rsplit_once('@') else { return check_host(authority) };
    check_host(host)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(allowed) {
        return Err(Rejection::UserInfo);
    }
    check_escapes(user)
}

fn check_host(host: &str) -> Result<(), Rejection> {
    if host.contains('[') {
        return Err(Rejection::ZoneCharacter);
    }
    // From the last colon on: only the scheme http is held to one colon.
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Rejection::ZonePort);
    }
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-_.~!$&'()*+,;=:]<>\"%".contains(&byte);
    if !host.bytes().all(allowed) {
        return Err(Rejection::ZoneCharacter);
    }
    check_escapes(host)?;
    // Of ASCII characters only the percent sign itself may be written as an escape in a host.
    let escaped = |rest: &str| rest.starts_with("25") || rest.as_bytes()[0] >= b'8';
    if host.split('%').skip(1).all(escaped) { Ok(()) } else { Err(Rejection::Escape) }
}

/// Two hexadecimal digits follow each percent sign.
fn check_escapes(text: &str) -> Result<(), Rejection> {
    let good = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if text.split('%').skip(1).all(good) { Ok(()) } else { Err(Rejection::Escape) }
}
