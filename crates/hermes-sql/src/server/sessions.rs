//! Creates, reads and changes sessions.

use super::requests::{once, once_in};
use super::row::{existing, kept, lock, require, session};
use super::{Failing as _, Fields as _, Sql, lineage};
use crate::{after_prefix, values};
use hermes_session::lineage::{ParentAtBirth, relation_at_birth};
use hermes_session::live::Kinds;
use hermes_session::{
    Conflict, EndReason, Ensured, Extent, Invalid, Json, NewSession, Relation, Request, Session, SessionId,
    SessionPatch, Source, StoreError, Timestamp, change,
};

/// Implements `create` of the contract.
pub async fn create<T: Sql>(transaction: &T, new: &NewSession, request: &Request) -> Result<(), T::Failure> {
    if new.parent_session_id.is_some() {
        transaction.lock_kin().await?;
    }
    once_in(transaction, request, &new.id, judge_of(new), || change::create(new), async {
        if let Some(parent) = &new.parent_session_id {
            require(transaction, parent).await?;
        }
        if session(transaction, &new.id).await?.is_some() {
            return Err(Conflict::Exists(new.id.clone()).into());
        }
        insert(transaction, new, request.at).await
    })
    .await
}

/// Implements `ensure` of the contract.
pub async fn ensure<T: Sql>(transaction: &T, new: &NewSession, request: &Request) -> Result<Ensured, T::Failure> {
    if new.parent_session_id.is_some() {
        transaction.lock_kin().await?;
    }
    once_in(transaction, request, &new.id, judge_of(new), || change::ensure(new), async {
        let mut known = session(transaction, &new.id).await?;
        if known.as_ref().is_some_and(|known| known.source.as_str() == Source::UNKNOWN) {
            // Of two concurrent callers one finds it filled or gone after the lock.
            match lock(transaction, &new.id).await {
                Err(failure) if !failure.is_missing() => return Err(failure),
                _ => {}
            }
            known = session(transaction, &new.id).await?;
        }
        match known {
            None => insert(transaction, new, request.at).await.map(|()| Ensured::Created),
            Some(known) if known.source.as_str() == Source::UNKNOWN => {
                fill(transaction, &known, new).await.map(|()| Ensured::Filled)
            }
            Some(_) => Ok(Ensured::Existed),
        }
    })
    .await
}

/// Returns the session by whose owner a new session is judged.
fn judge_of(new: &NewSession) -> &SessionId {
    new.parent_session_id.as_ref().unwrap_or(&new.id)
}

/// Inserts a session and its side row. If it has a parent, the caller holds the lineage lock.
pub async fn insert<T: Sql>(transaction: &T, new: &NewSession, now: Timestamp) -> Result<(), T::Failure> {
    let relation = relation_to_parent(transaction, new).await?;
    let started_at = new.started_at.unwrap_or(now);
    // A concurrent import of this id waits until this session exists, or its row is seen here.
    let upsert = (transaction.dialect().upsert)("session_id");
    let claim = format!(
        "INSERT INTO hx_arrival (session_id, messages, last_message) VALUES ($1, -1, 0) {upsert} session_id = hx_arrival.session_id"
    );
    transaction.run(&claim, values![new.id.as_str()]).await?;
    clear_arrival(transaction, &new.id).await?;
    transaction
        .run(
            "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, parent_session_id, started_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            values![
                new.id.as_str(),
                new.source.as_str(),
                kept(new.user_id.as_deref()),
                kept(new.model.as_deref()),
                new.model_config.as_ref().map(Json::as_str),
                kept(new.system_prompt.as_deref()),
                new.parent_session_id.as_ref().map(SessionId::as_str),
                started_at.seconds()],
        )
        .await?;
    stamp(transaction, &new.id, new.parent_session_id.as_ref(), relation, started_at).await?;
    transaction.note(&new.id, Kinds::CREATED);
    Ok(())
}

/// Removes what an unfinished import left of a session with this id.
pub async fn clear_arrival<T: Sql>(transaction: &T, id: &SessionId) -> Result<(), T::Failure> {
    let left = format!("SELECT messages FROM hx_arrival WHERE session_id = $1{}", transaction.dialect().lock);
    let Some(row) = transaction.row(&left, values![id.as_str()]).await? else { return Ok(()) };
    transaction.run("DELETE FROM hx_arrival WHERE session_id = $1", values![id.as_str()]).await?;
    // A negative count means that the id is only claimed, and there are no messages.
    if row.try_get::<i64>(0)? >= 0 {
        super::messages::remove(transaction, std::slice::from_ref(id), Extent::Every).await?;
    }
    Ok(())
}

