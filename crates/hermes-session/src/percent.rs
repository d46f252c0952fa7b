//! Percent-encoding of the parts of a URL.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes a text so that it can be any part of a URL.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes a part of a URL. Returns `None` if a `%` is not followed by two hexadecimal digits, or the result is not
/// UTF-8.
///
/// RFC 3986 allows no other `%`, and libpq rejects it too. The `percent-encoding` crate would keep a malformed escape
/// unchanged, and a mistyped URL would name another file, schema or session than was meant.
pub fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    let is_escape =
        |rest: &str| matches!(rest.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(percent_decoded("/a%20b%C3%A9%25").as_deref(), Some("/a bé%"));
        assert_eq!(percent_decoded("a+b").as_deref(), Some("a+b"), "a plus sign is no space");
    }

    #[test]
    fn malformed_escapes_are_refused() {
        for odd in ["%", "%2", "%zz", "%+f", "%%20", "%é", "%ff"] {
            assert_eq!(percent_decoded(odd), None, "{odd}");
        }
    }

    #[test]
    fn reserved_characters_are_encoded() {
        assert_eq!(percent_encoded("a-B_0.~/?#%: é"), "a-B_0.~%2F%3F%23%25%3A%20%C3%A9");
    }
}
