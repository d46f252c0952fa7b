//! Deletes conversations of any size and their delegates, without holding the write lock for long.
//!
//! The first step hides all sessions to be deleted, frees their titles and detaches their branches. From then on they
//! count as deleted, and a repeated request gets that answer. The rows are removed in steps, each a transaction of its
//! own. If the process dies in between, the next upkeep of any process continues.

use crate::calls::hidden::{self, GOES, Hidden};
use crate::calls::row::time;
use crate::calls::{archive, handoffs, lineage, pins_and_tags, routing, topics, trash, undo};
use crate::care::refresh;
use crate::care::stale::{Stale, place_bit};
use crate::error::Failure;
use crate::index::indexes;
use crate::index::indexes::Merging;
use crate::open::schema::FORGET_SESSION;
use crate::write::budget::Budget;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::retention::{Pruned, RetentionPolicy};
use hermes_session::{DeleteExtent, Deleted, Lineage, Request, SessionId, StoreError, Timestamp, change};
use rusqlite::{OptionalExtension as _, params};

/// Returns the maximum number of messages that one statement deletes. Larger batches write and merge fewer index
/// segments. Removing a message from the agent's indexes may take one or two milliseconds.
fn most(database: &Database) -> u32 {
    if database.layout().is_compact() { 96 } else { 8 }
}

/// Size in bytes at which a batch is full: a running statement can't be interrupted.
const BYTES: i64 = 96 * 1024;
/// Batch size from which on more batches are likely to follow.
const LARGE_BATCH: usize = 32;

/// SQL for the approximate size of the text of a message `m`, without reading it.
const SIZE: &str = "coalesce(octet_length(m.content), 0) + coalesce(octet_length(m.tool_calls), 0)";

