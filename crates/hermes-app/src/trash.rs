//! Delete, trash, restore and empty: conversations together with their transcript files.

use crate::messages;
use crate::owners::{self, Owner};
use crate::resolve::title_key;
use crate::transcripts::{Removed, Transcripts};
use hermes_session::{
    DeleteExtent, Deleted, Emptying, Maintenance, MessageRequest, Relation, Request, Restored, Session, SessionId,
    StateCounts, Store, StoreError, Timestamp, Title, Trashed, quoted,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tracing::{debug, info, warn};

/// How many entries of the trash are read at once.
const PAGE: u32 = 500;
/// How many messages at the start of a session are searched for a preview.
const PREVIEWED: u32 = 10;
/// In seconds.
const DAY: f64 = 86_400.0;

/// A conversation, or a delegate, as shown to a person before it is deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletePreview {
    /// The session that was named.
    pub asked: SessionId,
    /// The session in which it continues today.
    pub id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// The beginning of its first message; empty if it has none, or can't be read. Read only if there is no title.
    pub preview: String,
    /// Its source; `None` if its first session can't be read.
    pub source: Option<String>,
    /// All its sessions.
    pub members: Vec<SessionId>,
    /// The messages in them, of every state: all are deleted.
    pub states: StateCounts,
    /// When it started; `None` if its first session can't be read.
    pub started_at: Option<Timestamp>,
    /// If it is a delegate: the conversation that it was sent from, which stays.
    pub sent_from: Option<SessionId>,
    /// How many conversations branched from it; they stay.
    pub branches: u64,
    /// How many transcript files it has.
    pub files: u64,
    /// The process that owns the conversation, if it goes too. It can write nothing more to it afterwards.
    pub owner: Option<Owner>,
}

/// Result of a deletion.
#[derive(Debug)]
pub struct DeleteReport {
    /// Sessions and messages.
    pub deleted: Deleted,
    /// Transcript files that were removed or moved to the trash, and those that could not be.
    pub transcripts: Removed,
    /// Until when it can be restored; `None` if it can't.
    pub until: Option<Timestamp>,
}

