//! How a file is opened.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How a file is opened and how patient its calls are.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// How long a call waits for another process's lock before it answers [`Busy`](hermes_session::StoreError::Busy).
    pub wait: Duration,
    /// Whether a file that is not there is made.
    pub create: bool,
    /// Whether the file is only read. It is opened with `SQLITE_OPEN_READONLY` and neither adopted nor changed: its content, its WAL, its mode and
    /// its time stay as they are, and no file of ours is made beside it. A write answers
    /// [`ReadOnly`](hermes_session::StoreError::ReadOnly).
    pub read_only: bool,
    /// When a file that an agent made, and that we have not adopted yet, is adopted.
    pub adopt: Adopt,
    /// How surely a write is on disk when it is answered.
    pub synchronous: Synchronous,
    /// Whether the store does by itself, when it has nothing else to do, what [`upkeep`](hermes_session::Maintenance::upkeep) does when it is
    /// asked. Where it does not, somebody has to ask for it now and then.
    pub background: bool,
    /// Whether what is deleted is overwritten where it stood.
    pub overwrite: bool,
    /// Indexes the whole backlog when the store is closed; without it, closing stops indexing after 200 ms. For processes that end soon: until
    /// the backlog is indexed, an agent that searches the file does not find those messages.
    pub index_at_close: Option<IndexAtClose>,
}

/// Watches the indexing of a backlog while a store is closed.
#[derive(Clone)]
pub struct IndexAtClose(Arc<dyn Fn(u64, u64) -> bool + Send + Sync>);

impl IndexAtClose {
    /// Calls `watch` before each step with the messages that are indexed and all of the backlog. Indexing stops if it returns `false`; the next
    /// process continues.
    pub fn new(watch: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(watch))
    }

    /// Returns whether to go on.
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
    /// When the first write is asked for; until then it is read as with [`SqliteOptions::read_only`], and what the adoption has to report is in
    /// [`notices`](hermes_session::Maintenance::notices) afterwards. A file that is adopted already, or is to be created, is opened for writing
    /// at once.
    OnFirstWrite,
    /// When it is opened if its schema is older than 11, because the agent's own store would upgrade it then; otherwise as
    /// [`Adopt::OnFirstWrite`].
    OldAtOpen,
}

/// How surely a write is on disk when it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// It survives a power cut.
    #[default]
    Full,
    /// It survives the end of the process, and a power cut a while later. Nothing is ever torn. A file without a
    /// write-ahead log is kept as with `Full`.
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