fn id_and_size(row: &rusqlite::Row<'_>) -> Result<(i64, i64), rusqlite::Error> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Returns the first of these messages, as many as one statement deletes.
fn batch(rows: impl Iterator<Item = Result<(i64, i64), rusqlite::Error>>) -> Result<Vec<i64>, Failure> {
    let (mut messages, mut bytes) = (Vec::new(), 0);
    for row in rows {
        let (id, size) = row?;
        bytes += size;
        if bytes > BYTES && !messages.is_empty() {
            break;
        }
        messages.push(id);
    }
    Ok(messages)
}

/// Deletes a session with everything in `extent`, and as many of its rows as one step can. Returns whether no rows are
/// left.
pub(crate) fn begin(
    database: &Database,
    id: &SessionId,
    extent: DeleteExtent,
    request: &Request,
) -> Result<(Deleted, bool), Failure> {
    let goes = |lineage: &Lineage| doom(database, &extent.sessions(lineage, id), Hidden::Doomed, request.at);
    go(database, id, extent, &change::delete(id, extent), request, goes)
}

/// Deletes a session's conversation like [`begin`], but keeps it in the trash.
pub(crate) fn begin_in_trash(
    database: &Database,
    id: &SessionId,
    until: Timestamp,
    request: &Request,
) -> Result<(Deleted, bool), Failure> {
    let goes = |lineage: &Lineage| {
        let members = lineage.chain(id);
        let number = trash::note(database, lineage, &members, request.at, until)?;
        let deleted = doom(database, &members, Hidden::Binned, request.at)?;
        members.iter().try_for_each(|member| undo::bin(database, member, number))?;
        trash::count(database, number, deleted)?;
        Ok(deleted)
    };
    go(database, id, DeleteExtent::Chain, &change::trash_chain(id), request, goes)
}

/// Hides sessions as `goes` does, and removes as many of their rows as one step can.
fn go(
    database: &Database,
    id: &SessionId,
    extent: DeleteExtent,
    fingerprint: &str,
    request: &Request,
    goes: impl FnOnce(&Lineage) -> Result<Deleted, Failure>,
) -> Result<(Deleted, bool), Failure> {
    let mut budget = Budget::step();
    let deleted = once(database, request, id, fingerprint, || {
        let lineage = lineage::read(database, id)?;
        let (members, root) = (extent.sessions(&lineage, id), lineage.conversation_root(id));
        let deleted = goes(&lineage)?;
        if !members.contains(&root) {
            refresh::standing(database, &root)?;
        }
        Ok(deleted)
    })?;
    let is_over = Remover::new(database)?.all(&mut budget)?;
    settle(database, &budget)?;
    Ok((deleted, is_over))
}

/// Removes some rows of sessions that were deleted before. Returns whether none are left.
pub(crate) fn step(database: &Database) -> Result<bool, Failure> {
    if hidden::doomed(database)?.is_none() {
        return Ok(true);
    }
    let mut budget = Budget::step();
    let is_over = Remover::new(database)?.all(&mut budget)?;
    settle(database, &budget)?;
    Ok(is_over)
}

/// Removes some remaining rows of a hidden session, so that a new session can have its id. Returns whether the id is
/// free.
pub(crate) fn clear(database: &Database, id: &SessionId, budget: &mut Budget) -> Result<bool, Failure> {
    if hidden::is_hidden(database, id)? { Remover::new(database)?.one(id, budget) } else { Ok(true) }
}

/// Deletes the first of these conversations that still fall under the policy, as many as one step can. Returns whether
/// no rows of them are left.
pub(crate) fn prune(
    database: &Database,
    conversations: &[SessionId],
    policy: &RetentionPolicy,
    now: Timestamp,
) -> Result<(Pruned, bool), Failure> {
    let (mut budget, remover) = (Budget::step(), Remover::new(database)?);
    let mut pruned = Pruned::default();
    for id in conversations {
        if pruned.looked_at > 0 && !budget.spend() {
            break;
        }
        pruned.looked_at += 1;
        match fate(database, id, policy, now)? {
            Fate::Gone => {}
            Fate::Stays => pruned.kept += 1,
            Fate::Goes { members, root } => {
                let deleted = doom(database, &members, Hidden::Doomed, now)?;
                if !members.contains(&root) {
                    refresh::standing(database, &root)?;
                }
                pruned.conversations += 1;
                pruned.sessions += deleted.sessions;
                pruned.messages += deleted.messages;
            }
        }
    }
    let is_over = remover.all(&mut budget)?;
    settle(database, &budget)?;
    Ok((pruned, is_over))
}

/// The decision on a conversation that was selected for pruning.
enum Fate {
    /// It no longer exists.
    Gone,
    /// It was active since, is pinned, or has become part of another conversation.
    Stays,
    /// These sessions are deleted; they belong to the conversation that starts with `root`.
    Goes { members: Vec<SessionId>, root: SessionId },
}

fn fate(database: &Database, id: &SessionId, policy: &RetentionPolicy, now: Timestamp) -> Result<Fate, Failure> {
    let lineage = match lineage::read(database, id) {
        Err(Failure::Store(StoreError::NotFound(_))) => return Ok(Fate::Gone),
        lineage => lineage?,
    };
    let (root, is_alone) = (lineage.conversation_root(id), policy.takes_each_session());
    if (root != *id && !is_alone) || pins_and_tags::is_pinned(database, &root)? {
        return Ok(Fate::Stays);
    }
    let members = if is_alone { vec![id.clone()] } else { lineage.conversation(id) };
    for member in &members {
        let found = database
            .prepare_cached(
                "SELECT s.source, s.ended_at, s.started_at, h.last_active, h.dirty FROM sessions s \
                 JOIN hx_session h ON h.session_id = s.id WHERE s.id = ?",
            )?
            .query_row(params![member.as_str()], |row| {
                let times = (time(row, 1)?, time(row, 2)?, time(row, 3)?);
                Ok((crate::calls::row::text(row, 0)?, times, row.get::<_, Stale>(4)?))
            })
            .optional()?;
        // A member whose times can't be read may be active.
        let Some((source, (Some(_), Some(_), Some(mut last_active)), stale)) = found else { return Ok(Fate::Stays) };
        if stale.preview {
            // A foreign writer may have moved the start or the messages in either direction.
            last_active = refresh::last_active(database, member)?.unwrap_or(last_active);
        }
        if policy.only_ghosts() && !is_ghost(database, member)? {
            return Ok(Fate::Stays);
        }
        let is_meant = member != id || policy.source().is_none_or(|only| Some(only.as_str()) == source.as_deref());
        if !is_meant || !policy.admits(last_active, now) {
            return Ok(Fate::Stays);
        }
    }
    Ok(Fate::Goes { members, root })
}

/// Returns whether a session has neither a message nor a title.
fn is_ghost(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    Ok(!database
        .prepare_cached(
            "SELECT 1 FROM sessions s WHERE s.id = ? AND (s.title IS NOT NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id))",
        )?
        .exists(params![id.as_str()])?)
}

/// Hides sessions from all reads and frees their titles, request keys, topics, handoffs, pins, tags and live data.
fn doom(database: &Database, members: &[SessionId], why: Hidden, now: Timestamp) -> Result<Deleted, Failure> {
    let run = |sql: &str, id: &SessionId| database.prepare_cached(sql)?.execute(params![id.as_str()]);
    let mut messages = 0;
    for member in members {
        messages += database
            .prepare_cached("SELECT count(*) FROM messages WHERE session_id = ?")?
            .query_row(params![member.as_str()], |row| row.get::<_, i64>(0).map(i64::unsigned_abs))?;
        messages += undo::count(database, member)?;
        hidden::hide(database, member, why)?;
        // Our row is deleted first: clearing the parent would make the places of the whole conversation stale, and
        // those of the remaining members do not change.
        run("DELETE FROM hx_session WHERE session_id = ?", member)?;
        run("UPDATE sessions SET title = NULL, parent_session_id = NULL WHERE id = ?", member)?;
        run("DELETE FROM hx_request WHERE session_id = ?", member)?;
        topics::unbind(database, member)?;
        handoffs::forget(database, member)?;
        pins_and_tags::forget(database, member)?;
        archive::forget(database, member)?;
        forget_live(database, member, now)?;
        if why != Hidden::Binned {
            undo::forget(database, member)?;
        }
    }
    for member in members {
        // A session below is a conversation of its own. It stays, without a parent; the trigger records its place as
        // stale.
        run("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?", member)?;
        run(
            concat!(
                "UPDATE hx_session SET dirty = dirty | ",
                place_bit!(),
                ", root = session_id, active = last_active WHERE root = ?"
            ),
            member,
        )?;
    }
    Ok(Deleted { sessions: members.len() as u64, messages })
}

/// Removes the leases, turns, mail and routes of a session, as the trigger does when an agent deletes it.
fn forget_live(database: &Database, id: &SessionId, now: Timestamp) -> Result<(), Failure> {
    routing::forget(database, id)?;
    for sql in FORGET_SESSION {
        let mut statement = database.prepare_cached(sql)?;
        match statement.parameter_count() {
            1 => statement.execute(params![id.as_str()])?,
            _ => statement.execute(params![id.as_str(), now.seconds()])?,
        };
    }
    Ok(())
}

/// Recomputes derived data that the step has made stale, until `budget` is spent. Upkeep does the rest.
pub(crate) fn settle(database: &Database, budget: &Budget) -> Result<(), Failure> {
    while refresh::step(database).map_err(indexes::elsewhere)? > 0 && !budget.is_spent() {}
    Ok(())
}

/// Removes the rows of hidden sessions.
struct Remover<'a> {
    database: &'a Database,
    /// Statements that delete rows of other tables whose foreign key would block deleting a session.
    before: Vec<String>,
    /// Statement that copies messages to the trash; `None` if no session goes there.
    keeping: Option<String>,
    /// Statements that copy rows of other tables that go to the trash with a session.
    keeping_linked: Vec<String>,
}

