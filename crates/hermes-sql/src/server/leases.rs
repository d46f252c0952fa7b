//! Leases: one row per resource. Expiry is judged by the clock of the server.

use super::fence::newest;
use super::{Fields as _, Odd, ServerRow, Sql};
use crate::{after_prefix, values};
use hermes_session::live::{Acquired, Fence, Grant, Holder, Kinds, Lease, Renewed, Resource, Take, Terms};
use hermes_session::{SessionId, StoreError, Timestamp};
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

const COLUMNS: &str = "resource, token, host, process, born, label, busy, taken_at, expires_at";

/// Implements `acquire` of the contract.
pub async fn acquire<T: Sql>(
    transaction: &T,
    what: &Resource,
    who: &Holder,
    terms: Terms,
) -> Result<Acquired, T::Failure> {
    let what = rooted(transaction, what).await?;
    // Looked at before it is locked: many who wait for a lease would keep its owner waiting.
    if let Some((lease, now)) = look(transaction, &what.key()).await?
        && !yields(transaction, &lease, terms.take, now).await?
    {
        return Ok(Acquired::Held(lease));
    }
    lock(transaction, &what).await?;
    let (lease, now) = look(transaction, &what.key()).await?.ok_or_else(|| Odd("hx_lease: a row is gone".into()))?;
    if !yields(transaction, &lease, terms.take, now).await? {
        return Ok(Acquired::Held(lease));
    }
    let lease = grant(transaction, what, who, terms.ttl, now).await?;
    // Read only now: the owner before, whose token is no longer valid, has committed what it will ever write.
    let tip = match lease.resource.session() {
        Some(root) => tip(transaction, root).await?,
        None => None,
    };
    let newest = match &tip {
        Some(tip) => newest(transaction, tip).await?,
        None => None,
    };
    Ok(Acquired::Got(Grant { lease, tip, newest }))
}

/// Implements `renew` of the contract.
pub async fn renew<T: Sql>(transaction: &T, lease: &Lease, ttl: Duration, busy: bool) -> Result<Renewed, T::Failure> {
    let key = lease.resource.key();
    let sql = format!(
        "UPDATE hx_lease SET expires_at = {} + $3, busy = $4, uses = uses + 1 WHERE resource = $1 AND token = $2",
        transaction.dialect().now
    );
    let values = values![key.as_str(), lease.fence.0, ttl.as_secs_f64(), i64::from(busy)];
    let is_kept = transaction.run(&sql, values).await? > 0;
    match look(transaction, &key).await? {
        Some((lease, _)) if is_kept => Ok(Renewed::Kept(lease)),
        found => Ok(Renewed::Lost(found.map(|(lease, _)| lease))),
    }
}

/// Implements `release` of the contract.
pub async fn release<T: Sql>(transaction: &T, resource: &Resource, fence: Fence) -> Result<bool, T::Failure> {
    let sql = "DELETE FROM hx_lease WHERE resource = $1 AND token = $2";
    let is_released = transaction.run(sql, values![resource.key(), fence.0]).await? > 0;
    if is_released {
        note(transaction, resource);
    }
    Ok(is_released)
}

/// Notes that a conversation has another owner.
fn note<T: Sql>(transaction: &T, resource: &Resource) {
    if let Resource::Conversation(root) = resource {
        transaction.note(root, Kinds::OWNER);
    }
}

/// Implements `leases` of the contract.
pub async fn list<T: Sql>(transaction: &T, prefix: &str) -> Result<Vec<Lease>, T::Failure> {
    let (end, values) = match after_prefix(prefix) {
        Some(end) => (" AND resource < $2", values![prefix, end]),
        None => ("", values![prefix]),
    };
    let sql = format!("SELECT {COLUMNS} FROM hx_lease WHERE resource >= $1{end} ORDER BY resource");
    let rows = transaction.rows(&sql, values).await?;
    Ok(rows.iter().map(lease).collect::<Result<_, _>>()?)
}

/// Implements `lease_time` of the contract.
pub async fn time<T: Sql>(transaction: &T) -> Result<Timestamp, T::Failure> {
    let sql = format!("SELECT {}", transaction.dialect().now);
    Ok(Timestamp::from_seconds(transaction.one(&sql, values![]).await?.try_get(0)?)?)
}

