//! Adopts a file because somebody asked for that.

use crate::notice::{CopyBefore, Notice};
use crate::options::{Adopt, SqliteOptions};
use crate::{connection, place};
use hermes_session::{ReadOnlyReason, StoreError};
use std::path::{Path, PathBuf};

/// What an adoption did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptionReport {
    /// Whether the file was adopted before; then nothing was changed.
    pub was_adopted: bool,
    /// How many tables, indexes, views and triggers of ours were added.
    pub added: u64,
    /// The copy that was kept before rows or objects of the agent were altered; `None` if none was needed or there was no room.
    pub copy: Option<PathBuf>,
    /// Everything there is to report, a sentence each, as [`notices`](hermes_session::Maintenance::notices) returns it.
    pub notices: Vec<String>,
}

/// Adopts the file at `path`, which must exist, and closes it again. Messages that have to be indexed anew follow when the file is in use.
///
/// # Errors
/// As [`SqliteStore::open`](crate::SqliteStore::open); `ReadOnly` if the file can't be written here.
pub fn adopt(path: &Path, options: &SqliteOptions) -> Result<AdoptionReport, StoreError> {
    let path = place::resolve(path)?;
    let options = SqliteOptions { create: false, read_only: false, adopt: Adopt::AtOpen, ..options.clone() };
    let opened = connection::open_writer(&path, &options)?;
    if opened.writer.is_none() {
        let location = path.display().to_string();
        return Err(StoreError::ReadOnly { op: "adopt the file", location, reason: ReadOnlyReason::NotWritable });
    }
    let adopted = opened.notices.iter().find_map(|notice| match notice {
        Notice::Adopted { added, copy } => Some((*added, copy.clone())),
        _ => None,
    });
    let notices = opened.notices.iter().map(Notice::to_string).collect();
    Ok(match adopted {
        Some((added, CopyBefore::Kept(copy))) => {
            AdoptionReport { was_adopted: false, added, copy: Some(copy), notices }
        }
        Some((added, CopyBefore::NotNeeded | CopyBefore::NoRoom)) => {
            AdoptionReport { was_adopted: false, added, copy: None, notices }
        }
        None => AdoptionReport { was_adopted: true, added: 0, copy: None, notices },
    })
}
