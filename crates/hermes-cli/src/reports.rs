//! Results of commands, as data that `ui` prints.

mod diagnosis;

pub(crate) use diagnosis::{Degree, Diagnosis, Fix, Item};

use hermes_rescue::{Erased, Repaired};
use hermes_session::{Deleted, SessionId, StoreStatus};
use hermes_store::Shrunk;
use std::path::PathBuf;
use std::time::Duration;

/// Result of adopting a store.
pub(crate) struct Adopted {
    pub(crate) location: String,
    /// Whether the store was adopted already.
    pub(crate) was_adopted: bool,
    /// The tables, indexes, views and triggers that were added; empty on a server.
    pub(crate) added: Vec<String>,
    /// Notices of the store, such as where a copy is kept.
    pub(crate) notices: Vec<String>,
    /// Whether `detach` can undo it.
    pub(crate) is_file: bool,
}

/// A store before and after it was optimized.
pub(crate) struct Optimized {
    pub(crate) before: StoreStatus,
    pub(crate) after: StoreStatus,
    pub(crate) shrunk: Shrunk,
}

/// Result of erasing.
pub(crate) struct EraseOutcome {
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
    pub(crate) deleted: Deleted,
    /// Number of transcript files that were removed.
    pub(crate) files: u64,
    /// The proof for a file; `None` for a server.
    pub(crate) erased: Option<Erased>,
    /// Other files that hold some of the erased data.
    pub(crate) elsewhere: Vec<PathBuf>,
}

/// Result of repairing a damaged file.
pub(crate) struct RepairOutcome {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) repaired: Repaired,
    /// The marker beside the damaged file, if it has one.
    pub(crate) marker: Option<PathBuf>,
    pub(crate) took: Duration,
}
