//! Creating, reading and changing sessions.

use crate::calls::hidden::seen;
use crate::calls::row::{existing, require, session};
use crate::care::stale::place_bit;
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::{once, once_in};
use hermes_session::lineage::{ParentAtBirth, relation_at_birth};
use hermes_session::{
    Conflict, EndReason, Ensured, Invalid, Json, NewSession, Relation, Request, Session, SessionId, SessionPatch,
    Source, StoreError, Timestamp, change,
};
use hermes_sql::{after_prefix, statements};
use rusqlite::{OptionalExtension as _, ToSql, params};

pub(crate) fn create(database: &Database, new: &NewSession, request: &Request) -> Result<(), Failure> {
    once_in(database, request, &new.id, judge_of(new), &change::create(new), || {
        if let Some(parent) = &new.parent_session_id {
            require(database, parent)?;
        }
        if session(database, &new.id)?.is_some() {
            return Err(Conflict::Exists(new.id.clone()).into());
        }
        insert(database, new, request.at)
    })
}

pub(crate) fn ensure(database: &Database, new: &NewSession, request: &Request) -> Result<Ensured, Failure> {
    once_in(database, request, &new.id, judge_of(new), &change::ensure(new), || match session(database, &new.id)? {
        None => insert(database, new, request.at).map(|()| Ensured::Created),
        Some(known) if known.source.as_str() == Source::UNKNOWN => {
            fill(database, &known, new).map(|()| Ensured::Filled)
        }
        Some(_) => Ok(Ensured::Existed),
    })
}

/// Returns the session by whose owner a new session is judged.
fn judge_of(new: &NewSession) -> &SessionId {
    new.parent_session_id.as_ref().unwrap_or(&new.id)
}

/// Inserts a session and its side row.
pub(crate) fn insert(database: &Database, new: &NewSession, now: Timestamp) -> Result<(), Failure> {
    let relation = relation_to_parent(database, new)?;
    let started_at = new.started_at.unwrap_or(now);
    stamp(database, &new.id, new.parent_session_id.as_ref(), relation, started_at)?;
    database.prepare_cached(statements::INSERT_SESSION)?.execute(params![
        new.id.as_str(),
        new.source.as_str(),
        new.user_id,
        new.model,
        new.model_config.as_ref().map(Json::as_str),
        new.system_prompt,
        new.parent_session_id.as_ref().map(SessionId::as_str),
        started_at.seconds(),
    ])?;
    Ok(())
}

/// Returns the relation of a new session to its parent. Fails if the parent does not exist or, for a continuation,
/// already has one.
fn relation_to_parent(database: &Database, new: &NewSession) -> Result<Relation, Failure> {
    let Some(parent) = &new.parent_session_id else { return Ok(Relation::Root) };
    let end_reason: Option<Option<String>> = database
        .prepare_cached(concat!("SELECT s.end_reason FROM sessions s WHERE s.id = ? AND ", seen!()))?
        .query_row(params![parent.as_str()], |row| row.get(0))
        .optional()?;
    let Some(end_reason) = end_reason else { return Err(StoreError::no_session(parent).into()) };
    let continuation = continuation(database, parent)?;
    match (new.relation, continuation) {
        (Some(Relation::Continuation), Some(continuation)) => {
            Err(Conflict::AlreadySplit { parent: parent.clone(), continuation }.into())
        }
        (Some(relation), _) => Ok(relation),
        (None, continuation) => {
            let at_birth =
                ParentAtBirth { end_reason: end_reason.as_deref(), has_continuation: continuation.is_some() };
            Ok(relation_at_birth(at_birth, new.model_config.as_ref()))
        }
    }
}

