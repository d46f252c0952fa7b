//! Secrets that are known by their own form.

use super::{Found, Kind};

/// A prefix that is followed by the characters of a key.
struct Prefix {
    text: &'static [u8],
    kind: Kind,
    /// Which characters follow.
    has: fn(u8) -> bool,
    /// The number of characters behind the prefix: at least, and at most.
    length: (usize, usize),
    /// The least number of letters and digits in a row. Words of prose that are joined by dashes have fewer.
    run: usize,
}

const MAX: usize = 512;

const fn prefix(text: &'static [u8], kind: Kind, has: fn(u8) -> bool, length: (usize, usize), run: usize) -> Prefix {
    Prefix { text, kind, has, length, run }
}

/// Base64 for URLs: what most keys consist of.
fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Characters of the credentials behind `Bearer`.
fn is_credential(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
}

const PREFIXES: [Prefix; 21] = [
    prefix(b"sk-", Kind::ApiKey, is_key, (20, MAX), 16),
    prefix(b"sk_live_", Kind::ApiKey, is_plain, (16, MAX), 16),
    prefix(b"sk_test_", Kind::ApiKey, is_plain, (16, MAX), 16),
    prefix(b"rk_live_", Kind::ApiKey, is_plain, (16, MAX), 16),
    prefix(b"AIza", Kind::ApiKey, is_key, (35, 35), 0),
    prefix(b"hf_", Kind::ApiKey, is_plain, (30, 60), 30),
    prefix(b"npm_", Kind::ApiKey, is_plain, (36, 36), 36),
    prefix(b"pypi-", Kind::ApiKey, is_key, (40, MAX), 16),
    prefix(b"glpat-", Kind::ApiKey, is_key, (20, 64), 0),
    prefix(b"ghp_", Kind::GithubToken, is_plain, (30, MAX), 30),
    prefix(b"gho_", Kind::GithubToken, is_plain, (30, MAX), 30),
    prefix(b"ghu_", Kind::GithubToken, is_plain, (30, MAX), 30),
    prefix(b"ghs_", Kind::GithubToken, is_plain, (30, MAX), 30),
    prefix(b"ghr_", Kind::GithubToken, is_plain, (30, MAX), 30),
    prefix(b"github_pat_", Kind::GithubToken, is_word, (30, MAX), 16),
    prefix(b"xoxa-", Kind::SlackToken, is_key, (10, MAX), 8),
    prefix(b"xoxb-", Kind::SlackToken, is_key, (10, MAX), 8),
    prefix(b"xoxp-", Kind::SlackToken, is_key, (10, MAX), 8),
    prefix(b"xoxr-", Kind::SlackToken, is_key, (10, MAX), 8),
    prefix(b"AKIA", Kind::AwsKey, is_upper, (16, 16), 16),
    prefix(b"ASIA", Kind::AwsKey, is_upper, (16, 16), 16),
];

/// Returns the secret that starts at a letter or a dash.
pub(super) fn at_start(bytes: &[u8], at: usize) -> Option<Found> {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let rest = &bytes[at..];
    if rest[0] == b'-' {
        return private_key(bytes, at);
    }
    // Within a word or a Base64 text nothing starts. An escape such as `\n` within nested JSON is no word.
    let is_escape = at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b't' | b'r');
    if before.is_some_and(|before| is_word(before) || before == b'+') && !is_escape {
        return None;
    }
    match rest[0] {
        b'e' => jwt(bytes, at),
        b'B' | b'b' => bearer(bytes, at),
        b's' | b'r' | b'A' | b'h' | b'n' | b'p' | b'g' | b'x' => {
            PREFIXES.iter().find_map(|prefix| prefix.at(bytes, at))
        }
        _ => None,
    }
}

