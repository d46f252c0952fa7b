//! The SQLite provider: sessions in a `state.db` that the Python agent reads and writes as well.
//!
//! One thread writes, a few read; a call is one job on one of them. The file is touched through SQLite alone:
//! closing any other descriptor of it would drop the locks of the whole process.

#![warn(missing_docs)]

mod adoption;
mod backup;
mod budget;
mod checkpoint;
mod chores;
mod connection;
mod copy;
mod damage;
mod database;
mod deletion;
mod detach;
mod error;
mod extra;
mod facts;
pub mod file;
mod filesystem;
mod foreign;
mod fresh;
mod handoffs;
mod hidden;
mod import;
mod indexes;
mod insights;
mod lineage;
mod listing;
mod log;
mod maintenance;
mod marks;
mod mend;
mod messages;
mod meta;
mod notice;
mod optimize;
mod options;
mod place;
mod presence;
mod private;
mod queue;
mod readers;
mod recount;
mod requests;
mod row;
mod schema;
mod search;
mod sessions;
mod shape;
mod shrink;
mod statistics;
mod store;
mod titles;
mod topics;
mod trash;
mod usage;
mod vacuum;
mod verify;
mod worker;
mod writer;

pub use adoption::{Adoption, adoption};
pub use damage::{clear_damage, note_damage};
pub use detach::{DetachPhase, Detached, Detaching, Holdings, detach, holdings};
pub use facts::{FileFacts, facts};
pub use options::{Adopt, IndexAtClose, SqliteOptions, Synchronous};
pub use shrink::{Shrunk, shrink};
pub use store::SqliteStore;

/// The version of SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
