//! Masks secrets in text that leaves the store: keys and tokens of well-known forms, private keys, passwords in URLs,
//! and values that are assigned to a name such as `password` or `API_KEY`.
//!
//! Secrets are found by their form alone, so others may be left. A text is read a few times at most, whatever it holds.
//! [`Kind::placeholder`] replaces each secret. It contains no quotation mark and no backslash: JSON within a text stays
//! valid, and masking a second time changes nothing. The password of a store's own URL is masked elsewhere: there a
//! program knows that the whole text is a URL (`hermes-store`).

mod assigned;
mod forms;
mod json;
mod record;
#[cfg(test)]
mod tests;

pub use record::{Masked, Redactor};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Kind of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `sk-…`, `sk_live_…`, `AIza…`, `hf_…` and other keys of services.
    ApiKey,
    /// `ghp_…`, `github_pat_…` and their like.
    GithubToken,
    /// `xoxb-…` and their like.
    SlackToken,
    /// `AKIA…`, `ASIA…`.
    AwsKey,
    /// Three parts of Base64 that begin with `eyJ`.
    Jwt,
    /// The lines between `BEGIN … PRIVATE KEY` and `END`.
    PrivateKey,
    /// `Bearer …`, or the credentials of an `Authorization` header.
    Authorization,
    /// The password of a URL.
    UrlPassword,
    /// A number and 35 characters.
    TelegramToken,
    /// A value that is assigned to `password` and its like.
    Password,
    /// A value that is assigned to `token`, `secret`, `api_key` and their like.
    Secret,
}

impl Kind {
    /// Returns the name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "api key",
            Self::GithubToken => "github token",
            Self::SlackToken => "slack token",
            Self::AwsKey => "aws key",
            Self::Jwt => "jwt",
            Self::PrivateKey => "private key",
            Self::Authorization => "authorization",
            Self::UrlPassword => "url password",
            Self::TelegramToken => "telegram token",
            Self::Password => "password",
            Self::Secret => "secret",
        }
    }

    /// Returns the text in the place of a secret.
    pub fn placeholder(self) -> String {
        format!("[redacted: {}]", self.name())
    }
}

/// Number of secrets of each kind.
pub type Counts = BTreeMap<Kind, u64>;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    kind: Kind,
    range: Range<usize>,
}

/// Maximum number of passes over a text. Each masks what the one before left; more than two are rare.
const MAX_PASSES: usize = 8;

/// Returns a text without its secrets, and counts them.
pub fn masked<'t>(text: &'t str, counts: &mut Counts) -> Cow<'t, str> {
    let mut out = Cow::Borrowed(text);
    // A form that begins inside another one is found once that one is masked.
    for _ in 0..MAX_PASSES {
        match one_pass(&out, counts) {
            Some(masked) => out = Cow::Owned(masked),
            None => break,
        }
    }
    out
}

/// Returns a text without the secrets that are found in one pass; `None` if there are none.
fn one_pass(text: &str, counts: &mut Counts) -> Option<String> {
    let found = secrets(text);
    if found.is_empty() {
        return None;
    }
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for Found { kind, range } in found {
        out.push_str(&text[from..range.start]);
        out.push_str(&kind.placeholder());
        *counts.entry(kind).or_default() += 1;
        from = range.end;
    }
    out.push_str(&text[from..]);
    Some(out)
}

/// Returns the secrets of a text, in order and without overlap.
fn secrets(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let hit = match bytes[at] {
            b':' | b'=' => forms::at_sign(bytes, at).or_else(|| assigned::at_sign(bytes, at)),
            byte if byte.is_ascii_alphabetic() || byte == b'-' => forms::at_start(bytes, at),
            _ => None,
        };
        match hit {
            // A form may reach back before the sign that it was found by.
            Some(hit) if found.last().is_none_or(|last| last.range.end <= hit.range.start) && hit.range.end > at => {
                at = hit.range.end;
                found.push(hit);
            }
            _ => at += 1,
        }
    }
    found
}
