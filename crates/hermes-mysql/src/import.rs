//! Import of messages.

use crate::error::Failure;
use crate::indexes::{self, Written};
use crate::messages::Rows;
use crate::transaction::Transaction;
use hermes_session::import::MAX_KEPT_ID;
use hermes_session::{Message, MessageId, SessionId};
use hermes_sql::server::{Fields as _, LIST, Sql as _, among};
use std::collections::HashSet;

/// Adds messages and returns the id of the last. They keep their ids if these are free and ascending, and get the next
/// ones otherwise.
pub(crate) async fn bring(
    transaction: &Transaction,
    session: &SessionId,
    messages: &[Message],
    words: &[Written],
    mut last: MessageId,
) -> Result<MessageId, Failure> {
    let taken = taken(transaction, messages).await?;
    let mut rest = messages;
    let mut ids = Vec::with_capacity(messages.len());
    while !rest.is_empty() {
        let is_kept =
            |message: &Message, last| message.id > last && message.id <= MAX_KEPT_ID && !taken.contains(&message.id.0);
        let before = last;
        let kept = rest.iter().take_while(|message| {
            let is_kept = is_kept(message, last);
            last = if is_kept { message.id } else { last };
            is_kept
        });
        let (run, is_kept) = match kept.count() {
            // Ids assigned by the server are greater than all existing ones.
            0 => (rest.iter().take_while(|message| !is_kept(message, before)).count(), false),
            count => (count, true),
        };
        let (now, later) = rest.split_at(run);
        ids.extend(Rows::of(session, now, is_kept).insert(transaction).await?);
        last = ids.last().copied().unwrap_or(last);
        rest = later;
    }
    // Undone messages are not indexed.
    let said = messages.iter().zip(ids.iter().zip(words)).filter(|(message, _)| message.state.is_said());
    indexes::add(transaction, said.map(|(_, (id, words))| (session, *id, words))).await?;
    Ok(last)
}

/// Returns the ids of messages that are already in use.
async fn taken(transaction: &Transaction, messages: &[Message]) -> Result<HashSet<i64>, Failure> {
    let mut taken = HashSet::new();
    for some in messages.chunks(LIST) {
        let (condition, values) = among("id", 1, some.iter().map(|message| message.id.0));
        for row in transaction.rows(&format!("SELECT id FROM messages WHERE {condition}"), values).await? {
            taken.insert(row.try_get(0)?);
        }
    }
    Ok(taken)
}