/// Grants the lease of a resource that the caller has locked.
async fn grant<T: Sql>(
    transaction: &T,
    resource: Resource,
    who: &Holder,
    ttl: Duration,
    now: Timestamp,
) -> Result<Lease, T::Failure> {
    let (fence, until) = (drawn(), Lease::expiry(now, ttl));
    let sql = "UPDATE hx_lease SET token = $2, host = $3, process = $4, born = $5, label = $6, busy = 0, \
         taken_at = $7, expires_at = $8 WHERE resource = $1";
    let values = values![
        resource.key(),
        fence.0,
        who.host.as_str(),
        who.process,
        who.born.as_str(),
        who.label.as_str(),
        now.seconds(),
        until.seconds()
    ];
    transaction.run(sql, values).await?;
    note(transaction, &resource);
    Ok(Lease { resource, fence, holder: who.clone(), busy: false, taken_at: now, until })
}

/// Returns whether a lease may be taken.
async fn yields<T: Sql>(transaction: &T, lease: &Lease, take: Take, now: Timestamp) -> Result<bool, T::Failure> {
    let is_in_turn = take == Take::Idle && is_in_turn(transaction, lease).await?;
    Ok(lease.yields(take, is_in_turn, now))
}

/// Locks the lease of a resource until the end of the transaction. If nobody has it, its row is one that has expired.
async fn lock<T: Sql>(transaction: &T, resource: &Resource) -> Result<(), T::Failure> {
    let upsert = (transaction.dialect().upsert)("resource");
    let sql = format!(
        "INSERT INTO hx_lease (resource, session_id, token, host, process, born, label, busy, taken_at, expires_at, uses) \
         VALUES ($1, $2, 0, '', 0, '', '', 0, 0, 0, 1) {upsert} uses = hx_lease.uses + 1"
    );
    let values = values![resource.key(), resource.session().map(SessionId::as_str)];
    transaction.run(&sql, values).await.map(drop)
}

/// Returns the lease with a stored key, and the time of the server; `None` if there is no row.
async fn look<T: Sql>(transaction: &T, key: &str) -> Result<Option<(Lease, Timestamp)>, T::Failure> {
    let sql = format!("SELECT {COLUMNS}, {} FROM hx_lease WHERE resource = $1", transaction.dialect().now);
    let Some(row) = transaction.row(&sql, values![key]).await? else { return Ok(None) };
    Ok(Some((lease(&row)?, Timestamp::from_seconds(row.try_get(9)?)?)))
}

/// Returns the resource, named by the first session of its conversation. Fails if that does not exist.
async fn rooted<T: Sql>(transaction: &T, what: &Resource) -> Result<Resource, T::Failure> {
    let Some(session) = what.session() else { return Ok(what.clone()) };
    let sql = "SELECT root FROM hx_session WHERE session_id = $1";
    match transaction.row(sql, values![session.as_str()]).await? {
        Some(row) => Ok(what.clone().rooted(row.id(0)?)),
        None => Err(StoreError::no_session(session).into()),
    }
}

/// Returns whether the holder of a lease has an open turn.
async fn is_in_turn<T: Sql>(transaction: &T, lease: &Lease) -> Result<bool, T::Failure> {
    let Some(root) = lease.resource.session() else { return Ok(false) };
    let sql =
        "SELECT 1 FROM hx_turn t JOIN hx_session h ON h.session_id = t.session_id WHERE h.root = $1 AND t.fence = $2";
    Ok(transaction.row(sql, values![root.as_str(), lease.fence.0]).await?.is_some())
}

/// Returns the last session of a conversation.
async fn tip<T: Sql>(transaction: &T, root: &SessionId) -> Result<Option<SessionId>, T::Failure> {
    let row = transaction.row("SELECT tip FROM hx_session WHERE session_id = $1", values![root.as_str()]).await?;
    Ok(row.map(|row| row.id(0)).transpose()?)
}

/// Draws a token: 63 random bits, never zero.
fn drawn() -> Fence {
    let bits = RandomState::new().hash_one(std::process::id()) >> 1;
    Fence(i64::try_from(bits.max(1)).unwrap_or(i64::MAX))
}

fn lease<R: ServerRow>(row: &R) -> Result<Lease, Odd> {
    let odd = || Odd("hx_lease: not a lease".to_owned());
    let time = |index: usize| Timestamp::from_seconds(row.try_get(index)?).map_err(|_| odd());
    Ok(Lease {
        resource: Resource::from_key(&row.try_get::<String>(0)?).ok_or_else(odd)?,
        fence: Fence(row.try_get(1)?),
        holder: Holder {
            host: row.try_get(2)?,
            process: row.try_get(3)?,
            born: row.try_get(4)?,
            label: row.try_get(5)?,
        },
        busy: row.try_get(6)?,
        taken_at: time(7)?,
        until: time(8)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_drawn_once() {
        let drawn: std::collections::BTreeSet<Fence> = (0..1_000).map(|_| drawn()).collect();
        assert!(drawn.len() == 1_000 && drawn.iter().all(|fence| fence.0 > 0));
    }
}
