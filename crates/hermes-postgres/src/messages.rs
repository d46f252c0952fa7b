//! Appends messages.

use crate::error::Failure;
use crate::indexes::Written;
use crate::transaction::Transaction;
use futures_util::future::{try_join, try_join3};
use hermes_session::{Json, MessageBody, MessageId, NewMessage, SessionId, StoreError, Timestamp, preview};
use hermes_sql::server::row::kept;
use hermes_sql::stored;
use std::borrow::Cow;
use tokio_postgres::types::ToSql;

/// Appends messages to a session and updates its counters, its preview and its times.
pub(crate) async fn add(
    transaction: &Transaction,
    id: &SessionId,
    messages: &[NewMessage],
    words: &[Written],
    now: Timestamp,
) -> Result<Vec<MessageId>, Failure> {
    let tool_calls: i64 = messages.iter().map(|message| message.body.tool_call_count()).sum();
    let count = messages.len() as i64;
    // The session is locked before ids are drawn, so that its ids ascend. Both statements are prepared by then, and the
    // server runs them in the order sent, so the second need not wait for the answer to the first.
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
    let parameters: [&(dyn ToSql + Sync); 3] = [&name, &newest, &first];
    let rows = messages.iter().zip(&ids).map(|(message, id)| (*id, &message.body, message.timestamp.unwrap_or(now)));
    let rows = Rows::new(id, rows);
    let words = ids.iter().zip(words).map(|(message, words)| (id, *message, words));
    try_join3(rows.insert(transaction), crate::indexes::add(transaction, words), async {
        transaction
            .change(
                "UPDATE hx_session SET active = greatest(active, $2), \
                 last_active = CASE WHEN session_id = $1 THEN greatest(last_active, $2) ELSE last_active END, \
                 preview = CASE WHEN session_id = $1 AND preview = '' THEN $3 ELSE preview END \
                 WHERE session_id = $1 OR session_id = (SELECT root FROM hx_session WHERE session_id = $1)",
                &parameters,
            )
            .await
    })
    .await?;
    Ok(ids)
}

const COUNT: &str =
    "UPDATE sessions SET message_count = message_count + $1, tool_call_count = tool_call_count + $2 WHERE id = $3";
const DRAW: &str = "SELECT nextval('messages_id_seq') FROM generate_series(1, $1::int8)";

/// Draws `count` message ids, ascending.
pub(crate) async fn draw(transaction: &Transaction, count: usize) -> Result<Vec<MessageId>, Failure> {
    let count = count as i64;
    let rows = transaction.query_rows(DRAW, &[&count]).await?;
    rows.iter().map(|row| Ok(MessageId(row.try_get(0)?))).collect()
}

/// Messages by column, for one statement.
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

    /// Inserts them.
    pub(crate) async fn insert(&self, transaction: &Transaction) -> Result<(), Failure> {
        let [call, calls, tool, finish, reasoning, reasoning_content, details, codex_reasoning, codex_message] =
            &self.texts;
        transaction
            .change(
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
