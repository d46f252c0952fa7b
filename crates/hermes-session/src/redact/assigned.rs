//! Secrets that are known by the name they are assigned to: `password=…`, `API_KEY: …`, `"token": "…"`.

use super::{Found, Kind};
use std::ops::Range;

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 64;
/// Maximum length of a value, in bytes.
const MAX_VALUE: usize = 4 << 10;

/// Ends of names whose values are passwords.
const PASSWORDS: [&str; 5] = ["password", "passwd", "passphrase", "pwd", "passwort"];
/// Ends of names whose values are other secrets.
const SECRETS: [&str; 13] = [
    "apikey",
    "secret",
    "token",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "clientkey",
    "authkey",
    "credentials",
    "credential",
];

/// Returns the kind of the values under a name: one that ends in `password`, `token`, `api_key` and their like, in any
/// case, with or without `_`, `-` and `.`.
pub(super) fn kind_of(name: &[u8]) -> Option<Kind> {
    let letters: Vec<u8> =
        name.iter().filter(|byte| !matches!(byte, b'_' | b'-' | b'.')).map(u8::to_ascii_lowercase).collect();
    let ends = |words: &[&str]| words.iter().any(|word| letters.ends_with(word.as_bytes()));
    match () {
        () if ends(&PASSWORDS) => Some(Kind::Password),
        () if ends(&SECRETS) => Some(Kind::Secret),
        () => None,
    }
}

/// Returns whether a value only stands for a secret: a variable, a placeholder, or a word such as `null`.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 18] = [
        b"null",
        b"none",
        b"nil",
        b"true",
        b"false",
        b"undefined",
        b"redacted",
        b"password",
        b"secret",
        b"string",
        b"str",
        b"bytes",
        b"int",
        b"bool",
        b"any",
        b"text",
        b"required",
        b"optional",
    ];
    let Some(first) = value.first() else { return true };
    matches!(first, b'$' | b'<' | b'{' | b'%' | b'[')
        || value.iter().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_'))
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns the value that is assigned at a `=` or `:`, if its name is one of a secret.
pub(super) fn at_sign(bytes: &[u8], at: usize) -> Option<Found> {
    let (name_range, is_quoted_name) = name_before(bytes, at)?;
    let (name_start, name) = (name_range.start, &bytes[name_range]);
    let kind = kind_of(name)?;
    let mut start = at + 1;
    match bytes.get(start)? {
        // `==`, `=~`, `::` compare or name a path; `:=` is found by its `=`.
        b'=' | b'~' | b':' | b'/' => return None,
        b'>' => start += 1,
        _ => {}
    }
    let blanks = bytes[start..].iter().take(8).take_while(|byte| **byte == b' ').count();
    start += blanks;
    let (value, is_quoted) = match quoted_value(bytes, start) {
        Some(value) => (value, true),
        None => (plain_value(bytes, start), false),
    };
    let text = &bytes[value.clone()];
    let is_one = if is_quoted {
        text.len() >= 3
    } else {
        // Without quotes it may be code or prose: `password = input()`, `token: the one that`.
        let is_code = matches!(bytes.get(value.end), Some(b'(' | b'['));
        let has_digit = text.iter().any(u8::is_ascii_digit);
        let is_number = text.iter().all(u8::is_ascii_digit) && kind == Kind::Secret;
        let is_tight = bytes[at] == b'=' && blanks == 0 && !text.contains(&b'.');
        let is_long =
            text.len() >= 6 && (has_digit || (!text.contains(&b'.') && is_line(bytes, name_start, value.end)));
        !is_code && !is_number && !is_quoted_name && (is_long || (text.len() >= 3 && is_tight))
    };
    // An argument that is passed on: `token=token`.
    let is_same = text.eq_ignore_ascii_case(name);
    (is_one && !is_same && !is_stand_in(text)).then_some(Found { kind, range: value })
}

/// Returns the name before a sign, and whether it is in quotation marks.
fn name_before(bytes: &[u8], at: usize) -> Option<(Range<usize>, bool)> {
    let mut end = at;
    let before = |end: usize| end.checked_sub(1).map(|place| bytes[place]);
    // `:=` and `"name" : `.
    if bytes[at] == b'=' && before(end) == Some(b':') {
        end -= 1;
    }
    for _ in 0..3 {
        if before(end) == Some(b' ') {
            end -= 1;
        }
    }
    let mut is_quoted = false;
    if matches!(before(end), Some(b'"' | b'\'' | b'`')) {
        is_quoted = true;
        end -= 1;
        while before(end) == Some(b'\\') {
            end -= 1;
        }
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = bytes[..end].iter().rev().take(MAX_NAME).take_while(|byte| is_name(byte)).count();
    (length > 0).then(|| (end - length..end, is_quoted))
}

/// Returns whether a name and its value fill a line, as in a file of settings.
fn is_line(bytes: &[u8], start: usize, end: usize) -> bool {
    const MAX_INDENT: usize = 64;
    let before = bytes[..start].iter().rev().take(MAX_INDENT).find(|byte| !matches!(byte, b' ' | b'\t' | b'-'));
    let behind = bytes[end..].iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    matches!(before, None | Some(b'\n')) && matches!(behind, None | Some(b'\n'))
}

/// Returns the range of a value in quotation marks, which may be escaped once or more, as JSON within JSON is.
fn quoted_value(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let level = bytes[start..].iter().take(8).take_while(|byte| **byte == b'\\').count();
    let quote = *bytes.get(start + level)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let from = start + level + 1;
    let (mut at, mut slashes) = (from, 0);
    while at < bytes.len().min(from + MAX_VALUE) {
        match bytes[at] {
            b'\\' => slashes += 1,
            byte if byte == quote => {
                // A quotation mark with fewer backslashes ends the text around the value.
                let closes = if level == 0 { slashes % 2 == 0 } else { slashes <= level };
                if closes {
                    return Some(from..at - if level == 0 { 0 } else { slashes });
                }
                slashes = 0;
            }
            // A line break ends an unclosed quotation.
            b'\n' => return None,
            _ => slashes = 0,
        }
        at += 1;
    }
    None
}

/// Returns the range of a value without quotation marks.
fn plain_value(bytes: &[u8], start: usize) -> Range<usize> {
    let ends = |byte: u8| {
        byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || matches!(
                byte,
                b',' | b';'
                    | b'&'
                    | b'"'
                    | b'\''
                    | b'`'
                    | b'<'
                    | b'>'
                    | b'('
                    | b')'
                    | b'['
                    | b']'
                    | b'{'
                    | b'}'
                    | b'\\'
                    | b'|'
            )
    };
    let mut length = bytes[start..].iter().take(MAX_VALUE).take_while(|byte| !ends(**byte)).count();
    while bytes.get(start + length).is_some_and(|byte| byte & 0xc0 == 0x80) {
        // Cut between two characters.
        length -= 1;
    }
    // A full stop or the like behind the value is punctuation.
    let text = &bytes[start..start + length];
    let trimmed = text.iter().rev().take_while(|byte| matches!(byte, b'.' | b'!' | b'?' | b':')).count();
    start..start + length - trimmed
}
