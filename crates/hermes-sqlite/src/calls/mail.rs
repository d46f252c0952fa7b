//! Mail: the inbox of received messages, and the outbox of replies.

mod outbox;

pub(crate) use outbox::{
    drop_open, is_known as knows_part, list as outbound, put_whole as put_part, queue, settle, take as take_outbound,
};

use crate::calls::row::{require, text, time};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::live::{
    Account, Inbound, InboxId, InboxItem, InboxState, NewOutbound, OutboundId, Received, RouteKey, TurnId,
};
use hermes_session::{Conflict, MessageId, SessionId, Timestamp};
use rusqlite::{OptionalExtension as _, Row, params};

const COLUMNS: &str = "id, account, chat, message_id, route, session_id, payload, state, turn, stored_message, attempts, \
     received_at, settled_at";

pub(crate) fn receive(
    database: &Database,
    account: &Account,
    batch: &[Inbound],
    cursor: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Received>, Failure> {
    batch.iter().filter_map(|inbound| inbound.session.as_ref()).try_for_each(|id| require(database, id))?;
    let mut received = Vec::with_capacity(batch.len());
    for inbound in batch {
        received.push(match known(database, account, inbound)? {
            Some(id) => Received::Known(id),
            None => Received::New(insert(database, account, inbound, now)?),
        });
    }
    if let Some(cursor) = cursor {
        database
            .prepare_cached("INSERT OR REPLACE INTO hx_cursor (account, value) VALUES (?, ?)")?
            .execute([account.as_str(), cursor])?;
    }
    Ok(received)
}

/// Returns the id of a received message; `None` if it was not received.
pub(crate) fn known(database: &Database, account: &Account, inbound: &Inbound) -> Result<Option<InboxId>, Failure> {
    let id = database
        .prepare_cached("SELECT id FROM hx_inbox WHERE account = ? AND chat = ? AND message_id = ?")?
        .query_row([account.as_str(), &inbound.chat, &inbound.message_id], |row| row.get(0).map(InboxId))
        .optional()?;
    Ok(id)
}

fn insert(database: &Database, account: &Account, inbound: &Inbound, now: Timestamp) -> Result<InboxId, Failure> {
    database
        .prepare_cached(
            "INSERT INTO hx_inbox (account, chat, message_id, route, session_id, payload, state, attempts, received_at) \
             VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0, ?)",
        )?
        .execute(params![
            account.as_str(),
            inbound.chat,
            inbound.message_id,
            inbound.route.as_ref().map(RouteKey::to_stored),
            inbound.session.as_ref().map(SessionId::as_str),
            inbound.payload,
            now.seconds(),
        ])?;
    Ok(InboxId(database.last_insert_rowid()))
}

pub(crate) fn cursor(database: &Database, account: &Account) -> Result<Option<String>, Failure> {
    let mut statement = database.prepare_cached("SELECT value FROM hx_cursor WHERE account = ?")?;
    Ok(statement.query_row([account.as_str()], |row| row.get(0)).optional()?)
}

pub(crate) fn waiting(database: &Database, after: Option<InboxId>, limit: u32) -> Result<Vec<InboxItem>, Failure> {
    // A message that waits has no turn, so the index of open messages has these in the order of their ids.
    let mut statement = database.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM hx_inbox WHERE settled_at IS NULL AND state = 'waiting' AND turn IS NULL \
         AND id > coalesce(?, -1) ORDER BY id LIMIT ?"
    ))?;
    let mut rows = statement.query(params![after.map(|id| id.0), limit])?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        items.push(read(row)?);
    }
    Ok(items)
}

pub(crate) fn item(database: &Database, id: InboxId) -> Result<Option<InboxItem>, Failure> {
    let mut statement = database.prepare_cached(&format!("SELECT {COLUMNS} FROM hx_inbox WHERE id = ?"))?;
    let mut rows = statement.query([id.0])?;
    rows.next()?.map(read).transpose()
}

/// Returns received messages after one, in any state, in the order of their ids.
pub(crate) fn list(database: &Database, after: Option<InboxId>, limit: u32) -> Result<Vec<InboxItem>, Failure> {
    let mut statement = database
        .prepare_cached(&format!("SELECT {COLUMNS} FROM hx_inbox WHERE id > coalesce(?, -1) ORDER BY id LIMIT ?"))?;
    let mut rows = statement.query(params![after.map(|id| id.0), limit])?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        items.push(read(row)?);
    }
    Ok(items)
}