impl<'a> Remover<'a> {
    fn new(database: &'a Database) -> Result<Self, Failure> {
        // The first version of the agent's topic tables refers to a session without an ON DELETE action.
        let mut referring = database.prepare_cached(
            "SELECT t.name, f.\"from\" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f \
             WHERE t.type = 'table' AND f.\"table\" = 'sessions' AND f.on_delete IN ('NO ACTION', 'RESTRICT') \
             AND t.name NOT IN ('sessions', 'messages')",
        )?;
        let quoted = |name: String| format!("\"{}\"", name.replace('"', "\"\""));
        let before = referring.query_map([], |row| {
            Ok(format!("DELETE FROM {} WHERE {} = ?", quoted(row.get(0)?), quoted(row.get(1)?)))
        })?;
        let before = before.collect::<Result<_, _>>()?;
        let (keeping, keeping_linked) = (trash::keeping(database)?, trash::keeping_linked(database)?);
        Ok(Self { database, before, keeping, keeping_linked })
    }

    /// Removes doomed sessions. Returns whether all are gone. Messages go first, those of many sessions per statement.
    fn all(&self, budget: &mut Budget) -> Result<bool, Failure> {
        let database = self.database;
        let mut some = database.prepare_cached(&format!(
            "SELECT m.id, {SIZE} FROM hx_hidden h CROSS JOIN messages m ON m.session_id = h.session_id \
             WHERE {GOES} LIMIT ?"
        ))?;
        if !self.messages(budget, |most| batch(some.query_map([most], id_and_size)?))? {
            return Ok(false);
        }
        while let Some(id) = hidden::doomed(database)? {
            if budget.is_spent() {
                return Ok(false);
            }
            self.session(&id)?;
            budget.spend();
        }
        Ok(true)
    }

