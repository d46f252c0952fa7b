//! Live data on its way from one store to another.

use super::messages::root;
use super::row::require;
use super::{Failing as _, Fields as _, Odd, Sql, mail, routes, turns};
use crate::values;
use hermes_session::SessionId;
use hermes_session::live::{
    Account, Carried, InboxItem, LiveKind, LiveRecord, Outbound, ResetCause, Route, RouteKey, Turn, TurnId,
};

const NO_SESSION: Carried = Carried::Left("its session does not exist");

/// Implements `live_records` of the contract.
pub async fn list<T: Sql>(
    transaction: &T,
    after: Option<&LiveRecord>,
    limit: u32,
) -> Result<Vec<LiveRecord>, T::Failure> {
    let mut records = Vec::new();
    for kind in LiveKind::ALL {
        if after.is_some_and(|after| after.kind() > kind) {
            continue;
        }
        let left = limit.saturating_sub(records.len() as u32);
        if left == 0 {
            break;
        }
        records.extend(of_kind(transaction, kind, after.filter(|after| after.kind() == kind), left).await?);
    }
    Ok(records)
}

/// Returns up to `limit` records of a kind after one of the same kind.
async fn of_kind<T: Sql>(
    transaction: &T,
    kind: LiveKind,
    edge: Option<&LiveRecord>,
    limit: u32,
) -> Result<Vec<LiveRecord>, T::Failure> {
    Ok(match kind {
        LiveKind::Route => {
            let after = match edge {
                Some(LiveRecord::Route(route)) => Some(&route.key),
                _ => None,
            };
            let routes = routes::list(transaction, after, limit).await?;
            routes.into_iter().map(|route| LiveRecord::Route(Box::new(route))).collect()
        }
        LiveKind::Alias => {
            let sql = "SELECT old_key, route_key FROM hx_route_alias WHERE old_key > $1 ORDER BY old_key LIMIT $2";
            pairs(transaction, sql, edge, limit, |old, key| {
                Some(LiveRecord::Alias {
                    old: RouteKey::from_stored(&old)?,
                    key: Box::new(RouteKey::from_stored(&key)?),
                })
            })
            .await?
        }
        LiveKind::Cursor => {
            let sql = "SELECT account, value FROM hx_cursor WHERE account > $1 ORDER BY account LIMIT $2";
            pairs(transaction, sql, edge, limit, |account, value| {
                Some(LiveRecord::Cursor { account: Account::from_stored(account), value })
            })
            .await?
        }
        LiveKind::Turn => {
            let after = match edge {
                Some(LiveRecord::Turn(turn)) => Some(turn.id),
                _ => None,
            };
            let turns = turns::list(transaction, after, limit).await?;
            turns.into_iter().map(|turn| LiveRecord::Turn(Box::new(turn))).collect()
        }
        LiveKind::Inbox => {
            let after = match edge {
                Some(LiveRecord::Inbox(item)) => Some(item.id),
                _ => None,
            };
            let items = mail::list(transaction, after, limit).await?;
            items.into_iter().map(|item| LiveRecord::Inbox(Box::new(item))).collect()
        }
        LiveKind::Outbound => {
            let after = match edge {
                Some(LiveRecord::Outbound(part)) => Some(part.id),
                _ => None,
            };
            let parts = mail::outbound(transaction, after, limit).await?;
            parts.into_iter().map(|part| LiveRecord::Outbound(Box::new(part))).collect()
        }
        LiveKind::Cause => {
            let sql = "SELECT h.session_id, h.cause FROM hx_session h JOIN sessions s ON s.id = h.session_id \
                 WHERE h.session_id > $1 AND h.cause IS NOT NULL AND s.ended_at IS NOT NULL ORDER BY h.session_id LIMIT $2";
            pairs(transaction, sql, edge, limit, |session, cause| {
                let cause = ResetCause::from_stored(&cause)?;
                Some(LiveRecord::Cause { session: SessionId::from_stored(session), cause })
            })
            .await?
        }
    })
}

/// Returns records of two texts, the first of which is their key.
async fn pairs<T: Sql>(
    transaction: &T,
    sql: &str,
    edge: Option<&LiveRecord>,
    limit: u32,
    record: impl Fn(String, String) -> Option<LiveRecord>,
) -> Result<Vec<LiveRecord>, T::Failure> {
    let after = edge.map(|edge| edge.identity().1.concat()).unwrap_or_default();
    let mut records = Vec::new();
    for row in transaction.rows(sql, values![after, i64::from(limit)]).await? {
        let (key, value): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let odd = Odd(format!("live data of {key}: unreadable"));
        records.push(record(key, value).ok_or(odd)?);
    }
    Ok(records)
}

