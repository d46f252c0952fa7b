//! Lineages: reading them, splitting and branching sessions, and the conversation of each session.

use super::requests::once_in;
use super::row::{existing, lock, require, session};
use super::{Fields as _, LIST, Odd, Sql, among, messages, routes, sessions, titles, turns};
use crate::values;
use hermes_session::lineage::child_of;
use hermes_session::live::Kinds;
use hermes_session::{
    Conflict, EndReason, Lineage, Link, NewChild, NewMessage, Relation, Request, Session, SessionId, Timestamp, Title,
    change,
};

/// Implements `read` of the contract.
pub async fn read<T: Sql>(transaction: &T, of: &SessionId) -> Result<Lineage, T::Failure> {
    require(transaction, of).await?;
    let mut links = Vec::new();
    for row in transaction.rows(transaction.dialect().family, values![of.as_str()]).await? {
        links.push(link::<T>(&row)?);
    }
    Ok(Lineage::new(links))
}

/// Decodes a link: id, parent, relation and start of a session.
pub(super) fn link<T: Sql>(row: &T::Row) -> Result<Link, T::Failure> {
    let parent = row.try_get::<Option<String>>(1)?.map(SessionId::from_stored);
    let relation =
        row.text(2).and_then(Relation::from_stored).ok_or_else(|| Odd("hx_session: unknown relation".into()))?;
    let started_at =
        Timestamp::from_seconds(row.try_get(3)?).map_err(|_| Odd("sessions: started_at is not a time".into()))?;
    Ok(Link { id: row.id(0)?, parent, relation, started_at })
}

/// Implements `split` of the contract.
pub async fn split<T: Sql>(
    transaction: &T,
    parent_id: &SessionId,
    child: &NewChild,
    transcript: &[NewMessage],
    words: &[T::Written],
    request: &Request,
) -> Result<Option<Title>, T::Failure> {
    transaction.lock_kin().await?;
    once_in(transaction, request, &child.id, parent_id, || change::split(parent_id, child, transcript), async {
        lock(transaction, parent_id).await?;
        let parent = existing(transaction, parent_id).await?;
        if session(transaction, &child.id).await?.is_some() {
            return Err(Conflict::Exists(child.id.clone()).into());
        }
        let ended_at = parent.ended_at.unwrap_or(request.at);
        transaction
            .run(
                "UPDATE sessions SET ended_at = $1, end_reason = $2 WHERE id = $3",
                values![ended_at.seconds(), EndReason::COMPRESSION, parent_id.as_str()],
            )
            .await?;
        transaction.note(parent_id, Kinds::SESSION);
        let started_at = request.at.max(ended_at);
        let born = child_of(&parent, child, Relation::Continuation, started_at);
        sessions::insert(transaction, &born, started_at).await?;
        if parent.archived {
            transaction.run("UPDATE sessions SET archived = 1 WHERE id = $1", values![child.id.as_str()]).await?;
        }
        if !transcript.is_empty() {
            transaction.add(&child.id, transcript, words, request.at).await?;
            transaction.note(&child.id, Kinds::MESSAGES);
        }
        turns::carry(transaction, parent_id, &child.id).await?;
        routes::carry(transaction, parent_id, &child.id, request.at).await?;
        entitle(transaction, &parent, child).await
    })
    .await
}

/// Implements `branch` of the contract.
pub async fn branch<T: Sql>(
    transaction: &T,
    parent_id: &SessionId,
    child: &NewChild,
    request: &Request,
) -> Result<Option<Title>, T::Failure> {
    transaction.lock_kin().await?;
    once_in(transaction, request, &child.id, parent_id, || change::branch(parent_id, child), async {
        lock(transaction, parent_id).await?;
        let parent = existing(transaction, parent_id).await?;
        if session(transaction, &child.id).await?.is_some() {
            return Err(Conflict::Exists(child.id.clone()).into());
        }
        transaction
            .run(
                "UPDATE sessions SET ended_at = $1, end_reason = $2 WHERE id = $3 AND ended_at IS NULL",
                values![request.at.seconds(), EndReason::BRANCHED, parent_id.as_str()],
            )
            .await?;
        transaction.note(parent_id, Kinds::SESSION);
        let started_at = request.at.max(parent.ended_at.unwrap_or(request.at));
        let born = child_of(&parent, child, Relation::Branch, started_at);
        sessions::insert(transaction, &born, started_at).await?;
        messages::copy(transaction, parent_id, &child.id).await?;
        transaction.note(&child.id, Kinds::MESSAGES);
        entitle(transaction, &parent, child).await
    })
    .await
}

