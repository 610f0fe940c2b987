//! Bytes as text: UTF-8 with or without its mark, and UTF-16 by its mark (what PowerShell's `>` writes).

use std::borrow::Cow;

/// UTF-8 bytes of a text. That they are valid UTF-8 is not yet known, except for what was UTF-16: an invalid byte costs the
/// document it is in, not the file.
pub(crate) fn to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(rest),
        [0xFF, 0xFE, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_be_bytes)),
        _ => Cow::Borrowed(bytes),
    }
}

/// A half of a surrogate pair, and an odd byte at the end, become bytes that UTF-8 does not have, so that the check of the
/// document they stand in finds them.
fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    const INVALID: u8 = 0xFF;
    let pairs = bytes.chunks_exact(2);
    let odd = !pairs.remainder().is_empty();
    let mut utf8 = Vec::with_capacity(bytes.len());
    for decoded in char::decode_utf16(pairs.map(|pair| unit([pair[0], pair[1]]))) {
        match decoded {
            Ok(char) => utf8.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(_) => utf8.push(INVALID),
        }
    }
    if odd {
        utf8.push(INVALID);
    }
    utf8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[u8]) {
        assert_eq!(&*to_utf8(bytes), expected);
    }

    #[test]
    fn marks_are_taken_off_and_utf_16_is_read_in_both_orders() {
        check(b"a: \xC3\xA9", "a: \u{e9}".as_bytes());
        check(b"\xEF\xBB\xBFa", b"a");
        check(b"\xFF\xFEa\0\x3D\xD8\x00\xDE", "a\u{1f600}".as_bytes());
        check(b"\xFE\xFF\0a\xD8\x3D\xDE\x00", "a\u{1f600}".as_bytes());
    }

    #[test]
    fn what_utf_16_can_not_hold_becomes_an_invalid_byte() {
        check(b"\xFF\xFEa\0b", b"a\xFF");
        check(b"\xFF\xFE\x3D\xD8a\0", b"\xFFa");
    }
}