/// Stores a received message of another store, under an id of this one.
pub(crate) fn put(database: &Database, item: &InboxItem) -> Result<(), Failure> {
    database
        .prepare_cached(&format!("INSERT INTO hx_inbox ({COLUMNS}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"))?
        .execute(params![
            item.account.as_str(),
            item.inbound.chat,
            item.inbound.message_id,
            item.inbound.route.as_ref().map(RouteKey::to_stored),
            item.inbound.session.as_ref().map(SessionId::as_str),
            item.inbound.payload,
            item.state.as_str(),
            item.turn.map(|turn| turn.0),
            item.stored_message.map(|message| message.0),
            item.attempts,
            item.received_at.seconds(),
            item.settled_at.map(Timestamp::seconds),
        ])?;
    Ok(())
}

/// Fails if one of these received messages does not wait. Returns the platform's id of each.
pub(crate) fn require_waiting(database: &Database, rows: &[Option<InboxId>]) -> Result<Vec<Option<String>>, Failure> {
    let mut statement =
        database.prepare_cached("SELECT message_id FROM hx_inbox WHERE id = ? AND state = 'waiting'")?;
    let mut platform_ids = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(id) = row else {
            platform_ids.push(None);
            continue;
        };
        let found: Option<String> = statement.query_row([id.0], |row| row.get(0)).optional()?;
        platform_ids.push(Some(found.ok_or(Conflict::InboxSettled(*id))?));
    }
    Ok(platform_ids)
}

/// Gives a received message to a turn, which made a message of the transcript of it.
pub(crate) fn take(database: &Database, row: InboxId, turn: TurnId, message: MessageId) -> Result<(), Failure> {
    database
        .prepare_cached(
            "UPDATE hx_inbox SET state = 'taken', turn = ?, stored_message = ?, attempts = attempts + 1 WHERE id = ?",
        )?
        .execute([turn.0, message.0, row.0])?;
    Ok(())
}

/// Marks the received messages of a turn as done.
pub(crate) fn settle_turn(database: &Database, turn: TurnId, now: Timestamp) -> Result<(), Failure> {
    database
        .prepare_cached(
            "UPDATE hx_inbox SET state = 'done', payload = '', settled_at = ? \
             WHERE settled_at IS NULL AND state = 'taken' AND turn = ?",
        )?
        .execute(params![now.seconds(), turn.0])?;
    Ok(())
}

pub(crate) fn post(
    database: &Database,
    answered: &[InboxId],
    replies: &[NewOutbound],
    now: Timestamp,
) -> Result<Vec<OutboundId>, Failure> {
    let mut done = database.prepare_cached(
        "UPDATE hx_inbox SET state = 'done', payload = '', settled_at = ? WHERE id = ? AND state = 'waiting'",
    )?;
    for row in answered {
        if done.execute(params![now.seconds(), row.0])? == 0 {
            return Err(Conflict::InboxSettled(*row).into());
        }
    }
    queue(database, replies, None, now)
}

pub(crate) fn forget(database: &Database, before: Timestamp, limit: u32) -> Result<u64, Failure> {
    let inbox = database
        .prepare_cached("DELETE FROM hx_inbox WHERE id IN (SELECT id FROM hx_inbox WHERE settled_at < ? LIMIT ?)")?
        .execute(params![before.seconds(), limit])?;
    Ok(inbox as u64 + outbox::forget(database, before, limit)?)
}

fn read(row: &Row<'_>) -> Result<InboxItem, Failure> {
    let id: i64 = row.get(0)?;
    let odd = || Failure::Damaged(format!("hx_inbox {id}: not a received message"));
    let state: String = row.get(7)?;
    let route = text(row, 4)?.map(|key| RouteKey::from_stored(&key).ok_or_else(odd)).transpose()?;
    let inbound = Inbound {
        chat: row.get(2)?,
        message_id: row.get(3)?,
        route,
        session: text(row, 5)?.map(SessionId::from_stored),
        payload: row.get(6)?,
    };
    Ok(InboxItem {
        id: InboxId(id),
        account: Account::from_stored(row.get::<_, String>(1)?),
        inbound,
        state: InboxState::from_stored(&state).ok_or_else(odd)?,
        turn: row.get::<_, Option<i64>>(8)?.map(TurnId),
        stored_message: row.get::<_, Option<i64>>(9)?.map(MessageId),
        attempts: row.get(10)?,
        received_at: time(row, 11)?.ok_or_else(odd)?,
        settled_at: time(row, 12)?,
    })
}
