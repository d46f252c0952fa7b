//! What is done now and then, and what the store says of itself.

use crate::database::Transaction;
use crate::error::Failure;
use crate::indexes::{self, Written};
use crate::row;
use crate::schema::AGENT_VERSION;
use hermes_session::{IndexHealth, MessageId, Optimizing, SessionId, StoreStatus};

/// The key under which a rebuild keeps how far it is.
const REBUILD: &str = "rebuild";

/// How many messages are read again in one step.
const STEP: i64 = 200;

/// Has the words of all messages read again.
pub(crate) async fn rebuild(transaction: &Transaction) -> Result<(), Failure> {
    let sql = "INSERT INTO hx_state (key, value) VALUES ($1, '0') ON CONFLICT (key) DO UPDATE SET value = '0'";
    transaction.run(sql, &[&REBUILD]).await.map(drop)
}

/// How far a rebuild is; nothing if there is none.
async fn watermark(transaction: &Transaction, lock: &str) -> Result<Option<i64>, Failure> {
    let sql = format!("SELECT value FROM hx_state WHERE key = $1{lock}");
    let Some(row) = transaction.row(&sql, &[&REBUILD]).await? else { return Ok(None) };
    row.try_get::<_, &str>(0)?.parse().map(Some).map_err(|_| Failure::Damaged("hx_state rebuild: is no number".into()))
}

/// The messages that are read again next, if a rebuild is under way, with the words in them.
pub(crate) async fn next(transaction: &Transaction) -> Result<Option<Vec<(SessionId, MessageId, Written)>>, Failure> {
    let Some(after) = watermark(transaction, "").await? else { return Ok(None) };
    let sql = format!("SELECT {} FROM messages WHERE id > $1 ORDER BY id LIMIT $2", *row::MESSAGE);
    let rows = transaction.rows(&sql, &[&after, &STEP]).await?;
    let read = |row: &tokio_postgres::Row| {
        let session = row::id(row, 1)?;
        let message = row::message(row, &session);
        Ok((session, message.id, Written::of(&message.body)))
    };
    rows.iter().map(read).collect::<Result<_, Failure>>().map(Some)
}

/// Puts messages that were read again into the index; how far the whole is. Their words are in the vocabulary by now.
pub(crate) async fn rebuild_step(
    transaction: &Transaction,
    messages: &[(SessionId, MessageId, Written)],
) -> Result<Optimizing, Failure> {
    let Some(after) = watermark(transaction, " FOR UPDATE").await? else { return Ok(Optimizing::Done) };
    let Some((_, last, _)) = messages.last() else {
        transaction.run("DELETE FROM hx_state WHERE key = $1", &[&REBUILD]).await?;
        return Ok(Optimizing::Clearing);
    };
    if last.0 > after {
        for (session, message, words) in messages {
            // One that was deleted meanwhile stays away, and so does one that somebody is deleting.
            let there = transaction.row("SELECT 1 FROM messages WHERE id = $1 FOR KEY SHARE", &[&message.0]).await?;
            transaction.run("DELETE FROM hx_search WHERE message_id = $1", &[&message.0]).await?;
            if there.is_some() {
                indexes::add(transaction, session, &[*message], std::slice::from_ref(words)).await?;
            }
        }
        let sql = "UPDATE hx_state SET value = $2 WHERE key = $1";
        transaction.run(sql, &[&REBUILD, &last.0.to_string()]).await?;
    }
    let row = transaction.one("SELECT coalesce(max(id), 0) FROM messages", &[]).await?;
    Ok(Optimizing::Building { done: last.0.unsigned_abs(), total: row.try_get::<_, i64>(0)?.unsigned_abs() })
}

pub(crate) async fn status(transaction: &Transaction, location: &str) -> Result<StoreStatus, Failure> {
    let version: String = transaction.one("SELECT current_setting('server_version')", &[]).await?.try_get(0)?;
    let room = crate::statistics::room(transaction).await?;
    let indexes = match watermark(transaction, "").await? {
        None => IndexHealth::Whole,
        Some(after) => {
            let row = transaction.one("SELECT count(*) FROM messages WHERE id > $1", &[&after]).await?;
            match row.try_get::<_, i64>(0)?.unsigned_abs() {
                0 => IndexHealth::Whole,
                messages => IndexHealth::Behind { messages },
            }
        }
    };
    Ok(StoreStatus {
        provider: "postgresql",
        version,
        location: location.to_owned(),
        schema_version: AGENT_VERSION,
        bytes: room.bytes,
        free_bytes: room.free,
        indexes,
    })
}
