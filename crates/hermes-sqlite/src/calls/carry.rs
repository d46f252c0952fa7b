//! Live data on its way from one store to another.

use crate::calls::row::require;
use crate::calls::{lineage, mail, routes, turns};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::live::{
    Account, Carried, InboxItem, LiveKind, LiveRecord, Outbound, ResetCause, Route, RouteKey, Turn, TurnId,
};
use hermes_session::{SessionId, StoreError};
use rusqlite::{OptionalExtension as _, ToSql, params};

const NO_SESSION: Carried = Carried::Left("its session does not exist");

/// Returns up to `limit` records after one, in the order of kinds, keys and ids.
pub(crate) fn list(database: &Database, after: Option<&LiveRecord>, limit: u32) -> Result<Vec<LiveRecord>, Failure> {
    let mut records = Vec::new();
    for kind in LiveKind::ALL {
        let edge = after.filter(|after| after.kind() == kind);
        if after.is_some_and(|after| after.kind() > kind) {
            continue;
        }
        let left = limit.saturating_sub(records.len() as u32);
        if left == 0 {
            break;
        }
        records.extend(of_kind(database, kind, edge, left)?);
    }
    Ok(records)
}

/// Returns up to `limit` records of a kind after one of the same kind.
fn of_kind(
    database: &Database,
    kind: LiveKind,
    edge: Option<&LiveRecord>,
    limit: u32,
) -> Result<Vec<LiveRecord>, Failure> {
    Ok(match kind {
        LiveKind::Route => {
            let after = match edge {
                Some(LiveRecord::Route(route)) => Some(&route.key),
                _ => None,
            };
            let routes = routes::list(database, after, limit)?;
            routes.into_iter().map(|route| LiveRecord::Route(Box::new(route))).collect()
        }
        LiveKind::Alias => aliases(database, edge, limit)?,
        LiveKind::Cursor => cursors(database, edge, limit)?,
        LiveKind::Turn => {
            let after = match edge {
                Some(LiveRecord::Turn(turn)) => Some(turn.id),
                _ => None,
            };
            let turns = turns::list(database, after, limit)?;
            turns.into_iter().map(|turn| LiveRecord::Turn(Box::new(turn))).collect()
        }
        LiveKind::Inbox => {
            let after = match edge {
                Some(LiveRecord::Inbox(item)) => Some(item.id),
                _ => None,
            };
            let items = mail::list(database, after, limit)?;
            items.into_iter().map(|item| LiveRecord::Inbox(Box::new(item))).collect()
        }
        LiveKind::Outbound => {
            let after = match edge {
                Some(LiveRecord::Outbound(part)) => Some(part.id),
                _ => None,
            };
            let parts = mail::outbound(database, after, limit)?;
            parts.into_iter().map(|part| LiveRecord::Outbound(Box::new(part))).collect()
        }
        LiveKind::Cause => causes(database, edge, limit)?,
    })
}

fn aliases(database: &Database, edge: Option<&LiveRecord>, limit: u32) -> Result<Vec<LiveRecord>, Failure> {
    let after = match edge {
        Some(LiveRecord::Alias { old, .. }) => old.to_stored(),
        _ => String::new(),
    };
    let mut statement =
        database.prepare_cached("SELECT old, key FROM hx_route_alias WHERE old > ? ORDER BY old LIMIT ?")?;
    pairs(&mut statement, params![after, limit], |old, key| {
        let odd = || Failure::Damaged(format!("hx_route_alias {old}: not a route"));
        let parse = |text: &str| RouteKey::from_stored(text).ok_or_else(odd);
        Ok(LiveRecord::Alias { old: parse(&old)?, key: Box::new(parse(&key)?) })
    })
}

fn cursors(database: &Database, edge: Option<&LiveRecord>, limit: u32) -> Result<Vec<LiveRecord>, Failure> {
    let after = match edge {
        Some(LiveRecord::Cursor { account, .. }) => account.as_str(),
        _ => "",
    };
    let mut statement =
        database.prepare_cached("SELECT account, value FROM hx_cursor WHERE account > ? ORDER BY account LIMIT ?")?;
    pairs(&mut statement, params![after, limit], |account, value| {
        Ok(LiveRecord::Cursor { account: Account::from_stored(account), value })
    })
}

fn causes(database: &Database, edge: Option<&LiveRecord>, limit: u32) -> Result<Vec<LiveRecord>, Failure> {
    if !database.shape().causes {
        return Ok(Vec::new());
    }
    let after = match edge {
        Some(LiveRecord::Cause { session, .. }) => session.as_str(),
        _ => "",
    };
    let mut statement = database.prepare_cached(
        "SELECT h.session_id, h.cause FROM hx_session h JOIN sessions s ON s.id = h.session_id \
         WHERE h.session_id > ? AND h.cause IS NOT NULL AND s.ended_at IS NOT NULL ORDER BY h.session_id LIMIT ?",
    )?;
    pairs(&mut statement, params![after, limit], |session, word| {
        let odd = || Failure::Damaged(format!("hx_session {session}: not the cause of a reset"));
        let cause = ResetCause::from_stored(&word).ok_or_else(odd)?;
        Ok(LiveRecord::Cause { session: SessionId::from_stored(session), cause })
    })
}

