//! Routes, and the causes of resets.

use super::requests::{keep, repeated};
use super::row::{existing, require, session};
use super::{Failing as _, Fields as _, LIST, Odd, ServerRow, Sql, among, fence, sessions};
use crate::values;
use hermes_session::live::{Origin, ResetCause, Route, RouteKey, RoutePatch, Switch, SwitchTo, Switched};
use hermes_session::{Conflict, Request, SessionId, StoreError, Timestamp, change};

/// Columns of a route.
pub(super) const COLUMNS: &str = "route_key, session_id, generation, session_key, source, display_name, created_at, touched_at, suspended, \
     notice, last_prompt_tokens";

/// Implements `route` of the contract.
pub async fn read<T: Sql>(transaction: &T, key: &RouteKey) -> Result<Option<Route>, T::Failure> {
    find(transaction, key, "").await
}

/// Returns the route of a place, found by its key or by an alias of it.
async fn find<T: Sql>(transaction: &T, key: &RouteKey, lock: &str) -> Result<Option<Route>, T::Failure> {
    let key = key.to_stored();
    // An alias leads to a key at once, never to another alias.
    let sql = "SELECT route_key FROM hx_route_alias WHERE old_key = $1";
    let key = match transaction.row(sql, values![key.as_str()]).await? {
        Some(row) => row.try_get(0)?,
        None => key,
    };
    let sql = format!("SELECT {COLUMNS} FROM hx_route WHERE route_key = $1{lock}");
    let row = transaction.row(&sql, values![key]).await?;
    Ok(row.as_ref().map(route).transpose()?)
}

/// Implements `routes_of` of the contract.
pub async fn of<T: Sql>(transaction: &T, session: &SessionId) -> Result<Vec<Route>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} FROM hx_route WHERE session_id = $1 ORDER BY route_key");
    let rows = transaction.rows(&sql, values![session.as_str()]).await?;
    Ok(rows.iter().map(route).collect::<Result<_, _>>()?)
}

/// Implements `routes` of the contract.
pub async fn list<T: Sql>(transaction: &T, after: Option<&RouteKey>, limit: u32) -> Result<Vec<Route>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} FROM hx_route WHERE route_key > $1 ORDER BY route_key LIMIT $2");
    let after = after.map(RouteKey::to_stored).unwrap_or_default();
    let rows = transaction.rows(&sql, values![after, i64::from(limit)]).await?;
    Ok(rows.iter().map(route).collect::<Result<_, _>>()?)
}

/// Implements `switch` of the contract.
pub async fn switch<T: Sql>(transaction: &T, switch: &Switch, request: &Request) -> Result<Switched, T::Failure> {
    let fingerprint = change::switch(switch);
    if let Some(answer) = repeated(transaction, request, &fingerprint).await? {
        return Ok(answer);
    }
    lock_kin_for(transaction, switch).await?;
    let seen = read(transaction, &switch.key).await?;
    lock_sessions(transaction, seen.as_ref(), switch).await?;
    fence::check(transaction, judge_of(seen.as_ref(), switch), request).await?;
    let before = find(transaction, &switch.key, transaction.dialect().lock).await?;
    if session_of(before.as_ref()) != session_of(seen.as_ref()) {
        return Err(moved::<T>());
    }
    if before.as_ref().map(|route| route.generation) != switch.expected {
        return Ok(Switched::Moved(before.map(Box::new)));
    }
    let switched = apply(transaction, before, switch, request.at).await?;
    keep(transaction, request, switch.to.session(), fingerprint, &switched).await?;
    Ok(switched)
}

/// Locks the lineages if a switch creates a session with a parent.
pub(super) async fn lock_kin_for<T: Sql>(transaction: &T, switch: &Switch) -> Result<(), T::Failure> {
    match &switch.to {
        SwitchTo::New(new) if new.parent_session_id.is_some() => transaction.lock_kin().await,
        _ => Ok(()),
    }
}

/// Returns the session by whose owner a switch is judged.
fn judge_of<'s>(before: Option<&'s Route>, switch: &'s Switch) -> &'s SessionId {
    session_of(before).unwrap_or_else(|| switch.to.session())
}

fn session_of(route: Option<&Route>) -> Option<&SessionId> {
    route.map(|route| &route.session)
}

/// Switches the route of a place, whatever its generation is: ends the old session, creates or reopens the new one, and
/// stores the route.
pub(super) async fn bind<T: Sql>(transaction: &T, switch: &Switch, at: Timestamp) -> Result<(), T::Failure> {
    let seen = read(transaction, &switch.key).await?;
    lock_sessions(transaction, seen.as_ref(), switch).await?;
    let before = find(transaction, &switch.key, transaction.dialect().lock).await?;
    if session_of(before.as_ref()) != session_of(seen.as_ref()) {
        return Err(moved::<T>());
    }
    apply(transaction, before, switch, at).await.map(drop)
}

