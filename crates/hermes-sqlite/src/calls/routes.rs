//! Routes: which session the messages of a chat belong to.

use crate::calls::row::{require, session, text, time};
use crate::calls::{routing, sessions};
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::once_if;
use hermes_session::live::{Origin, ResetCause, Route, RouteKey, RoutePatch, Switch, SwitchTo, Switched, Termination};
use hermes_session::{Conflict, Request, SessionId, Timestamp, change};
use rusqlite::{OptionalExtension as _, Row, params};

const COLUMNS: &str = "key, session_id, generation, session_key, source, display_name, created_at, touched_at, suspended, \
     notice, last_prompt_tokens";

/// SQL for the present key of a route, which `?1` names by its key or an alias.
const PRESENT: &str = "coalesce((SELECT key FROM hx_route_alias WHERE old = ?1), ?1)";

pub(crate) fn find(database: &Database, key: &RouteKey) -> Result<Option<Route>, Failure> {
    let mut statement = database.prepare_cached(&format!("SELECT {COLUMNS} FROM hx_route WHERE key = {PRESENT}"))?;
    let mut rows = statement.query([key.to_stored()])?;
    rows.next()?.map(read).transpose()
}

pub(crate) fn of_session(database: &Database, id: &SessionId) -> Result<Vec<Route>, Failure> {
    let mut statement =
        database.prepare_cached(&format!("SELECT {COLUMNS} FROM hx_route WHERE session_id = ? ORDER BY key"))?;
    let mut rows = statement.query(params![id.as_str()])?;
    let mut routes = Vec::new();
    while let Some(row) = rows.next()? {
        routes.push(read(row)?);
    }
    Ok(routes)
}

pub(crate) fn list(database: &Database, after: Option<&RouteKey>, limit: u32) -> Result<Vec<Route>, Failure> {
    let mut statement =
        database.prepare_cached(&format!("SELECT {COLUMNS} FROM hx_route WHERE key > ? ORDER BY key LIMIT ?"))?;
    // A stored key is never empty.
    let mut rows = statement.query(params![after.map(RouteKey::to_stored).unwrap_or_default(), limit])?;
    let mut routes = Vec::new();
    while let Some(row) = rows.next()? {
        routes.push(read(row)?);
    }
    Ok(routes)
}

pub(crate) fn switch(database: &Database, switch: &Switch, request: &Request) -> Result<Switched, Failure> {
    let before = find(database, &switch.key)?;
    let leads_to = before.as_ref().map(|route| route.session.clone());
    let work = || {
        if before.as_ref().map(|route| route.generation) != switch.expected {
            return Ok(Switched::Moved(before.map(Box::new)));
        }
        let (route, ended) = lead_to(database, switch, before, request.at)?;
        Ok(Switched::Done { route: Box::new(route), ended })
    };
    once_if(database, request, leads_to.as_ref(), &change::switch(switch), work, |answer| match answer {
        Switched::Done { route, .. } => Some(route.session.clone()),
        Switched::Moved(_) => None,
    })
}

/// Switches a route, whatever its generation. Returns it, and the session that this ended.
pub(crate) fn lead_to(
    database: &Database,
    switch: &Switch,
    before: Option<Route>,
    now: Timestamp,
) -> Result<(Route, Option<SessionId>), Failure> {
    match &switch.to {
        SwitchTo::New(new) => {
            if let Some(parent) = &new.parent_session_id {
                require(database, parent)?;
            }
            if session(database, &new.id)?.is_some() {
                return Err(Conflict::Exists(new.id.clone()).into());
            }
            sessions::insert(database, new, now)?;
        }
        SwitchTo::Existing(id) => {
            require(database, id)?;
            sessions::resume(database, id)?;
        }
    }
    let route = Route::switched(before.clone(), switch, now);
    let left = before.map(|route| route.session).filter(|left| *left != route.session);
    let ended = match (left, &switch.end) {
        (Some(left), Some(end)) if leave(database, &left, end, now)? => Some(left),
        _ => None,
    };
    put(database, &route)?;
    if matches!(switch.to, SwitchTo::New(_)) {
        routing::describe(database, &route)?;
    }
    Ok((route, ended))
}

/// Ends the session that a route leaves. Returns `false` if it had ended.
fn leave(database: &Database, id: &SessionId, end: &Termination, now: Timestamp) -> Result<bool, Failure> {
    if !sessions::finish(database, id, &end.reason, now)? {
        return Ok(false);
    }
    database
        .prepare_cached("UPDATE hx_session SET cause = ? WHERE session_id = ?")?
        .execute(params![end.cause.map(ResetCause::as_str), id.as_str()])?;
    Ok(true)
}