/// Returns the session that continues `parent`; `None` if there is none.
pub(crate) fn continuation(database: &Database, parent: &SessionId) -> Result<Option<SessionId>, Failure> {
    let found: Option<String> = database
        .prepare_cached(
            "SELECT s.id FROM sessions s JOIN hx_session h ON h.session_id = s.id \
             WHERE s.parent_session_id = ? AND h.relation = 'continuation' ORDER BY s.started_at DESC, s.id DESC LIMIT 1",
        )?
        .query_row(params![parent.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.map(SessionId::from_stored))
}

/// Writes the side row. It is inserted before the session, so that the trigger for foreign writers has nothing to
/// infer.
pub(crate) fn stamp(
    database: &Database,
    id: &SessionId,
    parent: Option<&SessionId>,
    relation: Relation,
    started_at: Timestamp,
) -> Result<(), Failure> {
    database
        .prepare_cached(
            // A place derived from a stale place is stale too.
            concat!(
            "INSERT INTO hx_session (session_id, relation, origin, root, tip, started_at, last_active, active, dirty) \
             SELECT ?1, ?2, ?3, CASE WHEN ?2 IN ('continuation', 'delegate') \
             THEN coalesce((SELECT root FROM hx_session WHERE session_id = ?3), ?1) ELSE ?1 END, ?1, ?4, ?4, ?4, \
             coalesce((SELECT dirty & ", place_bit!(), " FROM hx_session WHERE session_id = ?3), 0)"),
        )?
        .execute(params![id.as_str(), relation.as_str(), parent.map(SessionId::as_str), started_at.seconds()])?;
    Ok(())
}

/// Fills in a session that was a placeholder with source `unknown`.
fn fill(database: &Database, known: &Session, new: &NewSession) -> Result<(), Failure> {
    database
        .prepare_cached(
            "UPDATE sessions SET source = ?, user_id = coalesce(user_id, ?), model = coalesce(model, ?), \
             model_config = coalesce(model_config, ?), system_prompt = coalesce(system_prompt, ?) WHERE id = ?",
        )?
        .execute(params![
            new.source.as_str(),
            new.user_id,
            new.model,
            new.model_config.as_ref().map(Json::as_str),
            new.system_prompt,
            new.id.as_str()
        ])?;
    if known.parent_session_id.is_some() || new.parent_session_id.is_none() {
        return Ok(());
    }
    refuse_cycle(database, &new.id, new.parent_session_id.as_ref())?;
    let relation = relation_to_parent(database, new)?;
    let parent = new.parent_session_id.as_ref().map(SessionId::as_str);
    database
        .prepare_cached("UPDATE sessions SET parent_session_id = ? WHERE id = ?")?
        .execute(params![parent, new.id.as_str()])?;
    database
        .prepare_cached(concat!(
            "UPDATE hx_session SET relation = ?, origin = ?, dirty = dirty | ",
            place_bit!(),
            " WHERE session_id = ?"
        ))?
        .execute(params![relation.as_str(), parent, new.id.as_str()])?;
    crate::care::refresh::all(database)
}

/// Fails if `parent` descends from `id`.
pub(crate) fn refuse_cycle(database: &Database, id: &SessionId, parent: Option<&SessionId>) -> Result<(), Failure> {
    let comes_from = database
        .prepare_cached(
            "WITH RECURSIVE up(id) AS (SELECT ?1 UNION SELECT s.parent_session_id FROM sessions s JOIN up ON s.id = up.id \
             WHERE s.parent_session_id IS NOT NULL) SELECT 1 FROM up WHERE id = ?2",
        )?
        .exists(params![parent.map(SessionId::as_str), id.as_str()])?;
    if comes_from {
        return Err(
            Invalid::new("parent session", "comes from the session itself", "name a session that does not").into()
        );
    }
    Ok(())
}

pub(crate) fn update(
    database: &Database,
    id: &SessionId,
    patch: &SessionPatch,
    request: &Request,
) -> Result<(), Failure> {
    once(database, request, id, &change::update(id, patch), || {
        require(database, id)?;
        let config = patch.model_config.as_ref().map(|config| config.as_ref().map(Json::as_str));
        let changes: [(&str, Option<&dyn ToSql>); 4] = [
            (
                "UPDATE sessions SET system_prompt = ? WHERE id = ?",
                patch.system_prompt.as_ref().map(|value| value as &dyn ToSql),
            ),
            ("UPDATE sessions SET model = ? WHERE id = ?", patch.model.as_ref().map(|value| value as &dyn ToSql)),
            ("UPDATE sessions SET model_config = ? WHERE id = ?", config.as_ref().map(|value| value as &dyn ToSql)),
            ("UPDATE sessions SET user_id = ? WHERE id = ?", patch.user_id.as_ref().map(|value| value as &dyn ToSql)),
        ];
        for (sql, value) in changes {
            if let Some(value) = value {
                database.prepare_cached(sql)?.execute(params![value, id.as_str()])?;
            }
        }
        Ok(())
    })
}

pub(crate) fn end(database: &Database, id: &SessionId, reason: &EndReason, request: &Request) -> Result<bool, Failure> {
    once(database, request, id, &change::end(id, reason), || {
        require(database, id)?;
        finish(database, id, reason, request.at)
    })
}

/// Ends a session. Returns `false` if it had ended.
pub(crate) fn finish(database: &Database, id: &SessionId, reason: &EndReason, now: Timestamp) -> Result<bool, Failure> {
    let mut statement = database.prepare_cached(statements::END_SESSION)?;
    Ok(statement.execute(params![now.seconds(), reason.as_str(), id.as_str()])? > 0)
}

pub(crate) fn reopen(database: &Database, id: &SessionId, request: &Request) -> Result<bool, Failure> {
    once(database, request, id, &change::reopen(id), || {
        let was_ended = existing(database, id)?.ended_at.is_some();
        resume(database, id)?;
        Ok(was_ended)
    })
}

/// Makes a session active, if it had ended.
pub(crate) fn resume(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if database.prepare_cached(statements::REOPEN_SESSION)?.execute(params![id.as_str()])? > 0 {
        database
            .prepare_cached("UPDATE hx_session SET cause = NULL WHERE session_id = ? AND cause IS NOT NULL")?
            .execute(params![id.as_str()])?;
    }
    Ok(())
}

pub(crate) fn ids_with_prefix(database: &Database, prefix: &str, limit: u32) -> Result<Vec<SessionId>, Failure> {
    // The prefix is a range of the primary key, so no ids outside it are read.
    let mut statement = database.prepare_cached(concat!(
        "SELECT s.id FROM sessions s WHERE s.id >= ?1 AND (?2 IS NULL OR s.id < ?2) AND ",
        seen!(),
        " ORDER BY s.id LIMIT ?3"
    ))?;
    let ids = statement.query_map(params![prefix, after_prefix(prefix), limit], |row| row.get::<_, String>(0))?;
    Ok(ids.map(|id| id.map(SessionId::from_stored)).collect::<Result<_, _>>()?)
}