impl Prefix {
    fn at(&self, bytes: &[u8], at: usize) -> Option<Found> {
        if !bytes[at..].starts_with(self.text) {
            return None;
        }
        let start = at + self.text.len();
        let length = span(&bytes[start..], self.has, MAX + 1);
        let key = &bytes[start..start + length];
        let run = key.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max().unwrap_or(0);
        let is_one = length >= self.length.0
            && (length <= self.length.1 || self.length.1 == MAX)
            && run >= self.run
            && key.iter().any(u8::is_ascii_digit);
        is_one.then(|| Found { kind: self.kind, range: at..start + length })
    }
}

/// Returns how many bytes at the start have a property, at most `most`.
fn span(bytes: &[u8], has: fn(u8) -> bool, most: usize) -> usize {
    bytes.iter().take(most).take_while(|byte| has(**byte)).count()
}

/// A JSON web token: two JSON objects and a signature in Base64.
fn jwt(bytes: &[u8], at: usize) -> Option<Found> {
    const PART: usize = 16 << 10;
    const LEAST: usize = 10;
    // Many starts in a row would each be read to the end.
    if at.checked_sub(1).is_some_and(|before| bytes[before] == b'-') {
        return None;
    }
    let part = |from: usize| {
        let length = span(bytes.get(from..)?, is_key, PART);
        (length >= LEAST).then_some(from + length)
    };
    let starts_object = |from: usize| bytes.get(from..).is_some_and(|rest| rest.starts_with(b"eyJ"));
    let dot = |at: usize| (bytes.get(at) == Some(&b'.')).then_some(at + 1);
    if !starts_object(at) {
        return None;
    }
    let second = dot(part(at)?)?;
    if !starts_object(second) {
        return None;
    }
    let end = part(dot(part(second)?)?)?;
    Some(Found { kind: Kind::Jwt, range: at..end })
}

/// `Bearer` or `Basic` and credentials. In an `Authorization` header short ones count too.
fn bearer(bytes: &[u8], at: usize) -> Option<Found> {
    const HEADER: &[u8] = b"authorization";
    const MAX_SIGNS: usize = 8;
    let rest = &bytes[at..];
    let scheme = |name: &[u8]| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    // The name of the header, not the word in a text before, such as a placeholder.
    let is_sign = |byte: &u8| matches!(byte, b':' | b'=' | b' ' | b'"' | b'\'' | b'\\' | b'>');
    let signs = bytes[..at].iter().rev().take(MAX_SIGNS).take_while(|byte| is_sign(byte)).count();
    let name = &bytes[..at - signs];
    let is_header =
        signs > 0 && name.len() >= HEADER.len() && name[name.len() - HEADER.len()..].eq_ignore_ascii_case(HEADER);
    let length = match () {
        () if scheme(b"bearer") => 6,
        () if scheme(b"basic") && is_header => 5,
        () => return None,
    };
    let blanks = span(&rest[length..], |byte| byte == b' ', 8);
    if blanks == 0 {
        return None;
    }
    let start = at + length + blanks;
    let credential = &bytes[start..start + span(&bytes[start..], is_credential, 16 << 10)];
    let is_one = if is_header {
        credential.len() >= 6
    } else {
        credential.len() >= 16 && credential.iter().any(u8::is_ascii_digit)
    };
    is_one.then(|| Found { kind: Kind::Authorization, range: start..start + credential.len() })
}

/// The start of the block of a private key.
const BEGIN: &[u8] = b"-----BEGIN ";

/// The block of a private key. Without its end, the lines of Base64 behind the start count; the start alone is no
/// secret. A quotation mark ends the block, so that JSON around it stays valid.
fn private_key(bytes: &[u8], at: usize) -> Option<Found> {
    const END: &[u8] = b"-----END ";
    const HEAD: usize = 64;
    let rest = &bytes[at..];
    if !rest.starts_with(BEGIN) {
        return None;
    }
    let head = &rest[BEGIN.len()..rest.len().min(BEGIN.len() + HEAD)];
    let close = find(head, b"-----")?;
    find(&head[..close], b"PRIVATE KEY")?;
    let start = BEGIN.len() + close + 5;
    let block = &rest[start..start + block_length(&rest[start..])];
    let end = match find(block, END) {
        Some(offset) => {
            let line = &block[offset + END.len()..block.len().min(offset + END.len() + HEAD)];
            start + offset + END.len() + find(line, b"-----").map_or(0, |close| close + 5)
        }
        None => start + lines_of_base64(block)?,
    };
    Some(Found { kind: Kind::PrivateKey, range: at..at + end })
}