/// Sets the title that the child asks for, or the next one in its parent's lineage.
async fn entitle<T: Sql>(transaction: &T, parent: &Session, child: &NewChild) -> Result<Option<Title>, T::Failure> {
    let title = match (&child.title, &parent.title) {
        (Some(title), _) => Some(title.clone()),
        (None, Some(title)) => match Title::clean(title) {
            Ok(Some(title)) => Some(titles::next(transaction, &child.id, &title).await?),
            Ok(None) | Err(_) => None,
        },
        (None, None) => None,
    };
    if title.is_some() {
        titles::write(transaction, &child.id, title.as_ref()).await?;
    }
    Ok(title)
}

/// Makes a session the child of another one and recomputes the places of both lineages. The caller holds the lineage
/// lock.
pub async fn join<T: Sql>(
    transaction: &T,
    child: &SessionId,
    parent: &SessionId,
    relation: Relation,
) -> Result<(), T::Failure> {
    let (child_id, parent_id) = (child.as_str(), parent.as_str());
    transaction.run("UPDATE sessions SET parent_session_id = $1 WHERE id = $2", values![parent_id, child_id]).await?;
    let sql = "UPDATE hx_session SET relation = $1 WHERE session_id = $2";
    transaction.run(sql, values![relation.as_str(), child_id]).await?;
    transaction.note(child, Kinds::SESSION);
    place(transaction, &read(transaction, child).await?).await
}

/// Recomputes the conversation of each session of a lineage, and the tips of the conversations.
pub async fn place<T: Sql>(transaction: &T, lineage: &Lineage) -> Result<(), T::Failure> {
    let lock = transaction.dialect().lock;
    let mut all: Vec<SessionId> = lineage.links().map(|link| link.id.clone()).collect();
    all.sort_unstable();
    // From here on appends to them wait: an append looks up the conversation after locking its session.
    for some in all.chunks(LIST) {
        let (condition, values) = among("id", 1, some.iter().map(SessionId::as_str));
        let sql = format!("SELECT 1 FROM sessions WHERE {condition} ORDER BY id{lock}");
        transaction.rows(&sql, values).await?;
    }
    let mut roots = Vec::new();
    for some in all.chunks(LIST) {
        let (condition, values) = among("session_id", 1, some.iter().map(SessionId::as_str));
        let sql = format!("SELECT session_id, root, tip FROM hx_session WHERE {condition}{lock}");
        for row in transaction.rows(&sql, values).await? {
            let (session, known) = (row.id(0)?, (row.id(1)?, row.id(2)?));
            let root = lineage.conversation_root(&session);
            let tip = if root == session { lineage.tip(&root) } else { session.clone() };
            if known != (root.clone(), tip.clone()) {
                let sql = "UPDATE hx_session SET root = $2, tip = $3 WHERE session_id = $1";
                transaction.run(sql, values![session.as_str(), root.as_str(), tip.as_str()]).await?;
                transaction.note(&session, Kinds::SESSION);
            }
            roots.push(root);
        }
    }
    roots.sort_unstable();
    roots.dedup();
    for some in roots.chunks(LIST) {
        let (condition, values) = among("root", 1, some.iter().map(SessionId::as_str));
        let sql = format!("SELECT root, max(last_active) FROM hx_session WHERE {condition} GROUP BY root");
        for row in transaction.rows(&sql, values).await? {
            let sql = "UPDATE hx_session SET active = $2 WHERE session_id = $1 AND active <> $2";
            transaction.run(sql, values![row.try_get::<String>(0)?, row.try_get::<f64>(1)?]).await?;
        }
    }
    Ok(())
}
