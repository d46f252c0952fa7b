//! Tools for a SQLite store that work on its file and are no part of the store contract: salvage the rows of a damaged
//! file into a new store ([`repair`]), erase a conversation and prove that its bytes are gone ([`erase`]), and put a
//! backup in a store's place ([`restore_backup`]).
//!
//! | module | holds |
//! |---|---|
//! | `salvage` | reads a damaged file page by page, without SQLite |
//! | `repair` | makes a new store from the salvaged rows, and proves it |
//! | `erase` | removes a conversation, rewrites the file and scans its bytes |
//! | `restore_backup` | replaces a store's content by that of a verified backup |
//!
//! SQLite connections, copies and stored forms come from [`hermes_sqlite::file`].

#![warn(missing_docs)]

mod erase;
mod repair;
mod restore_backup;
mod salvage;

pub use erase::{ErasePhase, Erased, Left, Rewritten, erase, erasing, finish_erasing, look_through};
pub use repair::{RepairPhase, Repaired, repair};
pub use restore_backup::{BackupRestored, restore_backup};
pub use salvage::{Salvage, SalvagedTable};

/// Quotes a name for SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
