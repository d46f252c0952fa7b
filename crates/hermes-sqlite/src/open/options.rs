//! Options for opening a file.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Options for opening a file, and how long its calls wait.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// How long a call waits for another process's lock before it fails with
    /// [`Busy`](hermes_session::StoreError::Busy).
    pub wait: Duration,
    /// Whether a missing file is created.
    pub create: bool,
    /// Whether the file is only read. It is opened with `SQLITE_OPEN_READONLY` and neither adopted nor changed: its
    /// content, WAL, mode and times stay as they are, and no file of ours is created beside it. A write fails with
    /// [`ReadOnly`](hermes_session::StoreError::ReadOnly).
    pub read_only: bool,
    /// When a file that an agent made is adopted.
    pub adopt: Adopt,
    /// How durable a write is when it is acknowledged.
    pub synchronous: Synchronous,
    /// Whether the store runs [`upkeep`](hermes_session::Maintenance::upkeep) by itself when it is idle. If not, the
    /// caller has to run it now and then.
    pub background: bool,
    /// Whether deleted data is overwritten in place.
    pub overwrite: bool,
    /// Indexes the whole backlog when the store is closed. If `None`, closing stops indexing after 200 ms. For
    /// processes that end soon: until the backlog is indexed, an agent that searches the file does not find those
    /// messages.
    pub index_at_close: Option<IndexAtClose>,
}

/// Watches the indexing of a backlog while a store is closed.
#[derive(Clone)]
pub struct IndexAtClose(Arc<dyn Fn(u64, u64) -> bool + Send + Sync>);

impl IndexAtClose {
    /// Calls `watch` before each step with the number of messages indexed so far and the size of the backlog. Indexing
    /// stops if it returns `false`; the next process continues.
    pub fn new(watch: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(watch))
    }

    /// Returns whether to continue.
    pub(crate) fn goes_on(&self, done: u64, total: u64) -> bool {
        (self.0)(done, total)
    }
}

impl fmt::Debug for IndexAtClose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexAtClose")
    }
}

/// When a file of an agent is adopted, that is, when our side tables are added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Adopt {
    /// When it is opened.
    #[default]
    AtOpen,
    /// At the first write. Until then it is read as with [`SqliteOptions::read_only`]; the adoption adds its notices to
    /// [`notices`](hermes_session::Maintenance::notices). A file that is already adopted, or is to be created, is
    /// opened for writing at once.
    OnFirstWrite,
    /// When it is opened if its schema is older than 11, because the agent's own store would upgrade it then; otherwise
    /// like [`Adopt::OnFirstWrite`].
    OldAtOpen,
}

/// How durable a write is when it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// It survives a power cut.
    #[default]
    Full,
    /// It survives the end of the process, but a power cut only a while later. No write is ever torn. A file without a
    /// WAL is synced as with `Full`.
    Normal,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(60),
            create: true,
            read_only: false,
            adopt: Adopt::AtOpen,
            synchronous: Synchronous::Full,
            background: true,
            overwrite: false,
            index_at_close: None,
        }
    }
}
