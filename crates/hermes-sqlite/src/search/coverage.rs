//! What the indexes know of the messages, and what has to be looked through.

use crate::error::Failure;
use crate::index::{indexes, vocabulary};
use crate::write::database::Database;

/// Which messages the indexes know.
#[derive(Debug)]
pub(super) enum Coverage {
    /// All but these, in order.
    But {
        unknown: Vec<i64>,
        /// How many of these are to be indexed yet; the others have words that no index takes.
        behind: u64,
    },
    /// They can't be used.
    Nothing,
}

impl Coverage {
    /// Looks at the indexes.
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

    /// The messages that no index knows; nothing if that is all of them.
    pub(super) fn unknown(&self) -> Option<&[i64]> {
        match self {
            Self::But { unknown, .. } => Some(unknown),
            Self::Nothing => None,
        }
    }
}
