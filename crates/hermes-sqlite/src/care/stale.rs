//! Which derived data of a session is stale. A row of `hx_session` keeps it as bits in its column `dirty`.
//!
//! Triggers and indexes of the file spell the bits as numbers (`open/schema/side.rs`), because their text is compared
//! with what the file has. Every other statement takes them from the macros here.

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// The bit of `dirty` for a stale preview and stale times, for use in a statement.
macro_rules! preview_bit {
    () => {
        "1"
    };
}

/// The bit of `dirty` for a stale place in the lineage, for use in a statement.
macro_rules! place_bit {
    () => {
        "2"
    };
}

pub(crate) use {place_bit, preview_bit};

const PREVIEW: i64 = 1;
const PLACE: i64 = 2;

/// The derived data of a session that no longer matches its messages or its lineage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stale {
    /// The preview and the times.
    pub(crate) preview: bool,
    /// The place in the lineage: root and tip.
    pub(crate) place: bool,
}

impl Stale {
    /// Both kinds.
    pub(crate) const ALL: Self = Self { preview: true, place: true };
    /// The place alone.
    pub(crate) const PLACE: Self = Self { preview: false, place: true };
}

impl FromSql for Stale {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bits = value.as_i64()?;
        Ok(Self { preview: bits & PREVIEW != 0, place: bits & PLACE != 0 })
    }
}

impl ToSql for Stale {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let preview = if self.preview { PREVIEW } else { 0 };
        let place = if self.place { PLACE } else { 0 };
        Ok((preview | place).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_in_statements_are_those_of_the_type() {
        assert_eq!((preview_bit!(), place_bit!()), (&*PREVIEW.to_string(), &*PLACE.to_string()));
        let database = rusqlite::Connection::open_in_memory().unwrap();
        for (preview, place) in [(false, false), (true, false), (false, true), (true, true)] {
            let stale = Stale { preview, place };
            let read: Stale = database.query_row("SELECT ?", [stale], |row| row.get(0)).unwrap();
            assert_eq!(read, stale);
        }
    }
}
