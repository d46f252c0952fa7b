//! Appending, replacing and reading messages.

use crate::database::Transaction;
use crate::error::Failure;
use crate::requests::once;
use crate::row::{self, kept, lock, require};
use futures_util::future::{try_join, try_join3};
use hermes_session::{
    Json, Message, MessageBody, MessageId, MessageRequest, NewMessage, Request, Role, SessionId, StoreError, Timestamp,
    Window, change, preview,
};
use hermes_sql::stored;
use std::borrow::Cow;
use tokio_postgres::types::ToSql;

pub(crate) use crate::indexes::Written;

pub(crate) async fn append(
    transaction: &Transaction,
    id: &SessionId,
    messages: &[NewMessage],
    words: &[Written],
    request: &Request,
) -> Result<Vec<MessageId>, Failure> {
    once(transaction, request, id, || change::append(id, messages), add(transaction, id, messages, words, request.at))
        .await
}

/// Adds messages to a session and moves its counters, its preview and its times.
pub(crate) async fn add(
    transaction: &Transaction,
    id: &SessionId,
    messages: &[NewMessage],
    words: &[Written],
    now: Timestamp,
) -> Result<Vec<MessageId>, Failure> {
    let tool_calls: i64 = messages.iter().map(|message| message.body.tool_call_count()).sum();
    let count = messages.len() as i64;
    // The session is locked before ids are drawn, so that its ids rise as it grows. Both are known to the server by then, which does what it is
    // sent in that order, so that the second need not wait for the answer to the first.
    let lock = transaction.prepare_cached(COUNT).await?;
    transaction.prepare_cached(DRAW).await?;
    let name = id.as_str();
    let counted: [&(dyn ToSql + Sync); 3] = [&count, &tool_calls, &name];
    let (locked, ids) =
        try_join(async { Ok(transaction.execute(&lock, &counted).await?) }, draw(transaction, messages.len())).await?;
    if locked == 0 {
        return Err(StoreError::no_session(id).into());
    }
    transaction.has_written();
    if messages.is_empty() {
        return Ok(ids);
    }
    let newest = messages.iter().map(|message| message.timestamp.unwrap_or(now)).max().unwrap_or(now).seconds();
    let first = messages.iter().find_map(|message| preview(&message.body)).unwrap_or_default();
    let first = stored::without_nul(&first);
    let told: [&(dyn ToSql + Sync); 3] = [&name, &newest, &first];
    let rows = messages.iter().zip(&ids).map(|(message, id)| (*id, &message.body, message.timestamp.unwrap_or(now)));
    let rows = Rows::new(id, rows);
    let words = ids.iter().zip(words).map(|(message, words)| (id, *message, words));
    try_join3(rows.insert(transaction), crate::indexes::add(transaction, words), async {
        transaction
            .run(
                "UPDATE hx_session SET active = greatest(active, $2), \
                 last_active = CASE WHEN session_id = $1 THEN greatest(last_active, $2) ELSE last_active END, \
                 preview = CASE WHEN session_id = $1 AND preview = '' THEN $3 ELSE preview END \
                 WHERE session_id = $1 OR session_id = (SELECT root FROM hx_session WHERE session_id = $1)",
                &told,
            )
            .await
    })
    .await?;
    Ok(ids)
}

const COUNT: &str =
    "UPDATE sessions SET message_count = message_count + $1, tool_call_count = tool_call_count + $2 WHERE id = $3";
const DRAW: &str = "SELECT nextval('messages_id_seq') FROM generate_series(1, $1::int8)";

/// Draws the ids of so many messages, ascending.
pub(crate) async fn draw(transaction: &Transaction, count: usize) -> Result<Vec<MessageId>, Failure> {
    let count = count as i64;
    let rows = transaction.rows(DRAW, &[&count]).await?;
    rows.iter().map(|row| Ok(MessageId(row.try_get(0)?))).collect()
}

/// Messages by column, as one statement takes them.
pub(crate) struct Rows<'m> {
    session: &'m str,
    ids: Vec<i64>,
    times: Vec<f64>,
    roles: Vec<Cow<'m, str>>,
    contents: Vec<Option<Cow<'m, str>>>,
    kinds: Vec<&'static str>,
    texts: [Vec<Option<Cow<'m, str>>>; 9],
    token_counts: Vec<Option<i64>>,
}

