//! The trash: tables that keep the rows of deleted conversations for a while. No other call reads them.
//!
//! A conversation is moved there as any other one is deleted ([`crate::calls::deletion`]): the first step hides it and
//! copies its sessions, then its messages follow in steps, each copied and deleted in one transaction. [`note`] stores
//! its pin, its tags and whether our table has it as archived, and [`restore`] sets them again. Rows of other tables
//! that refer to a session are copied when the session's row is deleted.

mod kept;
mod restore;
mod rows;
mod tables;

pub(crate) use kept::{Kept, kept, show_kept};
pub(crate) use restore::{Restoring, abandon, finish, prepare};
pub(crate) use rows::{import_rows, kept_rows};
pub(crate) use tables::{kept_with_sessions, make_undone, undone_columns};

use crate::calls::{pins_and_tags, recount, row, undo};
use crate::error::Failure;
use crate::write::budget::Budget;
use crate::write::database::Database;
use hermes_session::{Deleted, Emptying, Lineage, SessionId, StoreError, Timestamp, Trashed};
use hermes_sql::Answer as _;
use rusqlite::{OptionalExtension as _, Row, params};

/// Rows deleted from the trash by one statement.
const PIECE: i64 = 64;

const COLUMNS: &str = "number, session_id, title, source, deleted_at, kept_until, sessions, messages";

/// Copies the rows of sessions that are about to be hidden. Returns the number of their entry.
pub(crate) fn note(
    database: &Database,
    lineage: &Lineage,
    members: &[SessionId],
    at: Timestamp,
    until: Timestamp,
) -> Result<i64, Failure> {
    tables::make(database)?;
    let Some(first) = members.first() else { return Err(Failure::Damaged("a chain without a session".into())) };
    let tip = lineage.tip(first);
    let pins_and_tags = pins_and_tags::read(database, first)?;
    database
        .prepare_cached(
            "INSERT INTO hx_trash (session_id, title, source, deleted_at, kept_until, sessions, pinned_at, tags) SELECT ?1, \
             (SELECT title FROM sessions WHERE id = ?1), coalesce((SELECT source FROM sessions WHERE id = ?2), ''), ?3, ?4, ?5, ?6, ?7",
        )?
        .execute(params![
            tip.as_str(),
            first.as_str(),
            at.seconds(),
            until.seconds(),
            members.len() as i64,
            pins_and_tags.pinned_at.map(Timestamp::seconds),
            pins_and_tags.tags.keep()
        ])?;
    let number = database.last_insert_rowid();
    let columns = tables::of_sessions(database)?;
    let archived = if database.shape().archived_beside {
        "(SELECT 1 FROM hx_archived a WHERE a.session_id = s.id)"
    } else {
        "NULL"
    };
    let sql = format!(
        "INSERT INTO hx_trash_session (hx_number, hx_relation, hx_origin, hx_archived, {}) SELECT ?1, h.relation, h.origin, {archived}, {} \
         FROM sessions s LEFT JOIN hx_session h ON h.session_id = s.id WHERE s.id = ?2",
        tables::names(&columns, ""),
        tables::names(&columns, "s.")
    );
    for member in members {
        database.prepare_cached(&sql)?.execute(params![number, member.as_str()])?;
    }
    Ok(number)
}

/// Stores the number of deleted messages.
pub(crate) fn count(database: &Database, number: i64, deleted: Deleted) -> Result<(), Failure> {
    database
        .prepare_cached("UPDATE hx_trash SET messages = ? WHERE number = ?")?
        .execute(params![deleted.messages as i64, number])?;
    Ok(())
}

/// Returns the statement that copies to the trash the messages of a list whose sessions are moved there. `None` if
/// there is no trash.
///
/// A session belongs to the newest entry with its id: the id can be reused only after the whole session was moved.
pub(crate) fn keeping(database: &Database) -> Result<Option<String>, Failure> {
    if !tables::are_there(database)? {
        return Ok(None);
    }
    let columns = tables::of_messages(database)?;
    Ok(Some(format!(
        "INSERT INTO hx_trash_message (hx_number, {}) SELECT (SELECT max(t.hx_number) FROM hx_trash_session t WHERE t.id = m.session_id), {} \
         FROM json_each(?) j CROSS JOIN messages m ON m.id = j.value \
         JOIN hx_hidden h ON h.session_id = m.session_id AND h.state = 'binned'",
        tables::names(&columns, ""),
        tables::names(&columns, "m.")
    )))
}

/// Returns the statements that copy rows of other tables to the trash with their session. Each takes the session's id,
/// and does nothing unless the session is moved to the trash.
pub(crate) fn keeping_linked(database: &Database) -> Result<Vec<String>, Failure> {
    let keeping = |linked: tables::Linked| {
        format!(
            "INSERT INTO {} (hx_number, {}) SELECT (SELECT max(t.hx_number) FROM hx_trash_session t WHERE t.id = ?1), {} FROM {} x \
             WHERE x.{} = ?1 AND EXISTS (SELECT 1 FROM hx_hidden h WHERE h.session_id = ?1 AND h.state = 'binned')",
            linked.kept,
            tables::names(&linked.columns, ""),
            tables::names(&linked.columns, "x."),
            linked.table,
            linked.column
        )
    };
    Ok(tables::linked(database)?.into_iter().map(keeping).collect())
}

/// Returns the entries of the trash, newest first.
pub(crate) fn list(database: &Database, older_than: Option<i64>, limit: u32) -> Result<Vec<Trashed>, Failure> {
    if !tables::are_there(database)? {
        return Ok(Vec::new());
    }
    let mut statement = database.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM hx_trash WHERE gone = 0 AND number < coalesce(?, 9223372036854775807) ORDER BY number DESC LIMIT ?"
    ))?;
    let mut rows = statement.query(params![older_than, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(entry(row)?);
    }
    Ok(found)
}

