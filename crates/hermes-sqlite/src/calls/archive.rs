//! Archived sessions. The agent has a column for them since release 0.16. In a file without it, the sessions that a
//! person archives are rows of a table of ours, which is created with the first. If the column is added later, by an
//! agent or by an import that needs it, the rows are moved there: an import by itself, upkeep for others.
//!
//! A trigger deletes a row with its session, whoever deletes it, so that a session with a reused id is not archived.

use crate::calls::{changes, lineage, row};
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::{Request, SessionId, change};
use rusqlite::params;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS hx_archived (
    session_id TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS hx_archived_gone AFTER DELETE ON sessions BEGIN
    DELETE FROM hx_archived WHERE session_id = old.id;
END;
";

pub(crate) fn set(database: &Database, id: &SessionId, is_archived: bool, request: &Request) -> Result<bool, Failure> {
    once(database, request, id, &change::set_archived(id, is_archived), || {
        let lineage = lineage::read(database, id)?;
        let root = lineage.conversation_root(id);
        let was_archived = row::existing(database, &root)?.archived;
        for member in lineage.conversation(&root) {
            mark(database, &member, is_archived)?;
            if was_archived != is_archived {
                changes::note(database, &member)?;
            }
        }
        Ok(was_archived != is_archived)
    })
}

/// Archives or unarchives one session.
pub(crate) fn mark(database: &Database, id: &SessionId, is_archived: bool) -> Result<(), Failure> {
    if database.shape().archived {
        database
            .prepare_cached("UPDATE sessions SET archived = ?1 WHERE id = ?2 AND archived IS NOT ?1")?
            .execute(params![is_archived, id.as_str()])?;
    } else if is_archived {
        if !database.shape().archived_beside {
            database.execute_batch(TABLE)?;
            // A job after this one in the same transaction reads the table.
            database.refresh()?;
        }
        database
            .prepare_cached("INSERT OR IGNORE INTO hx_archived (session_id) VALUES (?)")?
            .execute(params![id.as_str()])?;
        return Ok(());
    }
    forget(database, id)
}

/// Removes our row of a session.
pub(crate) fn forget(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if database.shape().archived_beside {
        database.prepare_cached("DELETE FROM hx_archived WHERE session_id = ?")?.execute(params![id.as_str()])?;
    }
    Ok(())
}

/// Returns the sessions in our table.
pub(crate) fn beside(database: &Database) -> Result<Vec<SessionId>, Failure> {
    if !database.shape().archived_beside {
        return Ok(Vec::new());
    }
    let mut statement = database.prepare("SELECT session_id FROM hx_archived ORDER BY session_id")?;
    let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
    Ok(ids.map(|id| id.map(SessionId::from_stored)).collect::<Result<_, _>>()?)
}

/// Moves the rows of our table to the column, once an agent has added it.
pub(crate) fn settle(database: &Database) -> Result<(), Failure> {
    let shape = database.shape();
    if shape.archived
        && shape.archived_beside
        && database.prepare_cached("SELECT 1 FROM hx_archived LIMIT 1")?.exists([])?
    {
        database.execute_batch(
            "UPDATE sessions SET archived = 1 WHERE id IN (SELECT session_id FROM hx_archived);
             DELETE FROM hx_archived;",
        )?;
    }
    Ok(())
}
