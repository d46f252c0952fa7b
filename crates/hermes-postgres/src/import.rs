//! Sessions from outside, in pieces. Messages come first: nobody sees them before their session is there.

use crate::database::Transaction;
use crate::error::Failure;
use crate::lineage;
use crate::messages::{self, Written};
use crate::row::{kept, require};
use crate::{indexes, sessions, titles, usage};
use futures_util::pin_mut;
use hermes_session::import::{ImportPiece, Imported, MAX_KEPT_ID};
use hermes_session::{Json, Message, MessageId, Relation, Session, SessionId, Timestamp, Title};
use hermes_sql::stored;
use std::collections::HashSet;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

/// Takes pieces; what became of each.
pub(crate) async fn take(
    transaction: &Transaction,
    pieces: &[ImportPiece],
    mut words: &[Written],
) -> Result<Vec<Imported>, Failure> {
    transaction.lock_import().await?;
    if pieces.iter().any(|piece| piece.is_last) {
        transaction.lock_kin().await?;
    }
    let mut outcomes = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (own, rest) = words.split_at(piece.messages.len());
        outcomes.push(take_one(transaction, piece, own).await?);
        words = rest;
    }
    Ok(outcomes)
}

async fn take_one(transaction: &Transaction, piece: &ImportPiece, words: &[Written]) -> Result<Imported, Failure> {
    let id = &piece.session.id;
    if piece.start == 0 {
        // An import that was killed may have left a part of it.
        sessions::clear_arrival(transaction, id).await?;
        let sql = "INSERT INTO hx_arrival (session_id, messages, last_message) VALUES ($1, 0, 0)";
        transaction.run(sql, &[&id.as_str()]).await?;
    }
    let arrival = transaction
        .row("SELECT messages, last_message FROM hx_arrival WHERE session_id = $1 FOR UPDATE", &[&id.as_str()])
        .await?;
    let Some(arrival) = arrival else { return Ok(Imported::Exists) };
    // Only now: whoever makes a session of this id has the row of the arrival first.
    if transaction.row("SELECT 1 FROM sessions WHERE id = $1", &[&id.as_str()]).await?.is_some() {
        transaction.run("DELETE FROM hx_arrival WHERE session_id = $1", &[&id.as_str()]).await?;
        return Ok(Imported::Exists);
    }
    let (there, last): (i64, i64) = (arrival.try_get(0)?, arrival.try_get(1)?);
    if there != piece.start as i64 {
        return Ok(Imported::Exists);
    }
    let last = add(transaction, id, &piece.messages, words, MessageId(last)).await?;
    if !piece.is_last {
        let sql = "UPDATE hx_arrival SET messages = messages + $2, last_message = $3 WHERE session_id = $1";
        transaction.run(sql, &[&id.as_str(), &(piece.messages.len() as i64), &last.0]).await?;
        return Ok(Imported::Partly(piece.messages.len() as u64));
    }
    transaction.run("DELETE FROM hx_arrival WHERE session_id = $1", &[&id.as_str()]).await?;
    show(transaction, &piece.session).await
}

/// Adds messages; the id of the last.
async fn add(
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
    // Before they are there: whoever appends meanwhile would draw one of them and wait for this transaction.
    pass(transaction, last).await?;
    copy_in(transaction, session, messages, &ids).await?;
    indexes::add(transaction, ids.iter().zip(words).map(|(id, words)| (session, *id, words))).await?;
    Ok(last)
}

