//! Leases: exclusive, expiring ownership with a fencing token. A file judges expiry by the time of the request.

use crate::calls::row::time;
use crate::calls::{fence, lineage, turns};
use crate::care::refresh;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::Timestamp;
use hermes_session::live::{Acquired, Fence, Grant, Holder, Lease, Renewed, Resource, Terms};
use hermes_sql::after_prefix;
use rusqlite::{Row, params};
use std::time::Duration;

const COLUMNS: &str = "resource, token, host, process, born, label, busy, taken_at, until";

pub(crate) fn acquire(
    database: &Database,
    what: &Resource,
    who: &Holder,
    terms: Terms,
    now: Timestamp,
) -> Result<Acquired, Failure> {
    let root = what.session().map(|session| lineage::root(database, session)).transpose()?;
    let resource = root.iter().fold(what.clone(), |resource, root| resource.rooted(root.clone()));
    let current = find(database, &resource)?;
    if let Some(lease) = &current
        && !lease.yields(terms.take, is_in_turn(database, lease)?, now)
    {
        return Ok(Acquired::Held(lease.clone()));
    }
    let lease = Lease {
        resource,
        fence: another(database, current.map(|lease| lease.fence))?,
        holder: who.clone(),
        busy: false,
        taken_at: now,
        until: Lease::expiry(now, terms.ttl),
    };
    put(database, &lease)?;
    let tip = root.map(|root| refresh::tip(database, &root)).transpose()?;
    let newest = tip.as_ref().map_or(Ok(None), |tip| fence::newest(database, tip))?;
    Ok(Acquired::Got(Grant { lease, tip, newest }))
}

pub(crate) fn renew(
    database: &Database,
    lease: &Lease,
    ttl: Duration,
    busy: bool,
    now: Timestamp,
) -> Result<Renewed, Failure> {
    let current = match find(database, &lease.resource)? {
        Some(current) if current.fence == lease.fence => current,
        other => return Ok(Renewed::Lost(other)),
    };
    let kept = Lease { busy, until: Lease::expiry(now, ttl), ..current };
    database.prepare_cached("UPDATE hx_lease SET busy = ?, until = ? WHERE resource = ?")?.execute(params![
        kept.busy,
        kept.until.seconds(),
        kept.resource.key()
    ])?;
    Ok(Renewed::Kept(kept))
}

pub(crate) fn release(database: &Database, lease: &Lease) -> Result<bool, Failure> {
    let mut statement = database.prepare_cached("DELETE FROM hx_lease WHERE resource = ? AND token = ?")?;
    Ok(statement.execute(params![lease.resource.key(), lease.fence.0])? > 0)
}

pub(crate) fn list(database: &Database, prefix: &str) -> Result<Vec<Lease>, Failure> {
    let mut statement = database.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM hx_lease WHERE resource >= ?1 AND (?2 IS NULL OR resource < ?2) ORDER BY resource"
    ))?;
    let mut rows = statement.query(params![prefix, after_prefix(prefix)])?;
    let mut leases = Vec::new();
    while let Some(row) = rows.next()? {
        leases.push(read(row)?);
    }
    Ok(leases)
}

/// Returns the lease of a resource, expired or not; `None` if there is none.
pub(crate) fn find(database: &Database, resource: &Resource) -> Result<Option<Lease>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM hx_lease WHERE resource = ?");
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query(params![resource.key()])?;
    rows.next()?.map(read).transpose()
}

/// Stores a grant in place of an earlier one.
pub(crate) fn put(database: &Database, lease: &Lease) -> Result<(), Failure> {
    database
        .prepare_cached(
            // Not REPLACE: it would fire no trigger for the row that goes.
            "INSERT INTO hx_lease (resource, token, host, process, born, label, busy, taken_at, until) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource) DO UPDATE SET token = excluded.token, \
             host = excluded.host, process = excluded.process, born = excluded.born, label = excluded.label, \
             busy = excluded.busy, taken_at = excluded.taken_at, until = excluded.until",
        )?
        .execute(params![
            lease.resource.key(),
            lease.fence.0,
            lease.holder.host,
            lease.holder.process,
            lease.holder.born,
            lease.holder.label,
            lease.busy,
            lease.taken_at.seconds(),
            lease.until.seconds(),
        ])?;
    Ok(())
}

/// Draws a token that differs from the current one.
pub(crate) fn another(database: &Database, current: Option<Fence>) -> Result<Fence, Failure> {
    let mut draw = database.prepare_cached("SELECT random() & 9223372036854775807")?;
    loop {
        // SQLite seeds its generator from the operating system.
        let drawn = Fence(draw.query_row([], |row| row.get(0))?);
        if drawn.0 != 0 && current != Some(drawn) {
            return Ok(drawn);
        }
    }
}

/// Returns whether the holder of a lease has an open turn in its conversation.
fn is_in_turn(database: &Database, lease: &Lease) -> Result<bool, Failure> {
    let Resource::Conversation(root) = &lease.resource else { return Ok(false) };
    Ok(turns::of_conversation(database, root)?.is_some_and(|turn| turn.fence == Some(lease.fence)))
}

fn read(row: &Row<'_>) -> Result<Lease, Failure> {
    let key: String = row.get(0)?;
    let odd = || Failure::Damaged(format!("hx_lease {key}: not a lease"));
    let holder = Holder { host: row.get(2)?, process: row.get(3)?, born: row.get(4)?, label: row.get(5)? };
    Ok(Lease {
        resource: Resource::from_key(&key).ok_or_else(odd)?,
        fence: Fence(row.get(1)?),
        holder,
        busy: row.get(6)?,
        taken_at: time(row, 7)?.ok_or_else(odd)?,
        until: time(row, 8)?.ok_or_else(odd)?,
    })
}

/// Releases the lease that has this token.
pub(crate) fn release_by(database: &Database, fence: Fence) -> Result<(), Failure> {
    database.prepare_cached("DELETE FROM hx_lease WHERE token = ?")?.execute([fence.0])?;
    Ok(())
}
