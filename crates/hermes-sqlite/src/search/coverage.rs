//! Which messages the indexes cover, and which have to be scanned.

use crate::error::Failure;
use crate::index::{indexes, vocabulary};
use crate::write::database::Database;

/// The messages that the indexes cover.
#[derive(Debug)]
pub(super) enum Coverage {
    /// All but `unknown`, which is sorted.
    But {
        unknown: Vec<i64>,
        /// How many of these are not indexed yet; the others have words that no index takes.
        behind: u64,
    },
    /// None: the indexes can't be used.
    Nothing,
}

impl Coverage {
    /// Determines the coverage of the indexes.
    pub(super) fn of(database: &Database) -> Result<Self, Failure> {
        if !database.layout().can_be_asked() {
            return Ok(Self::Nothing);
        }
        let mut unknown = indexes::unindexed(database)?;
        unknown.extend(indexes::lost(database)?);
        unknown.sort_unstable();
        unknown.dedup();
        let behind = unknown.len() as u64;
        unknown.extend(vocabulary::unlisted(database, None, usize::MAX)?);
        unknown.sort_unstable();
        unknown.dedup();
        Ok(Self::But { unknown, behind })
    }

    /// Returns the messages that no index covers; `None` if the indexes can't be used.
    pub(super) fn unknown(&self) -> Option<&[i64]> {
        match self {
            Self::But { unknown, .. } => Some(unknown),
            Self::Nothing => None,
        }
    }
}