/// The ids that messages get: their own, where those are free and rise; else the next ones.
async fn ids_for(
    transaction: &Transaction,
    messages: &[Message],
    mut last: MessageId,
) -> Result<Vec<MessageId>, Failure> {
    let wanted: Vec<i64> = messages.iter().map(|message| message.id.0).collect();
    let rows = transaction.rows("SELECT id FROM messages WHERE id = ANY($1)", &[&wanted]).await?;
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

/// Sees that ids that are drawn from here on come after this one.
async fn pass(transaction: &Transaction, last: MessageId) -> Result<(), Failure> {
    transaction
        .rows(
            "SELECT setval('messages_id_seq', $1) FROM messages_id_seq WHERE last_value < $1 OR (last_value = $1 AND NOT is_called)",
            &[&last.0],
        )
        .await
        .map(drop)
}

/// Puts messages into the table in one stream.
async fn copy_in(
    transaction: &Transaction,
    session: &SessionId,
    messages: &[Message],
    ids: &[MessageId],
) -> Result<(), Failure> {
    let sink = transaction
        .copy_in::<_, bytes::Bytes>(
            "COPY messages (id, session_id, timestamp, role, content, content_kind, tool_call_id, tool_calls, tool_name, token_count, \
             finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items) FROM STDIN BINARY",
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
        text,
    ];
    let writer = BinaryCopyInWriter::new(sink, &types);
    pin_mut!(writer);
    for (message, id) in messages.iter().zip(ids) {
        let body = &message.body;
        let content = body.content.as_ref().map(stored::keep);
        let kind = content.as_ref().map_or(stored::Kind::Text, |(kind, _)| *kind).as_str();
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
            ])
            .await?;
    }
    writer.finish().await?;
    Ok(())
}

/// Shows a session that is whole.
async fn show(transaction: &Transaction, session: &Session) -> Result<Imported, Failure> {
    let id = &session.id;
    let title = free_title(transaction, session).await?;
    let parent = match &session.parent_session_id {
        Some(parent) if parent != id && require(transaction, parent).await.is_ok() => Some(parent),
        _ => None,
    };
    let relation = if parent.is_some() { session.relation } else { Relation::Root };
    transaction
        .run(
            "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, started_at, ended_at, end_reason, \
             handoff_state, handoff_platform, handoff_error, parent_session_id, title, message_count, tool_call_count) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
            &[
                &id.as_str(),
                &stored::without_nul(session.source.as_str()),
                &kept(session.user_id.as_deref()),
                &kept(session.model.as_deref()),
                &session.model_config.as_ref().map(Json::as_str),
                &kept(session.system_prompt.as_deref()),
                &session.started_at.seconds(),
                &session.ended_at.map(Timestamp::seconds),
                &kept(session.end_reason.as_ref().map(|reason| reason.as_str())),
                &kept(session.handoff.state.as_deref()),
                &kept(session.handoff.platform.as_deref()),
                &kept(session.handoff.error.as_deref()),
                &parent.map(SessionId::as_str),
                &kept(title.as_deref()),
                &session.message_count,
                &session.tool_call_count,
            ],
        )
        .await?;
    usage::set(transaction, id, &session.usage, None).await?;
    sessions::stamp(transaction, id, parent, relation, session.started_at).await?;
    messages::summarize(transaction, id).await?;
    if relation == Relation::Continuation {
        // Of two that carry a session on, the later one does, whichever came first.
        lineage::place(transaction, &lineage::read(transaction, id).await?).await?;
    }
    Ok(Imported::Whole { title, parent: parent.cloned() })
}

/// The title that a session comes with, or the next free one if another session has it.
async fn free_title(transaction: &Transaction, session: &Session) -> Result<Option<String>, Failure> {
    let Some(title) = &session.title else { return Ok(None) };
    if titles::holder(transaction, &session.id, &stored::without_nul(title)).await?.is_none() {
        return Ok(Some(title.clone()));
    }
    match Title::clean(title) {
        Ok(Some(base)) => Ok(Some(titles::next(transaction, &session.id, &base).await?.as_str().to_owned())),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Gives a session that has no parent one; whether it had none.
pub(crate) async fn link(
    transaction: &Transaction,
    child: &SessionId,
    parent: &SessionId,
    relation: Relation,
) -> Result<bool, Failure> {
    transaction.lock_kin().await?;
    require(transaction, child).await?;
    require(transaction, parent).await?;
    let sql = "SELECT 1 FROM sessions WHERE id = $1 AND parent_session_id IS NOT NULL";
    if transaction.row(sql, &[&child.as_str()]).await?.is_some() {
        return Ok(false);
    }
    sessions::refuse_cycle(transaction, child, parent).await?;
    lineage::join(transaction, child, parent, relation).await?;
    Ok(true)
}
