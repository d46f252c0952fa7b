//! The data of a file that only our tables hold.

use crate::calls::trash;
use crate::error::Failure;
use crate::open::foreign::quoted;
use crate::write::database::Database;
use hermes_session::{PinAndTags, SessionId};
use rusqlite::Connection;

/// Counts of the rows that only our tables hold. `detach` writes them to a file before it removes the tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holdings {
    /// Conversations in the trash.
    pub trashed: u64,
    /// Pinned conversations.
    pub pins: u64,
    /// Tags of conversations.
    pub tags: u64,
    /// Sessions that our own table has as archived.
    pub archived: u64,
    /// Routes of chats.
    pub routes: u64,
    /// Accounts that have received messages, with the position up to which they have.
    pub cursors: u64,
    /// Undone messages that only our own table has.
    pub undone: u64,
    /// Rows of the agent's other tables that went to the trash with a session, by the agent's table.
    pub rows: Vec<(String, u64)>,
}

impl Holdings {
    /// Whether nothing would be lost.
    pub const fn is_empty(&self) -> bool {
        let is_unnoted = self.pins == 0 && self.tags == 0 && self.archived == 0;
        self.trashed == 0 && is_unnoted && self.routes == 0 && self.cursors == 0 && self.undone == 0
    }
}

/// Rows that are work left for a process of ours: the table, the condition, and the reason if there is one row, and if
/// there are more.
const WAITING: [(&str, &str, &str, &str); 3] = [
    ("hx_inbox", "WHERE settled_at IS NULL", "message waits in the inbox", "messages wait in the inbox"),
    ("hx_outbox", "WHERE settled_at IS NULL", "message waits in the outbox", "messages wait in the outbox"),
    ("hx_turn", "", "turn is open", "turns are open"),
];

/// Counts the rows that only our tables hold. A missing table counts as empty.
pub(super) fn count(connection: &Connection) -> Result<Holdings, rusqlite::Error> {
    Ok(Holdings {
        trashed: rows(connection, "hx_trash", "WHERE gone = 0")?,
        pins: rows(connection, "hx_pin", "")?,
        tags: rows(connection, "hx_tag", "")?,
        archived: rows(connection, "hx_archived", "")?,
        routes: rows(connection, "hx_route", "")?,
        cursors: rows(connection, "hx_cursor", "")?,
        undone: rows(connection, "hx_undone", "WHERE hx_number IS NULL AND role IS NOT NULL")?,
        rows: with_sessions(connection)?,
    })
}

/// Counts the rows that went to the trash with a session, by the agent's table; tables without such rows are left out.
fn with_sessions(connection: &Connection) -> Result<Vec<(String, u64)>, rusqlite::Error> {
    let mut counted = Vec::new();
    for (table, kept) in trash::kept_with_sessions(connection)? {
        let count = rows(connection, &kept, "WHERE hx_number IN (SELECT number FROM main.hx_trash WHERE gone = 0)")?;
        if count > 0 {
            counted.push((table, count));
        }
    }
    Ok(counted)
}

/// Returns the rows of [`WAITING`] that keep a store from being detached; `None` if there are none.
pub(super) fn waiting(connection: &Connection) -> Result<Option<String>, rusqlite::Error> {
    for (table, condition, one, many) in WAITING {
        match rows(connection, table, condition)? {
            0 => {}
            1 => return Ok(Some(format!("1 {one}"))),
            count => return Ok(Some(format!("{count} {many}"))),
        }
    }
    Ok(None)
}

fn rows(connection: &Connection, table: &str, condition: &str) -> Result<u64, rusqlite::Error> {
    let is_there = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?";
    if !connection.prepare(is_there)?.exists([table])? {
        return Ok(0);
    }
    let sql = format!("SELECT count(*) FROM main.{} {condition}", quoted(table));
    connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
}

/// Returns every session that has a pin or a tag, with both.
pub(super) fn marked(database: &Database) -> Result<Vec<(SessionId, PinAndTags)>, Failure> {
    let mut ids = Vec::new();
    if database.shape().pins_and_tags {
        let sql = "SELECT session_id FROM hx_pin UNION SELECT session_id FROM hx_tag ORDER BY 1";
        let rows = database.prepare(sql)?.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>();
        ids = rows?;
    }
    let pins_and_tags = |id: String| {
        let id = SessionId::from_stored(id);
        crate::calls::pins_and_tags::read(database, &id).map(|pins_and_tags| (id, pins_and_tags))
    };
    ids.into_iter().map(pins_and_tags).collect()
}

/// Returns the entries of the trash, oldest first.
pub(super) fn trashed(database: &Database) -> Result<Vec<trash::Kept>, Failure> {
    trash::kept(database)
}
