//! Deletion of conversations and their delegates. Each is one transaction: readers see all of a conversation or
//! nothing, and only writers to it wait.

use super::pins_and_tags::is_pinned;
use super::requests::once;
use super::{Failing as _, Fields as _, LIST, Sql, among, lineage, mail, messages, routes, trash};
use crate::values;
use hermes_session::live::Kinds;
use hermes_session::retention::{Pruned, RetentionPolicy};
use hermes_session::{DeleteExtent, Deleted, Extent, Lineage, Link, Request, SessionId, Timestamp, change};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Time limit of a pruning step. Calls that link or title sessions wait for it.
const STEP: Duration = Duration::from_millis(50);

/// Implements `delete` of the contract.
pub async fn delete<T: Sql>(
    transaction: &T,
    id: &SessionId,
    extent: DeleteExtent,
    request: &Request,
) -> Result<Deleted, T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::delete(id, extent), async {
        let lineage = lineage::read(transaction, id).await?;
        match extent {
            DeleteExtent::Conversation => remove(transaction, &lineage, &lineage.conversation(id), request.at).await,
            DeleteExtent::Chain => remove_chain(transaction, &lineage, id, request.at).await,
            DeleteExtent::Session => remove_alone(transaction, &lineage, id, request.at).await,
        }
    })
    .await
}

/// Removes one session and recomputes the places of the rest of its lineage.
async fn remove_alone<T: Sql>(
    transaction: &T,
    lineage: &Lineage,
    id: &SessionId,
    at: Timestamp,
) -> Result<Deleted, T::Failure> {
    let gone = [id.clone()];
    let deleted = remove(transaction, lineage, &gone, at).await?;
    lineage::place(transaction, &lineage.without(&gone)).await?;
    Ok(deleted)
}

/// Implements `trash_chain` of the contract.
pub async fn trash_chain<T: Sql>(
    transaction: &T,
    id: &SessionId,
    until: Timestamp,
    request: &Request,
) -> Result<Deleted, T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::trash_chain(id), async {
        let lineage = lineage::read(transaction, id).await?;
        let members = lineage.chain(id);
        lock_all(transaction, &members).await?;
        trash::keep(transaction, &lineage, &members, request.at, until).await?;
        remove_chain(transaction, &lineage, id, request.at).await
    })
    .await
}

/// Removes the chain of a session. The activity of the rest of the conversation is recomputed.
async fn remove_chain<T: Sql>(
    transaction: &T,
    lineage: &Lineage,
    id: &SessionId,
    at: Timestamp,
) -> Result<Deleted, T::Failure> {
    let (members, root) = (lineage.chain(id), lineage.conversation_root(id));
    let deleted = remove(transaction, lineage, &members, at).await?;
    if !members.contains(&root) {
        // Last, because appends to the remaining sessions wait from here on.
        messages::lock_activity(transaction, &root).await?;
        messages::tell_activity(transaction, &root).await?;
    }
    Ok(deleted)
}

/// Deletes the first of these conversations that the policy still admits, until the time of a step is used up.
pub async fn prune<T: Sql>(
    transaction: &T,
    conversations: &[SessionId],
    policy: &RetentionPolicy,
    now: Timestamp,
) -> Result<Pruned, T::Failure> {
    let start = Instant::now();
    let mut pruned = Pruned::default();
    transaction.lock_kin().await?;
    for id in conversations {
        if pruned.looked_at > 0 && start.elapsed() > STEP {
            break;
        }
        pruned.looked_at += 1;
        let lineage = match lineage::read(transaction, id).await {
            // Deleted in the meantime.
            Err(failure) if failure.is_missing() => continue,
            lineage => lineage?,
        };
        let (root, is_alone) = (lineage.conversation_root(id), policy.takes_each_session());
        let members = if is_alone { vec![id.clone()] } else { lineage.conversation(id) };
        if (root != *id && !is_alone)
            || !may_go(transaction, &members, policy, now).await?
            || is_pinned(transaction, &root).await?
        {
            pruned.kept += 1;
            continue;
        }
        let deleted = match is_alone {
            true => remove_alone(transaction, &lineage, id, now).await?,
            false => remove(transaction, &lineage, &members, now).await?,
        };
        pruned.conversations += 1;
        pruned.sessions += deleted.sessions;
        pruned.messages += deleted.messages;
    }
    Ok(pruned)
}

