//! What commands found or did, as data that `ui` prints.

mod diagnosis;

pub(crate) use diagnosis::{Degree, Diagnosis, Item, Mend};

use hermes_rescue::{Erased, Repaired};
use hermes_session::{Deleted, SessionId, StoreStatus};
use hermes_store::Shrunk;
use std::path::PathBuf;
use std::time::Duration;

/// What adopting a store did.
pub(crate) struct Adopted {
    pub(crate) location: String,
    /// Whether there was nothing to do.
    pub(crate) was_adopted: bool,
    /// The tables, indexes, views and triggers that were added; none on a server.
    pub(crate) added: Vec<String>,
    /// What there is to report, such as where a copy is kept.
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

/// What was erased.
pub(crate) struct EraseOutcome {
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
    pub(crate) deleted: Deleted,
    /// How many transcript files were removed.
    pub(crate) files: u64,
    /// The proof for a file; `None` for a server.
    pub(crate) erased: Option<Erased>,
    /// Other files that hold some of it.
    pub(crate) elsewhere: Vec<PathBuf>,
}

/// What was saved of a damaged file.
pub(crate) struct RepairOutcome {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) repaired: Repaired,
    pub(crate) took: Duration,
}
