//! How a file is opened.

use std::time::Duration;

/// How a file is opened and how patient its calls are.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// How long a call waits for another process's lock before it answers [`Busy`](hermes_session::StoreError::Busy).
    pub wait: Duration,
    /// Whether a file that is not there is made.
    pub create: bool,
    /// Whether the file is only read: it is neither brought into use nor changed, whatever it is and whoever may write it.
    pub read_only: bool,
    /// How surely a write is on disk when it is answered.
    pub synchronous: Synchronous,
    /// Whether the store does by itself, when it has nothing else to do, what [`upkeep`](hermes_session::Maintenance::upkeep) does when it is
    /// asked. Where it does not, somebody has to ask for it now and then.
    pub background: bool,
    /// Whether what is deleted is overwritten where it stood.
    pub overwrite: bool,
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
            synchronous: Synchronous::Full,
            background: true,
            overwrite: false,
        }
    }
}
