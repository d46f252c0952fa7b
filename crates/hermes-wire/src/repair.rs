//! The result of repairing a damaged file.

use crate::transfer::TransferFinding;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of repairing a damaged file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Repaired<'a> {
    /// The damaged file.
    pub from: String,
    /// The new store.
    pub to: String,
    /// How many sessions the new store holds.
    pub sessions: u64,
    /// How many messages it holds.
    pub messages: u64,
    /// Pages of the damaged file.
    pub pages: u64,
    /// Damaged places in those pages.
    pub damaged: u64,
    /// Pages that were read from the WAL.
    pub log_frames: u64,
    /// Damaged pages of the WAL.
    pub damaged_frames: u64,
    /// The rows that were saved of each table.
    pub tables: Vec<SavedTable<'a>>,
    /// How many things are missing in the new store, or changed.
    pub found: u64,
    /// The first 1,000 of these things.
    pub findings: Vec<TransferFinding<'a>>,
    /// Rows on pages that no table refers to any more.
    pub stray_rows: u64,
    /// Sessions that were rebuilt from the indexes.
    pub rebuilt_sessions: u64,
    /// Sessions that were rebuilt from their messages alone.
    pub recovered_sessions: u64,
    /// Sessions that were being deleted or imported, and were left out.
    pub hidden_sessions: u64,
    /// Whether deleted messages may be back; see [repair.md](repair.md).
    pub may_revive: bool,
    /// Whether tables were recognised by the shape of their rows.
    pub guessed: bool,
    /// Whether the file changed while it was read.
    pub changed: bool,
    /// Whether there is a rollback journal beside the file.
    pub journal: bool,
    /// Whether the new store holds everything that was read.
    pub proven: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// The rows that were saved of a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedTable<'a> {
    /// The table.
    pub table: &'a str,
    /// Rows that were saved.
    pub saved: u64,
    /// Rows whose end is lost.
    pub cut: u64,
    /// Rows that are lost.
    pub lost: u64,
    /// Whether it is certain that no more rows are lost.
    pub certain: bool,
}