    /// Removes the messages of a session, then the session. Returns whether it is gone.
    fn one(&self, id: &SessionId, budget: &mut Budget) -> Result<bool, Failure> {
        let mut some = self
            .database
            .prepare_cached(&format!("SELECT m.id, {SIZE} FROM messages m WHERE m.session_id = ? LIMIT ?"))?;
        if !self.messages(budget, |most| batch(some.query_map(params![id.as_str(), most], id_and_size)?))? {
            return Ok(false);
        }
        self.session(id)?;
        budget.spend();
        Ok(true)
    }

    /// Removes the messages that `next` returns, until it returns none or the budget is spent. Returns `true` if none
    /// are left.
    fn messages(
        &self,
        budget: &mut Budget,
        mut next: impl FnMut(u32) -> Result<Vec<i64>, Failure>,
    ) -> Result<bool, Failure> {
        let (database, most) = (self.database, most(self.database));
        let mut merging = Merging::by_itself(database);
        loop {
            if budget.is_spent() {
                return merging.end().map(|()| false);
            }
            let messages = next(most)?;
            if messages.is_empty() {
                return merging.end().map(|()| true);
            }
            if messages.len() >= LARGE_BATCH {
                merging.hold()?;
            }
            indexes::before_removal_of(database, &messages)?;
            let list = messages.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            let list = format!("[{list}]");
            if let Some(keeping) = &self.keeping {
                database.prepare_cached(keeping)?.execute([&list])?;
            }
            database
                .prepare_cached("DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?))")?
                .execute([&list])?;
            messages.iter().for_each(|_| _ = budget.spend());
        }
    }

    /// Removes a session without messages.
    fn session(&self, id: &SessionId) -> Result<(), Failure> {
        let run = |sql: &str| self.database.prepare_cached(sql)?.execute(params![id.as_str()]);
        for sql in self.keeping_linked.iter().chain(&self.before) {
            run(sql)?;
        }
        // The agent may have created a child meanwhile.
        run("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?")?;
        // The trigger removes the request keys of a deleted session; the key of the deletion itself has to stay.
        run("UPDATE hx_request SET session_id = '' WHERE session_id = ?")?;
        run("DELETE FROM sessions WHERE id = ?")?;
        run("UPDATE hx_request SET session_id = ? WHERE session_id = ''")?;
        hidden::show(self.database, id)
    }
}
