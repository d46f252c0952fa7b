//! Undone messages: no longer part of the transcript, and kept.
//!
//! Where the agent's table has the column `active`, they stay there with `active = 0`, as the agent's own rewind leaves
//! them, and a row in `hx_undone` has the batch. In other files that row has the whole message, because an agent without
//! the column would replay it. The table is created with the first undo.
//!
//! Rows of a conversation in the trash have the number of its entry.

use crate::calls::row::{Row, require, text, time};
use crate::calls::{messages, trash};
use crate::care::refresh;
use crate::error::Failure;
use crate::index::indexes;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::live::undo::not_in_transcript;
use hermes_session::live::{Undone, UndoneMessage};
use hermes_session::{
    Extent, Json, Message, MessageBody, MessageId, MessageRequest, Request, Role, SessionId, Timestamp, Window, change,
};
use hermes_sql::decode;
use rusqlite::{ToSql, params};
use std::collections::BTreeMap;

/// SQL condition on a row of `hx_undone`: it has the whole message, of a session that is not in the trash.
const IS_WHOLE: &str = "hx_number IS NULL AND role IS NOT NULL";

pub(crate) fn undo(database: &Database, id: &SessionId, from: MessageId, request: &Request) -> Result<Undone, Failure> {
    once(database, request, id, &change::undo(id, from), || take_back(database, id, from, request.at))
}

/// Undoes the transcript of a session from a message on.
pub(crate) fn take_back(
    database: &Database,
    id: &SessionId,
    from: MessageId,
    now: Timestamp,
) -> Result<Undone, Failure> {
    require(database, id)?;
    let taken = transcript_from(database, id, from)?;
    if taken.messages.first() != Some(&from.0) {
        return Err(not_in_transcript(id, from).into());
    }
    trash::make_undone(database)?;
    // The table may be new, or have new columns.
    database.refresh()?;
    let batch: i64 = database
        .prepare_cached("SELECT coalesce(max(hx_batch), 0) + 1 FROM hx_undone WHERE session_id = ?")?
        .query_row(params![id.as_str()], |row| row.get(0))?;
    let list = taken.list();
    keep(database, &taken.messages, &list, batch, now)?;
    database
        .prepare_cached(
            "UPDATE sessions SET message_count = coalesce(message_count, 0) - ?, \
                 tool_call_count = coalesce(tool_call_count, 0) - ? WHERE id = ?",
        )?
        .execute(params![taken.messages.len() as i64, taken.tool_calls, id.as_str()])?;
    if database.shape().rewinds {
        database
            .prepare_cached("UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = ?")?
            .execute(params![id.as_str()])?;
    }
    database
        .prepare_cached(
            "DELETE FROM hx_request WHERE session_id = ? AND message_id IN (SELECT value FROM json_each(?))",
        )?
        .execute(params![id.as_str(), list])?;
    refresh::summary(database, id)?;
    Ok(Undone { batch, messages: taken.messages.len() as u64 })
}

/// Messages that are undone.
#[derive(Default)]
struct Taken {
    /// Their ids, in order.
    messages: Vec<i64>,
    tool_calls: i64,
}

