//! Restores a conversation: it is copied in steps while hidden; the last step makes it visible and removes the entry.
//!
//! Until that step the trash has all of it, so that an abandoned copy loses nothing.

use super::tables::{self, Column, Linked};
use super::{find, forget};
use crate::calls::hidden::{self, Arrival, Hidden};
use crate::calls::row::{require, text, time};
use crate::calls::{archive, deletion, import, pins_and_tags, sessions, undo};
use crate::care::refresh;
use crate::error::Failure;
use crate::index::indexes;
use crate::write::budget::Budget;
use crate::write::database::Database;
use crate::write::requests::{is_known, once};
use hermes_session::import::MAX_KEPT_ID;
use hermes_session::{
    Conflict, MessageId, PinAndTags, Relation, Request, Restored, Retitled, SessionId, StoreError, Tag, Timestamp,
    change,
};
use hermes_sql::Answer;
use rusqlite::{ErrorCode, params};

/// Messages read at once.
const PIECE: u32 = 64;

/// Progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restoring {
    /// Another step is needed.
    Under,
    /// The copy is complete and hidden, or the request was answered before.
    Ready,
}

/// Copies sessions and messages, as many as a step allows.
pub(crate) fn prepare(database: &Database, id: &SessionId, request: &Request) -> Result<Restoring, Failure> {
    if is_known(database, request)? {
        return Ok(Restoring::Ready);
    }
    let (entry, members) = find(database, id)?.ok_or_else(|| StoreError::no_session(id))?;
    for member in &members {
        refuse_taken(database, member)?;
    }
    let (mut budget, copier) = (Budget::step(), Copier::new(database, entry.number)?);
    for member in &members {
        if !is_begun(database, member)? {
            // Rows left by an unfinished move to the trash, an interrupted import, or a deletion by the agent.
            if !deletion::clear(database, member, &mut budget)? {
                return Ok(Restoring::Under);
            }
            copier.session(member)?;
            budget.spend();
        }
        if !copier.messages(member, &mut budget)? {
            return Ok(Restoring::Under);
        }
    }
    Ok(Restoring::Ready)
}

/// Returns whether a session is partly restored.
fn is_begun(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    Ok(database
        .prepare_cached(
            "SELECT 1 FROM hx_hidden h JOIN sessions s ON s.id = h.session_id WHERE h.session_id = ? AND h.state = 'restoring'",
        )?
        .exists(params![id.as_str()])?)
}

/// Fails with a conflict if a visible session has the id.
fn refuse_taken(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if !hidden::is_hidden(database, id)?
        && database.prepare_cached("SELECT 1 FROM sessions WHERE id = ?")?.exists(params![id.as_str()])?
    {
        return Err(Conflict::Exists(id.clone()).into());
    }
    Ok(())
}

/// Returns whether a partly restored session has messages that did not come from the trash: the agent sees the session
/// and may have continued in it.
pub(super) fn is_gone_on_with(database: &Database, number: i64, id: &SessionId) -> Result<bool, Failure> {
    let Some(arrival) = hidden::arrival_by(database, id, Hidden::Restoring)? else { return Ok(false) };
    Ok(database
        .prepare_cached(
            "SELECT (SELECT count(*) FROM messages WHERE session_id = ?2) > \
             (SELECT count(*) FROM hx_trash_message WHERE hx_number = ?1 AND session_id = ?2 AND id <= ?3)",
        )?
        .query_row(params![number, id.as_str(), arrival.messages], |row| row.get(0))?)
}

/// Abandons a copy that can't become visible: its rows are deleted in later steps.
pub(crate) fn abandon(database: &Database, id: &SessionId) -> Result<(), Failure> {
    let Some((entry, members)) = find(database, id)? else { return Ok(()) };
    for member in &members {
        let is_copy = hidden::is(database, member, Hidden::Restoring)?;
        if is_copy && !is_gone_on_with(database, entry.number, member)? {
            hidden::hide(database, member, Hidden::Doomed)?;
        }
    }
    Ok(())
}

/// Makes a complete copy visible and removes its entry. Returns `None` if more steps are needed, because another writer
/// changed something.
pub(crate) fn finish(database: &Database, id: &SessionId, request: &Request) -> Result<Option<Restored>, Failure> {
    if prepare(database, id, request)? != Restoring::Ready {
        return Ok(None);
    }
    let restored = once(database, request, id, &change::restore(id), || {
        let (entry, members) = find(database, id)?.ok_or_else(|| StoreError::no_session(id))?;
        let (mut messages, mut retitled) = (0, Vec::new());
        for member in &members {
            messages += database
                .prepare_cached("SELECT count(*) FROM messages WHERE session_id = ?")?
                .query_row(params![member.as_str()], |row| row.get::<_, i64>(0).map(i64::unsigned_abs))?;
            retitled.extend(show(database, entry.number, member)?);
            undo::restore(database, member, entry.number)?;
            messages += undo::count(database, member)?;
        }
        if let Some(first) = members.first() {
            pins_and_tags::import(database, &[(first.clone(), noted_pins_and_tags(database, entry.number)?)])?;
        }
        forget(database, entry.number)?;
        Ok(Restored { id: entry.id, sessions: members.len() as u64, messages, retitled })
    })?;
    deletion::settle(database, &Budget::step())?;
    Ok(Some(restored))
}

