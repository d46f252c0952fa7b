//! Lineages: reading them, carrying a session on, branching from it, and who belongs to which conversation.

use crate::database::Transaction;
use crate::error::Failure;
use crate::messages::{self, Written};
use crate::requests::once;
use crate::row::{existing, id, lock, require, session};
use crate::{sessions, titles};
use hermes_session::lineage::child_of;
use hermes_session::{
    Conflict, EndReason, Lineage, Link, NewChild, NewMessage, Relation, Request, Session, SessionId, Timestamp, Title,
    change,
};

/// What gives every session that is linked to `$1`: up, then down from everywhere.
const FAMILY: &str = "
    WITH RECURSIVE family(id) AS (
        SELECT $1::text COLLATE \"C\"
        UNION
        SELECT k.id FROM family f CROSS JOIN LATERAL (
            SELECT s.parent_session_id AS id FROM sessions s WHERE s.id = f.id AND s.parent_session_id IS NOT NULL
            UNION ALL SELECT s.id FROM sessions s WHERE s.parent_session_id = f.id
        ) k
    )
    SELECT s.id, s.parent_session_id, h.relation, s.started_at
    FROM family f JOIN sessions s ON s.id = f.id JOIN hx_session h ON h.session_id = s.id";

pub(crate) async fn read(transaction: &Transaction, of: &SessionId) -> Result<Lineage, Failure> {
    require(transaction, of).await?;
    let mut links = Vec::new();
    for row in transaction.rows(FAMILY, &[&of.as_str()]).await? {
        let parent = row.try_get::<_, Option<String>>(1)?.map(SessionId::from_stored);
        let relation = Relation::from_stored(row.try_get(2)?)
            .ok_or_else(|| Failure::Damaged("hx_session: a relation is none that is known".into()))?;
        let started_at = Timestamp::from_seconds(row.try_get(3)?)
            .map_err(|_| Failure::Damaged("sessions: started_at is not a time".into()))?;
        links.push(Link { id: id(&row, 0)?, parent, relation, started_at });
    }
    Ok(Lineage::new(links))
}

pub(crate) async fn split(
    transaction: &Transaction,
    parent_id: &SessionId,
    child: &NewChild,
    transcript: &[NewMessage],
    words: &[Written],
    request: &Request,
) -> Result<Option<Title>, Failure> {
    once(transaction, request, &child.id, || change::split(parent_id, child, transcript), async {
        transaction.lock_kin().await?;
        lock(transaction, parent_id).await?;
        let parent = existing(transaction, parent_id).await?;
        if session(transaction, &child.id).await?.is_some() {
            return Err(Conflict::Exists(child.id.clone()).into());
        }
        let ended_at = parent.ended_at.unwrap_or(request.at);
        transaction
            .run(
                "UPDATE sessions SET ended_at = $1, end_reason = $2 WHERE id = $3",
                &[&ended_at.seconds(), &EndReason::COMPRESSION, &parent_id.as_str()],
            )
            .await?;
        let started_at = request.at.max(ended_at);
        let born = child_of(&parent, child, Relation::Continuation, started_at);
        sessions::insert(transaction, &born, started_at).await?;
        if !transcript.is_empty() {
            messages::add(transaction, &child.id, transcript, words, request.at).await?;
        }
        entitle(transaction, &parent, child).await
    })
    .await
}

pub(crate) async fn branch(
    transaction: &Transaction,
    parent_id: &SessionId,
    child: &NewChild,
    request: &Request,
) -> Result<Option<Title>, Failure> {
    once(transaction, request, &child.id, || change::branch(parent_id, child), async {
        transaction.lock_kin().await?;
        lock(transaction, parent_id).await?;
        let parent = existing(transaction, parent_id).await?;
        if session(transaction, &child.id).await?.is_some() {
            return Err(Conflict::Exists(child.id.clone()).into());
        }
        transaction
            .run(
                "UPDATE sessions SET ended_at = $1, end_reason = $2 WHERE id = $3 AND ended_at IS NULL",
                &[&request.at.seconds(), &EndReason::BRANCHED, &parent_id.as_str()],
            )
            .await?;
        let started_at = request.at.max(parent.ended_at.unwrap_or(request.at));
        let born = child_of(&parent, child, Relation::Branch, started_at);
        sessions::insert(transaction, &born, started_at).await?;
        messages::copy(transaction, parent_id, &child.id).await?;
        entitle(transaction, &parent, child).await
    })
    .await
}

/// Gives the child the title it asks for, or the next in its parent's lineage.
async fn entitle(transaction: &Transaction, parent: &Session, child: &NewChild) -> Result<Option<Title>, Failure> {
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

/// Makes a session the child of another one, and tells all that changes their place with it. The lineages are locked.
pub(crate) async fn join(
    transaction: &Transaction,
    child: &SessionId,
    parent: &SessionId,
    relation: Relation,
) -> Result<(), Failure> {
    let (child_id, parent_id) = (child.as_str(), parent.as_str());
    transaction.run("UPDATE sessions SET parent_session_id = $1 WHERE id = $2", &[&parent_id, &child_id]).await?;
    let sql = "UPDATE hx_session SET relation = $1 WHERE session_id = $2";
    transaction.run(sql, &[&relation.as_str(), &child_id]).await?;
    place(transaction, &read(transaction, child).await?).await
}

/// Tells anew which conversation each session of a lineage is part of, and where those stand.
pub(crate) async fn place(transaction: &Transaction, lineage: &Lineage) -> Result<(), Failure> {
    let (mut ids, mut roots, mut tips) = (Vec::new(), Vec::new(), Vec::new());
    // Nobody appends to them from here on: an append looks up the conversation once it has its session.
    let all: Vec<&str> = lineage.links().map(|link| link.id.as_str()).collect();
    let lock = "SELECT 1 FROM sessions WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE";
    transaction.rows(lock, &[&all]).await?;
    for link in lineage.links() {
        let root = lineage.conversation_root(&link.id);
        tips.push(if root == link.id { lineage.tip(&root) } else { link.id.clone() }.as_str().to_owned());
        roots.push(root.as_str().to_owned());
        ids.push(link.id.as_str().to_owned());
    }
    transaction
        .run(
            "UPDATE hx_session h SET root = p.root, tip = p.tip FROM unnest($1::text[], $2::text[], $3::text[]) AS p(id, root, tip) \
             WHERE h.session_id = p.id AND (h.root <> p.root OR h.tip <> p.tip)",
            &[&ids, &roots, &tips],
        )
        .await?;
    roots.sort_unstable();
    roots.dedup();
    transaction
        .run(
            "UPDATE hx_session h SET active = a.active FROM (SELECT root, max(last_active) AS active FROM hx_session \
             WHERE root = ANY($1) GROUP BY root) a WHERE h.session_id = a.root AND h.active <> a.active",
            &[&roots],
        )
        .await?;
    Ok(())
}