/// Returns what would be deleted with a session: its conversation, or only the delegate if it is one. A member session
/// that can't be read is deleted as well.
///
/// # Errors
/// If there is no such session, or the store fails.
pub async fn preview(
    store: &dyn Store,
    id: &SessionId,
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Result<DeletePreview, StoreError> {
    let lineage = store.lineage(id).await?;
    let members = lineage.chain(id);
    let first = members.first().unwrap_or(id);
    let tip = lineage.tip(first);
    let root = lineage.conversation_root(id);
    let sent_from = (!members.contains(&root)).then(|| lineage.tip(&root));
    let is_branch = |link: &&hermes_session::Link| {
        link.relation == Relation::Branch && link.parent.as_ref().is_some_and(|parent| members.contains(parent))
    };
    let branches = lineage.links().filter(is_branch).count() as u64;
    let (mut states, mut title, mut source, mut started_at) = (StateCounts::default(), None, None, None);
    for member in &members {
        let session = match store.session(member).await {
            Ok(Some(session)) => session,
            Ok(None) => continue,
            Err(error) => {
                debug!(session = ?member.as_str(), error = error.kind(), "session left out of the preview");
                continue;
            }
        };
        states.add_all(counted(store, &session).await);
        if *member == tip {
            title = session.title;
        }
        if member == first {
            (source, started_at) = (Some(session.source.to_string()), Some(session.started_at));
        }
    }
    let files = transcripts.map_or(0, |transcripts| transcripts.files(&members).len() as u64);
    let preview = if title.is_none() { first_words(store, &members).await } else { String::new() };
    let owner = if sent_from.is_none() { owners::of(store, &root, now).await? } else { None };
    Ok(DeletePreview {
        asked: id.clone(),
        id: tip,
        title,
        preview,
        source,
        members,
        states,
        started_at,
        sent_from,
        branches,
        files,
        owner,
    })
}

/// Returns the beginning of the first message that has text. Empty if there is none, or it can't be read.
async fn first_words(store: &dyn Maintenance, members: &[SessionId]) -> String {
    for member in members {
        match store.messages(member, &MessageRequest::first(PREVIEWED).as_said()).await {
            Ok(messages) => {
                if let Some(text) = messages.iter().find_map(|message| hermes_session::preview(&message.body)) {
                    return text;
                }
            }
            Err(error) => {
                debug!(session = ?member.as_str(), error = error.kind(), "messages not read for the preview");
            }
        }
    }
    String::new()
}

/// Counts the messages of a session by state. If they can't be read, the count that is kept with the session stands in.
async fn counted(store: &dyn Maintenance, session: &Session) -> StateCounts {
    messages::states(store, &session.id).await.unwrap_or_else(|error| {
        debug!(session = ?session.id.as_str(), error = error.kind(), "messages not counted for the preview");
        let active = u64::try_from(session.message_count).unwrap_or(0);
        StateCounts { active, ..StateCounts::default() }
    })
}

/// Returns until when a deletion with these `days` can be undone; `None` if it is permanent.
pub fn until(now: Timestamp, days: u64) -> Option<Timestamp> {
    (days > 0).then(|| now.plus(days as f64 * DAY))
}

/// Deletes what a preview shows, and its transcripts: to the trash for `days`, or permanently if `days` is 0.
///
/// # Errors
/// If the store fails.
pub async fn delete(
    store: &dyn Maintenance,
    preview: &DeletePreview,
    days: u64,
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Result<DeleteReport, StoreError> {
    let request = Request::at(now);
    let Some(until) = until(now, days) else {
        let deleted = store.delete(&preview.asked, DeleteExtent::Chain, &request).await?;
        let removed = transcripts.map_or_else(Removed::default, |transcripts| transcripts.remove(&preview.members));
        return Ok(DeleteReport { deleted, transcripts: removed, until: None });
    };
    let deleted = store.trash_chain(&preview.asked, until, &request).await?;
    let moved = match (transcripts, store.trashed(&preview.asked).await?) {
        (Some(transcripts), Some((entry, members))) => transcripts.put_away(&members, &entry),
        // Another process has emptied the trash or restored the conversation since.
        (Some(transcripts), None) => transcripts.remove(&missing(store, preview.members.clone()).await),
        (None, _) => Removed::default(),
    };
    Ok(DeleteReport { deleted, transcripts: moved, until: Some(until) })
}

/// Returns everything in the trash, the newest first.
///
/// # Errors
/// If the store fails.
pub async fn entries(store: &dyn Maintenance) -> Result<Vec<Trashed>, StoreError> {
    let mut entries: Vec<Trashed> = Vec::new();
    loop {
        let page = store.trash(entries.last(), PAGE).await?;
        if page.is_empty() {
            return Ok(entries);
        }
        entries.extend(page);
    }
}

/// Reason why a text names no entry of the trash.
#[derive(Debug, thiserror::Error)]
pub enum FindTrashedError {
    /// No entry matches the text.
    #[error("nothing in the trash matches {}", quoted(text))]
    NotFound {
        /// The text as typed.
        text: String,
    },
    /// Several entries match the text.
    #[error("{} matches several entries of the trash", quoted(text))]
    Ambiguous {
        /// The text as typed.
        text: String,
        /// The entries.
        candidates: Vec<Trashed>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds the entry of the trash that a text means, and its sessions: by the id of one of them, its title, or the start
/// of the id it is listed by.
///
/// # Errors
/// If there is none; if there are several, with the candidates.
pub async fn find(store: &dyn Maintenance, text: &str) -> Result<(Trashed, Vec<SessionId>), FindTrashedError> {
    if let Ok(id) = SessionId::parse(text)
        && let Some(found) = store.trashed(&id).await?
    {
        return Ok(found);
    }
    let entries = entries(store).await?;
    let titled = |has: &dyn Fn(&str) -> bool| -> Vec<&Trashed> {
        entries.iter().filter(|entry| entry.title.as_deref().is_some_and(has)).collect()
    };
    let mut candidates = titled(&|title| title == text);
    if candidates.is_empty() {
        // It may have been deleted by the title of an earlier session: continuations have that title with a number.
        candidates = titled(&|title| Title::parse(title).is_ok_and(|title| title.base() == text));
    }
    if candidates.is_empty() && !text.is_empty() {
        candidates = entries.iter().filter(|entry| entry.id.as_str().starts_with(text)).collect();
    }
    if candidates.is_empty() {
        let wanted = title_key(text);
        candidates = titled(&|title| title_key(title) == wanted);
    }
    // If a conversation was deleted twice, its newest entry is meant, as when it is named by its id.
    let mut seen = BTreeSet::new();
    candidates.retain(|entry| seen.insert(entry.id.as_str()));
    match candidates[..] {
        [entry] => {
            let found = store.trashed(&entry.id).await?;
            found.ok_or_else(|| StoreError::no_session(&entry.id).into())
        }
        [] => Err(FindTrashedError::NotFound { text: text.to_owned() }),
        _ => {
            let candidates = candidates.into_iter().cloned().collect();
            Err(FindTrashedError::Ambiguous { text: text.to_owned(), candidates })
        }
    }
}

/// A conversation that was restored.
#[derive(Debug)]
pub struct RestoreReport {
    /// Counts reported by the store.
    pub restored: Restored,
    /// Transcript files that were moved back, and those that could not be.
    pub transcripts: Removed,
}

/// Restores a conversation from the trash, with its transcripts. `members` are the sessions of the entry, as [`find`]
/// returns them.
///
/// # Errors
/// If the store fails; the transcripts are then where their conversation is.
pub async fn restore(
    store: &dyn Maintenance,
    entry: &Trashed,
    members: &[SessionId],
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Result<RestoreReport, StoreError> {
    // Files first: after an interruption the same call still finds the entry in the trash.
    let moved = transcripts.map_or_else(Removed::default, |transcripts| transcripts.bring_back(members, entry));
    match store.restore(&entry.id, &Request::at(now)).await {
        Ok(restored) => Ok(RestoreReport { restored, transcripts: moved }),
        Err(error) => {
            if let Some(transcripts) = transcripts {
                undo_restore(store, transcripts, moved.moved, members, entry).await;
            }
            Err(error)
        }
    }
}

/// Moves transcripts that were brought back to where their conversation is now: another process may have restored it,
/// or emptied the trash. If the store can't tell, they stay visible. Failures are only logged: the caller has an error
/// already.
async fn undo_restore(
    store: &dyn Maintenance,
    transcripts: &Transcripts,
    moved: Vec<PathBuf>,
    members: &[SessionId],
    entry: &Trashed,
) {
    match store.trashed(&entry.id).await {
        // Files that are left behind were logged there.
        Ok(Some((there, _))) if there.number == entry.number => _ = transcripts.put_these_away(moved, entry),
        Ok(_) => _ = transcripts.remove(&missing(store, members.to_vec()).await),
        Err(error) => {
            let (number, files) = (entry.number, moved.len());
            warn!(
                number,
                files,
                error = error.kind(),
                "transcripts stay outside the trash: not known where their conversation is"
            );
        }
    }
}

/// Entries that were deleted permanently.
#[derive(Debug, Default)]
pub struct EmptyReport {
    /// The entries.
    pub entries: Vec<Trashed>,
    /// Transcript files that were removed, and those that could not be.
    pub transcripts: Removed,
}

/// Permanently deletes those of the entries that are unchanged, with their transcripts.
///
/// An interrupted deletion may have left transcripts outside the trash: those of sessions that no longer exist are
/// removed too.
///
/// # Errors
/// If the store fails.
pub async fn empty(
    store: &dyn Maintenance,
    seen: Vec<Trashed>,
    transcripts: Option<&Transcripts>,
) -> Result<EmptyReport, StoreError> {
    if seen.is_empty() {
        return Ok(EmptyReport::default());
    }
    let mut members: Vec<SessionId> = Vec::new();
    for entry in &seen {
        members.extend(store.trashed(&entry.id).await?.into_iter().flat_map(|(_, members)| members));
    }
    let entries = store.empty_trash(&Emptying::These(seen)).await?;
    let mut removed = Removed::default();
    if let Some(transcripts) = transcripts {
        entries.iter().for_each(|entry| removed.add(transcripts.forget(entry)));
        removed.add(transcripts.remove(&missing(store, members).await));
    }
    info!(entries = entries.len(), files = removed.files, left = removed.left.len(), "trash emptied");
    Ok(EmptyReport { entries, transcripts: removed })
}

/// Permanently deletes expired entries.
///
/// # Errors
/// If the store fails.
pub async fn empty_expired(
    store: &dyn Maintenance,
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Result<EmptyReport, StoreError> {
    // Reading waits for no writer, and usually nothing has expired.
    let mut expired = entries(store).await?;
    expired.retain(|entry| entry.until <= now);
    empty(store, expired, transcripts).await
}

/// Returns the sessions that are neither in the store nor in the trash. A session that can't be read counts as
/// existing.
pub async fn missing(store: &dyn Maintenance, sessions: Vec<SessionId>) -> Vec<SessionId> {
    let mut missing: Vec<SessionId> = Vec::new();
    for session in sessions {
        match is_missing(store, &session).await {
            Ok(true) => missing.push(session),
            Ok(false) => {}
            Err(error) => {
                warn!(session = ?session.as_str(), error = error.kind(), "not known whether the session is gone")
            }
        }
    }
    missing
}

async fn is_missing(store: &dyn Maintenance, session: &SessionId) -> Result<bool, StoreError> {
    Ok(store.session(session).await?.is_none() && store.trashed(session).await?.is_none())
}
