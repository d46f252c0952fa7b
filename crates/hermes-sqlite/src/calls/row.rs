//! Rows and values of SQLite for the shared decoders.

use crate::calls::hidden::seen;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{Session, SessionId, StoreError, Timestamp};
use hermes_sql::{Cell, SqlRow, columns, decode};
use rusqlite::params;
use rusqlite::types::ValueRef;

/// A row as the decoders read it.
pub(crate) struct Row<'a, 'stmt>(pub(crate) &'a rusqlite::Row<'stmt>);

impl SqlRow for Row<'_, '_> {
    fn cell(&self, index: usize) -> Cell<'_> {
        match self.0.get_ref(index) {
            Ok(ValueRef::Integer(number)) => Cell::Integer(number),
            Ok(ValueRef::Real(number)) => Cell::Real(number),
            Ok(ValueRef::Text(bytes)) => Cell::Text(bytes),
            Ok(ValueRef::Blob(bytes)) => Cell::Bytes(bytes),
            Ok(ValueRef::Null) | Err(_) => Cell::Null,
        }
    }
}

/// First column of newer agents in the row of a session: after the modelled ones and the relation.
const FURTHER: usize = 31;

/// Returns the session with this id; `None` if there is none.
pub(crate) fn session(database: &Database, id: &SessionId) -> Result<Option<Session>, Failure> {
    let extras = database.extras();
    let sql = format!(
        "SELECT {}, h.relation, {} FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id WHERE s.id = ? AND {}",
        columns::SESSION,
        extras.session_list(),
        seen!()
    );
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query(params![id.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(extras.session(row, FURTHER, decode::session(&Row(row))?)?))
}

/// Returns the session with this id. Fails if there is none.
pub(crate) fn existing(database: &Database, id: &SessionId) -> Result<Session, Failure> {
    session(database, id)?.ok_or_else(|| StoreError::no_session(id).into())
}

/// Fails if a session does not exist.
pub(crate) fn require(database: &Database, id: &SessionId) -> Result<(), Failure> {
    let mut statement = database.prepare_cached(concat!("SELECT 1 FROM sessions s WHERE s.id = ? AND ", seen!()))?;
    match statement.exists(params![id.as_str()])? {
        true => Ok(()),
        false => Err(StoreError::no_session(id).into()),
    }
}

/// Reads a time from a column; `None` if the value is not a time.
pub(crate) fn time(row: &rusqlite::Row<'_>, index: usize) -> Result<Option<Timestamp>, rusqlite::Error> {
    Ok(match row.get_ref(index)? {
        ValueRef::Real(seconds) => Timestamp::from_seconds(seconds).ok(),
        ValueRef::Integer(seconds) => Timestamp::from_seconds(seconds as f64).ok(),
        _ => None,
    })
}

/// Reads text from a column. Invalid UTF-8 is replaced, and numbers are converted.
pub(crate) fn text(row: &rusqlite::Row<'_>, index: usize) -> Result<Option<String>, rusqlite::Error> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null => None,
    })
}
