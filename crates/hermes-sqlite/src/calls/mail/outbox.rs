//! The outbox: parts of replies, delivered in order for each destination.

use crate::calls::row::{text, time};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::live::{Account, NewOutbound, NewPart, Outbound, OutboundId, OutboundState, Settled, TurnId};
use hermes_session::{SessionId, Timestamp};
use rusqlite::{Row, params};

const COLUMNS: &str = "id, turn, session_id, account, destination, part, parts, body, plain, nonce, state, attempts, \
     doubtful, not_before, holder, platform_id, last_error, created_at, settled_at";

/// Queues replies, which answer a turn of a session if one is named.
pub(crate) fn queue(
    database: &Database,
    replies: &[NewOutbound],
    turn: Option<(TurnId, &SessionId)>,
    now: Timestamp,
) -> Result<Vec<OutboundId>, Failure> {
    let mut insert = database.prepare_cached(
        "INSERT INTO hx_outbox (turn, session_id, account, destination, part, parts, body, plain, nonce, state, attempts, \
         doubtful, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0, 0, ?)",
    )?;
    let mut ids = Vec::new();
    for reply in replies {
        for (part, NewPart { body, plain, nonce }) in reply.parts.iter().enumerate() {
            insert.execute(params![
                turn.map(|(turn, _)| turn.0),
                turn.map(|(_, session)| session.as_str()),
                reply.account.as_str(),
                reply.destination,
                part as i64,
                reply.parts.len() as i64,
                body,
                plain,
                nonce,
                now.seconds(),
            ])?;
            ids.push(OutboundId(database.last_insert_rowid()));
        }
    }
    Ok(ids)
}

pub(crate) fn take(
    database: &Database,
    account: &Account,
    holder: &str,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<Outbound>, Failure> {
    let mut taken = Vec::new();
    for part in heads(database, account)? {
        if taken.len() >= limit as usize {
            break;
        }
        if part.is_due(holder, now) {
            let part = part.taken(holder);
            put(database, &part)?;
            taken.push(part);
        }
    }
    Ok(taken)
}

/// Returns the first unsettled part of each destination, in the order of their ids. Each step of the recursion is one
/// look into the index, however many parts wait.
fn heads(database: &Database, account: &Account) -> Result<Vec<Outbound>, Failure> {
    const OPEN: &str = "hx_outbox o WHERE o.settled_at IS NULL AND o.account = ?1";
    let mut statement = database.prepare_cached(&format!(
        "WITH RECURSIVE destinations(name) AS (
             SELECT min(o.destination) FROM {OPEN}
             UNION ALL SELECT (SELECT min(o.destination) FROM {OPEN} AND o.destination > name) FROM destinations WHERE name IS NOT NULL
         )
         SELECT {COLUMNS} FROM hx_outbox WHERE id IN
             (SELECT (SELECT min(o.id) FROM {OPEN} AND o.destination = name) FROM destinations WHERE name IS NOT NULL) ORDER BY id"
    ))?;
    let mut rows = statement.query([account.as_str()])?;
    let mut heads = Vec::new();
    while let Some(row) = rows.next()? {
        heads.push(read(row)?);
    }
    Ok(heads)
}

pub(crate) fn settle(
    database: &Database,
    id: OutboundId,
    attempt: u32,
    how: &Settled,
    now: Timestamp,
) -> Result<bool, Failure> {
    let mut statement = database.prepare_cached(&format!("SELECT {COLUMNS} FROM hx_outbox WHERE id = ?"))?;
    let mut rows = statement.query([id.0])?;
    let Some(part) = rows.next()?.map(read).transpose()? else { return Ok(false) };
    drop(rows);
    match part.settled(attempt, how, now) {
        Some(part) => put(database, &part).map(|()| true),
        None => Ok(false),
    }
}

pub(crate) fn list(database: &Database, after: Option<OutboundId>, limit: u32) -> Result<Vec<Outbound>, Failure> {
    let mut statement = database
        .prepare_cached(&format!("SELECT {COLUMNS} FROM hx_outbox WHERE id > coalesce(?, -1) ORDER BY id LIMIT ?"))?;
    let mut rows = statement.query(params![after.map(|id| id.0), limit])?;
    let mut parts = Vec::new();
    while let Some(row) = rows.next()? {
        parts.push(read(row)?);
    }
    Ok(parts)
}