impl<'m> Rows<'m> {
    pub(crate) fn new(
        session: &'m SessionId,
        messages: impl Iterator<Item = (MessageId, &'m MessageBody, Timestamp)>,
    ) -> Self {
        let mut rows = Self {
            session: session.as_str(),
            ids: Vec::new(),
            times: Vec::new(),
            roles: Vec::new(),
            contents: Vec::new(),
            kinds: Vec::new(),
            texts: Default::default(),
            token_counts: Vec::new(),
        };
        for (id, body, timestamp) in messages {
            rows.ids.push(id.0);
            rows.times.push(timestamp.seconds());
            rows.roles.push(stored::without_nul(body.role.as_str()));
            let content = body.content.as_ref().map(stored::keep);
            rows.kinds.push(content.as_ref().map_or(stored::Kind::Text, |(kind, _)| *kind).as_str());
            rows.contents.push(content.map(|(_, text)| text));
            rows.token_counts.push(body.token_count);
            let json = |json: &'m Option<Json>| json.as_ref().map(|json| Cow::Borrowed(json.as_str()));
            let texts = [
                kept(body.tool_call_id.as_deref()),
                json(&body.tool_calls),
                kept(body.tool_name.as_deref()),
                kept(body.finish_reason.as_deref()),
                kept(body.reasoning.as_deref()),
                kept(body.reasoning_content.as_deref()),
                json(&body.reasoning_details),
                json(&body.codex_reasoning_items),
                json(&body.codex_message_items),
            ];
            for (column, text) in rows.texts.iter_mut().zip(texts) {
                column.push(text);
            }
        }
        rows
    }

    /// Puts them into the table.
    pub(crate) async fn insert(&self, transaction: &Transaction) -> Result<(), Failure> {
        let [call, calls, tool, finish, reasoning, reasoning_content, details, codex_reasoning, codex_message] =
            &self.texts;
        transaction
            .run(
                "INSERT INTO messages (session_id, id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, \
                 token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items) \
                 SELECT $1, u.* FROM unnest($2::int8[], $3::float8[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], \
                 $10::int8[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[]) AS u",
                &[
                    &self.session,
                    &self.ids,
                    &self.times,
                    &self.roles,
                    &self.contents,
                    &self.kinds,
                    call,
                    calls,
                    tool,
                    &self.token_counts,
                    finish,
                    reasoning,
                    reasoning_content,
                    details,
                    codex_reasoning,
                    codex_message,
                ],
            )
            .await
            .map(drop)
    }
}

pub(crate) async fn replace(
    transaction: &Transaction,
    id: &SessionId,
    messages: &[NewMessage],
    words: &[Written],
    request: &Request,
) -> Result<Vec<MessageId>, Failure> {
    once(transaction, request, id, || change::replace(id, messages), async {
        lock(transaction, id).await?;
        remove(transaction, std::slice::from_ref(id)).await?;
        let sql = "UPDATE sessions SET message_count = 0, tool_call_count = 0 WHERE id = $1";
        transaction.run(sql, &[&id.as_str()]).await?;
        let ids = add(transaction, id, messages, words, request.at).await?;
        summarize(transaction, id).await?;
        Ok(ids)
    })
    .await
}

/// Removes every message of these sessions; how many there were.
pub(crate) async fn remove(transaction: &Transaction, sessions: &[SessionId]) -> Result<u64, Failure> {
    let sessions: Vec<&str> = sessions.iter().map(SessionId::as_str).collect();
    let rows = transaction.rows("DELETE FROM messages WHERE session_id = ANY($1) RETURNING id", &[&sessions]).await?;
    let gone: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    // A statement of its own: words that somebody read again until the messages were locked are seen only now.
    transaction.run("DELETE FROM hx_search WHERE message_id = ANY($1)", &[&gone]).await?;
    if !gone.is_empty() {
        transaction.has_written();
    }
    Ok(gone.len() as u64)
}

/// Copies the messages of one session to another, with their words, and sets its counters.
pub(crate) async fn copy(transaction: &Transaction, from: &SessionId, to: &SessionId) -> Result<(), Failure> {
    transaction
        .run(
            "WITH pair AS MATERIALIZED (SELECT o.id AS old, nextval('messages_id_seq') AS new \
             FROM (SELECT id FROM messages WHERE session_id = $2 ORDER BY id) o), \
             copied AS (INSERT INTO messages (id, session_id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, \
             token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items) \
             SELECT p.new, $1, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, token_count, finish_reason, \
             reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items \
             FROM pair p JOIN messages m ON m.id = p.old) \
             INSERT INTO hx_search (message_id, session_id, length, form, words) \
             SELECT p.new, $1, w.length, w.form, w.words FROM pair p JOIN hx_search w ON w.message_id = p.old",
            &[&to.as_str(), &from.as_str()],
        )
        .await?;
    let rows = transaction.rows("SELECT tool_calls FROM messages WHERE session_id = $1", &[&to.as_str()]).await?;
    let mut tool_calls = 0;
    for row in &rows {
        let calls = row.try_get::<_, Option<&str>>(0)?.and_then(|text| Json::parse(text).ok());
        tool_calls += MessageBody { tool_calls: calls, ..MessageBody::empty(Role::Assistant) }.tool_call_count();
    }
    let sql = "UPDATE sessions SET message_count = $1, tool_call_count = $2 WHERE id = $3";
    transaction.run(sql, &[&(rows.len() as i64), &tool_calls, &to.as_str()]).await?;
    summarize(transaction, to).await
}

/// Tells a session's preview and times anew, from its messages.
pub(crate) async fn summarize(transaction: &Transaction, id: &SessionId) -> Result<(), Failure> {
    let mut first = String::new();
    let mut after = i64::MIN;
    // A few at a time, until one says something.
    while first.is_empty() {
        let said = transaction
            .rows(
                "SELECT id, content, content_kind FROM messages WHERE session_id = $1 AND id > $2 AND role = 'user' ORDER BY id LIMIT 8",
                &[&id.as_str(), &after],
            )
            .await?;
        let Some(last) = said.last() else { break };
        after = last.try_get(0)?;
        for row in &said {
            let Some(content) = row.try_get::<_, Option<String>>(1)? else { continue };
            let content = stored::recall(row.try_get(2)?, content);
            if let Some(found) = preview(&MessageBody::new(Role::User, content)) {
                first = found;
                break;
            }
        }
    }
    // Nobody else moves the conversation's activity from here on, so that what is told of it below is true when it is written.
    let lock = "SELECT 1 FROM hx_session WHERE session_id = (SELECT root FROM hx_session WHERE session_id = $1) FOR NO KEY UPDATE";
    transaction.rows(lock, &[&id.as_str()]).await?;
    transaction
        .run(
            "UPDATE hx_session h SET preview = $2, last_active = greatest(h.started_at, \
             coalesce((SELECT max(timestamp) FROM messages WHERE session_id = $1), h.started_at)) WHERE h.session_id = $1",
            &[&id.as_str(), &stored::without_nul(&first)],
        )
        .await?;
    transaction
        .run(
            "UPDATE hx_session SET active = (SELECT max(last_active) FROM hx_session m WHERE m.root = hx_session.session_id) \
             WHERE session_id = (SELECT root FROM hx_session WHERE session_id = $1)",
            &[&id.as_str()],
        )
        .await?;
    Ok(())
}

pub(crate) async fn read(
    transaction: &Transaction,
    id: &SessionId,
    request: &MessageRequest,
) -> Result<Vec<Message>, Failure> {
    require(transaction, id).await?;
    let (comparison, direction, edge) = match request.window {
        Window::After(edge) => (">", "ASC", edge.map_or(i64::MIN, |edge| edge.0)),
        Window::Before(edge) => ("<", "DESC", edge.map_or(i64::MAX, |edge| edge.0)),
    };
    let sql = format!(
        "SELECT {} FROM messages WHERE session_id = $1 AND id {comparison} $2 ORDER BY id {direction} LIMIT $3",
        *row::MESSAGE
    );
    let rows = transaction.rows(&sql, &[&id.as_str(), &edge, &i64::from(request.limit)]).await?;
    let mut messages: Vec<Message> = rows.iter().map(|row| row::message(row, id)).collect();
    if matches!(request.window, Window::Before(_)) {
        messages.reverse();
    }
    Ok(messages)
}