/// Returns the pin and tags of an entry.
pub(super) fn noted_pins_and_tags(database: &Database, number: i64) -> Result<PinAndTags, Failure> {
    Ok(database
        .prepare_cached("SELECT pinned_at, tags FROM hx_trash WHERE number = ?")?
        .query_row(params![number], |row| {
            Ok(PinAndTags { pinned_at: time(row, 0)?, tags: tags_of(&row.get::<_, String>(1)?) })
        })?)
}

fn tags_of(text: &str) -> Vec<Tag> {
    Answer::recall(text).unwrap_or_default()
}

/// Makes a session visible. Returns its old and new title if the title had to change.
pub(super) fn show(database: &Database, number: i64, id: &SessionId) -> Result<Option<Retitled>, Failure> {
    let (had, parent, relation, started_at) = database
        .prepare_cached(
            "SELECT title, parent_session_id, hx_relation, started_at FROM hx_trash_session WHERE hx_number = ? AND id = ?",
        )?
        .query_row(params![number, id.as_str()], |row| {
            Ok((text(row, 0)?, text(row, 1)?.map(SessionId::from_stored), text(row, 2)?, time(row, 3)?))
        })?;
    let title = match &had {
        Some(had) => import::free_title(database, id, had)?,
        None => None,
    };
    let parent = parent.filter(|parent| parent != id && require(database, parent).is_ok());
    let relation = match &parent {
        Some(_) => relation.as_deref().and_then(Relation::from_stored).unwrap_or(Relation::Delegate),
        None => Relation::Root,
    };
    import::place(database, id, parent.as_ref(), relation, || {
        database
            .prepare_cached("UPDATE sessions SET parent_session_id = ?, title = ? WHERE id = ?")?
            .execute(params![parent.as_ref().map(SessionId::as_str), title, id.as_str()])?;
        // An invalid start was reported before.
        let started_at = started_at.map_or_else(|| Timestamp::from_seconds(0.0), Ok)?;
        sessions::stamp(database, id, parent.as_ref(), relation, started_at)
    })?;
    refresh::summary(database, id)?;
    Ok(had.filter(|had| title.as_ref() != Some(had)).map(|had| Retitled { id: id.clone(), had, has: title }))
}

/// Copies rows of the trash to the agent's tables.
struct Copier<'a> {
    database: &'a Database,
    number: i64,
    session: String,
    message: String,
    linked: Vec<Linked>,
    keeps_archived: bool,
}

impl<'a> Copier<'a> {
    fn new(database: &'a Database, number: i64) -> Result<Self, Failure> {
        let sessions = tables::of_sessions(database)?;
        let values = sessions.iter().map(|column| match column.name.as_str() {
            // Set only when the copy is complete.
            "\"title\"" | "\"parent_session_id\"" => "NULL".to_owned(),
            _ => column.back(),
        });
        let session = format!(
            "INSERT INTO sessions ({}) SELECT {} FROM hx_trash_session WHERE hx_number = ? AND id = ?",
            tables::names(&sessions, ""),
            values.collect::<Vec<_>>().join(", ")
        );
        let messages = tables::of_messages(database)?;
        let values = messages.iter().map(|column| match column.name.as_str() {
            "\"id\"" => "?1".to_owned(),
            _ => column.back(),
        });
        let message = format!(
            "INSERT INTO messages ({}) SELECT {} FROM hx_trash_message WHERE rowid = ?2",
            tables::names(&messages, ""),
            values.collect::<Vec<_>>().join(", ")
        );
        Ok(Self {
            database,
            number,
            session,
            message,
            linked: tables::linked(database)?,
            keeps_archived: tables::keeps_archived(database)?,
        })
    }

