//! Notices for the user about a file that was opened.

use std::fmt;
use std::path::PathBuf;

/// Something that was done, or not done, when a file was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The file was adopted: `added` objects of ours were created. If `replaces`, what follows replaces the agent's
    /// full-text tables.
    Adopted { added: u64, copy: CopyBefore, replaces: bool },
    /// A copy was kept before objects of the agent were replaced, or there was no room for one.
    Replacing { what: &'static str, copy: CopyBefore },
    /// Sessions shared a title, which the schema does not allow; one of them was renamed.
    TitleChanged { session: String, before: String, after: Option<String> },
    /// The agent's version table had more than one row; only the highest was kept.
    VersionRowsRemoved { kept: i64, removed: Vec<String> },
    /// Old messages are not in the search index yet. They are indexed in the background, and the rest when the store is
    /// closed.
    IndexBehind,
    /// Other users could access the file; this was corrected.
    ModeRestricted { path: PathBuf, before: u32 },
    /// The file system can't share a WAL, so the rollback journal is used.
    NoWriteAheadLog { kind: &'static str },
    /// The file uses a WAL on a file system that can't share it.
    LogOnBadFileSystem { kind: &'static str },
    /// An import needed columns that the tables lacked; they were added as newer agents define them.
    ColumnsAdded(Vec<String>),
    /// The file can't be written.
    ReadOnly,
    /// A later revision of this program wrote the file, so that this one only reads it.
    LaterRevision { revision: i64 },
    /// A verification found damage and recorded it in the marker, which keeps everything from writing.
    DamageRecorded { marker: PathBuf },
    /// A verification found the file sound and removed the marker.
    DamageCleared,
    /// The marker could not be written, or, if the file is sound, not removed.
    DamageNotSettled { is_sound: bool, why: String },
}

/// The outcome of keeping a copy before rows or objects of the agent are altered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CopyBefore {
    /// Nothing of the agent was altered.
    NotNeeded,
    Kept(PathBuf),
    NoRoom,
}

impl Notice {
    /// Adds to the notices about opening a file that its full-text tables are being replaced, of which `copy` was kept.
    pub(crate) fn with_replaced(mut notices: Vec<Self>, copy: CopyBefore) -> Vec<Self> {
        match notices.iter_mut().find(|notice| matches!(notice, Self::Adopted { .. })) {
            Some(Self::Adopted { copy: kept, replaces, .. }) => {
                *replaces = true;
                // Both copies have the file's old content; adopting keeps one only if it alters the agent's tables.
                if *kept == CopyBefore::NotNeeded {
                    *kept = copy;
                }
            }
            _ => notices.push(Self::Replacing { what: "the agent's full-text tables", copy }),
        }
        notices
    }
}

impl fmt::Display for CopyBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNeeded => write!(f, "no copy was kept, because the agent's own tables are unchanged"),
            Self::Kept(path) => write!(f, "the file as it was: {}", path.display()),
            Self::NoRoom => write!(f, "there was no disk space for a copy of the file as it was"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adopted { added, copy, replaces } => {
                let (replaced, undo) = match replaces {
                    true => (", and the agent's full-text tables are being replaced", "undoes both"),
                    false => ("", "removes them"),
                };
                write!(
                    f,
                    "adopted this file: {added} tables, indexes and triggers of ours (hx_…) were added beside the \
                     agent's{replaced}; {copy}; `hermes sessiondb detach` {undo}"
                )
            }
            Self::Replacing { what, copy } => write!(f, "{what} are being replaced; {copy}"),
            Self::TitleChanged { session, before, after: Some(after) } => {
                write!(f, "two sessions had the title {before:?}; session {session} now has the title {after:?}")
            }
            Self::TitleChanged { session, before, after: None } => {
                write!(f, "two sessions had the title {before:?}; session {session} has no title now")
            }
            Self::VersionRowsRemoved { kept, removed } => {
                write!(f, "schema_version had several rows; kept {kept}, removed {}", removed.join(", "))
            }
            Self::IndexBehind => {
                write!(f, "old messages are not in the search index yet; hermes adds them before it exits")
            }
            Self::ModeRestricted { path, before } => {
                write!(f, "{} was accessible to other users; changed its mode from {before:o} to 600", path.display())
            }
            Self::NoWriteAheadLog { kind } => {
                write!(f, "the store is on {kind}, where WAL mode is not safe; writes are slower and block readers")
            }
            Self::LogOnBadFileSystem { kind } => write!(
                f,
                "the store uses WAL mode on {kind}, where that is not safe; move it to a local disk, or stop every agent and run: PRAGMA journal_mode=DELETE"
            ),
            Self::ColumnsAdded(columns) => {
                write!(f, "columns of newer agents were added for the imported data: {}", columns.join(", "))?;
                match columns.iter().any(|column| column == "messages.active") {
                    true => write!(f, "; an agent older than 0.16 would replay messages that are compacted or undone"),
                    false => Ok(()),
                }
            }
            Self::ReadOnly => write!(f, "the store is not writable; opened it read-only"),
            Self::LaterRevision { revision } => {
                write!(f, "a newer hermes (revision {revision}) has written the store; this one only reads it")
            }
            Self::DamageRecorded { marker } => {
                write!(f, "commands that write are refused while {} exists", marker.display())
            }
            Self::DamageCleared => write!(f, "the file is sound again; commands may write to it"),
            Self::DamageNotSettled { is_sound: false, why } => {
                write!(f, "{why}; write nothing to the file before you run `hermes sessions repair`")
            }
            Self::DamageNotSettled { is_sound: true, why } => {
                write!(f, "{why}; remove it yourself, because the file is sound")
            }
        }
    }
}
