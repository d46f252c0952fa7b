//! What is done now and then, and what the store says of itself.

use crate::database::{Database, Transaction, among, values};
use crate::error::Failure;
use crate::indexes::{self, Written};
use crate::row::{self, Get as _};
use crate::schema::AGENT_VERSION;
use hermes_session::{IndexHealth, MessageId, Optimizing, PoolStatus, SessionId, StoreStatus};
use std::collections::HashSet;

/// The key under which a rebuild keeps how far it is.
const REBUILD: &str = "rebuild";

/// How many messages are read again in one step.
const STEP: i64 = 200;

/// Has the words of all messages read again.
pub(crate) async fn rebuild(transaction: &Transaction) -> Result<(), Failure> {
    let sql = "INSERT INTO hx_state (`key`, value) VALUES ($1, '0') ON DUPLICATE KEY UPDATE value = '0'";
    transaction.run(sql, values![REBUILD]).await.map(drop)
}

/// How far a rebuild is; nothing if there is none.
async fn watermark(transaction: &Transaction, lock: &str) -> Result<Option<i64>, Failure> {
    let sql = format!("SELECT value FROM hx_state WHERE `key` = $1{lock}");
    let Some(row) = transaction.row(&sql, values![REBUILD]).await? else { return Ok(None) };
    row.try_get::<String>(0)?.parse().map(Some).map_err(|_| Failure::Damaged("hx_state rebuild: is no number".into()))
}

/// Messages that are read again in one step, with the words in them, and where the step before ended.
pub(crate) struct Step {
    after: i64,
    messages: Vec<(SessionId, MessageId)>,
    pub(crate) words: Vec<Written>,
}

/// What is read again next, if a rebuild is under way.
pub(crate) async fn next(transaction: &Transaction) -> Result<Option<Step>, Failure> {
    let Some(after) = watermark(transaction, "").await? else { return Ok(None) };
    let sql = format!("SELECT {} FROM messages WHERE id > $1 ORDER BY id LIMIT $2", *row::MESSAGE);
    let mut step = Step { after, messages: Vec::new(), words: Vec::new() };
    for row in transaction.rows(&sql, values![after, STEP]).await? {
        let session = row::id(&row, 1)?;
        let message = row::message(&row, &session);
        step.words.push(Written::of(&message.body));
        step.messages.push((session, message.id));
    }
    Ok(Some(step))
}

/// Puts messages that were read again into the index; how far the whole is.
pub(crate) async fn rebuild_step(transaction: &Transaction, step: &Step) -> Result<Optimizing, Failure> {
    let Some(after) = watermark(transaction, " FOR UPDATE").await? else { return Ok(Optimizing::Done) };
    let total = transaction.one("SELECT coalesce(max(id), 0) FROM messages", values![]).await?.try_get::<i64>(0)?;
    let building = |done: i64| Optimizing::Building { done: done.unsigned_abs(), total: total.unsigned_abs() };
    if after != step.after {
        // Somebody else did it, or has it all begun anew.
        return Ok(building(after));
    }
    let Some((_, last)) = step.messages.last() else {
        transaction.run("DELETE FROM hx_state WHERE `key` = $1", values![REBUILD]).await?;
        return Ok(Optimizing::Clearing);
    };
    let ids: Vec<i64> = step.messages.iter().map(|(_, id)| id.0).collect();
    // One that was deleted meanwhile stays away. Whoever deletes one waits until its words are in, and takes them along.
    let (condition, values) = among("id", 1, ids);
    let sql = format!("SELECT id FROM messages WHERE {condition} ORDER BY id LOCK IN SHARE MODE");
    let there = transaction.rows(&sql, values).await?;
    let there: HashSet<i64> = there.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let rows = step.messages.iter().zip(&step.words).filter(|((_, id), _)| there.contains(&id.0));
    indexes::add(transaction, rows.map(|((session, id), words)| (session, *id, words))).await?;
    let sql = "UPDATE hx_state SET value = $2 WHERE `key` = $1";
    transaction.run(sql, values![REBUILD, last.0.to_string()]).await?;
    Ok(building(last.0))
}

pub(crate) async fn status(transaction: &Transaction, database: &Database) -> Result<StoreStatus, Failure> {
    let version: String = transaction.one("SELECT version()", values![]).await?.try_get(0)?;
    let room = crate::statistics::room(transaction).await?;
    let indexes = match watermark(transaction, "").await? {
        None => IndexHealth::Whole,
        Some(after) => {
            let row = transaction.one("SELECT count(*) FROM messages WHERE id > $1", values![after]).await?;
            match row.try_get::<i64>(0)?.unsigned_abs() {
                0 => IndexHealth::Whole,
                messages => IndexHealth::Behind { messages },
            }
        }
    };
    let pool = database.pool.status();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(StoreStatus {
        provider: "mysql",
        version,
        location: database.location.clone(),
        schema_version: AGENT_VERSION,
        schema: Some(database.name.clone()),
        bytes: room.bytes,
        free_bytes: room.free,
        indexes,
        pool: Some(PoolStatus {
            size: count(pool.size),
            in_use: count(pool.size.saturating_sub(pool.available)),
            most: count(pool.max_size),
        }),
    })
}