impl Taken {
    /// Returns the ids as a JSON list.
    fn list(&self) -> String {
        format!("[{}]", self.messages.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
    }
}

fn transcript_from(database: &Database, id: &SessionId, from: MessageId) -> Result<Taken, Failure> {
    let mut statement = database.prepare_cached(&format!(
        "SELECT id, tool_calls FROM messages WHERE session_id = ? AND id >= ? AND {} ORDER BY id",
        database.shape().in_transcript()
    ))?;
    let mut rows = statement.query(params![id.as_str(), from.0])?;
    let mut taken = Taken::default();
    while let Some(row) = rows.next()? {
        taken.messages.push(row.get(0)?);
        let tool_calls = text(row, 1)?.and_then(|text| Json::parse(&text).ok());
        taken.tool_calls += MessageBody { tool_calls, ..MessageBody::empty(Role::Assistant) }.tool_call_count();
    }
    Ok(taken)
}

/// Takes messages out of the transcript.
fn keep(database: &Database, messages: &[i64], list: &str, batch: i64, now: Timestamp) -> Result<(), Failure> {
    let shape = database.shape();
    let columns = if shape.has_active() { "id, session_id".to_owned() } else { trash::undone_columns(database)? };
    database
        .prepare_cached(&format!(
            "INSERT INTO hx_undone (hx_batch, hx_undone_at, {columns}) SELECT ?1, ?2, {columns} FROM messages \
             WHERE id IN (SELECT value FROM json_each(?3)) ORDER BY id"
        ))?
        .execute(params![batch, now.seconds(), list])?;
    let these = "WHERE id IN (SELECT value FROM json_each(?))";
    if shape.has_active() {
        let compacted = if shape.has_compacted() { ", compacted = 0" } else { "" };
        database.prepare_cached(&format!("UPDATE messages SET active = 0{compacted} {these}"))?.execute([list])?;
    } else {
        indexes::before_removal_of(database, messages)?;
        database.prepare_cached(&format!("DELETE FROM messages {these}"))?.execute([list])?;
    }
    Ok(())
}

/// Imports an undone message into a file in which it can't stay in the agent's table, under this id or the next free
/// one. Returns its id. Its batch is not known.
pub(crate) fn put(
    database: &Database,
    session: &SessionId,
    wanted: Option<MessageId>,
    message: &Message,
) -> Result<MessageId, Failure> {
    const LAST: &str = "max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0), \
        coalesce((SELECT max(id) FROM messages), 0), coalesce((SELECT max(id) FROM hx_undone), 0))";
    trash::make_undone(database)?;
    database.refresh()?;
    let id = match wanted {
        Some(id) => id,
        None => {
            database.prepare_cached(&format!("SELECT {LAST} + 1"))?.query_row([], |row| row.get(0).map(MessageId))?
        }
    };
    messages::put_undone(database, session, id, message)?;
    // SQLite gives this id to no later message.
    let is_known = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'messages'";
    if database.prepare_cached(is_known)?.execute([id.0])? == 0 {
        database.prepare_cached("INSERT INTO sqlite_sequence (name, seq) VALUES ('messages', ?)")?.execute([id.0])?;
    }
    Ok(id)
}

/// Returns the undone messages of a session, oldest first.
pub(crate) fn list(database: &Database, id: &SessionId) -> Result<Vec<UndoneMessage>, Failure> {
    require(database, id)?;
    let batches = batches(database, id)?;
    let mut messages = whole(database, id, &MessageRequest::first(u32::MAX))?;
    if let Some(is_undone) = database.shape().was_undone() {
        let extras = database.extras();
        let sql =
            format!("SELECT {} FROM messages WHERE session_id = ? AND {is_undone} ORDER BY id", extras.message_list());
        let mut statement = database.prepare_cached(&sql)?;
        let mut rows = statement.query(params![id.as_str()])?;
        while let Some(row) = rows.next()? {
            messages.push(extras.message(row, decode::message(&Row(row), id))?);
        }
        messages.sort_by_key(|message| message.id);
    }
    Ok(messages.into_iter().map(|message| with_batch(&batches, message)).collect())
}

/// Returns the sessions with undone messages that only our table has.
pub(crate) fn sessions(database: &Database) -> Result<Vec<SessionId>, Failure> {
    if !database.shape().undone {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT DISTINCT session_id FROM hx_undone WHERE {IS_WHOLE} ORDER BY session_id");
    let mut statement = database.prepare(&sql)?;
    let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
    Ok(ids.map(|id| id.map(SessionId::from_stored)).collect::<Result<_, _>>()?)
}

/// Returns the undone messages of a session that only our table has, oldest first.
pub(crate) fn whole_of(database: &Database, id: &SessionId) -> Result<Vec<UndoneMessage>, Failure> {
    let batches = batches(database, id)?;
    Ok(whole(database, id, &MessageRequest::first(u32::MAX))?
        .into_iter()
        .map(|message| with_batch(&batches, message))
        .collect())
}

type Batches = BTreeMap<MessageId, (Option<i64>, Option<Timestamp>)>;

fn with_batch(batches: &Batches, message: Message) -> UndoneMessage {
    let (batch, undone_at) = batches.get(&message.id).copied().unwrap_or_default();
    UndoneMessage { batch, undone_at, message }
}

/// Returns the batch and the time of each undo, by message.
fn batches(database: &Database, id: &SessionId) -> Result<Batches, Failure> {
    if !database.shape().undone {
        return Ok(BTreeMap::new());
    }
    let mut statement = database.prepare_cached(
        "SELECT id, hx_batch, hx_undone_at FROM hx_undone WHERE session_id = ? AND hx_number IS NULL",
    )?;
    let rows =
        statement.query_map(params![id.as_str()], |row| Ok((MessageId(row.get(0)?), (row.get(1)?, time(row, 2)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Adds the undone messages that only our table has to a page of a session's messages, if the request is for every
/// message.
pub(crate) fn complete(
    database: &Database,
    id: &SessionId,
    request: &MessageRequest,
    mut page: Vec<Message>,
) -> Result<Vec<Message>, Failure> {
    if request.extent != Extent::Every {
        return Ok(page);
    }
    let undone = whole(database, id, request)?;
    if undone.is_empty() {
        return Ok(page);
    }
    page.extend(undone);
    page.sort_by_key(|message| message.id);
    let surplus = page.len().saturating_sub(request.limit as usize);
    match request.window {
        Window::After(_) => page.truncate(request.limit as usize),
        Window::Before(_) => _ = page.drain(..surplus),
    }
    Ok(page)
}

/// Returns the undone messages that only our table has, at the edge of a window, in no particular order.
fn whole(database: &Database, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, Failure> {
    if !database.shape().undone {
        return Ok(Vec::new());
    }
    let (comparison, direction, edge) = match request.window {
        Window::After(edge) => (">", "ASC", edge.map_or(i64::MIN, |edge| edge.0)),
        Window::Before(edge) => ("<", "DESC", edge.map_or(i64::MAX, |edge| edge.0)),
    };
    let extras = database.extras();
    let sql = format!(
        "SELECT {} FROM hx_undone WHERE session_id = ?1 AND id {comparison} ?2 AND {IS_WHOLE} ORDER BY id {direction} LIMIT ?3",
        extras.undone_list()
    );
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query(params![id.as_str(), edge, request.limit])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        messages.push(extras.message(row, decode::message(&Row(row), id))?);
    }
    Ok(messages)
}

/// Returns the number of undone messages of a session that only our table has.
pub(crate) fn count(database: &Database, id: &SessionId) -> Result<u64, Failure> {
    if !database.shape().undone {
        return Ok(0);
    }
    let mut statement =
        database.prepare_cached(&format!("SELECT count(*) FROM hx_undone WHERE session_id = ? AND {IS_WHOLE}"))?;
    Ok(statement.query_row(params![id.as_str()], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

/// Returns whether an undone message that only our table has has this id, in the trash or not.
pub(crate) fn has(database: &Database, id: MessageId) -> Result<bool, Failure> {
    Ok(database.shape().undone
        && database.prepare_cached("SELECT 1 FROM hx_undone WHERE id = ? AND role IS NOT NULL")?.exists([id.0])?)
}

/// Deletes the rows of a deleted session.
pub(crate) fn forget(database: &Database, id: &SessionId) -> Result<(), Failure> {
    run(database, "DELETE FROM hx_undone WHERE session_id = ?1 AND hx_number IS NULL", params![id.as_str()])
}

/// Moves the rows of a session to an entry of the trash.
pub(crate) fn bin(database: &Database, id: &SessionId, number: i64) -> Result<(), Failure> {
    let sql = "UPDATE hx_undone SET hx_number = ?2 WHERE session_id = ?1 AND hx_number IS NULL";
    run(database, sql, params![id.as_str(), number])
}

/// Moves the rows of a session back from an entry of the trash.
pub(crate) fn restore(database: &Database, id: &SessionId, number: i64) -> Result<(), Failure> {
    let sql = "UPDATE hx_undone SET hx_number = NULL WHERE session_id = ?1 AND hx_number = ?2";
    run(database, sql, params![id.as_str(), number])
}

/// Records the new id of a message that could not be restored under its old one.
pub(crate) fn renumber(
    database: &Database,
    id: &SessionId,
    number: i64,
    had: MessageId,
    has: MessageId,
) -> Result<(), Failure> {
    let sql = "UPDATE hx_undone SET id = ?4 WHERE session_id = ?1 AND hx_number = ?2 AND id = ?3 AND role IS NULL";
    run(database, sql, params![id.as_str(), number, had.0, has.0])
}

/// Deletes the rows of a session in an entry of the trash.
pub(crate) fn forget_binned(database: &Database, id: &SessionId, number: i64) -> Result<(), Failure> {
    run(database, "DELETE FROM hx_undone WHERE session_id = ?1 AND hx_number = ?2", params![id.as_str(), number])
}

fn run(database: &Database, sql: &str, values: &[&dyn ToSql]) -> Result<(), Failure> {
    if database.shape().undone {
        database.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}