/// Locks the sessions that a switch is about: sessions are locked before routes.
async fn lock_sessions<T: Sql>(transaction: &T, before: Option<&Route>, switch: &Switch) -> Result<(), T::Failure> {
    let sessions = session_of(before).into_iter().chain([switch.to.session()]);
    let (condition, values) = among("id", 1, sessions.map(SessionId::as_str));
    let sql = format!("SELECT 1 FROM sessions WHERE {condition} ORDER BY id{}", transaction.dialect().lock);
    transaction.rows(&sql, values).await.map(drop)
}

async fn apply<T: Sql>(
    transaction: &T,
    before: Option<Route>,
    switch: &Switch,
    at: Timestamp,
) -> Result<Switched, T::Failure> {
    let to = switch.to.session();
    match &switch.to {
        SwitchTo::New(new) => {
            if session(transaction, to).await?.is_some() {
                return Err(Conflict::Exists(to.clone()).into());
            }
            if let Some(parent) = &new.parent_session_id {
                require(transaction, parent).await?;
            }
            sessions::insert(transaction, new, at).await?;
        }
        SwitchTo::Existing(id) => {
            existing(transaction, id).await?;
            sessions::open_again(transaction, id).await?;
        }
    }
    let ended = match (&before, &switch.end) {
        (Some(before), Some(end)) if before.session != *to => {
            let is_ended = sessions::finish(transaction, &before.session, &end.reason, at).await?;
            if is_ended {
                let sql = "UPDATE hx_session SET cause = $2 WHERE session_id = $1";
                let cause = end.cause.map(ResetCause::as_str);
                transaction.run(sql, values![before.session.as_str(), cause]).await?;
            }
            is_ended.then(|| before.session.clone())
        }
        _ => None,
    };
    let route = Route::switched(before.clone(), switch, at);
    put(transaction, before.as_ref(), &route).await?;
    Ok(Switched::Done { route: Box::new(route), ended })
}

/// Implements `rekey` of the contract.
pub async fn rekey<T: Sql>(
    transaction: &T,
    from: &RouteKey,
    to: &RouteKey,
    request: &Request,
) -> Result<bool, T::Failure> {
    let fingerprint = change::rekey(from, to);
    if let Some(answer) = repeated(transaction, request, &fingerprint).await? {
        return Ok(answer);
    }
    let Some(route) = locked(transaction, from, request).await? else { return Ok(false) };
    if read(transaction, to).await?.is_some() {
        return Ok(false);
    }
    let (old, new) = (route.key.to_stored(), to.to_stored());
    let pair = values![old.as_str(), new.as_str()];
    transaction.run("UPDATE hx_route SET route_key = $2 WHERE route_key = $1", pair.clone()).await?;
    transaction.run("UPDATE hx_route_alias SET route_key = $2 WHERE route_key = $1", pair).await?;
    add_alias(transaction, &route.key, to).await?;
    keep(transaction, request, &route.session, fingerprint, &true).await?;
    Ok(true)
}

/// Stores a former key of a route.
pub(super) async fn add_alias<T: Sql>(transaction: &T, old: &RouteKey, key: &RouteKey) -> Result<(), T::Failure> {
    let sql = "INSERT INTO hx_route_alias (old_key, route_key) VALUES ($1, $2)";
    transaction.run(sql, values![old.to_stored(), key.to_stored()]).await.map(drop)
}

/// Implements `patch_route` of the contract.
pub async fn patch<T: Sql>(
    transaction: &T,
    key: &RouteKey,
    patch: &RoutePatch,
    request: &Request,
) -> Result<bool, T::Failure> {
    let fingerprint = change::patch_route(key, patch);
    if let Some(answer) = repeated(transaction, request, &fingerprint).await? {
        return Ok(answer);
    }
    let Some(route) = locked(transaction, key, request).await? else { return Ok(false) };
    put(transaction, Some(&route), &route.clone().patched(patch)).await?;
    keep(transaction, request, &route.session, fingerprint, &true).await?;
    Ok(true)
}

/// Returns the route of a place, locked until the end of the transaction, if the caller owns its conversation.
async fn locked<T: Sql>(transaction: &T, key: &RouteKey, request: &Request) -> Result<Option<Route>, T::Failure> {
    let Some(seen) = read(transaction, key).await? else { return Ok(None) };
    fence::check(transaction, &seen.session, request).await?;
    match find(transaction, key, transaction.dialect().lock).await? {
        Some(route) if route.session == seen.session => Ok(Some(route)),
        _ => Err(moved::<T>()),
    }
}

