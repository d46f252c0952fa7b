//! Recomputes derived data that the triggers for foreign writers only recorded as stale: previews, times, places in a
//! lineage.

use crate::calls::row::{Row, time};
use crate::calls::sessions;
use crate::care::stale::{Stale, place_bit, preview_bit};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{MessageBody, Relation, Role, SessionId, Timestamp, preview};
use hermes_sql::{Cell, SqlRow as _, stored};
use rusqlite::{OptionalExtension as _, params};
use std::collections::{BTreeMap, BTreeSet};

/// How many rows one step looks at, so that no step holds the lock for long.
const STEP: i64 = 200;

/// Recomputes up to one step of stale rows. Returns how many there were.
pub(crate) fn step(database: &Database) -> Result<usize, Failure> {
    let rows = stale_rows(database, Stale::ALL, STEP)?;
    place(database, &rows)?;
    for (id, stale) in &rows {
        if stale.preview {
            summary(database, id)?;
        }
    }
    Ok(rows.len())
}

/// Recomputes every stale place, and leaves stale previews and times for later.
pub(crate) fn places(database: &Database) -> Result<(), Failure> {
    place(database, &stale_rows(database, Stale::PLACE, -1)?)
}

/// Returns at most `limit` rows of which something in `kinds` is stale; a negative `limit` means all.
fn stale_rows(database: &Database, kinds: Stale, limit: i64) -> Result<Vec<(SessionId, Stale)>, Failure> {
    let mut statement = database
        .prepare_cached("SELECT session_id, dirty FROM hx_session WHERE dirty <> 0 AND dirty & ? <> 0 LIMIT ?")?;
    let rows = statement
        .query_map(params![kinds, limit], |row| Ok((SessionId::from_stored(row.get::<_, String>(0)?), row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn place(database: &Database, rows: &[(SessionId, Stale)]) -> Result<(), Failure> {
    let mut places = Places::default();
    let mut roots = BTreeSet::new();
    for (id, _) in rows.iter().filter(|(_, stale)| stale.place) {
        let root = places.root(database, id)?;
        database
            .prepare_cached(concat!(
                "UPDATE hx_session SET root = ?, dirty = dirty & ~",
                place_bit!(),
                " WHERE session_id = ?"
            ))?
            .execute(params![root.as_str(), id.as_str()])?;
        roots.insert(root);
    }
    for root in roots {
        standing(database, &root)?;
    }
    Ok(())
}

/// Recomputes the tip and the last activity of a conversation. Lists are ordered by them.
pub(crate) fn standing(database: &Database, root: &SessionId) -> Result<(), Failure> {
    let tip = tip(database, root)?;
    database
        .prepare_cached("UPDATE hx_session SET tip = ? WHERE session_id = ?")?
        .execute(params![tip.as_str(), root.as_str()])?;
    conversation_activity(database, root)
}

/// Recomputes all stale rows.
pub(crate) fn all(database: &Database) -> Result<(), Failure> {
    while step(database)? > 0 {}
    Ok(())
}

/// Returns whether anything is stale. This looks into a partial index that is empty if nothing is.
pub(crate) fn is_needed(database: &Database) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM hx_session WHERE dirty <> 0 LIMIT 1")?.exists([])?)
}

/// Recomputes a session's preview and times from its messages.
pub(crate) fn summary(database: &Database, id: &SessionId) -> Result<(), Failure> {
    let last_active = last_active(database, id)?;
    database
        .prepare_cached(concat!(
            "UPDATE hx_session SET preview = ?, last_active = coalesce(?, last_active), dirty = dirty & ~",
            preview_bit!(),
            " WHERE session_id = ?",
        ))?
        .execute(params![first_preview(database, id)?, last_active.map(Timestamp::seconds), id.as_str()])?;
    let root: Option<String> = database
        .prepare_cached("SELECT root FROM hx_session WHERE session_id = ?")?
        .query_row(params![id.as_str()], |row| row.get(0))
        .optional()?;
    match root {
        Some(root) => conversation_activity(database, &SessionId::from_stored(root)),
        None => Ok(()),
    }
}

/// Recomputes the last activity of a conversation from its sessions.
pub(crate) fn conversation_activity(database: &Database, root: &SessionId) -> Result<(), Failure> {
    database
        .prepare_cached(
            "UPDATE hx_session SET active = (SELECT max(last_active) FROM hx_session WHERE root = ?1) WHERE session_id = ?1",
        )?
        .execute(params![root.as_str()])?;
    Ok(())
}

/// Returns the time of a session's newest message, undone ones too, or its start if that is later; `None` if there is no
/// such session or no readable time.
pub(crate) fn last_active(database: &Database, id: &SessionId) -> Result<Option<Timestamp>, Failure> {
    let newest = database.shape().newest_time();
    let times: Option<(Option<Timestamp>, Option<Timestamp>)> = database
        .prepare_cached(&format!("SELECT s.started_at, {newest} FROM sessions s WHERE s.id = ?"))?
        .query_row(params![id.as_str()], |row| Ok((time(row, 0)?, time(row, 1)?)))
        .optional()?;
    Ok(times.and_then(|(start, newest)| start.max(newest)))
}

/// Computes the preview of a session from its messages.
pub(crate) fn first_preview(database: &Database, id: &SessionId) -> Result<String, Failure> {
    // Ids first, from the index alone; then message by message until one yields a preview.
    let mut ids = database.prepare_cached("SELECT id FROM messages WHERE session_id = ? ORDER BY id")?;
    let mut said = database.prepare_cached(&format!(
        "SELECT content FROM messages WHERE id = ? AND role = 'user' AND {}",
        database.shape().was_said()
    ))?;
    let mut ids = ids.query(params![id.as_str()])?;
    while let Some(row) = ids.next()? {
        let content = said.query_row(params![row.get::<_, i64>(0)?], |row| {
            Ok(match Row(row).cell(0) {
                Cell::Text(bytes) | Cell::Bytes(bytes) => {
                    Some(stored::decode(String::from_utf8_lossy(bytes).into_owned()))
                }
                _ => None,
            })
        });
        if let Some(preview) =
            content.optional()?.flatten().and_then(|content| preview(&MessageBody::new(Role::User, content)))
        {
            return Ok(preview);
        }
    }
    Ok(String::new())
}

/// Returns the session at the end of the chain of continuations from `id`.
pub(crate) fn tip(database: &Database, id: &SessionId) -> Result<SessionId, Failure> {
    let (mut at, mut seen) = (id.clone(), BTreeSet::from([id.clone()]));
    while let Some(next) = sessions::continuation(database, &at)? {
        if !seen.insert(next.clone()) {
            break;
        }
        at = next;
    }
    Ok(at)
}

/// Cache of roots, so that a long chain is climbed once.
#[derive(Default)]
pub(crate) struct Places(BTreeMap<SessionId, SessionId>);

impl Places {
    /// Returns the session that the conversation of `id` starts with. On a cycle, this is its smallest id.
    pub(crate) fn root(&mut self, database: &Database, id: &SessionId) -> Result<SessionId, Failure> {
        let mut path = vec![id.clone()];
        let root = loop {
            let at = &path[path.len() - 1];
            if let Some(root) = self.0.get(at) {
                break root.clone();
            }
            let Some(parent) = parent_in_conversation(database, at)? else { break at.clone() };
            if let Some(start) = path.iter().position(|seen| *seen == parent) {
                break path[start..].iter().min().unwrap_or(&parent).clone();
            }
            path.push(parent);
        };
        self.0.extend(path.into_iter().map(|id| (id, root.clone())));
        Ok(root)
    }
}

/// Returns the parent of a session, if it exists and both belong to one conversation.
fn parent_in_conversation(database: &Database, id: &SessionId) -> Result<Option<SessionId>, Failure> {
    let found: Option<(String, String)> = database
        .prepare_cached(
            "SELECT h.relation, p.id FROM hx_session h JOIN sessions s ON s.id = h.session_id \
             JOIN sessions p ON p.id = s.parent_session_id JOIN hx_session seen ON seen.session_id = p.id \
             WHERE h.session_id = ?",
        )?
        .query_row(params![id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let belongs =
        |relation: &str| Relation::from_stored(relation).is_some_and(|relation| !relation.starts_conversation());
    Ok(found.filter(|(relation, _)| belongs(relation)).map(|(_, parent)| SessionId::from_stored(parent)))
}
