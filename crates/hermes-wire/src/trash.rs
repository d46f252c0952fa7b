//! The trash.

use hermes_session::Trashed;
use schemars::JsonSchema;
use serde::Serialize;

/// The content of the trash.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trash<'a> {
    /// The entries that can be restored, newest first.
    pub trash: Vec<TrashEntry<'a>>,
}

/// A deleted conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrashEntry<'a> {
    /// The session in which the conversation continued.
    pub id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its source.
    pub source: &'a str,
    /// How many sessions it has.
    pub sessions: u64,
    /// How many messages it has.
    pub messages: u64,
    /// When it was deleted.
    pub deleted_at: f64,
    /// Until when it can be restored.
    pub until: f64,
}

impl<'a> From<&'a Trashed> for TrashEntry<'a> {
    fn from(entry: &'a Trashed) -> Self {
        Self {
            id: entry.id.as_str(),
            title: entry.title.as_deref(),
            source: &entry.source,
            sessions: entry.sessions,
            messages: entry.messages,
            deleted_at: entry.deleted_at.seconds(),
            until: entry.until.seconds(),
        }
    }
}

impl<'a> From<&'a [Trashed]> for Trash<'a> {
    fn from(entries: &'a [Trashed]) -> Self {
        Self { trash: entries.iter().map(TrashEntry::from).collect() }
    }
}

/// The conversations that were deleted permanently.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Emptied<'a> {
    /// The conversations.
    pub deleted: Vec<TrashEntry<'a>>,
    /// How many transcript files of the agent were removed with them.
    pub files: u64,
}

/// A conversation that was restored. If several are restored, one object is printed for each, one per line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Restored<'a> {
    /// The session in which the conversation continues.
    pub id: &'a str,
    /// How many sessions were restored.
    pub sessions: u64,
    /// How many messages were restored.
    pub messages: u64,
    /// How many transcript files were restored.
    pub files: u64,
    /// Sessions that were restored with another title, because another session has theirs by now.
    pub retitled: Vec<Retitled<'a>>,
}

/// A session that was restored with another title.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Retitled<'a> {
    /// The session.
    pub id: &'a str,
    /// The title it had.
    pub had: &'a str,
    /// The title it has; `null` if none was free.
    pub title: Option<&'a str>,
}

impl<'a> Restored<'a> {
    /// Returns the report for an entry that was restored, with `files` transcripts.
    pub fn new(entry: &'a Trashed, restored: &'a hermes_session::Restored, files: u64) -> Self {
        let retitled = restored.retitled.iter();
        Self {
            id: entry.id.as_str(),
            sessions: restored.sessions,
            messages: restored.messages,
            files,
            retitled: retitled
                .map(|one| Retitled { id: one.id.as_str(), had: &one.had, title: one.has.as_deref() })
                .collect(),
        }
    }
}
