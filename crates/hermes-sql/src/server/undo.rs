//! Undone messages. They stay in the table of messages, neither in the transcript nor in the index.

use super::requests::once;
use super::row::{self, IN_TRANSCRIPT, lock, require};
use super::{Fields as _, LIST, Sql, among, messages};
use crate::values;
use hermes_session::live::undo::not_in_transcript;
use hermes_session::live::{Kinds, Undone, UndoneMessage};
use hermes_session::{Json, MessageBody, MessageId, Request, Role, SessionId, Timestamp, change};

/// Implements `undo` of the contract.
pub async fn undo<T: Sql>(
    transaction: &T,
    id: &SessionId,
    from: MessageId,
    request: &Request,
) -> Result<Undone, T::Failure> {
    once(transaction, request, id, || change::undo(id, from), async {
        lock(transaction, id).await?;
        take_back(transaction, id, from, request.at).await
    })
    .await
}

/// Undoes the transcript of a session from a message on. The caller has locked the session.
pub(super) async fn take_back<T: Sql>(
    transaction: &T,
    id: &SessionId,
    from: MessageId,
    at: Timestamp,
) -> Result<Undone, T::Failure> {
    // Locked first, as when messages are removed: a concurrent rebuild has then written their words, or will skip them.
    let sql = format!(
        "SELECT id, tool_calls FROM messages WHERE session_id = $1 AND id >= $2 AND {IN_TRANSCRIPT} ORDER BY id FOR UPDATE"
    );
    let rows = transaction.rows(&sql, values![id.as_str(), from.0]).await?;
    let (mut ids, mut tool_calls) = (Vec::with_capacity(rows.len()), 0);
    for row in &rows {
        ids.push(row.try_get::<i64>(0)?);
        let calls = row.text(1).and_then(|text| Json::parse(text).ok());
        tool_calls += MessageBody { tool_calls: calls, ..MessageBody::empty(Role::Assistant) }.tool_call_count();
    }
    if ids.first() != Some(&from.0) {
        return Err(not_in_transcript(id, from).into());
    }
    let sql = "SELECT coalesce(max(batch), 0) + 1 FROM hx_undone WHERE session_id = $1";
    let batch: i64 = transaction.one(sql, values![id.as_str()]).await?.try_get(0)?;
    for some in ids.chunks(LIST) {
        mark(transaction, id, some, batch, at).await?;
    }
    let sql =
        "UPDATE sessions SET message_count = message_count - $2, tool_call_count = tool_call_count - $3 WHERE id = $1";
    transaction.run(sql, values![id.as_str(), ids.len(), tool_calls]).await?;
    messages::summarize(transaction, id).await?;
    transaction.note(id, Kinds::REWRITTEN);
    Ok(Undone { batch, messages: ids.len() as u64 })
}

/// Marks messages as undone, and removes them from the index and the keys of the requests that made them.
async fn mark<T: Sql>(
    transaction: &T,
    id: &SessionId,
    messages: &[i64],
    batch: i64,
    at: Timestamp,
) -> Result<(), T::Failure> {
    let (condition, values) = among("message_id", 1, messages.iter().copied());
    transaction.run(&format!("DELETE FROM hx_search WHERE {condition}"), values).await?;
    let (condition, mut values) = among("message_id", 2, messages.iter().copied());
    values.insert(0, id.as_str().into());
    transaction.run(&format!("DELETE FROM hx_request WHERE session_id = $1 AND {condition}"), values).await?;
    let (condition, values) = among("id", 1, messages.iter().copied());
    transaction.run(&format!("UPDATE messages SET active = 0, compacted = 0 WHERE {condition}"), values).await?;
    let (condition, mut values) = among("id", 3, messages.iter().copied());
    values.splice(0..0, values![batch, at.seconds()]);
    let sql = format!(
        "INSERT INTO hx_undone (message_id, session_id, batch, undone_at) SELECT id, session_id, $1, $2 FROM messages WHERE {condition}"
    );
    transaction.run(&sql, values).await.map(drop)
}

/// Implements `undone` of the contract.
pub async fn list<T: Sql>(transaction: &T, id: &SessionId) -> Result<Vec<UndoneMessage>, T::Failure> {
    let sql = "SELECT message_id, batch, undone_at FROM hx_undone WHERE session_id = $1 ORDER BY message_id";
    let batches = transaction.rows(sql, values![id.as_str()]).await?;
    let mut batches = batches.iter().peekable();
    let sql = format!(
        "SELECT {} FROM messages WHERE session_id = $1 AND active = 0 AND compacted = 0 \
         AND EXISTS (SELECT 1 FROM sessions WHERE id = $1) ORDER BY id",
        *row::MESSAGE
    );
    let rows = transaction.rows(&sql, values![id.as_str()]).await?;
    if rows.is_empty() {
        require(transaction, id).await?;
    }
    let mut undone = Vec::with_capacity(rows.len());
    for row in &rows {
        let message = row::message(row, id);
        while batches.next_if(|batch| batch.try_get::<i64>(0).is_ok_and(|known| known < message.id.0)).is_some() {}
        // The agent records no batch.
        let batch = batches.next_if(|batch| batch.try_get(0) == Ok(message.id.0));
        undone.push(UndoneMessage {
            batch: batch.map(|batch| batch.try_get(1)).transpose()?,
            undone_at: match batch {
                Some(batch) => Some(Timestamp::from_seconds(batch.try_get(2)?)?),
                None => None,
            },
            message,
        });
    }
    Ok(undone)
}

/// The messages of a session `$2`, with their places.
const PLACES: &str = "(SELECT id, row_number() OVER (ORDER BY id) AS place FROM messages WHERE session_id = $2) n";

/// Copies the batches of a session to an entry of the trash, by the places of the messages: they may get other ids when
/// they come back.
pub(super) async fn keep<T: Sql>(transaction: &T, number: i64, id: &SessionId) -> Result<(), T::Failure> {
    if transaction.row("SELECT 1 FROM hx_undone WHERE session_id = $1 LIMIT 1", values![id.as_str()]).await?.is_none() {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO hx_trash_undone (number, session_id, place, batch, undone_at) \
         SELECT $1, u.session_id, n.place, u.batch, u.undone_at FROM {PLACES} JOIN hx_undone u ON u.message_id = n.id"
    );
    transaction.run(&sql, values![number, id.as_str()]).await.map(drop)
}

/// Copies the batches of a session that comes back from an entry of the trash.
pub(super) async fn restore<T: Sql>(transaction: &T, number: i64, id: &SessionId) -> Result<(), T::Failure> {
    let sql = "SELECT 1 FROM hx_trash_undone WHERE number = $1 AND session_id = $2 LIMIT 1";
    if transaction.row(sql, values![number, id.as_str()]).await?.is_none() {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO hx_undone (message_id, session_id, batch, undone_at) \
         SELECT n.id, t.session_id, t.batch, t.undone_at FROM {PLACES} JOIN hx_trash_undone t \
         ON t.number = $1 AND t.session_id = $2 AND t.place = n.place"
    );
    transaction.run(&sql, values![number, id.as_str()]).await.map(drop)
}