/// Deletes the parts of a turn's replies that were not delivered.
pub(crate) fn drop_open(database: &Database, turn: TurnId) -> Result<(), Failure> {
    database.prepare_cached("DELETE FROM hx_outbox WHERE settled_at IS NULL AND turn = ?")?.execute([turn.0])?;
    Ok(())
}

/// Deletes parts that were settled before a time, at most `limit`. Returns how many.
pub(crate) fn forget(database: &Database, before: Timestamp, limit: u32) -> Result<u64, Failure> {
    let mut statement = database
        .prepare_cached("DELETE FROM hx_outbox WHERE id IN (SELECT id FROM hx_outbox WHERE settled_at < ? LIMIT ?)")?;
    Ok(statement.execute(params![before.seconds(), limit])? as u64)
}

/// Writes everything that changes after a part was queued.
fn put(database: &Database, part: &Outbound) -> Result<(), Failure> {
    database
        .prepare_cached(
            "UPDATE hx_outbox SET state = ?, attempts = ?, doubtful = ?, not_before = ?, holder = ?, platform_id = ?, \
             last_error = ?, settled_at = ? WHERE id = ?",
        )?
        .execute(params![
            part.state.as_str(),
            part.attempts,
            part.doubtful,
            part.not_before.map(Timestamp::seconds),
            part.holder,
            part.platform_id,
            part.last_error,
            part.settled_at.map(Timestamp::seconds),
            part.id.0,
        ])?;
    Ok(())
}

/// Returns whether the part of another store is known.
pub(crate) fn is_known(database: &Database, part: &Outbound) -> Result<bool, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT 1 FROM hx_outbox WHERE account = ? AND destination = ? AND nonce = ? AND part = ? AND created_at = ?",
    )?;
    let found = statement.exists(params![
        part.account.as_str(),
        part.destination,
        part.content.nonce,
        part.part,
        part.created_at.seconds()
    ])?;
    Ok(found)
}

/// Stores a part of another store, under an id of this one.
pub(crate) fn put_whole(database: &Database, part: &Outbound) -> Result<(), Failure> {
    database
        .prepare_cached(
            "INSERT INTO hx_outbox (turn, session_id, account, destination, part, parts, body, plain, nonce, state, \
             attempts, doubtful, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0, ?)",
        )?
        .execute(params![
            part.turn.map(|turn| turn.0),
            part.session.as_ref().map(SessionId::as_str),
            part.account.as_str(),
            part.destination,
            part.part,
            part.parts,
            part.content.body,
            part.content.plain,
            part.content.nonce,
            part.created_at.seconds(),
        ])?;
    put(database, &Outbound { id: OutboundId(database.last_insert_rowid()), ..part.clone() })
}

fn read(row: &Row<'_>) -> Result<Outbound, Failure> {
    let id: i64 = row.get(0)?;
    let odd = || Failure::Damaged(format!("hx_outbox {id}: not a part of a reply"));
    let state: String = row.get(10)?;
    Ok(Outbound {
        id: OutboundId(id),
        turn: row.get::<_, Option<i64>>(1)?.map(TurnId),
        session: text(row, 2)?.map(SessionId::from_stored),
        account: Account::from_stored(row.get::<_, String>(3)?),
        destination: row.get(4)?,
        part: row.get(5)?,
        parts: row.get(6)?,
        content: NewPart { body: row.get(7)?, plain: row.get(8)?, nonce: row.get(9)? },
        state: OutboundState::from_stored(&state).ok_or_else(odd)?,
        attempts: row.get(11)?,
        doubtful: row.get(12)?,
        not_before: time(row, 13)?,
        holder: row.get(14)?,
        platform_id: row.get(15)?,
        last_error: row.get(16)?,
        created_at: time(row, 17)?.ok_or_else(odd)?,
        settled_at: time(row, 18)?,
    })
}