/// Implements `reset_cause` of the contract.
pub async fn cause<T: Sql>(transaction: &T, id: &SessionId) -> Result<Option<ResetCause>, T::Failure> {
    let row = transaction.row("SELECT cause FROM hx_session WHERE session_id = $1", values![id.as_str()]).await?;
    let Some(row) = row else { return Err(StoreError::no_session(id).into()) };
    let word: Option<String> = row.try_get(0)?;
    let odd = || Odd("hx_session: unknown cause".to_owned());
    Ok(word.map(|word| ResetCause::from_stored(&word).ok_or_else(odd)).transpose()?)
}

/// Records that a turn was opened by a route. Returns the notice that the turn delivers.
pub(super) async fn touch<T: Sql>(
    transaction: &T,
    key: &RouteKey,
    at: Timestamp,
) -> Result<Option<String>, T::Failure> {
    let Some(route) = find(transaction, key, transaction.dialect().lock).await? else { return Ok(None) };
    let sql = "UPDATE hx_route SET touched_at = $2, notice = NULL WHERE route_key = $1";
    transaction.run(sql, values![route.key.to_stored(), at.seconds()]).await?;
    Ok(route.notice)
}

/// Records the prompt tokens of the last call to the model.
pub(super) async fn note_prompt_tokens<T: Sql>(transaction: &T, key: &RouteKey, tokens: i64) -> Result<(), T::Failure> {
    let Some(route) = read(transaction, key).await? else { return Ok(()) };
    let sql = "UPDATE hx_route SET last_prompt_tokens = $2 WHERE route_key = $1";
    transaction.run(sql, values![route.key.to_stored(), tokens]).await.map(drop)
}

/// Moves the routes and the topic of a session that was split to its continuation. The caller has locked the session.
pub(super) async fn carry<T: Sql>(
    transaction: &T,
    parent: &SessionId,
    child: &SessionId,
    at: Timestamp,
) -> Result<(), T::Failure> {
    let sql = "UPDATE hx_route SET session_id = $2 WHERE session_id = $1";
    transaction.run(sql, values![parent.as_str(), child.as_str()]).await?;
    let sql = "UPDATE telegram_dm_topic_bindings SET session_id = $2, updated_at = $3 WHERE session_id = $1";
    transaction.run(sql, values![parent.as_str(), child.as_str(), at.seconds()]).await.map(drop)
}

/// Removes the aliases of the routes that lead to sessions, before these are deleted.
pub(super) async fn forget_aliases<T: Sql>(transaction: &T, gone: &[SessionId]) -> Result<(), T::Failure> {
    for some in gone.chunks(LIST) {
        let (condition, values) = among("session_id", 1, some.iter().map(SessionId::as_str));
        let sql =
            format!("DELETE FROM hx_route_alias WHERE route_key IN (SELECT route_key FROM hx_route WHERE {condition})");
        transaction.run(&sql, values).await?;
    }
    Ok(())
}

/// Stores a route. Fails, to be tried again, if it is no longer as it was before.
pub(super) async fn put<T: Sql>(transaction: &T, before: Option<&Route>, route: &Route) -> Result<(), T::Failure> {
    let mut values = values![
        route.key.to_stored(),
        route.session.as_str(),
        route.generation,
        route.origin.session_key.as_str(),
        route.origin.source.as_deref(),
        route.origin.display_name.as_deref(),
        route.created_at.seconds(),
        route.touched_at.seconds(),
        i64::from(route.suspended),
        route.notice.as_deref(),
        route.last_prompt_tokens
    ];
    let sql = match before {
        // A route that somebody else creates at the same moment has the same key.
        None => format!("INSERT INTO hx_route ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"),
        Some(before) => {
            values.push(before.generation.into());
            "UPDATE hx_route SET session_id = $2, generation = $3, session_key = $4, source = $5, display_name = $6, \
             created_at = $7, touched_at = $8, suspended = $9, notice = $10, last_prompt_tokens = $11 \
             WHERE route_key = $1 AND generation = $12"
                .to_owned()
        }
    };
    match transaction.run(&sql, values).await? {
        0 => Err(moved::<T>()),
        _ => Ok(()),
    }
}

fn moved<T: Sql>() -> T::Failure {
    T::Failure::undone("the route was switched meanwhile".into())
}

fn route<R: ServerRow>(row: &R) -> Result<Route, Odd> {
    let odd = || Odd("hx_route: not a route".to_owned());
    let time = |index: usize| Timestamp::from_seconds(row.try_get(index)?).map_err(|_| odd());
    Ok(Route {
        key: RouteKey::from_stored(&row.try_get::<String>(0)?).ok_or_else(odd)?,
        session: row.id(1)?,
        generation: row.try_get(2)?,
        origin: Origin { session_key: row.try_get(3)?, source: row.try_get(4)?, display_name: row.try_get(5)? },
        created_at: time(6)?,
        touched_at: time(7)?,
        suspended: row.try_get(8)?,
        notice: row.try_get(9)?,
        last_prompt_tokens: row.try_get(10)?,
    })
}
