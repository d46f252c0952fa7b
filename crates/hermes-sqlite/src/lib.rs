//! The SQLite provider: sessions in a `state.db` that the Python agent also reads and writes.
//!
//! One thread writes, a few read; a call is one job on one of them. The file is accessed through SQLite alone: closing
//! any other descriptor of it would drop the locks of the whole process.

#![warn(missing_docs)]

mod calls;
mod care;
mod error;
pub mod file;
mod index;
mod open;
mod search;
mod write;

pub use calls::store::SqliteStore;
pub use care::detach::{DetachPhase, Detached, Detaching, Holdings, detach, holdings};
pub use care::shrink::{Shrunk, shrink};
pub use open::adoption::{Adoption, adoption};
pub use open::damage::{clear_damage, damage_marker};
pub use open::facts::{FileFacts, facts};
pub use open::options::{Adopt, IndexAtClose, SqliteOptions, Synchronous};
pub use write::long_wait::LONG_WAIT;

/// Returns the version of the built-in SQLite.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
