//! Reads the trash for the file that `detach` writes.

use super::restore::noted_pins_and_tags;
use super::tables::{self, names};
use super::{list, members};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{PinAndTags, SessionId, Timestamp};

/// A conversation in the trash.
pub(crate) struct Kept {
    pub(crate) number: i64,
    /// The session in which it continues.
    pub(crate) id: SessionId,
    pub(crate) deleted_at: Timestamp,
    pub(crate) until: Timestamp,
    /// Its sessions, parents first.
    pub(crate) members: Vec<SessionId>,
    /// Its pin and tags.
    pub(crate) pins_and_tags: PinAndTags,
}

/// Returns the entries of the trash, oldest first.
pub(crate) fn kept(database: &Database) -> Result<Vec<Kept>, Failure> {
    let mut kept = Vec::new();
    for entry in list(database, None, u32::MAX)?.into_iter().rev() {
        let (members, pins_and_tags) = (members(database, entry.number)?, noted_pins_and_tags(database, entry.number)?);
        kept.push(Kept {
            number: entry.number,
            id: entry.id,
            deleted_at: entry.deleted_at,
            until: entry.until,
            members,
            pins_and_tags,
        });
    }
    Ok(kept)
}

/// Makes this connection read one entry of the trash instead of the store's sessions and messages: temporary views hide
/// the tables of the file. The connection must not be used for anything else.
pub(crate) fn show_kept(database: &Database, number: i64) -> Result<(), Failure> {
    let (sessions, messages) = (tables::of_sessions(database)?, tables::of_messages(database)?);
    let is_first = !database.prepare("SELECT 1 FROM temp.sqlite_schema WHERE name = 'hx_shown'")?.exists([])?;
    if is_first {
        // A table that an earlier release created lacks the column.
        let archived = if tables::keeps_archived(database)? { "hx_archived = 1" } else { "0" };
        database.execute_batch(&format!(
            "CREATE TEMP TABLE hx_shown (number INTEGER NOT NULL); INSERT INTO hx_shown VALUES (0);
             CREATE TEMP VIEW sessions AS SELECT rowid AS rowid, {} FROM main.hx_trash_session \
                 WHERE hx_number = (SELECT number FROM temp.hx_shown);
             CREATE TEMP VIEW messages AS SELECT rowid AS rowid, {} FROM main.hx_trash_message \
                 WHERE hx_number = (SELECT number FROM temp.hx_shown);
             CREATE TEMP VIEW hx_session AS SELECT id AS session_id, coalesce(hx_relation, 'root') AS relation, hx_origin AS origin \
                 FROM main.hx_trash_session WHERE hx_number = (SELECT number FROM temp.hx_shown);
             CREATE TEMP VIEW hx_archived AS SELECT id AS session_id FROM main.hx_trash_session \
                 WHERE {archived} AND hx_number = (SELECT number FROM temp.hx_shown);
             CREATE TEMP TABLE hx_hidden (session_id TEXT);",
            names(&sessions, ""),
            names(&messages, "")
        ))?;
        if database.shape().undone {
            database.execute_batch(&format!(
                "CREATE TEMP VIEW hx_undone AS SELECT rowid AS rowid, {}, hx_batch, hx_undone_at, NULL AS hx_number \
                 FROM main.hx_undone WHERE hx_number = (SELECT number FROM temp.hx_shown);",
                tables::undone_columns(database)?
            ))?;
        }
    }
    database.execute("UPDATE temp.hx_shown SET number = ?", [number])?;
    Ok(())
}