    /// Inserts a session, hidden.
    fn session(&self, id: &SessionId) -> Result<(), Failure> {
        hidden::hide(self.database, id, Hidden::Restoring)?;
        // No message was copied yet, not even one with the smallest id.
        hidden::set_arrival(self.database, id, Arrival { messages: i64::MIN, last: 0 })?;
        self.database.prepare_cached(&self.session)?.execute(params![self.number, id.as_str()])?;
        const ARCHIVED: &str = "SELECT 1 FROM hx_trash_session WHERE hx_number = ? AND id = ? AND hx_archived = 1";
        if self.keeps_archived && self.database.prepare_cached(ARCHIVED)?.exists(params![self.number, id.as_str()])? {
            archive::mark(self.database, id, true)?;
        }
        // The trigger for foreign writers added a row, which hidden sessions do not have.
        self.database.prepare_cached("DELETE FROM hx_session WHERE session_id = ?")?.execute(params![id.as_str()])?;
        self.linked.iter().try_for_each(|linked| self.rows_of(linked, id))
    }

    /// Inserts the rows of another table that refer to a session. A row that violates a constraint is left out, unless
    /// it can be inserted with another row number.
    fn rows_of(&self, linked: &Linked, id: &SessionId) -> Result<(), Failure> {
        let Linked { table, column, kept, columns } = linked;
        let mut rows = self
            .database
            .prepare_cached(&format!("SELECT rowid FROM {kept} WHERE hx_number = ? AND {column} = ? ORDER BY rowid"))?;
        let rows: Vec<i64> = rows
            .query_map(params![self.number, id.as_str()], |row| row.get(0))?
            .collect::<Result<_, rusqlite::Error>>()?;
        let insert = |row: i64, keeps_number: bool| {
            let values = columns.iter().map(|column| match column.is_number_of_row() && !keeps_number {
                true => "NULL".to_owned(),
                false => column.back(),
            });
            let (names, values) = (tables::names(columns, ""), values.collect::<Vec<_>>().join(", "));
            let sql = format!("INSERT INTO {table} ({names}) SELECT {values} FROM {kept} WHERE rowid = ?");
            match self.database.prepare_cached(&sql)?.execute([row]) {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => Ok(false),
                outcome => outcome.map(|_| true),
            }
        };
        for row in rows {
            if !insert(row, true)? && columns.iter().any(Column::is_number_of_row) {
                insert(row, false)?;
            }
        }
        Ok(())
    }

    /// Inserts messages, as many as a step allows. Returns whether all were inserted.
    fn messages(&self, session: &SessionId, budget: &mut Budget) -> Result<bool, Failure> {
        let (database, is_deferred) = (self.database, self.database.layout().is_deferred());
        let Some(mut arrival) = hidden::arrival_by(database, session, Hidden::Restoring)? else { return Ok(false) };
        let mut next = database.prepare_cached(
            "SELECT rowid, id, instr(CAST(content AS BLOB), x'00') > 0 FROM hx_trash_message \
             WHERE hx_number = ? AND session_id = ? AND id > ? ORDER BY id LIMIT ?",
        )?;
        loop {
            let rows = next.query_map(params![self.number, session.as_str(), arrival.messages, PIECE], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<bool>>(2)?.unwrap_or(false)))
            })?;
            let rows: Vec<(i64, i64, bool)> = rows.collect::<Result<_, _>>()?;
            if rows.is_empty() {
                return Ok(true);
            }
            for (row, had, has_nul) in rows {
                let id = self.message(row, MessageId(had), MessageId(arrival.last))?;
                if id.0 != had {
                    undo::renumber(database, session, self.number, MessageId(had), id)?;
                }
                if has_nul && !is_deferred {
                    indexes::settle(database, session, id)?;
                }
                // The cursor is the id in the trash; the message may have got another one.
                arrival = Arrival { messages: had, last: id.0 };
                budget.spend();
                if budget.is_spent() {
                    hidden::set_arrival(database, session, arrival)?;
                    return Ok(false);
                }
            }
            hidden::set_arrival(database, session, arrival)?;
        }
    }

    /// Inserts a message, with its old id if that is free. Returns its id.
    fn message(&self, row: i64, had: MessageId, last: MessageId) -> Result<MessageId, Failure> {
        let database = self.database;
        let is_free = had > last && had <= MAX_KEPT_ID && !import::is_taken(database, had)?;
        let wanted = Some(had).filter(|_| is_free);
        if !database.layout().is_deferred() {
            database.prepare_cached(&self.message)?.execute(params![wanted.map(|id| id.0), row])?;
            let id = database.last_insert_rowid();
            indexes::late(database, id)?;
            return Ok(MessageId(id));
        }
        // Deferred indexing needs the id before the row is inserted.
        let id = match wanted {
            Some(id) => indexes::note(database, id.0).map(|()| id)?,
            None => MessageId(indexes::reserve(database, 1)?.first),
        };
        database.prepare_cached(&self.message)?.execute(params![id.0, row])?;
        Ok(id)
    }
}
