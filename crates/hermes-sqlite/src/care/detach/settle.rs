//! Completes unfinished work in short steps: hidden sessions, indexing, an interrupted `optimize`.

use crate::calls::hidden::{self, Hidden};
use crate::calls::{archive, deletion, recount, sessions, trash, undo};
use crate::care::refresh;
use crate::error::Failure;
use crate::index::indexes;
use crate::write::budget::Budget;
use crate::write::database::Database;
use hermes_session::{Relation, SessionId, Timestamp};
use rusqlite::{OptionalExtension as _, params};

/// Does the next step. Returns whether there may be more.
pub(super) fn step(database: &Database) -> Result<bool, Failure> {
    if !deletion::step(database)? {
        return Ok(true);
    }
    archive::settle(database)?;
    if let Some((id, state)) = arriving(database)? {
        resolve(database, &id, &state)?;
        return Ok(true);
    }
    if trash::sweep(database).map_err(indexes::elsewhere)? {
        return Ok(true);
    }
    // The indexes in use are complete, so half-built compact ones are not needed any more.
    indexes::abandon_rebuild(database)?;
    // The backlog of compact ones is not indexed: the agent's indexes are built from the messages.
    Ok(database.layout().is_made_by_us() && !database.layout().is_compact() && indexes::fill_noted(database)?)
}

/// Returns a session that is partly imported or restored, with its state. No process is working on it, because this one
/// holds the exclusive lock.
fn arriving(database: &Database) -> Result<Option<(SessionId, String)>, Failure> {
    let found = database
        .prepare_cached("SELECT session_id, state FROM hx_hidden WHERE state IN ('coming', 'restoring') LIMIT 1")?
        .query_row([], |row| Ok((SessionId::from_stored(row.get::<_, String>(0)?), row.get(1)?)))
        .optional()?;
    Ok(found)
}

/// Removes the partial result of an interrupted import or restore: its file, or the trash, still has all of it. A
/// session that the agent has written to meanwhile becomes visible instead, as a conversation of its own.
fn resolve(database: &Database, id: &SessionId, state: &str) -> Result<(), Failure> {
    let is_there = database.prepare_cached("SELECT 1 FROM sessions WHERE id = ?")?.exists(params![id.as_str()])?;
    let was_written_to = is_there
        && match state {
            "coming" => {
                let came = hidden::arrival(database, id)?.map_or(0, |arrival| arrival.messages);
                let there: i64 = database
                    .prepare_cached("SELECT count(*) FROM messages WHERE session_id = ?")?
                    .query_row(params![id.as_str()], |row| row.get(0))?;
                there + undo::count(database, id)? as i64 > came
            }
            _ => trash::is_gone_on_with(database, id)?,
        };
    if !was_written_to {
        hidden::hide(database, id, Hidden::Doomed)?;
        return Ok(());
    }
    hidden::show(database, id)?;
    let started_at = database
        .prepare_cached("SELECT started_at FROM sessions WHERE id = ?")?
        .query_row(params![id.as_str()], |row| crate::calls::row::time(row, 0))?
        .unwrap_or(Timestamp::EPOCH);
    sessions::stamp(database, id, None, Relation::Root, started_at)?;
    refresh::summary(database, id)?;
    recount::recount(database, id)?;
    deletion::settle(database, &Budget::step())
}