/// Returns whether the policy still admits deleting a conversation. The first member is its root. All members stay
/// locked from here on.
async fn may_go<T: Sql>(
    transaction: &T,
    members: &[SessionId],
    policy: &RetentionPolicy,
    now: Timestamp,
) -> Result<bool, T::Failure> {
    lock_all(transaction, members).await?;
    let mut there = 0;
    for some in members.chunks(LIST) {
        let (condition, values) = among("s.id", 1, some.iter().map(SessionId::as_str));
        let sql = format!(
            "SELECT s.id, s.source, s.ended_at IS NOT NULL, h.last_active, s.title IS NOT NULL OR EXISTS (SELECT 1 FROM messages m \
             WHERE m.session_id = s.id) FROM sessions s JOIN hx_session h ON h.session_id = s.id WHERE {condition}"
        );
        for row in &transaction.rows(&sql, values).await? {
            let (id, source) = (row.id(0)?, row.try_get::<String>(1)?);
            let last_active = Timestamp::from_seconds(row.try_get(3)?)?;
            let is_first = members.first() == Some(&id);
            let is_meant = (!is_first || policy.source().is_none_or(|only| only.as_str() == source))
                && !(policy.only_ghosts() && row.try_get(4)?);
            if !is_meant || !row.try_get::<bool>(2)? || !policy.admits(last_active, now) {
                return Ok(false);
            }
            there += 1;
        }
    }
    Ok(there == members.len())
}

/// Locks these sessions against other writers until the transaction ends.
async fn lock_all<T: Sql>(transaction: &T, members: &[SessionId]) -> Result<(), T::Failure> {
    let mut names: Vec<&str> = members.iter().map(SessionId::as_str).collect();
    names.sort_unstable();
    for some in names.chunks(LIST) {
        let (condition, values) = among("id", 1, some.iter().copied());
        let sql = format!("SELECT 1 FROM sessions WHERE {condition} ORDER BY id FOR UPDATE");
        transaction.rows(&sql, values).await?;
    }
    Ok(())
}

/// Removes sessions with everything that belongs to them. Their remaining children lose their parent.
async fn remove<T: Sql>(
    transaction: &T,
    lineage: &Lineage,
    members: &[SessionId],
    at: Timestamp,
) -> Result<Deleted, T::Failure> {
    lock_all(transaction, members).await?;
    mail::forget_sessions(transaction, members, at).await?;
    routes::forget_aliases(transaction, members).await?;
    let messages = messages::remove(transaction, members, Extent::Every).await?;
    // A remaining child is a branch, that is, a conversation of its own. It becomes a root; its places stay valid.
    let gone: HashSet<&SessionId> = members.iter().collect();
    let is_left =
        |link: &&Link| !gone.contains(&link.id) && link.parent.as_ref().is_some_and(|parent| gone.contains(parent));
    for branch in lineage.links().filter(is_left) {
        let sql = "UPDATE hx_session SET relation = 'root' WHERE session_id = $1";
        transaction.run(sql, values![branch.id.as_str()]).await?;
        transaction.note(&branch.id, Kinds::SESSION);
    }
    for some in members.chunks(LIST) {
        let (condition, values) = among("parent_session_id", 1, some.iter().map(SessionId::as_str));
        transaction.run(&format!("UPDATE sessions SET parent_session_id = NULL WHERE {condition}"), values).await?;
    }
    for some in members.chunks(LIST) {
        for (table, column) in [
            ("hx_lease", "session_id"),
            ("hx_turn", "session_id"),
            ("hx_route", "session_id"),
            ("hx_undone", "session_id"),
            ("hx_request", "session_id"),
            ("hx_handoff", "session_id"),
            ("hx_pin", "session_id"),
            ("hx_tag", "session_id"),
            ("telegram_dm_topic_bindings", "session_id"),
            ("hx_session", "session_id"),
            ("sessions", "id"),
        ] {
            let (condition, values) = among(column, 1, some.iter().map(SessionId::as_str));
            transaction.run(&format!("DELETE FROM {table} WHERE {condition}"), values).await?;
        }
    }
    members.iter().for_each(|session| transaction.note(session, Kinds::DELETED));
    Ok(Deleted { sessions: members.len() as u64, messages })
}