/// Writes the side row, and updates the conversation.
pub async fn stamp<T: Sql>(
    transaction: &T,
    id: &SessionId,
    parent: Option<&SessionId>,
    relation: Relation,
    started_at: Timestamp,
) -> Result<(), T::Failure> {
    let parent = parent.map(SessionId::as_str);
    let of_parent = match relation {
        Relation::Continuation | Relation::Delegate => {
            transaction.row("SELECT root FROM hx_session WHERE session_id = $1", values![parent]).await?
        }
        _ => None,
    };
    let root = of_parent.map(|row| row.try_get::<String>(0)).transpose()?.unwrap_or_else(|| id.as_str().to_owned());
    transaction
        .run(
            "INSERT INTO hx_session (session_id, relation, root, tip, started_at, last_active, active, preview) \
             VALUES ($1, $2, $3, $1, $4, $4, $4, '')",
            values![id.as_str(), relation.as_str(), root.as_str(), started_at.seconds()],
        )
        .await?;
    if root != id.as_str() {
        transaction
            .run(
                "UPDATE hx_session SET active = greatest(active, $2), \
                 tip = CASE WHEN $4 AND tip = $5 THEN $3 ELSE tip END WHERE session_id = $1",
                values![root, started_at.seconds(), id.as_str(), relation == Relation::Continuation, parent],
            )
            .await?;
    }
    Ok(())
}