/// Implements `import_live` of the contract.
pub async fn import<T: Sql>(transaction: &T, records: &[LiveRecord]) -> Result<Vec<Carried>, T::Failure> {
    transaction.lock_import().await?;
    let mut answers = Vec::with_capacity(records.len());
    for record in records {
        answers.push(import_one(transaction, record).await?);
    }
    Ok(answers)
}

async fn import_one<T: Sql>(transaction: &T, record: &LiveRecord) -> Result<Carried, T::Failure> {
    match record {
        LiveRecord::Route(route) => import_route(transaction, route).await,
        LiveRecord::Alias { old, key } => {
            if routes::read(transaction, old).await?.is_some() {
                return Ok(Carried::Known);
            }
            match routes::read(transaction, key).await? {
                Some(route) => routes::add_alias(transaction, old, &route.key).await.map(|()| Carried::Stored),
                None => Ok(Carried::Left("its route does not exist")),
            }
        }
        LiveRecord::Cursor { account, value } => {
            if mail::cursor(transaction, account).await?.is_some() {
                return Ok(Carried::Known);
            }
            let sql = "INSERT INTO hx_cursor (account, value) VALUES ($1, $2)";
            transaction.run(sql, values![account.as_str(), value.as_str()]).await?;
            Ok(Carried::Stored)
        }
        LiveRecord::Turn(turn) => import_turn(transaction, turn).await,
        LiveRecord::Inbox(item) => import_inbox(transaction, item).await,
        LiveRecord::Outbound(part) => import_outbound(transaction, part).await,
        LiveRecord::Cause { session, cause } => {
            if !exists(transaction, session).await? {
                return Ok(NO_SESSION);
            }
            let sql = "UPDATE hx_session SET cause = $2 WHERE session_id = $1 AND cause IS NULL";
            let added = transaction.run(sql, values![session.as_str(), cause.as_str()]).await?;
            Ok(if added > 0 { Carried::Stored } else { Carried::Known })
        }
    }
}

async fn import_route<T: Sql>(transaction: &T, route: &Route) -> Result<Carried, T::Failure> {
    if routes::read(transaction, &route.key).await?.is_some() {
        return Ok(Carried::Known);
    }
    if !exists(transaction, &route.session).await? {
        return Ok(NO_SESSION);
    }
    routes::put(transaction, None, route).await.map(|()| Carried::Stored)
}

async fn import_turn<T: Sql>(transaction: &T, turn: &Turn) -> Result<Carried, T::Failure> {
    if !exists(transaction, &turn.session).await? {
        return Ok(NO_SESSION);
    }
    let root = root(transaction, &turn.session).await?;
    if let Some(open) = turns::of_conversation(transaction, &root).await? {
        return Ok(if open.id == turn.id { Carried::Known } else { Carried::Left("its conversation is in a turn") });
    }
    match turns::put(transaction, &Turn { fence: None, ..turn.clone() }).await? {
        true => Ok(Carried::Stored),
        false => Ok(Carried::Left("its number was used")),
    }
}

async fn import_inbox<T: Sql>(transaction: &T, item: &InboxItem) -> Result<Carried, T::Failure> {
    if mail::known(transaction, &item.account, &item.inbound).await?.is_some() {
        return Ok(Carried::Known);
    }
    let has_turn = has_turn(transaction, item.turn).await?;
    let has_message = match item.stored_message {
        Some(message) => transaction.row("SELECT 1 FROM messages WHERE id = $1", values![message.0]).await?.is_some(),
        None => false,
    };
    let item = item.clone().carried(has_turn, has_message);
    mail::put(transaction, &item).await.map(|_| Carried::Stored)
}

async fn import_outbound<T: Sql>(transaction: &T, part: &Outbound) -> Result<Carried, T::Failure> {
    if mail::knows_part(transaction, part).await? {
        return Ok(Carried::Known);
    }
    let has_turn = has_turn(transaction, part.turn).await?;
    let has_session = match &part.session {
        Some(session) => exists(transaction, session).await?,
        None => false,
    };
    let part = part.clone().carried(has_turn, has_session);
    mail::put_part(transaction, &part).await.map(|_| Carried::Stored)
}

/// Returns whether there is a turn, and it is open.
async fn has_turn<T: Sql>(transaction: &T, turn: Option<TurnId>) -> Result<bool, T::Failure> {
    match turn {
        Some(turn) => Ok(turns::read(transaction, turn).await?.is_some()),
        None => Ok(false),
    }
}

async fn exists<T: Sql>(transaction: &T, id: &SessionId) -> Result<bool, T::Failure> {
    match require(transaction, id).await {
        Ok(()) => Ok(true),
        Err(failure) if failure.is_missing() => Ok(false),
        Err(failure) => Err(failure),
    }
}
