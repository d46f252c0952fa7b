//! Facts about a file that every search needs, kept by the connection until the file changes.

use super::coverage::Coverage;
use crate::error::Failure;
use crate::index::indexes;
use crate::index::vocabulary::Lengths;
use crate::write::database::Database;
use std::sync::{Arc, OnceLock};

/// Facts about a file, whatever is searched for.
#[derive(Debug)]
pub(crate) struct Facts {
    /// [`Database::stamp`] of the state that they describe.
    stamp: (i64, u64),
    pub(super) coverage: Coverage,
    /// Id of the newest message.
    pub(super) newest: i64,
    /// Number of messages in the word index; 0 if it can't be used.
    pub(super) indexed: u64,
    /// Average length of a message.
    pub(super) average: f64,
    /// The lengths of all messages, once a search needed them.
    lengths: OnceLock<Lengths>,
}

impl Facts {
    /// Returns the facts about the current state.
    pub(super) fn of(database: &Database) -> Result<Arc<Self>, Failure> {
        let stamp = database.stamp()?;
        if let Some(known) = database.facts().filter(|known| known.stamp == stamp) {
            return Ok(known);
        }
        let facts = Arc::new(Self::with(database, Coverage::of(database)?)?);
        database.set_facts(Arc::clone(&facts));
        Ok(facts)
    }

    /// Returns the facts about the current state for a search with this coverage.
    pub(super) fn with(database: &Database, coverage: Coverage) -> Result<Self, Failure> {
        // Without our indexes there is no table of lengths.
        let ((indexed, tokens), lengths) = match coverage {
            Coverage::But { .. } => (indexes::totals(database)?, OnceLock::new()),
            Coverage::Nothing => ((0, 0), OnceLock::from(Lengths::default())),
        };
        Ok(Self {
            stamp: database.stamp()?,
            coverage,
            newest: newest(database)?,
            indexed,
            average: (tokens as f64 / indexed.max(1) as f64).max(1.0),
            lengths,
        })
    }

    /// Returns whether the lengths of all messages have been read.
    pub(super) fn has_lengths(&self) -> bool {
        self.lengths.get().is_some()
    }

    /// Returns the lengths of all messages that the indexes cover.
    pub(super) fn lengths(&self, database: &Database) -> Result<&Lengths, Failure> {
        if let Some(lengths) = self.lengths.get() {
            return Ok(lengths);
        }
        let lengths = Lengths::load(database)?;
        Ok(self.lengths.get_or_init(|| lengths))
    }
}

/// Returns the id of the newest message; 0 if there is none.
pub(super) fn newest(database: &Database) -> Result<i64, Failure> {
    Ok(database.prepare_cached("SELECT coalesce(max(id), 0) FROM messages")?.query_row([], |row| row.get(0))?)
}