/// Returns the relation of a session to its parent. The parent must exist and, for a continuation, not have one yet.
async fn relation_to_parent<T: Sql>(transaction: &T, new: &NewSession) -> Result<Relation, T::Failure> {
    let Some(parent) = &new.parent_session_id else { return Ok(Relation::Root) };
    let found = transaction.row("SELECT end_reason FROM sessions WHERE id = $1", values![parent.as_str()]).await?;
    let Some(row) = found else { return Err(StoreError::no_session(parent).into()) };
    let end_reason: Option<String> = row.try_get(0)?;
    let continuation = continuation(transaction, parent).await?;
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

/// Returns the continuation of `parent`.
async fn continuation<T: Sql>(transaction: &T, parent: &SessionId) -> Result<Option<SessionId>, T::Failure> {
    let found = transaction
        .row(
            "SELECT s.id FROM sessions s JOIN hx_session h ON h.session_id = s.id \
             WHERE s.parent_session_id = $1 AND h.relation = 'continuation' ORDER BY s.started_at DESC, s.id DESC LIMIT 1",
            values![parent.as_str()],
        )
        .await?;
    Ok(found.map(|row| row.id(0)).transpose()?)
}

/// Completes a session that was stored with an unknown source.
async fn fill<T: Sql>(transaction: &T, known: &Session, new: &NewSession) -> Result<(), T::Failure> {
    transaction
        .run(
            "UPDATE sessions SET source = $1, user_id = coalesce(user_id, $2), model = coalesce(model, $3), \
             model_config = coalesce(model_config, $4), system_prompt = coalesce(system_prompt, $5) WHERE id = $6",
            values![
                new.source.as_str(),
                kept(new.user_id.as_deref()),
                kept(new.model.as_deref()),
                new.model_config.as_ref().map(Json::as_str),
                kept(new.system_prompt.as_deref()),
                new.id.as_str()
            ],
        )
        .await?;
    transaction.note(&new.id, Kinds::SESSION);
    let Some(parent) = new.parent_session_id.as_ref().filter(|_| known.parent_session_id.is_none()) else {
        return Ok(());
    };
    refuse_cycle(transaction, &new.id, parent).await?;
    let relation = relation_to_parent(transaction, new).await?;
    lineage::join(transaction, &new.id, parent, relation).await
}

/// Fails if `parent` descends from `id`.
pub async fn refuse_cycle<T: Sql>(transaction: &T, id: &SessionId, parent: &SessionId) -> Result<(), T::Failure> {
    let comes_from = transaction
        .row(
            "WITH RECURSIVE up(id) AS (SELECT id FROM sessions WHERE id = $1 UNION SELECT s.parent_session_id FROM sessions s \
             JOIN up ON s.id = up.id WHERE s.parent_session_id IS NOT NULL) SELECT 1 FROM up WHERE id = $2",
            values![parent.as_str(), id.as_str()],
        )
        .await?;
    match comes_from {
        Some(_) => {
            Err(Invalid::new("parent session", "comes from the session itself", "name a session that does not").into())
        }
        None => Ok(()),
    }
}

/// Implements `update` of the contract.
pub async fn update<T: Sql>(
    transaction: &T,
    id: &SessionId,
    patch: &SessionPatch,
    request: &Request,
) -> Result<(), T::Failure> {
    once(transaction, request, id, || change::update(id, patch), async {
        let config = patch.model_config.as_ref().map(|config| config.as_ref().map(Json::as_str));
        let changed = transaction
            .run(
                "UPDATE sessions SET system_prompt = CASE WHEN $2 THEN $3 ELSE system_prompt END, \
                 model = CASE WHEN $4 THEN $5 ELSE model END, model_config = CASE WHEN $6 THEN $7 ELSE model_config END, \
                 user_id = CASE WHEN $8 THEN $9 ELSE user_id END WHERE id = $1",
                values![
                    id.as_str(),
                    patch.system_prompt.is_some(),
                    kept(patch.system_prompt.as_ref().and_then(Option::as_deref)),
                    patch.model.is_some(),
                    kept(patch.model.as_ref().and_then(Option::as_deref)),
                    config.is_some(),
                    config.flatten(),
                    patch.user_id.is_some(),
                    kept(patch.user_id.as_ref().and_then(Option::as_deref))],
            )
            .await?;
        if changed == 0 {
            return Err(StoreError::no_session(id).into());
        }
        transaction.note(id, Kinds::SESSION);
        Ok(())
    })
    .await
}

/// Implements `end` of the contract.
pub async fn end<T: Sql>(
    transaction: &T,
    id: &SessionId,
    reason: &EndReason,
    request: &Request,
) -> Result<bool, T::Failure> {
    once(transaction, request, id, || change::end(id, reason), async {
        lock(transaction, id).await?;
        finish(transaction, id, reason, request.at).await
    })
    .await
}

/// Ends a session. Returns `false` if it had ended.
pub(super) async fn finish<T: Sql>(
    transaction: &T,
    id: &SessionId,
    reason: &EndReason,
    at: Timestamp,
) -> Result<bool, T::Failure> {
    let sql = "UPDATE sessions SET ended_at = $1, end_reason = $2 WHERE id = $3 AND ended_at IS NULL";
    let is_ended = transaction.run(sql, values![at.seconds(), reason.as_str(), id.as_str()]).await? > 0;
    if is_ended {
        transaction.note(id, Kinds::SESSION);
    }
    Ok(is_ended)
}

/// Implements `reopen` of the contract.
pub async fn reopen<T: Sql>(transaction: &T, id: &SessionId, request: &Request) -> Result<bool, T::Failure> {
    once(transaction, request, id, || change::reopen(id), async {
        lock(transaction, id).await?;
        let was_ended = existing(transaction, id).await?.ended_at.is_some();
        open_again(transaction, id).await?;
        Ok(was_ended)
    })
    .await
}

/// Reopens a session. The cause of its end is forgotten.
pub(super) async fn open_again<T: Sql>(transaction: &T, id: &SessionId) -> Result<(), T::Failure> {
    let sql = "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = $1";
    transaction.run(sql, values![id.as_str()]).await?;
    let sql = "UPDATE hx_session SET cause = NULL WHERE session_id = $1 AND cause IS NOT NULL";
    transaction.run(sql, values![id.as_str()]).await?;
    transaction.note(id, Kinds::SESSION);
    Ok(())
}

/// Implements `ids_with_prefix` of the contract.
pub async fn ids_with_prefix<T: Sql>(transaction: &T, prefix: &str, limit: u32) -> Result<Vec<SessionId>, T::Failure> {
    // The prefix is a range of the key, so no other ids are visited.
    let (end, values) = match after_prefix(prefix) {
        Some(end) => (" AND id < $3", values![prefix, limit, end]),
        None => ("", values![prefix, limit]),
    };
    let sql = format!("SELECT id FROM sessions WHERE id >= $1{end} ORDER BY id LIMIT $2");
    let rows = transaction.rows(&sql, values).await?;
    Ok(rows.iter().map(|row| row.id(0)).collect::<Result<_, _>>()?)
}
