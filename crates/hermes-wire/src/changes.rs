//! Changes: renaming, deleting, pruning, exporting, importing.

use hermes_session::StateCounts;
use schemars::JsonSchema;
use serde::Serialize;

/// A session with its new title.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Renamed<'a> {
    /// The session.
    pub id: &'a str,
    /// The title, as it is stored.
    pub title: &'a str,
}

/// A conversation or a delegate that was deleted. If several are deleted, one object is printed for each, one per line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted<'a> {
    /// Whether nothing was changed: with `--dry-run`, the object describes what would be deleted.
    pub dry_run: bool,
    /// The session in which the conversation continued.
    pub id: &'a str,
    /// If it was a delegate: the conversation that sent it and stays.
    pub sent_from: Option<&'a str>,
    /// How many sessions were deleted.
    pub sessions: u64,
    /// How many messages were deleted, of every state: active, compacted and undone.
    pub messages: u64,
    /// How many transcript files of the agent were removed.
    pub files: u64,
    /// Until when it can be restored; `null` if it can't.
    pub until: Option<f64>,
    /// The process that owned the conversation, as it described itself; it can write nothing more to it.
    pub owner: Option<&'a str>,
}

/// With `--dry-run`: the conversations that would be deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrunePlan<'a> {
    /// `true`: nothing was deleted.
    pub dry_run: bool,
    /// The conversations that would be deleted.
    pub conversations: Vec<PruneCandidate<'a>>,
    /// How many conversations are old enough and stay because they are pinned.
    pub pinned: u64,
}

/// A conversation that would be deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PruneCandidate<'a> {
    /// Its last session.
    pub id: &'a str,
    /// Its first session.
    pub conversation: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// The beginning of its first message; empty if there is none.
    pub preview: &'a str,
    /// Its source.
    pub source: &'a str,
    /// The ids of all its sessions.
    pub sessions: Vec<&'a str>,
    /// How many messages it has.
    pub message_count: u64,
    /// The time of its newest message, or its start.
    pub last_active: f64,
}

/// Without `--dry-run`: the counts of deleted data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pruned {
    /// `false`: conversations were deleted.
    pub dry_run: bool,
    /// How many conversations were deleted.
    pub conversations: u64,
    /// How many sessions were deleted with them.
    pub sessions: u64,
    /// How many messages were deleted with them.
    pub messages: u64,
    /// How many conversations were kept because they became active, or were pinned, in the meantime.
    pub kept: u64,
    /// How many conversations are old enough and stay because they are pinned.
    pub pinned: u64,
    /// How many transcript files of the agent were removed.
    pub files: u64,
}

/// A file that was written. Its form is in [export-format.md](export-format.md).
#[derive(Debug, Serialize, JsonSchema)]
pub struct Exported {
    /// The path, absolute.
    pub path: String,
    /// `jsonl` or `markdown`.
    pub format: &'static str,
    /// How many sessions it holds.
    pub sessions: u64,
    /// How many messages it holds.
    pub messages: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// With `--redact`: the secrets that were masked, by session and kind.
    pub masked: Vec<Masked>,
}

/// Secrets that were masked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Masked {
    /// The session.
    pub session_id: String,
    /// Their kind, as in the text in their place: `[redacted: github token]`.
    pub kind: &'static str,
    /// Their number.
    pub count: u64,
}

/// The result of an import. The exit code is 1 if there are conflicts or bad lines; everything else is imported all the
/// same.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Imported<'a> {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// How many sessions were imported.
    pub sessions: u64,
    /// How many messages were imported.
    pub messages: u64,
    /// Those messages by state.
    pub states: MessageStates,
    /// Sessions that exist already with the same content.
    pub skipped: u64,
    /// Sessions that exist already with other content; they stay as they are.
    pub conflicts: u64,
    /// Conversations that were moved back to the trash, from a file that `sessiondb detach` wrote.
    pub trashed: u64,
    /// Conversations that got a pin or tags, from such a file.
    pub marked: u64,
    /// Lines that could not be read.
    pub bad: u64,
    /// The first 1,000 findings.
    pub findings: Vec<ImportFinding<'a>>,
}

/// A finding of an import.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportFinding<'a> {
    /// The file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u64,
    /// The session, if it is known.
    pub session_id: Option<&'a str>,
    /// `bad`, `conflict`, `title`, `parent` or `column`.
    pub kind: &'a str,
    /// A description of the finding.
    pub what: &'a str,
}

/// Messages by state.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MessageStates {
    /// Active messages.
    pub active: u64,
    /// Compacted messages.
    pub compacted: u64,
    /// Undone messages.
    pub undone: u64,
}

impl From<StateCounts> for MessageStates {
    fn from(states: StateCounts) -> Self {
        Self { active: states.active, compacted: states.compacted, undone: states.undone }
    }
}
