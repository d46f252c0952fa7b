//! Ids: opaque to readers, validated where they enter.

use crate::Invalid;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Maximum length of an id or key, in bytes; the same on every provider.
pub const MAX_ID_BYTES: usize = 255;

fn checked(what: &'static str, text: String) -> Result<Arc<str>, Invalid> {
    let hint = "use 1 to 255 bytes of text";
    match text.len() {
        0 => Err(Invalid::new(what, "is empty", hint)),
        1..=MAX_ID_BYTES if text.contains('\0') => Err(Invalid::new(what, "holds a NUL character", hint)),
        1..=MAX_ID_BYTES => Ok(text.into()),
        n => Err(Invalid::new(what, format!("is {n} bytes long"), hint)),
    }
}

/// Validates the key of a value stored beside the sessions. Providers call this first.
pub fn checked_meta_key(key: &str) -> Result<String, Invalid> {
    checked("meta key", key.to_owned()).map(|_| key.to_owned())
}

/// Validates a prefix of an id. An empty one would match every id. Providers call this first.
pub fn checked_prefix(prefix: &str) -> Result<String, Invalid> {
    match prefix {
        "" => Err(Invalid::new("prefix", "is empty", "give at least the first character of an id")),
        prefix => Ok(prefix.to_owned()),
    }
}

/// Identifies a session. Opaque text of 1 to 255 bytes, compared byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Parses an id from outside. Rejects an empty or over-long id and one with a NUL.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        checked("session id", text.into()).map(Self)
    }

    /// Takes an id as a store holds it, even one that a foreign writer should not have made.
    ///
    /// For providers: a row with a strange id is still shown, and can be read and repaired.
    pub fn from_stored(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the id of a session created at the terminal, by a continuation or by a branch: `YYYYMMDD_HHMMSS_` and
    /// six hexadecimal digits of `random`.
    pub fn terminal(at: &jiff::Zoned, random: u64) -> Self {
        Self(format!("{}_{:06x}", at.strftime("%Y%m%d_%H%M%S"), random & 0xff_ffff).into())
    }

    /// Returns the id of a session created by the gateway: as [`SessionId::terminal`], with eight digits.
    pub fn gateway(at: &jiff::Zoned, random: u64) -> Self {
        Self(format!("{}_{:08x}", at.strftime("%Y%m%d_%H%M%S"), random & 0xffff_ffff).into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the id may be part of a file name: 1 to 128 characters of `[A-Za-z0-9_-]`.
    pub fn is_file_safe(&self) -> bool {
        (1..=128).contains(&self.0.len())
            && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.0.as_ref().into()
    }
}

/// Identifies a message within one store. Within a session, a later message has the larger id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub i64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Idempotency key: identifies one request for a change, so that it can be retried without being applied twice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestKey(Arc<str>);

impl RequestKey {
    /// Parses a key of 1 to 255 bytes. Its creator ensures that it is unique.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        checked("request key", text.into()).map(Self)
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RequestKey {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(text)
    }
}

impl From<RequestKey> for String {
    fn from(key: RequestKey) -> String {
        key.0.as_ref().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_to_255_bytes() {
        assert_eq!(SessionId::parse("").unwrap_err().to_string(), "session id is empty");
        assert!(SessionId::parse("x".repeat(255)).is_ok());
        assert_eq!(SessionId::parse("é".repeat(128)).unwrap_err().to_string(), "session id is 256 bytes long");
        assert!(SessionId::parse("a\0b").is_err());
        assert!(SessionId::parse(" 大别山 ").is_ok(), "ids are opaque");
    }

    #[test]
    fn our_own_ids_tell_local_time() {
        let at: jiff::Zoned = "2025-03-05T09:15:23+01:00[Europe/Paris]".parse().unwrap();
        assert_eq!(SessionId::terminal(&at, 0xffa1_b2c3).as_str(), "20250305_091523_a1b2c3");
        assert_eq!(SessionId::gateway(&at, 0x7).as_str(), "20250305_091523_00000007");
    }

    #[test]
    fn only_plain_ids_go_into_file_names() {
        assert!(SessionId::parse("20250305_091523_a1b2c3").unwrap().is_file_safe());
        for id in ["../x", "/abs", "*", "a.b", "ü", &"x".repeat(129)] {
            assert!(!SessionId::parse(id).unwrap().is_file_safe(), "{id}");
        }
    }
}