/// Returns how many bytes at the start may be part of a block: anything but the start of another block, quotation
/// marks, and backslashes that are not those of escaped line breaks. So a text with many starts is read once, not from
/// each.
fn block_length(bytes: &[u8]) -> usize {
    let ends = |at: usize| match bytes[at] {
        b'"' | b'\'' | b'`' => true,
        b'-' => bytes[at..].starts_with(BEGIN),
        b'\\' => !matches!(bytes.get(at + 1), Some(b'n' | b'r' | b'\\')) || !is_line_break(&bytes[at..]),
        _ => false,
    };
    (0..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len())
}

/// Returns whether backslashes at the start are those of a line break, which may be escaped more than once.
fn is_line_break(bytes: &[u8]) -> bool {
    let slashes = span(bytes, |byte| byte == b'\\', 8);
    matches!(bytes.get(slashes), Some(b'n' | b'r'))
}

/// Returns how many bytes at the start are lines of Base64; `None` if there is none.
fn lines_of_base64(bytes: &[u8]) -> Option<usize> {
    const LEAST: usize = 16;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let (mut end, mut at) = (None, 0);
    loop {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                b'\\' => at += span(&bytes[at..], |byte| byte == b'\\', 8) + 1,
                _ => break,
            }
        }
        let length = span(&bytes[at.min(bytes.len())..], is_base64, usize::MAX);
        let is_cut = end.is_some() && length > 0 && at + length == bytes.len();
        if length < LEAST && !is_cut {
            return end;
        }
        at += length;
        end = Some(at);
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(offset) = bytes[from..].iter().position(|byte| *byte == first) {
        let at = from + offset;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Returns the secret around a colon: the password of a URL, or a token of a Telegram bot.
pub(super) fn at_sign(bytes: &[u8], at: usize) -> Option<Found> {
    if bytes[at] != b':' {
        return None;
    }
    if bytes[at..].starts_with(b"://") { url_password(bytes, at + 3) } else { telegram(bytes, at) }
}

/// The password of a URL whose authority starts here.
fn url_password(bytes: &[u8], start: usize) -> Option<Found> {
    const MAX_AUTHORITY: usize = 1 << 10;
    let ends = |byte: u8| {
        !(byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\'))
    };
    let authority = &bytes[start..start + span(&bytes[start..], ends, MAX_AUTHORITY)];
    let user_info = &authority[..authority.iter().rposition(|byte| *byte == b'@')?];
    let password = user_info.iter().position(|byte| *byte == b':')? + 1;
    let is_one = !super::assigned::is_stand_in(&user_info[password..]);
    is_one.then(|| Found { kind: Kind::UrlPassword, range: start + password..start + user_info.len() })
}

/// A token of a Telegram bot: its number, a colon, 35 characters.
fn telegram(bytes: &[u8], at: usize) -> Option<Found> {
    const KEY: usize = 35;
    let key = span(&bytes[at + 1..], is_key, KEY + 1);
    let digits = bytes[..at].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let before = bytes[..at - digits].last();
    let is_bot = bytes[..at - digits].ends_with(b"bot");
    let is_one = key == KEY && (8..=10).contains(&digits) && (is_bot || !before.is_some_and(|before| is_word(*before)));
    is_one.then(|| Found { kind: Kind::TelegramToken, range: at - digits..at + 1 + KEY })
}
