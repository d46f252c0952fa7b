//! Pins and tags that a damaged file still tells of.

use super::record::Value;
use super::text;
use super::walk::Row;
use crate::database::Database;
use crate::error::Failure;
use crate::marks;
use hermes_session::{Marks, SessionId, Tag, Timestamp};
use std::collections::BTreeMap;

/// What was found, by the session that each is kept with.
#[derive(Debug, Default)]
pub(super) struct Found(BTreeMap<String, Marks>);

impl Found {
    /// Takes a row of a table; one that is neither a pin nor a tag says nothing.
    pub(super) fn take(&mut self, table: &str, row: &Row) {
        let Some(session) = text(row, 0) else { return };
        let number = match row.values.get(1) {
            Some(Value::Real(number)) => Some(*number),
            // A whole number is kept as one.
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

    /// Puts them into a new file, where their sessions were saved as well.
    pub(super) fn put(self, database: &Database) -> Result<(), Failure> {
        let all: Vec<(SessionId, Marks)> =
            self.0.into_iter().map(|(id, marks)| (SessionId::from_stored(id), marks)).collect();
        marks::import(database, &all).map(drop)
    }
}
