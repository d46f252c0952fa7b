//! Appending, replacing and reading messages.

use crate::bulk::Bulk;
use crate::database::{LIST, Transaction, among, values};
use crate::error::Failure;
use crate::requests::once;
use crate::row::{self, Get as _, kept, lock, require};
use hermes_session::{
    Json, Message, MessageBody, MessageId, MessageRequest, NewMessage, Request, Role, SessionId, StoreError, Timestamp,
    Window, change, preview,
};
use hermes_sql::stored;
use mysql_async::Value;

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
    // The session is locked before ids are drawn, so that its ids rise as it grows.
    const COUNT: &str =
        "UPDATE sessions SET message_count = message_count + $1, tool_call_count = tool_call_count + $2 WHERE id = $3";
    if transaction.run(COUNT, values![messages.len(), tool_calls, id.as_str()]).await? == 0 {
        return Err(StoreError::no_session(id).into());
    }
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let bodies = messages.iter().map(|message| (None, &message.body, message.timestamp.unwrap_or(now)));
    let ids = Rows::new(id, bodies).insert(transaction).await?;
    let told = ids.iter().zip(words).map(|(message, words)| (id, *message, words));
    crate::indexes::add(transaction, told).await?;
    let newest = messages.iter().map(|message| message.timestamp.unwrap_or(now)).max().unwrap_or(now).seconds();
    let first = messages.iter().find_map(|message| preview(&message.body)).unwrap_or_default();
    let root = root(transaction, id).await?;
    transaction
        .run(
            "UPDATE hx_session SET active = greatest(active, $2), \
             last_active = CASE WHEN session_id = $1 THEN greatest(last_active, $2) ELSE last_active END, \
             preview = CASE WHEN session_id = $1 AND preview = '' THEN $3 ELSE preview END WHERE session_id IN ($1, $4)",
            values![id.as_str(), newest, stored::without_nul(&first).as_ref(), root.as_str()],
        )
        .await?;
    Ok(ids)
}

/// The session that the conversation of another one starts with.
async fn root(transaction: &Transaction, id: &SessionId) -> Result<SessionId, Failure> {
    let row = transaction.row("SELECT root FROM hx_session WHERE session_id = $1", values![id.as_str()]).await?;
    row.map_or_else(|| Ok(id.clone()), |row| row::id(&row, 0))
}

const INSERT: Bulk = Bulk {
    head: "INSERT INTO messages (id, session_id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, token_count, \
           finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items) VALUES",
    tail: "",
};

/// Messages as the table takes them: all with ids, or all without, which are drawn then.
pub(crate) struct Rows {
    session: SessionId,
    given: Vec<MessageId>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    pub(crate) fn new<'m>(
        session: &SessionId,
        messages: impl Iterator<Item = (Option<MessageId>, &'m MessageBody, Timestamp)>,
    ) -> Self {
        let mut rows = Self { session: session.clone(), given: Vec::new(), rows: Vec::new() };
        for (id, body, timestamp) in messages {
            rows.given.extend(id);
            rows.rows.push(values_of(session, id, body, timestamp));
        }
        rows
    }

    /// Puts them into the table; their ids.
    pub(crate) async fn insert(self, transaction: &Transaction) -> Result<Vec<MessageId>, Failure> {
        let added = INSERT.add(transaction, self.rows).await?;
        if !self.given.is_empty() {
            return Ok(self.given);
        }
        let mut ids = Vec::new();
        for (count, first) in added {
            if count == 1 {
                ids.push(MessageId(first));
                continue;
            }
            // They rise from the first, by as much as the server is told to leave for others.
            let sql = "SELECT id FROM messages WHERE session_id = $1 AND id >= $2 ORDER BY id LIMIT $3";
            for row in transaction.rows(sql, values![self.session.as_str(), first, count]).await? {
                ids.push(MessageId(row.try_get(0)?));
            }
        }
        Ok(ids)
    }
}

