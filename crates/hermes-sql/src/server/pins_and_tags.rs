//! Pins and tags, stored with the first session of a conversation. A change holds the lineage lock, so that no
//! conversation is pruned, deleted or joined to another one meanwhile.

use super::requests::once;
use super::{Fields as _, LIST, Sql, among};
use crate::values;
use hermes_session::live::Kinds;
use hermes_session::pins_and_tags::changed_tags;
use hermes_session::{PinAndTags, Request, SessionId, SessionSummary, StoreError, Tag, Timestamp, change};
use std::collections::HashMap;

/// Implements `set_pinned` of the contract.
pub async fn set_pinned<T: Sql>(
    transaction: &T,
    id: &SessionId,
    is_pinned: bool,
    request: &Request,
) -> Result<bool, T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::set_pinned(id, is_pinned), async {
        let root = root(transaction, id).await?;
        let was_pinned = self::is_pinned(transaction, &root).await?;
        match is_pinned {
            true if !was_pinned => pin(transaction, &root, request.at).await?,
            false if was_pinned => {
                transaction.run("DELETE FROM hx_pin WHERE session_id = $1", values![root.as_str()]).await?;
            }
            _ => {}
        }
        if was_pinned != is_pinned {
            transaction.note(&root, Kinds::SESSION);
        }
        Ok(was_pinned != is_pinned)
    })
    .await
}

/// Implements `change_tags` of the contract.
pub async fn change_tags<T: Sql>(
    transaction: &T,
    id: &SessionId,
    add: &[Tag],
    remove: &[Tag],
    request: &Request,
) -> Result<Vec<Tag>, T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::change_tags(id, add, remove), async {
        let root = root(transaction, id).await?;
        let has = read(transaction, &root).await?.tags;
        let tags = changed_tags(&has, add, remove)?;
        write_tags(transaction, &root, &has, &tags).await?;
        transaction.note(&root, Kinds::SESSION);
        Ok(tags)
    })
    .await
}

/// Implements `tags` of the contract.
pub async fn tags<T: Sql>(transaction: &T) -> Result<Vec<(Tag, u64)>, T::Failure> {
    // Tags of a session that has become part of another conversation do not count.
    let sql = format!(
        "SELECT g.tag, count(*) FROM hx_tag g JOIN hx_session h ON h.session_id = g.session_id WHERE {} GROUP BY g.tag ORDER BY g.tag",
        transaction.dialect().is_root
    );
    let mut tags = Vec::new();
    for row in transaction.rows(&sql, values![]).await? {
        tags.push((Tag::from_stored(row.try_get::<String>(0)?), row.try_get::<i64>(1)?.unsigned_abs()));
    }
    Ok(tags)
}

/// Implements `import_pins_and_tags` of the contract.
pub async fn import<T: Sql>(transaction: &T, pins_and_tags: &[(SessionId, PinAndTags)]) -> Result<u64, T::Failure> {
    transaction.lock_kin().await?;
    let mut changed = 0;
    for (id, outside) in pins_and_tags {
        let is_there = transaction.row("SELECT 1 FROM sessions WHERE id = $1", values![id.as_str()]).await?.is_some();
        let has = read(transaction, id).await?;
        let joined = has.joined(outside);
        if !is_there || joined == has {
            continue;
        }
        if let (None, Some(at)) = (has.pinned_at, joined.pinned_at) {
            pin(transaction, id, at).await?;
        }
        write_tags(transaction, id, &has.tags, &joined.tags).await?;
        transaction.note(id, Kinds::SESSION);
        changed += 1;
    }
    Ok(changed)
}

/// Returns whether the conversation that starts with a session is pinned.
pub(super) async fn is_pinned<T: Sql>(transaction: &T, root: &SessionId) -> Result<bool, T::Failure> {
    Ok(transaction.row("SELECT 1 FROM hx_pin WHERE session_id = $1", values![root.as_str()]).await?.is_some())
}

/// Fills in the tags of rows whose conversations have some.
pub(super) async fn add_tags<T: Sql>(transaction: &T, rows: Vec<&mut SessionSummary>) -> Result<(), T::Failure> {
    let mut roots: Vec<&str> = rows.iter().map(|row| row.conversation.as_str()).collect();
    roots.sort_unstable();
    roots.dedup();
    let mut tags: HashMap<SessionId, Vec<Tag>> = HashMap::new();
    for some in roots.chunks(LIST) {
        let (condition, values) = among("session_id", 1, some.iter().copied());
        let sql = format!("SELECT session_id, tag FROM hx_tag WHERE {condition} ORDER BY session_id, tag");
        for row in transaction.rows(&sql, values).await? {
            tags.entry(row.id(0)?).or_default().push(Tag::from_stored(row.try_get::<String>(1)?));
        }
    }
    for row in rows {
        row.tags = tags.get(&row.conversation).cloned().unwrap_or_default();
    }
    Ok(())
}

/// Returns the first session of a session's conversation. Fails if there is none.
async fn root<T: Sql>(transaction: &T, id: &SessionId) -> Result<SessionId, T::Failure> {
    match transaction.row("SELECT root FROM hx_session WHERE session_id = $1", values![id.as_str()]).await? {
        Some(row) => Ok(row.id(0)?),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Reads the pin and tags stored with a session.
pub(super) async fn read<T: Sql>(transaction: &T, id: &SessionId) -> Result<PinAndTags, T::Failure> {
    let pin = transaction.row("SELECT pinned_at FROM hx_pin WHERE session_id = $1", values![id.as_str()]).await?;
    let pinned_at = match pin {
        Some(row) => Some(Timestamp::from_seconds(row.try_get(0)?)?),
        None => None,
    };
    let sql = "SELECT tag FROM hx_tag WHERE session_id = $1 ORDER BY tag";
    let mut tags = Vec::new();
    for row in transaction.rows(sql, values![id.as_str()]).await? {
        tags.push(Tag::from_stored(row.try_get::<String>(0)?));
    }
    Ok(PinAndTags { pinned_at, tags })
}

async fn pin<T: Sql>(transaction: &T, id: &SessionId, at: Timestamp) -> Result<(), T::Failure> {
    let sql = "INSERT INTO hx_pin (session_id, pinned_at) VALUES ($1, $2)";
    transaction.run(sql, values![id.as_str(), at.seconds()]).await.map(drop)
}

/// Changes the tags stored with a session from `has` to `tags`.
async fn write_tags<T: Sql>(transaction: &T, id: &SessionId, has: &[Tag], tags: &[Tag]) -> Result<(), T::Failure> {
    for gone in has.iter().filter(|tag| !tags.contains(tag)) {
        let sql = "DELETE FROM hx_tag WHERE session_id = $1 AND tag = $2";
        transaction.run(sql, values![id.as_str(), gone.as_str()]).await?;
    }
    for new in tags.iter().filter(|tag| !has.contains(tag)) {
        let sql = "INSERT INTO hx_tag (session_id, tag) VALUES ($1, $2)";
        transaction.run(sql, values![id.as_str(), new.as_str()]).await?;
    }
    Ok(())
}
