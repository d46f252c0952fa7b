//! Appends messages.

use crate::bulk::Bulk;
use crate::error::Failure;
use crate::indexes::Written;
use crate::transaction::Transaction;
use hermes_session::{
    Extra, Json, Message, MessageBody, MessageId, MessageState, NewMessage, SessionId, StoreError, Timestamp, preview,
};
use hermes_sql::server::row::kept_extra;
use hermes_sql::server::{Fields as _, Sql as _, messages};
use hermes_sql::{stored, values};
use mysql_async::Value;

/// Appends messages to a session and updates its counters, its preview and its times.
pub(crate) async fn add(
    transaction: &Transaction,
    id: &SessionId,
    new: &[NewMessage],
    words: &[Written],
    now: Timestamp,
) -> Result<Vec<MessageId>, Failure> {
    let tool_calls: i64 = new.iter().map(|message| message.body.tool_call_count()).sum();
    // The session is locked before ids are assigned, so that its ids ascend.
    const COUNT: &str =
        "UPDATE sessions SET message_count = message_count + $1, tool_call_count = tool_call_count + $2 WHERE id = $3";
    if transaction.run(COUNT, values![new.len(), tool_calls, id.as_str()]).await? == 0 {
        return Err(StoreError::no_session(id).into());
    }
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let bodies = new.iter().map(|message| (None, &message.body, message.timestamp.unwrap_or(now)));
    let ids = Rows::new(id, bodies).insert(transaction).await?;
    let listed = ids.iter().zip(words).map(|(message, words)| (id, *message, words));
    crate::indexes::add(transaction, listed).await?;
    let newest = new.iter().map(|message| message.timestamp.unwrap_or(now)).max().unwrap_or(now).seconds();
    let first = new.iter().find_map(|message| preview(&message.body)).unwrap_or_default();
    let root = messages::root(transaction, id).await?;
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

const INSERT: Bulk = Bulk {
    head: "INSERT INTO messages (id, session_id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, token_count, \
           finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items, active, compacted, extra) VALUES",
    tail: "",
};

/// Messages as rows: all with ids, or all without, so that the server assigns them.
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
            rows.rows.push(values_of(session, id, body, timestamp, MessageState::Active, &Extra::new()));
        }
        rows
    }

    /// Converts imported messages, with their own ids or without.
    pub(crate) fn of(session: &SessionId, messages: &[Message], with_ids: bool) -> Self {
        let mut rows = Self { session: session.clone(), given: Vec::new(), rows: Vec::new() };
        for Message { id, body, timestamp, state, extra, .. } in messages {
            let id = with_ids.then_some(*id);
            rows.given.extend(id);
            rows.rows.push(values_of(session, id, body, *timestamp, *state, extra));
        }
        rows
    }

    /// Inserts them. Returns their ids.
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
            // Ids ascend from the first, by the increment that the server is configured for.
            let sql = "SELECT id FROM messages WHERE session_id = $1 AND id >= $2 ORDER BY id LIMIT $3";
            for row in transaction.rows(sql, values![self.session.as_str(), first, count]).await? {
                ids.push(MessageId(row.try_get(0)?));
            }
        }
        Ok(ids)
    }
}

fn values_of(
    session: &SessionId,
    id: Option<MessageId>,
    body: &MessageBody,
    timestamp: Timestamp,
    state: MessageState,
    extra: &Extra,
) -> Vec<Value> {
    let (active, compacted) = state.columns();
    let content = body.content.as_ref().map(stored::keep);
    let kind = content.as_ref().map_or(stored::Kind::Text, |(kind, _)| *kind).as_str();
    let kept = |text: Option<&str>| text.map(|text| stored::without_nul(text).into_owned());
    let json = |json: &Option<Json>| json.as_ref().map(|json| json.as_str().to_owned());
    vec![
        Value::from(id.map(|id| id.0)),
        Value::from(session.as_str()),
        Value::from(timestamp.seconds()),
        Value::from(stored::without_nul(body.role.as_str()).as_ref()),
        Value::from(content.map(|(_, text)| text.into_owned())),
        Value::from(kind),
        Value::from(kept(body.tool_call_id.as_deref())),
        Value::from(json(&body.tool_calls)),
        Value::from(kept(body.tool_name.as_deref())),
        Value::from(body.token_count),
        Value::from(kept(body.finish_reason.as_deref())),
        Value::from(kept(body.reasoning.as_deref())),
        Value::from(kept(body.reasoning_content.as_deref())),
        Value::from(json(&body.reasoning_details)),
        Value::from(json(&body.codex_reasoning_items)),
        Value::from(json(&body.codex_message_items)),
        Value::from(active),
        Value::from(compacted),
        Value::from(kept_extra(extra)),
    ]
}