fn entry(row: &Row<'_>) -> Result<Trashed, Failure> {
    let count = |index| row.get::<_, i64>(index).map(i64::unsigned_abs);
    Ok(Trashed {
        number: row.get(0)?,
        id: SessionId::from_stored(row.get::<_, String>(1)?),
        title: row::text(row, 2)?,
        source: row::text(row, 3)?.unwrap_or_default(),
        deleted_at: time(row, 4)?,
        until: time(row, 5)?,
        sessions: count(6)?,
        messages: count(7)?,
    })
}

fn time(row: &Row<'_>, index: usize) -> Result<Timestamp, Failure> {
    row::time(row, index)?.ok_or_else(|| Failure::Damaged("hx_trash: not a time".into()))
}

/// Returns the newest entry that holds a session, and all its sessions. `None` if there is none.
pub(crate) fn find(database: &Database, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, Failure> {
    if !tables::are_there(database)? {
        return Ok(None);
    }
    let number: Option<i64> = database
        .prepare_cached(
            "SELECT max(t.number) FROM hx_trash_session s JOIN hx_trash t ON t.number = s.hx_number WHERE s.id = ? AND t.gone = 0",
        )?
        .query_row(params![id.as_str()], |row| row.get(0))?;
    let Some(number) = number else { return Ok(None) };
    let entry = database
        .prepare_cached(&format!("SELECT {COLUMNS} FROM hx_trash WHERE number = ?"))?
        .query_row([number], |row| Ok(entry(row)))
        .optional()?
        .transpose()?;
    entry.map(|entry| members(database, number).map(|members| (entry, members))).transpose()
}

/// Returns the sessions of an entry, parents first.
fn members(database: &Database, number: i64) -> Result<Vec<SessionId>, Failure> {
    let mut statement =
        database.prepare_cached("SELECT id FROM hx_trash_session WHERE hx_number = ? ORDER BY rowid")?;
    let rows = statement.query_map([number], |row| row.get::<_, String>(0))?;
    Ok(rows.map(|id| id.map(SessionId::from_stored)).collect::<Result<_, _>>()?)
}

/// Returns whether a partly restored session has messages that did not come from the trash.
pub(crate) fn is_gone_on_with(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    match find(database, id)? {
        Some((entry, _)) => restore::is_gone_on_with(database, entry.number, id),
        None => Ok(false),
    }
}

/// Marks entries of the trash as gone and returns them. Their messages are deleted in later steps.
pub(crate) fn empty(database: &Database, which: &Emptying) -> Result<Vec<Trashed>, Failure> {
    let gone: Vec<Trashed> = match which {
        Emptying::One(id) => match find(database, id)? {
            Some((entry, _)) => vec![entry],
            None => return Err(StoreError::no_session(id).into()),
        },
        Emptying::All => list(database, None, u32::MAX)?,
        Emptying::These(seen) => {
            list(database, None, u32::MAX)?.into_iter().filter(|entry| seen.contains(entry)).collect()
        }
        Emptying::Over(now) => {
            list(database, None, u32::MAX)?.into_iter().filter(|entry| entry.until <= *now).collect()
        }
    };
    for entry in &gone {
        forget(database, entry.number)?;
    }
    Ok(gone)
}

/// Removes the sessions of an entry from the trash. Its remaining rows elsewhere are deleted in later steps.
fn forget(database: &Database, number: i64) -> Result<(), Failure> {
    let run = |sql: &str| database.prepare_cached(sql)?.execute([number]);
    for member in members(database, number)? {
        if restore::is_gone_on_with(database, number, &member)? {
            // A restore was interrupted, and the agent, which sees the session, has continued in it.
            restore::show(database, number, &member)?;
            recount::recount(database, &member)?;
        }
    }
    // Sessions that are still being moved or restored are deleted, unless a newer entry has them too.
    run("UPDATE hx_hidden SET state = 'doomed' WHERE state IN ('binned', 'restoring') AND session_id IN \
         (SELECT s.id FROM hx_trash_session s WHERE s.hx_number = ?1 AND NOT EXISTS \
         (SELECT 1 FROM hx_trash_session o WHERE o.id = s.id AND o.hx_number > ?1))")?;
    for member in members(database, number)? {
        undo::forget_binned(database, &member, number)?;
    }
    for table in tables::with_sessions(database)? {
        run(&format!("DELETE FROM {table} WHERE hx_number = ?"))?;
    }
    run("DELETE FROM hx_trash_session WHERE hx_number = ?")?;
    run("UPDATE hx_trash SET gone = 1, title = NULL WHERE number = ?")?;
    Ok(())
}

/// Deletes messages of entries that are gone. Returns whether more are left.
pub(crate) fn sweep(database: &Database) -> Result<bool, Failure> {
    if !tables::are_there(database)? {
        return Ok(false);
    }
    let mut budget = Budget::step();
    loop {
        let next: Option<i64> = database
            .prepare_cached("SELECT number FROM hx_trash WHERE gone = 1 LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        let Some(number) = next else { return Ok(false) };
        let went = database
            .prepare_cached(
                "DELETE FROM hx_trash_message WHERE rowid IN (SELECT rowid FROM hx_trash_message WHERE hx_number = ? LIMIT ?)",
            )?
            .execute([number, PIECE])?;
        if went == 0 {
            database.prepare_cached("DELETE FROM hx_trash WHERE number = ?")?.execute([number])?;
        }
        (0..went).for_each(|_| _ = budget.spend());
        if budget.is_spent() {
            return Ok(true);
        }
    }
}
