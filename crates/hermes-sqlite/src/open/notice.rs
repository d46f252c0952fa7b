//! What a person should be told once about a file that was opened.

use std::fmt;
use std::path::PathBuf;

/// Something that was done, or left undone, when a file was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The file was adopted: so many objects of ours were added.
    Adopted { added: u64, copy: CopyBefore },
    /// A copy was kept before something of the agent's was replaced, or there was no room for one.
    Replacing { what: &'static str, copy: CopyBefore },
    /// Sessions shared a title, which the schema does not allow; one of them was renamed.
    TitleChanged { session: String, before: String, after: Option<String> },
    /// The agent's version table had more than one row; only the highest was kept.
    VersionRowsRemoved { kept: i64, removed: Vec<String> },
    /// Old messages are not in the search index yet. They are indexed in the background, and the rest when the store is closed.
    IndexBehind,
    /// The file was readable by others.
    ModeMended(PathBuf),
    /// The file system can't share the write-ahead log, so the rollback journal is used.
    NoWriteAheadLog { kind: &'static str },
    /// The file uses the write-ahead log on a file system that can't share it.
    LogOnBadFileSystem { kind: &'static str },
    /// An import brought what the tables had no columns for, which were added as newer agents have them.
    ColumnsAdded(Vec<String>),
    /// Nothing can be written.
    ReadOnly,
}

/// What became of the copy that is kept before rows or objects of the agent are altered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CopyBefore {
    /// Nothing of the agent's was altered.
    NotNeeded,
    Kept(PathBuf),
    NoRoom,
}

impl fmt::Display for CopyBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNeeded => write!(f, "no copy was kept, because the agent's own tables stay as they are"),
            Self::Kept(path) => write!(f, "a copy of the file as it was before is in {}", path.display()),
            Self::NoRoom => write!(f, "there was no room for a copy of the file as it was before"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adopted { added, copy } => write!(
                f,
                "the file was adopted: {added} tables, indexes and triggers of ours (hx_…) were added to it; {copy}; `hermes sessiondb detach` takes \
                 them out again"
            ),
            Self::Replacing { what, copy } => write!(f, "{what} are being replaced; {copy}"),
            Self::TitleChanged { session, before, after: Some(after) } => {
                write!(f, "two sessions were called {before:?}; session {session} is now called {after:?}")
            }
            Self::TitleChanged { session, before, after: None } => {
                write!(f, "two sessions were called {before:?}; session {session} has no title now")
            }
            Self::VersionRowsRemoved { kept, removed } => {
                write!(f, "schema_version had several rows; kept {kept}, removed {}", removed.join(", "))
            }
            Self::IndexBehind => {
                write!(f, "old messages are not in the search index yet; hermes adds them before it exits")
            }
            Self::ModeMended(path) => write!(f, "{} was open to others; now it is its owner's alone", path.display()),
            Self::NoWriteAheadLog { kind } => {
                write!(
                    f,
                    "the store is on {kind}, where a write-ahead log is not safe; writing is slower, and one writer at a time blocks readers"
                )
            }
            Self::LogOnBadFileSystem { kind } => write!(
                f,
                "the store uses a write-ahead log on {kind}, where that is not safe; move it to a local disk, or stop every agent and run: PRAGMA journal_mode=DELETE"
            ),
            Self::ColumnsAdded(columns) => {
                write!(f, "columns of newer agents were added for what was imported: {}", columns.join(", "))?;
                match columns.iter().any(|column| column == "messages.active") {
                    true => write!(f, "; an agent older than 0.16 would replay messages that are compacted or undone"),
                    false => Ok(()),
                }
            }
            Self::ReadOnly => write!(f, "the store can't be written here; it is read only"),
        }
    }
}
