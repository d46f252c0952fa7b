//! Appending, replacing and reading messages.

use super::requests::once;
use super::row::{self, IN_TRANSCRIPT, WAS_SAID, lock, require};
use super::{Fields as _, LIST, ServerRow as _, Sql, among};
use crate::{stored, values};
use hermes_session::live::Kinds;
use hermes_session::{
    Extent, Json, Message, MessageBody, MessageId, MessageRequest, NewMessage, Request, Role, SessionId, StoreError,
    Window, change, preview,
};
use std::collections::BTreeMap;

/// Implements `append` of the contract.
pub async fn append<T: Sql>(
    transaction: &T,
    id: &SessionId,
    messages: &[NewMessage],
    words: &[T::Written],
    request: &Request,
) -> Result<Vec<MessageId>, T::Failure> {
    once(transaction, request, id, || change::append(id, messages), async {
        let ids = transaction.add(id, messages, words, request.at).await?;
        if !ids.is_empty() {
            transaction.note(id, Kinds::MESSAGES);
        }
        Ok(ids)
    })
    .await
}

/// Returns the first session of the conversation of a session.
pub async fn root<T: Sql>(transaction: &T, id: &SessionId) -> Result<SessionId, T::Failure> {
    let row = transaction.row("SELECT root FROM hx_session WHERE session_id = $1", values![id.as_str()]).await?;
    Ok(row.map_or_else(|| Ok(id.clone()), |row| row.id(0))?)
}

/// Implements `replace` of the contract.
pub async fn replace<T: Sql>(
    transaction: &T,
    id: &SessionId,
    messages: &[NewMessage],
    words: &[T::Written],
    request: &Request,
) -> Result<Vec<MessageId>, T::Failure> {
    once(transaction, request, id, || change::replace(id, messages), async {
        lock(transaction, id).await?;
        // Compacted and undone messages are not part of the transcript and stay.
        remove(transaction, std::slice::from_ref(id), Extent::Transcript).await?;
        let sql = "UPDATE sessions SET message_count = 0, tool_call_count = 0 WHERE id = $1";
        transaction.run(sql, values![id.as_str()]).await?;
        let ids = transaction.add(id, messages, words, request.at).await?;
        summarize(transaction, id).await?;
        transaction.note(id, Kinds::REWRITTEN);
        Ok(ids)
    })
    .await
}

/// Removes messages of these sessions. Returns how many there were.
pub async fn remove<T: Sql>(transaction: &T, sessions: &[SessionId], extent: Extent) -> Result<u64, T::Failure> {
    let mut gone = 0;
    for some in sessions.chunks(LIST) {
        let (condition, values) = among("session_id", 1, some.iter().map(SessionId::as_str));
        let condition = format!("{condition} AND {}", row::within(extent));
        // Locked first: a concurrent rebuild has then written the words of these messages, or will skip them.
        let rows =
            transaction.rows(&format!("SELECT id FROM messages WHERE {condition} FOR UPDATE"), values.clone()).await?;
        let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        for some in ids.chunks(LIST) {
            let (condition, values) = among("message_id", 1, some.iter().copied());
            transaction.run(&format!("DELETE FROM hx_search WHERE {condition}"), values).await?;
        }
        gone += transaction.run(&format!("DELETE FROM messages WHERE {condition}"), values).await?;
    }
    Ok(gone)
}

/// Copies the transcript of one session to another, with its words, and sets the counters.
pub async fn copy<T: Sql>(transaction: &T, from: &SessionId, to: &SessionId) -> Result<(), T::Failure> {
    let pair = values![to.as_str(), from.as_str()];
    transaction
        .run(
            &format!("INSERT INTO messages (session_id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, \
             token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items) \
             SELECT $1, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, token_count, finish_reason, \
             reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items \
             FROM messages WHERE session_id = $2 AND {IN_TRANSCRIPT} ORDER BY id"),
            pair.clone(),
        )
        .await?;
    // Both have the same number of messages in the same order.
    let sql = format!(
        "INSERT INTO hx_search (message_id, session_id, length, form, words) SELECT n.id, $1, w.length, w.form, {} \
         FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM messages WHERE session_id = $1) n \
         JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM messages WHERE session_id = $2 AND {IN_TRANSCRIPT}) o ON o.place = n.place \
         JOIN hx_search w ON w.message_id = o.id",
        transaction.dialect().words_of_copy
    );
    transaction.run(&sql, pair).await?;
    set_counters(transaction, to, counted(transaction, to).await?.0).await?;
    summarize(transaction, to).await
}