fn pairs(
    statement: &mut rusqlite::Statement<'_>,
    values: &[&dyn ToSql],
    record: impl Fn(String, String) -> Result<LiveRecord, Failure>,
) -> Result<Vec<LiveRecord>, Failure> {
    let mut rows = statement.query(values)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(row.get(0)?, row.get(1)?)?);
    }
    Ok(records)
}

/// Stores records of another store. Returns the answer to each.
pub(crate) fn import(database: &Database, records: &[LiveRecord]) -> Result<Vec<Carried>, Failure> {
    records.iter().map(|record| import_one(database, record)).collect()
}

fn import_one(database: &Database, record: &LiveRecord) -> Result<Carried, Failure> {
    match record {
        LiveRecord::Route(route) => import_route(database, route),
        LiveRecord::Alias { old, key } => {
            if routes::find(database, old)?.is_some() {
                return Ok(Carried::Known);
            }
            match routes::find(database, key)? {
                Some(route) => routes::add_alias(database, old, &route.key).map(|()| Carried::Stored),
                None => Ok(Carried::Left("its route does not exist")),
            }
        }
        LiveRecord::Cursor { account, value } => {
            let added = database
                .prepare_cached("INSERT OR IGNORE INTO hx_cursor (account, value) VALUES (?, ?)")?
                .execute([account.as_str(), value])?;
            Ok(if added > 0 { Carried::Stored } else { Carried::Known })
        }
        LiveRecord::Turn(turn) => import_turn(database, turn),
        LiveRecord::Inbox(item) => import_inbox(database, item),
        LiveRecord::Outbound(part) => import_outbound(database, part),
        LiveRecord::Cause { session, cause } => {
            if !exists(database, session)? {
                return Ok(NO_SESSION);
            }
            let added = database
                .prepare_cached("UPDATE hx_session SET cause = ? WHERE session_id = ? AND cause IS NULL")?
                .execute(params![cause.as_str(), session.as_str()])?;
            Ok(if added > 0 { Carried::Stored } else { Carried::Known })
        }
    }
}

fn import_route(database: &Database, route: &Route) -> Result<Carried, Failure> {
    if routes::find(database, &route.key)?.is_some() {
        return Ok(Carried::Known);
    }
    if !exists(database, &route.session)? {
        return Ok(NO_SESSION);
    }
    routes::put(database, route).map(|()| Carried::Stored)
}

fn import_turn(database: &Database, turn: &Turn) -> Result<Carried, Failure> {
    if !exists(database, &turn.session)? {
        return Ok(NO_SESSION);
    }
    let root = lineage::root(database, &turn.session)?;
    if let Some(open) = turns::of_conversation(database, &root)? {
        return Ok(if open.id == turn.id { Carried::Known } else { Carried::Left("its conversation is in a turn") });
    }
    let last: Option<i64> = database
        .prepare_cached("SELECT seq FROM main.sqlite_sequence WHERE name = 'hx_turn'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    if last.is_some_and(|last| turn.id.0 <= last) {
        return Ok(Carried::Left("its number was used"));
    }
    turns::put(database, turn).map(|()| Carried::Stored)
}

fn import_inbox(database: &Database, item: &InboxItem) -> Result<Carried, Failure> {
    if mail::known(database, &item.account, &item.inbound)?.is_some() {
        return Ok(Carried::Known);
    }
    let has_message = match item.stored_message {
        Some(message) => database.prepare_cached("SELECT 1 FROM messages WHERE id = ?")?.exists([message.0])?,
        None => false,
    };
    let item = item.clone().carried(has_turn(database, item.turn)?, has_message);
    mail::put(database, &item).map(|()| Carried::Stored)
}

fn import_outbound(database: &Database, part: &Outbound) -> Result<Carried, Failure> {
    if mail::knows_part(database, part)? {
        return Ok(Carried::Known);
    }
    let has_session = match &part.session {
        Some(session) => exists(database, session)?,
        None => false,
    };
    let part = part.clone().carried(has_turn(database, part.turn)?, has_session);
    mail::put_part(database, &part).map(|()| Carried::Stored)
}

/// Returns whether there is a turn, and it is open.
fn has_turn(database: &Database, turn: Option<TurnId>) -> Result<bool, Failure> {
    match turn {
        Some(turn) => Ok(turns::find(database, turn)?.is_some()),
        None => Ok(false),
    }
}

fn exists(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    match require(database, id) {
        Ok(()) => Ok(true),
        Err(Failure::Store(StoreError::NotFound(_))) => Ok(false),
        Err(failure) => Err(failure),
    }
}