fn values_of(session: &SessionId, id: Option<MessageId>, body: &MessageBody, timestamp: Timestamp) -> Vec<Value> {
    let content = body.content.as_ref().map(stored::keep);
    let kind = content.as_ref().map_or(stored::Kind::Text, |(kind, _)| *kind).as_str();
    let json = |json: &Option<Json>| json.as_ref().map(|json| json.as_str().to_owned());
    values![
        id.map(|id| id.0),
        session.as_str(),
        timestamp.seconds(),
        stored::without_nul(body.role.as_str()).as_ref(),
        content.map(|(_, text)| text.into_owned()),
        kind,
        kept(body.tool_call_id.as_deref()),
        json(&body.tool_calls),
        kept(body.tool_name.as_deref()),
        body.token_count,
        kept(body.finish_reason.as_deref()),
        kept(body.reasoning.as_deref()),
        kept(body.reasoning_content.as_deref()),
        json(&body.reasoning_details),
        json(&body.codex_reasoning_items),
        json(&body.codex_message_items),
    ]
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
        transaction.run(sql, values![id.as_str()]).await?;
        let ids = add(transaction, id, messages, words, request.at).await?;
        summarize(transaction, id).await?;
        Ok(ids)
    })
    .await
}

/// Removes every message of these sessions; how many there were.
pub(crate) async fn remove(transaction: &Transaction, sessions: &[SessionId]) -> Result<u64, Failure> {
    let mut gone = 0;
    for some in sessions.chunks(LIST) {
        let (condition, values) = among("session_id", 1, some.iter().map(SessionId::as_str));
        // Locked first: words that somebody reads again are there by then, or never will be.
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

/// Copies the messages of one session to another, with their words, and sets its counters.
pub(crate) async fn copy(transaction: &Transaction, from: &SessionId, to: &SessionId) -> Result<(), Failure> {
    let pair = values![to.as_str(), from.as_str()];
    transaction
        .run(
            "INSERT INTO messages (session_id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, \
             token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items) \
             SELECT $1, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, token_count, finish_reason, \
             reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items \
             FROM messages WHERE session_id = $2 ORDER BY id",
            pair.clone(),
        )
        .await?;
    // Both have as many, in the same order.
    transaction
        .run(
            "INSERT INTO hx_search (message_id, session_id, length, form, words) SELECT n.id, $1, w.length, w.form, w.words \
             FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM messages WHERE session_id = $1) n \
             JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM messages WHERE session_id = $2) o ON o.place = n.place \
             JOIN hx_search w ON w.message_id = o.id",
            pair,
        )
        .await?;
    let rows = transaction.rows("SELECT tool_calls FROM messages WHERE session_id = $1", values![to.as_str()]).await?;
    let mut tool_calls = 0;
    for row in &rows {
        let calls = row::text(row, 0).and_then(|text| Json::parse(text).ok());
        tool_calls += MessageBody { tool_calls: calls, ..MessageBody::empty(Role::Assistant) }.tool_call_count();
    }
    let sql = "UPDATE sessions SET message_count = $1, tool_call_count = $2 WHERE id = $3";
    transaction.run(sql, values![rows.len(), tool_calls, to.as_str()]).await?;
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
    // Nobody else moves the conversation's activity from here on, so that what is told of it below is true when it is written.
    let root = root(transaction, id).await?;
    transaction.rows("SELECT 1 FROM hx_session WHERE session_id = $1 FOR UPDATE", values![root.as_str()]).await?;
    transaction
        .run(
            "UPDATE hx_session SET preview = $2, last_active = greatest(started_at, \
             coalesce((SELECT max(timestamp) FROM messages WHERE session_id = $1), started_at)) WHERE session_id = $1",
            values![id.as_str(), stored::without_nul(&first).as_ref()],
        )
        .await?;
    let newest =
        transaction.one("SELECT max(last_active) FROM hx_session WHERE root = $1", values![root.as_str()]).await?;
    if let Some(active) = newest.try_get::<Option<f64>>(0)? {
        let sql = "UPDATE hx_session SET active = $2 WHERE session_id = $1";
        transaction.run(sql, values![root.as_str(), active]).await?;
    }
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
    let rows = transaction.rows(&sql, values![id.as_str(), edge, i64::from(request.limit)]).await?;
    let mut messages: Vec<Message> = rows.iter().map(|row| row::message(row, id)).collect();
    if matches!(request.window, Window::Before(_)) {
        messages.reverse();
    }
    Ok(messages)
}
