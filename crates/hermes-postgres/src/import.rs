//! Import of messages.

use crate::error::Failure;
use crate::indexes::{self, Written};
use crate::messages;
use crate::transaction::Transaction;
use futures_util::pin_mut;
use hermes_session::import::MAX_KEPT_ID;
use hermes_session::{Json, Message, MessageId, SessionId};
use hermes_sql::server::row::{kept, kept_extra};
use hermes_sql::stored;
use std::collections::HashSet;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

/// Adds messages and returns the id of the last.
pub(crate) async fn bring(
    transaction: &Transaction,
    session: &SessionId,
    messages: &[Message],
    words: &[Written],
    last: MessageId,
) -> Result<MessageId, Failure> {
    if messages.is_empty() {
        return Ok(last);
    }
    let ids = ids_for(transaction, messages, last).await?;
    let last = ids.last().copied().unwrap_or(last);
    // Before they are inserted: otherwise a concurrent append would draw one of these ids and wait for this
    // transaction.
    pass(transaction, last).await?;
    copy_in(transaction, session, messages, &ids).await?;
    // Undone messages are not indexed.
    let said = messages.iter().zip(ids.iter().zip(words)).filter(|(message, _)| message.state.is_said());
    indexes::add(transaction, said.map(|(_, (id, words))| (session, *id, words))).await?;
    Ok(last)
}

/// Returns the ids for messages: their own if these are free and ascending, otherwise the next ones.
async fn ids_for(
    transaction: &Transaction,
    messages: &[Message],
    mut last: MessageId,
) -> Result<Vec<MessageId>, Failure> {
    let wanted: Vec<i64> = messages.iter().map(|message| message.id.0).collect();
    // Each by itself is one lookup in the index. The server would plan a list of ids while the table is empty, and go on reading
    // the whole table when it is full.
    const TAKEN: &str =
        "SELECT m.id FROM unnest($1::int8[]) u(id), LATERAL (SELECT id FROM messages WHERE id = u.id OFFSET 0) m";
    let rows = transaction.query_rows(TAKEN, &[&wanted]).await?;
    let taken: HashSet<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let (mut ids, mut drawn) = (Vec::with_capacity(messages.len()), Vec::new().into_iter());
    for (place, message) in messages.iter().enumerate() {
        let had = message.id;
        let is_kept = had > last && had <= MAX_KEPT_ID && !taken.contains(&had.0);
        last = match is_kept {
            true => had,
            false => loop {
                match drawn.next() {
                    Some(id) if id > last => break id,
                    Some(_) => {}
                    None => {
                        pass(transaction, last).await?;
                        drawn = messages::draw(transaction, messages.len() - place).await?.into_iter();
                    }
                }
            },
        };
        ids.push(last);
    }
    Ok(ids)
}

/// Advances the sequence of ids beyond this one.
async fn pass(transaction: &Transaction, last: MessageId) -> Result<(), Failure> {
    transaction
        .query_rows(
            "SELECT setval('messages_id_seq', $1) FROM messages_id_seq WHERE last_value < $1 OR (last_value = $1 AND NOT is_called)",
            &[&last.0],
        )
        .await
        .map(drop)
}

/// Inserts messages in one stream.
async fn copy_in(
    transaction: &Transaction,
    session: &SessionId,
    messages: &[Message],
    ids: &[MessageId],
) -> Result<(), Failure> {
    let sink = transaction
        .copy_in::<_, bytes::Bytes>(
            "COPY messages (id, session_id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, token_count, \
             finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items, \
             active, compacted, extra) FROM STDIN BINARY",
        )
        .await?;
    let (text, whole) = (Type::TEXT, Type::INT8);
    let types = [
        whole.clone(),
        text.clone(),
        Type::FLOAT8,
        text.clone(),
        text.clone(),
        text.clone(),
        text.clone(),
        text.clone(),
        text.clone(),
        whole,
        text.clone(),
        text.clone(),
        text.clone(),
        text.clone(),
        text.clone(),
        text.clone(),
        Type::INT2,
        Type::INT2,
        text,
    ];
    let writer = BinaryCopyInWriter::new(sink, &types);
    pin_mut!(writer);
    for (message, id) in messages.iter().zip(ids) {
        let body = &message.body;
        let content = body.content.as_ref().map(stored::keep);
        let kind = content.as_ref().map_or(stored::Kind::Text, |(kind, _)| *kind).as_str();
        let (active, compacted) = message.state.columns();
        let json = |json: &Option<Json>| json.as_ref().map(|json| json.as_str().to_owned());
        writer
            .as_mut()
            .write(&[
                &id.0,
                &session.as_str(),
                &message.timestamp.seconds(),
                &stored::without_nul(body.role.as_str()),
                &content.map(|(_, text)| text),
                &kind,
                &kept(body.tool_call_id.as_deref()),
                &json(&body.tool_calls),
                &kept(body.tool_name.as_deref()),
                &body.token_count,
                &kept(body.finish_reason.as_deref()),
                &kept(body.reasoning.as_deref()),
                &kept(body.reasoning_content.as_deref()),
                &json(&body.reasoning_details),
                &json(&body.codex_reasoning_items),
                &json(&body.codex_message_items),
                &(active as i16),
                &(compacted as i16),
                &kept_extra(&message.extra),
            ])
            .await?;
    }
    writer.finish().await?;
    Ok(())
}