pub(crate) fn rekey(database: &Database, from: &RouteKey, to: &RouteKey, request: &Request) -> Result<bool, Failure> {
    change_one(database, from, request, &change::rekey(from, to), |route| {
        if find(database, to)?.is_some() {
            return Ok(false);
        }
        let keys = [to.to_stored(), route.key.to_stored()];
        database.prepare_cached("UPDATE hx_route SET key = ? WHERE key = ?")?.execute([&keys[0], &keys[1]])?;
        database.prepare_cached("UPDATE hx_route_alias SET key = ? WHERE key = ?")?.execute([&keys[0], &keys[1]])?;
        add_alias(database, &route.key, to).map(|()| true)
    })
}

/// Makes a former key lead to a route.
pub(crate) fn add_alias(database: &Database, old: &RouteKey, key: &RouteKey) -> Result<(), Failure> {
    database
        .prepare_cached("INSERT OR REPLACE INTO hx_route_alias (old, key) VALUES (?, ?)")?
        .execute([old.to_stored(), key.to_stored()])?;
    Ok(())
}

pub(crate) fn patch(
    database: &Database,
    key: &RouteKey,
    patch: &RoutePatch,
    request: &Request,
) -> Result<bool, Failure> {
    change_one(database, key, request, &change::patch_route(key, patch), |route| {
        put(database, &route.patched(patch)).map(|()| true)
    })
}

/// Changes a route once for each key. Returns `false` if there is none.
fn change_one(
    database: &Database,
    key: &RouteKey,
    request: &Request,
    fingerprint: &str,
    work: impl FnOnce(Route) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let route = find(database, key)?;
    let leads_to = route.as_ref().map(|route| route.session.clone());
    let work = || route.map_or(Ok(false), work);
    once_if(database, request, leads_to.as_ref(), fingerprint, work, |changed| leads_to.clone().filter(|_| *changed))
}

/// Records that a turn was opened by a route. Returns the notice that the turn delivers.
pub(crate) fn touch(database: &Database, key: &RouteKey, now: Timestamp) -> Result<Option<String>, Failure> {
    let Some(route) = find(database, key)? else { return Ok(None) };
    put(database, &Route { touched_at: now, notice: None, ..route.clone() })?;
    Ok(route.notice)
}

/// Records the prompt tokens of the last call to the model.
pub(crate) fn note_prompt_tokens(database: &Database, key: &RouteKey, tokens: i64) -> Result<(), Failure> {
    match find(database, key)? {
        Some(route) => put(database, &Route { last_prompt_tokens: Some(tokens), ..route }),
        None => Ok(()),
    }
}

/// Moves the routes of a session to its continuation.
pub(crate) fn carry(database: &Database, parent: &SessionId, child: &SessionId) -> Result<(), Failure> {
    database
        .prepare_cached("UPDATE hx_route SET session_id = ? WHERE session_id = ?")?
        .execute(params![child.as_str(), parent.as_str()])?;
    of_session(database, child)?.iter().try_for_each(|route| routing::mirror(database, route))
}

/// Returns the cause of the reset that ended a session; `None` if there was none, or it was reopened.
pub(crate) fn reset_cause(database: &Database, id: &SessionId) -> Result<Option<ResetCause>, Failure> {
    require(database, id)?;
    if !database.shape().causes {
        return Ok(None);
    }
    let word: Option<String> = database
        .prepare_cached(
            "SELECT h.cause FROM hx_session h JOIN sessions s ON s.id = h.session_id \
             WHERE h.session_id = ? AND s.ended_at IS NOT NULL",
        )?
        .query_row(params![id.as_str()], |row| row.get(0))
        .optional()?
        .flatten();
    Ok(word.as_deref().and_then(ResetCause::from_stored))
}

/// Stores a route in place of an earlier one.
pub(crate) fn put(database: &Database, route: &Route) -> Result<(), Failure> {
    database
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO hx_route ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ))?
        .execute(params![
            route.key.to_stored(),
            route.session.as_str(),
            route.generation,
            route.origin.session_key,
            route.origin.source,
            route.origin.display_name,
            route.created_at.seconds(),
            route.touched_at.seconds(),
            route.suspended,
            route.notice,
            route.last_prompt_tokens,
        ])?;
    routing::mirror(database, route)
}

fn read(row: &Row<'_>) -> Result<Route, Failure> {
    let key: String = row.get(0)?;
    let odd = || Failure::Damaged(format!("hx_route {key}: not a route"));
    Ok(Route {
        key: RouteKey::from_stored(&key).ok_or_else(odd)?,
        session: SessionId::from_stored(row.get::<_, String>(1)?),
        generation: row.get(2)?,
        origin: Origin { session_key: row.get(3)?, source: text(row, 4)?, display_name: text(row, 5)? },
        created_at: time(row, 6)?.ok_or_else(odd)?,
        touched_at: time(row, 7)?.ok_or_else(odd)?,
        suspended: row.get(8)?,
        notice: text(row, 9)?,
        last_prompt_tokens: row.get(10)?,
    })
}