/// Counts the messages and tool calls of a session: those of the transcript, and all.
async fn counted<T: Sql>(transaction: &T, id: &SessionId) -> Result<((i64, i64), (i64, i64)), T::Failure> {
    let sql = "SELECT tool_calls, active FROM messages WHERE session_id = $1";
    let (mut live, mut all) = ((0, 0), (0, 0));
    for row in transaction.rows(sql, values![id.as_str()]).await? {
        let calls = row.text(0).and_then(|text| Json::parse(text).ok());
        let calls = MessageBody { tool_calls: calls, ..MessageBody::empty(Role::Assistant) }.tool_call_count();
        all = (all.0 + 1, all.1 + calls);
        if row.try_get::<i64>(1)? == 1 {
            live = (live.0 + 1, live.1 + calls);
        }
    }
    Ok((live, all))
}

async fn set_counters<T: Sql>(transaction: &T, id: &SessionId, counters: (i64, i64)) -> Result<(), T::Failure> {
    let sql = "UPDATE sessions SET message_count = $1, tool_call_count = $2 WHERE id = $3";
    transaction.run(sql, values![counters.0, counters.1, id.as_str()]).await.map(drop)
}

/// Implements `recount` of the contract.
pub async fn recount<T: Sql>(transaction: &T, id: &SessionId) -> Result<bool, T::Failure> {
    let sql = "SELECT message_count, tool_call_count FROM sessions WHERE id = $1 FOR UPDATE";
    let Some(row) = transaction.row(sql, values![id.as_str()]).await? else {
        return Err(StoreError::no_session(id).into());
    };
    let stored: (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    let (live, all) = counted(transaction, id).await?;
    // Newer agents keep inactive messages in the table and in the counter, so both counts are correct.
    let right = |stored: i64, live: i64, all: i64| if stored == all { stored } else { live };
    let right = (right(stored.0, live.0, all.0), right(stored.1, live.1, all.1));
    if stored != right {
        set_counters(transaction, id, right).await?;
        transaction.note(id, Kinds::SESSION);
    }
    Ok(stored != right)
}

/// Recomputes a session's preview and times from its messages.
pub async fn summarize<T: Sql>(transaction: &T, id: &SessionId) -> Result<(), T::Failure> {
    let mut first = String::new();
    let mut after = i64::MIN;
    // A few at a time, until one has text.
    while first.is_empty() {
        let said = transaction
            .rows(
                &format!("SELECT id, content, content_kind FROM messages WHERE session_id = $1 AND id > $2 AND role = 'user' AND {WAS_SAID} ORDER BY id LIMIT 8"),
                values![id.as_str(), after],
            )
            .await?;
        let Some(last) = said.last() else { break };
        after = last.try_get(0)?;
        for row in &said {
            let Some(content) = row.try_get::<Option<String>>(1)? else { continue };
            let content = stored::recall(&row.try_get::<String>(2)?, content);
            if let Some(found) = preview(&MessageBody::new(Role::User, content)) {
                first = found;
                break;
            }
        }
    }
    let root = root(transaction, id).await?;
    lock_activity(transaction, &root).await?;
    transaction
        .run(
            "UPDATE hx_session SET preview = $2, last_active = greatest(started_at, \
             coalesce((SELECT max(timestamp) FROM messages WHERE session_id = $1), started_at)) WHERE session_id = $1",
            values![id.as_str(), stored::without_nul(&first).as_ref()],
        )
        .await?;
    tell_activity(transaction, &root).await
}

/// Locks a conversation's activity until the end of the transaction, so that the value computed from its sessions stays
/// true.
pub async fn lock_activity<T: Sql>(transaction: &T, root: &SessionId) -> Result<(), T::Failure> {
    let sql = format!("SELECT 1 FROM hx_session WHERE session_id = $1{}", transaction.dialect().lock);
    transaction.rows(&sql, values![root.as_str()]).await.map(drop)
}

/// Recomputes the activity of a conversation from its sessions. The caller has locked it.
pub async fn tell_activity<T: Sql>(transaction: &T, root: &SessionId) -> Result<(), T::Failure> {
    let newest =
        transaction.one("SELECT max(last_active) FROM hx_session WHERE root = $1", values![root.as_str()]).await?;
    if let Some(active) = newest.try_get::<Option<f64>>(0)? {
        let sql = "UPDATE hx_session SET active = $2 WHERE session_id = $1";
        transaction.run(sql, values![root.as_str(), active]).await?;
    }
    Ok(())
}

/// Implements `read` of the contract.
pub async fn read<T: Sql>(
    transaction: &T,
    id: &SessionId,
    request: &MessageRequest,
) -> Result<Vec<Message>, T::Failure> {
    let (comparison, direction, edge) = match request.window {
        Window::After(edge) => (">", "ASC", edge.map_or(i64::MIN, |edge| edge.0)),
        Window::Before(edge) => ("<", "DESC", edge.map_or(i64::MAX, |edge| edge.0)),
    };
    let sql = format!(
        "SELECT {} FROM messages WHERE session_id = $1 AND id {comparison} $2 AND {} AND EXISTS (SELECT 1 FROM sessions WHERE id = $1) \
         ORDER BY id {direction} LIMIT $3",
        *row::MESSAGE,
        row::within(request.extent)
    );
    let rows = transaction.rows(&sql, values![id.as_str(), edge, i64::from(request.limit)]).await?;
    if rows.is_empty() {
        require(transaction, id).await?;
    }
    let mut messages: Vec<Message> = rows.iter().map(|row| row::message(row, id)).collect();
    if matches!(request.window, Window::Before(_)) {
        messages.reverse();
    }
    Ok(messages)
}

/// Number of places per statement.
const PLACES: usize = 32;

/// Implements `around` of the contract.
pub async fn around<T: Sql>(
    transaction: &T,
    places: &[(SessionId, MessageId)],
) -> Result<Vec<Vec<Message>>, T::Failure> {
    let mut found = BTreeMap::new();
    for some in places.chunks(PLACES) {
        let (mut parts, mut values) = (Vec::new(), Vec::new());
        // Padded with the last one, so that the server sees few distinct statements.
        let filled = some.iter().chain(some.last().into_iter().cycle()).take(some.len().next_power_of_two());
        for (session, place) in filled {
            let (one, other) = (values.len() + 1, values.len() + 2);
            for edge in [
                format!("< ${other} AND {IN_TRANSCRIPT} ORDER BY id DESC LIMIT 1"),
                format!(">= ${other} AND {IN_TRANSCRIPT} ORDER BY id LIMIT 2"),
            ] {
                parts.push(format!(
                    "(SELECT {}, session_id FROM messages WHERE session_id = ${one} AND id {edge})",
                    *row::MESSAGE
                ));
            }
            values.extend(values![session.as_str(), place.0]);
        }
        for row in transaction.rows(&parts.join(" UNION ALL "), values).await? {
            let session = row.id(row.width() - 1)?;
            let message = row::message(&row, &session);
            found.insert((session, message.id), message);
        }
    }
    // All other messages found of the session are farther away.
    let around = |place: &(SessionId, MessageId)| {
        let before = found.range(..place).next_back();
        let here = before.into_iter().chain(found.range(place..).take(2));
        here.filter(|((session, _), _)| *session == place.0).map(|(_, message)| message.clone()).collect()
    };
    Ok(places.iter().map(around).collect())
}
