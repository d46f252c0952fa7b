//! Messages that the word index lost: they are neither in it nor in the backlog.
//!
//! Only a count of rows shows this. Counting takes about 10 ms for 100,000 messages the first time and 1.5 ms after
//! that. So a connection counts once, and again only if the row count of FTS5 changed by another number than that of
//! the new messages.

use super::{Index, Kind, health, pending};
use crate::error::Failure;
use crate::write::database::Database;

/// Maximum number of ranges of lost messages that one step records; each takes a few microseconds under the write lock.
const MAX_STRETCHES: usize = 2_000;

/// A snapshot of the counts of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// [`Database::stamp`].
    stamp: (i64, u64),
    /// The id of the newest message.
    newest: i64,
    /// The number of rows in the index as FTS5 counts them, plus the backlog.
    accounted: u64,
    /// The ids of lost messages, in order.
    lost: Vec<i64>,
}

impl Census {
    fn take(database: &Database) -> Result<Self, Failure> {
        let newest =
            database.prepare_cached("SELECT coalesce(max(id), 0) FROM messages")?.query_row([], |row| row.get(0))?;
        Ok(Self {
            stamp: database.stamp()?,
            newest,
            accounted: super::totals(database)?.0 + pending::backlog(database)?,
            lost: Vec::new(),
        })
    }

    /// Returns whether the messages added since explain the difference to a later census.
    fn explains(&self, later: &Self, database: &Database) -> Result<bool, Failure> {
        let added: i64 = database
            .prepare_cached("SELECT count(*) FROM messages WHERE id > ?")?
            .query_row([self.newest], |row| row.get(0))?;
        Ok(self.lost.is_empty() && later.accounted == self.accounted + added.unsigned_abs())
    }
}

/// Returns the messages that the word index lost, in order.
pub(crate) fn lost(database: &Database) -> Result<Vec<i64>, Failure> {
    if database.layout().look(Index::Words).kind == Kind::Missing {
        return Ok(Vec::new());
    }
    let mut now = Census::take(database)?;
    match database.census() {
        Some(last) if last.stamp == now.stamp => return Ok(last.lost),
        Some(last) if last.explains(&now, database)? => {}
        _ => now.lost = look(database)?,
    }
    let lost = now.lost.clone();
    database.set_census(now);
    Ok(lost)
}

/// Counts rows, and lists missing ones only if the counts differ.
fn look(database: &Database) -> Result<Vec<i64>, Failure> {
    let count = |table: &str| -> Result<u64, Failure> {
        let sql = format!("SELECT count(*) FROM {table}");
        Ok(database.prepare_cached(&sql)?.query_row([], |row| row.get::<_, i64>(0))?.unsigned_abs())
    };
    let should_be = count("messages")?.saturating_sub(pending::backlog(database)?);
    if count("messages_fts_docsize")? >= should_be {
        return Ok(Vec::new());
    }
    let mut statement = database.prepare_cached(&format!(
        "SELECT m.id FROM messages m WHERE NOT EXISTS (SELECT 1 FROM messages_fts_docsize d WHERE d.id = m.id) AND NOT {} \
         ORDER BY m.id",
        pending::holds("m.id")
    ))?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Puts lost messages into the backlog. Returns whether there were any.
///
/// Nothing is recorded in a file of a newer agent that keeps its own indexes: there every search scans the lost
/// messages, until `optimize` runs.
pub(crate) fn note_lost(database: &Database) -> Result<bool, Failure> {
    if !health::is_ours(database)? {
        return Ok(false);
    }
    let lost = lost(database)?;
    for stretch in lost.chunk_by(|one, next| *next == one + 1).take(MAX_STRETCHES) {
        database
            .prepare_cached("INSERT INTO hx_pending (first, last) VALUES (?, ?)")?
            .execute([stretch[0], stretch[stretch.len() - 1]])?;
    }
    Ok(!lost.is_empty())
}
