//! Lineages: reading them, continuing a session, branching from it.

use crate::calls::hidden::seen;
use crate::calls::row::{existing, require, session, time};
use crate::calls::{archive, messages, routes, sessions, titles, topics, turns};
use crate::care::refresh;
use crate::care::stale::Stale;
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::once_in;
use hermes_session::lineage::child_of;
use hermes_session::{
    Conflict, EndReason, Lineage, Link, NewChild, NewMessage, Relation, Request, Session, SessionId, StoreError,
    Timestamp, Title, change,
};
use hermes_sql::statements;
use rusqlite::{OptionalExtension as _, params};

pub(crate) fn read(database: &Database, id: &SessionId) -> Result<Lineage, Failure> {
    require(database, id)?;
    // UNION, not UNION ALL, so that the walk ends even if a foreign writer left a cycle.
    let mut statement = database.prepare_cached(concat!(
        "WITH RECURSIVE family(id) AS (
             SELECT ?1
             UNION SELECT s.parent_session_id FROM family f JOIN sessions s ON s.id = f.id WHERE s.parent_session_id IS NOT NULL
             UNION SELECT s.id FROM family f JOIN sessions s ON s.parent_session_id = f.id
         )
         SELECT s.id, s.parent_session_id, h.relation, s.started_at
         FROM family f JOIN sessions s ON s.id = f.id LEFT JOIN hx_session h ON h.session_id = s.id WHERE ",
        seen!()
    ))?;
    let mut rows = statement.query(params![id.as_str()])?;
    let mut links = Vec::new();
    while let Some(row) = rows.next()? {
        links.extend(link(row)?);
    }
    Ok(Lineage::new(links))
}

/// Returns the first session of the conversation of a session. The caller writes: a stale place is recomputed.
pub(crate) fn root(database: &Database, id: &SessionId) -> Result<SessionId, Failure> {
    let mut statement = database.prepare_cached("SELECT root, dirty FROM hx_session WHERE session_id = ?")?;
    let mut look = || {
        let found =
            statement.query_row(params![id.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Stale>(1)?)));
        found.optional()
    };
    let mut found = look()?;
    if found.as_ref().is_some_and(|(_, stale)| stale.place) {
        refresh::places(database)?;
        found = look()?;
    }
    found.map(|(root, _)| SessionId::from_stored(root)).ok_or_else(|| StoreError::no_session(id).into())
}

/// Reads the link of a session: its id, its parent, its relation and its start.
pub(crate) fn link(row: &rusqlite::Row<'_>) -> Result<Option<Link>, rusqlite::Error> {
    let parent = row.get::<_, Option<String>>(1)?.map(SessionId::from_stored);
    let stamped = row.get::<_, Option<String>>(2)?.and_then(|text| Relation::from_stored(&text));
    let unstamped = if parent.is_some() { Relation::Delegate } else { Relation::Root };
    // A session without a readable start comes first among its siblings.
    let started_at = time(row, 3)?.or_else(|| Timestamp::from_seconds(f64::MIN).ok());
    let id = SessionId::from_stored(row.get::<_, String>(0)?);
    Ok(started_at.map(|started_at| Link { id, parent, relation: stamped.unwrap_or(unstamped), started_at }))
}

pub(crate) fn split(
    database: &Database,
    parent_id: &SessionId,
    child: &NewChild,
    transcript: &[NewMessage],
    request: &Request,
) -> Result<Option<Title>, Failure> {
    once_in(database, request, &child.id, parent_id, &change::split(parent_id, child, transcript), || {
        let parent = existing(database, parent_id)?;
        if session(database, &child.id)?.is_some() {
            return Err(Conflict::Exists(child.id.clone()).into());
        }
        let ended_at = parent.ended_at.unwrap_or(request.at);
        database.prepare_cached("UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ?")?.execute(params![
            ended_at.seconds(),
            EndReason::COMPRESSION,
            parent_id.as_str()
        ])?;
        let started_at = request.at.max(ended_at);
        sessions::insert(database, &child_of(&parent, child, Relation::Continuation, started_at), started_at)?;
        if parent.archived {
            archive::mark(database, &child.id, true)?;
        }
        if !transcript.is_empty() {
            messages::add(database, &child.id, transcript, request.at)?;
        }
        turns::carry(database, parent_id, &child.id)?;
        routes::carry(database, parent_id, &child.id)?;
        topics::carry(database, parent_id, &child.id, request.at)?;
        entitle(database, &parent, child)
    })
}

pub(crate) fn branch(
    database: &Database,
    parent_id: &SessionId,
    child: &NewChild,
    request: &Request,
) -> Result<Option<Title>, Failure> {
    once_in(database, request, &child.id, parent_id, &change::branch(parent_id, child), || {
        let parent = existing(database, parent_id)?;
        if session(database, &child.id)?.is_some() {
            return Err(Conflict::Exists(child.id.clone()).into());
        }
        database.prepare_cached(statements::END_SESSION)?.execute(params![
            request.at.seconds(),
            EndReason::BRANCHED,
            parent_id.as_str()
        ])?;
        let ended_at = parent.ended_at.unwrap_or(request.at);
        let started_at = request.at.max(ended_at);
        sessions::insert(database, &child_of(&parent, child, Relation::Branch, started_at), started_at)?;
        messages::copy(database, parent_id, &child.id)?;
        entitle(database, &parent, child)
    })
}

/// Sets the title that the child asks for, or the next free one in its parent's lineage. Returns it.
fn entitle(database: &Database, parent: &Session, child: &NewChild) -> Result<Option<Title>, Failure> {
    let title = match (&child.title, &parent.title) {
        (Some(title), _) => Some(title.clone()),
        (None, Some(title)) => match Title::clean(title) {
            Ok(Some(title)) => Some(titles::next(database, &child.id, &title)?),
            Ok(None) | Err(_) => None,
        },
        (None, None) => None,
    };
    if title.is_some() {
        titles::write(database, &child.id, title.as_ref())?;
    }
    Ok(title)
}
