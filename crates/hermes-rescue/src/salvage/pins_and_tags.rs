//! Pins and tags that are still readable in a damaged file.

use super::record::Value;
use super::text;
use super::walk::Row;
use hermes_session::{PinAndTags, SessionId, Tag, Timestamp};
use std::collections::BTreeMap;

/// Pins and tags by session.
#[derive(Debug, Default)]
pub(super) struct PinsAndTags(BTreeMap<String, PinAndTags>);

impl PinsAndTags {
    /// Adds a row of `hx_pin` or `hx_tag`. Ignores a row that is neither a pin nor a tag.
    pub(super) fn take(&mut self, table: &str, row: &Row) {
        let Some(session) = text(row, 0) else { return };
        let number = match row.values.get(1) {
            Some(Value::Real(number)) => Some(*number),
            // SQLite stores a whole number as an integer.
            Some(Value::Integer(number)) => Some(*number as f64),
            _ => None,
        };
        let at = number.and_then(|number| Timestamp::from_seconds(number).ok());
        let tag = text(row, 1).and_then(|text| Tag::parse(&text).ok());
        match (table, at, tag) {
            ("hx_pin", Some(at), _) => self.0.entry(session).or_default().pinned_at = Some(at),
            ("hx_tag", _, Some(tag)) => self.0.entry(session).or_default().tags.push(tag),
            _ => {}
        }
    }

    /// Returns the pins and tags of each session.
    pub(super) fn into_list(self) -> Vec<(SessionId, PinAndTags)> {
        self.0.into_iter().map(|(id, pins_and_tags)| (SessionId::from_stored(id), pins_and_tags)).collect()
    }
}
