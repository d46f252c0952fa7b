//! Fingerprints: a hash over the whole content of a change, which tells a repeated request from a different one.

use crate::{Json, MessageBody, Timestamp};
use sha2::{Digest as _, Sha256};

/// Hashes a change field by field. Equal fingerprints mean equal fields in equal order.
#[derive(Debug, Clone)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Starts with the name of the change.
    pub fn of(change: &str) -> Self {
        Self(Sha256::new()).field(change)
    }

    /// Adds a field.
    #[must_use]
    pub fn field(self, text: &str) -> Self {
        self.bytes(1, text.as_bytes())
    }

    /// Adds a field that may be missing. Missing differs from empty.
    #[must_use]
    pub fn optional(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.field(text),
            None => self.bytes(0, &[]),
        }
    }

    /// Adds a number that may be missing.
    #[must_use]
    pub fn number(self, number: Option<i64>) -> Self {
        match number {
            Some(number) => self.bytes(2, &number.to_le_bytes()),
            None => self.bytes(0, &[]),
        }
    }

    /// Adds a double that may be missing, by its bits.
    #[must_use]
    pub fn double(self, number: Option<f64>) -> Self {
        self.number(number.map(|number| number.to_bits() as i64))
    }

    /// Adds a message.
    #[must_use]
    pub fn message(self, body: &MessageBody, timestamp: Option<Timestamp>) -> Self {
        let json = |json: &Option<Json>| json.as_ref().map(|json| json.as_str().to_owned());
        let content = match &body.content {
            None => self.bytes(0, &[]),
            Some(crate::Content::Text(text)) => self.bytes(3, text.as_bytes()),
            Some(crate::Content::Json(json)) => self.bytes(4, json.as_str().as_bytes()),
            Some(crate::Content::Bytes(bytes)) => self.bytes(5, bytes),
        };
        content
            .field(body.role.as_str())
            .optional(body.tool_call_id.as_deref())
            .optional(json(&body.tool_calls).as_deref())
            .optional(body.tool_name.as_deref())
            .number(body.token_count)
            .optional(body.finish_reason.as_deref())
            .optional(body.reasoning.as_deref())
            .optional(body.reasoning_content.as_deref())
            .optional(json(&body.reasoning_details).as_deref())
            .optional(json(&body.codex_reasoning_items).as_deref())
            .optional(json(&body.codex_message_items).as_deref())
            .double(timestamp.map(Timestamp::seconds))
    }

    /// Returns the fingerprint: 64 hexadecimal digits.
    pub fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn bytes(mut self, kind: u8, bytes: &[u8]) -> Self {
        self.0.update([kind]);
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn fields_do_not_run_together() {
        let of = |fields: &[Option<&str>]| {
            fields.iter().fold(Fingerprint::of("x"), |print, field| print.optional(*field)).finish()
        };
        let prints = [
            of(&[Some("ab"), Some("c")]),
            of(&[Some("a"), Some("bc")]),
            of(&[Some("abc"), None]),
            of(&[Some("abc"), Some("")]),
            of(&[Some("abc")]),
        ];
        let distinct: std::collections::BTreeSet<_> = prints.iter().collect();
        assert_eq!(distinct.len(), prints.len());
    }

    #[test]
    fn a_message_is_recognised_by_every_field() {
        let plain = MessageBody::new(Role::User, "x");
        let named = MessageBody { tool_name: Some("x".into()), ..plain.clone() };
        let print = |body: &MessageBody| Fingerprint::of("m").message(body, None).finish();
        assert_ne!(print(&plain), print(&named));
        assert_eq!(print(&plain), print(&plain.clone()));
    }
}
