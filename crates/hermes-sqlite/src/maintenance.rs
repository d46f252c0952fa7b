//! Deleting conversations, and what the store says of itself.

use crate::database::Database;
use crate::error::Failure;
use crate::requests::once;
use crate::{connection, indexes, lineage, mend, optimize, schema};
use hermes_session::{Deleted, Request, SessionId, StoreStatus, change};
use hermes_sql::statements;
use rusqlite::params;
use std::path::Path;

pub(crate) fn delete_conversation(database: &Database, id: &SessionId, request: &Request) -> Result<Deleted, Failure> {
    once(database, request, id, &change::delete_conversation(id), || {
        let members = lineage::read(database, id)?.conversation(id);
        // Members may refer to each other in any direction; what counts is that all refer to something at the end.
        database.pragma_update(None, "defer_foreign_keys", true)?;
        let mut deleted = Deleted { sessions: 0, messages: 0 };
        for member in &members {
            indexes::before_removal(database, member)?;
            deleted.messages +=
                database.prepare_cached(statements::DELETE_MESSAGES)?.execute(params![member.as_str()])? as u64;
        }
        for member in members.iter().rev() {
            // What is left below is a conversation of its own: a branch. It stays, without a parent.
            database
                .prepare_cached("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?")?
                .execute(params![member.as_str()])?;
            deleted.sessions +=
                database.prepare_cached("DELETE FROM sessions WHERE id = ?")?.execute(params![member.as_str()])? as u64;
        }
        mend::all(database)?;
        Ok(deleted)
    })
}

/// Opens the file once more in the way in which `database` has it open, for reading on a connection that has cached nothing.
pub(crate) fn open_again(database: &Database, path: &Path) -> Result<Database, Failure> {
    let is_read_only = database.is_readonly(rusqlite::MAIN_DB)?;
    if is_read_only { connection::open_read_only(path) } else { connection::open_reader(path) }
}

/// A short piece of what is outstanding; whether more is left.
pub(crate) fn upkeep(database: &Database) -> Result<bool, Failure> {
    if schema::lacks_card(database)? {
        schema::add_card(database)?;
    }
    Ok(mend::step(database)? > 0 || indexes::fill(database)? || indexes::heal(database)?)
}

pub(crate) fn status(database: &Database, path: &Path) -> Result<StoreStatus, Failure> {
    let schema_version = schema::version(database)?.unwrap_or(0);
    let number =
        |name: &str| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0).map(i64::unsigned_abs));
    let page = number("page_size")?;
    Ok(StoreStatus {
        provider: "sqlite",
        version: rusqlite::version().to_owned(),
        location: path.display().to_string(),
        schema_version,
        bytes: number("page_count")? * page,
        free_bytes: number("freelist_count")? * page,
        indexes: optimize::health(database)?,
    })
}
