//! Occasional maintenance, and the state of the indexes.

use super::row;
use super::{Fields as _, Odd, Sql, Words as _, among};
use crate::values;
use hermes_session::{IndexHealth, MessageId, Optimizing, SessionId};
use std::collections::HashSet;

/// Key of the watermark of a rebuild.
const REBUILD: &str = "rebuild";

/// Number of messages indexed in one step.
const STEP: i64 = 200;

/// Starts a rebuild of the search index.
pub async fn rebuild<T: Sql>(transaction: &T) -> Result<(), T::Failure> {
    let upsert = (transaction.dialect().upsert)("\"key\"");
    let sql = format!("INSERT INTO hx_state (\"key\", value) VALUES ($1, '0') {upsert} value = '0'");
    transaction.run(&sql, values![REBUILD]).await.map(drop)
}

/// Returns the watermark of the rebuild, or `None` if none is running.
async fn watermark<T: Sql>(transaction: &T, lock: &str) -> Result<Option<i64>, T::Failure> {
    let sql = format!("SELECT value FROM hx_state WHERE \"key\" = $1{lock}");
    let Some(row) = transaction.row(&sql, values![REBUILD]).await? else { return Ok(None) };
    let number = row.try_get::<String>(0)?.parse().map_err(|_| Odd("hx_state rebuild: not a number".into()))?;
    Ok(Some(number))
}

/// Messages to be indexed in one step, with their words, and the watermark after the previous step.
pub struct Step<W> {
    after: i64,
    messages: Vec<(SessionId, MessageId)>,
    /// Index data of each message.
    pub words: Vec<W>,
}

/// Reads the messages of the next step. Returns `None` if no rebuild is running.
pub async fn next<T: Sql>(transaction: &T) -> Result<Option<Step<T::Written>>, T::Failure> {
    let Some(after) = watermark(transaction, "").await? else { return Ok(None) };
    // Undone messages are not indexed.
    let sql =
        format!("SELECT {} FROM messages WHERE id > $1 AND {} ORDER BY id LIMIT $2", *row::MESSAGE, row::WAS_SAID);
    let mut step = Step { after, messages: Vec::new(), words: Vec::new() };
    for row in transaction.rows(&sql, values![after, STEP]).await? {
        let session = row.id(1)?;
        let message = row::message(&row, &session);
        step.words.push(T::Written::of(&message.body));
        step.messages.push((session, message.id));
    }
    Ok(Some(step))
}

/// Indexes the messages of a step. Returns the progress of the rebuild.
pub async fn rebuild_step<T: Sql>(transaction: &T, step: &Step<T::Written>) -> Result<Optimizing, T::Failure> {
    let Some(after) = watermark(transaction, transaction.dialect().lock).await? else { return Ok(Optimizing::Done) };
    let total = transaction.one("SELECT coalesce(max(id), 0) FROM messages", values![]).await?.try_get::<i64>(0)?;
    let building = |done: i64| Optimizing::Building { done: done.unsigned_abs(), total: total.unsigned_abs() };
    if after != step.after {
        // Another process did this step, or the rebuild was started again.
        return Ok(building(after));
    }
    let Some((_, last)) = step.messages.last() else {
        transaction.run("DELETE FROM hx_state WHERE \"key\" = $1", values![REBUILD]).await?;
        return Ok(Optimizing::Clearing);
    };
    let ids: Vec<i64> = step.messages.iter().map(|(_, id)| id.0).collect();
    // Messages deleted in the meantime are skipped. The lock makes a concurrent deletion wait until their words are
    // written, so that it removes these too.
    let (condition, values) = among("id", 1, ids);
    let sql = format!("SELECT id FROM messages WHERE {condition} ORDER BY id{}", transaction.dialect().share);
    let there = transaction.rows(&sql, values).await?;
    let there: HashSet<i64> = there.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let rows = step.messages.iter().zip(&step.words).filter(|((_, id), _)| there.contains(&id.0));
    let rows: Vec<_> = rows.map(|((session, id), words)| (session.clone(), *id, words)).collect();
    transaction.index(&rows).await?;
    let sql = "UPDATE hx_state SET value = $2 WHERE \"key\" = $1";
    transaction.run(sql, values![REBUILD, last.0.to_string()]).await?;
    Ok(building(last.0))
}

/// Returns how far the search index is.
pub async fn health<T: Sql>(transaction: &T) -> Result<IndexHealth, T::Failure> {
    let Some(after) = watermark(transaction, "").await? else { return Ok(IndexHealth::Whole) };
    let row = transaction.one("SELECT count(*) FROM messages WHERE id > $1", values![after]).await?;
    Ok(match row.try_get::<i64>(0)?.unsigned_abs() {
        0 => IndexHealth::Whole,
        messages => IndexHealth::Behind { messages },
    })
}
