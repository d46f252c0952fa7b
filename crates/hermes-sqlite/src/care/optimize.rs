//! Converts a file to the compact layout in short steps. Each step is a transaction of its own, and any process can
//! continue from there.

use crate::calls::maintenance;
use crate::error::Failure;
use crate::index::indexes::{self, Progress};
use crate::open::notice::CopyBefore;
use crate::open::schema;
use crate::write::database::Database;
use hermes_session::{IndexHealth, Optimizing};
use std::path::Path;

/// Does one more step of the conversion.
pub(crate) fn step(database: &Database) -> Result<Optimizing, Failure> {
    if !indexes::needs_rebuild(database)? {
        return Ok(Optimizing::Done);
    }
    if indexes::wants_rebuild(database)? {
        indexes::convert(database)?;
    }
    Ok(match indexes::rebuild_step(database)? {
        Progress::Built { up_to } => {
            let (first, last) = bounds(database)?;
            Optimizing::Building { done: up_to.abs_diff(first), total: last.abs_diff(first) }
        }
        Progress::Clearing => Optimizing::Clearing,
        Progress::Done => Optimizing::Done,
    })
}

/// Keeps a copy of the file at `path` if the next step begins to replace full-text tables that an agent made. Returns
/// `None` if it does not.
pub(crate) fn keep_copy(database: &Database, path: &Path) -> Result<Option<CopyBefore>, Failure> {
    let is_agents = |index| database.layout().look(index).kind == indexes::Kind::Inline;
    if !indexes::INDEXES.into_iter().any(is_agents) || !indexes::wants_rebuild(database)? {
        return Ok(None);
    }
    let version = schema::version(database)?.unwrap_or(schema::VERSION);
    let source = maintenance::open_again(database, path)?;
    Ok(Some(schema::keep_copy(&source, path, version)?))
}

/// Returns the ids of the first and the last message; 0 if there is none.
pub(crate) fn bounds(database: &Database) -> Result<(i64, i64), Failure> {
    Ok(database
        .prepare_cached(
            "SELECT coalesce((SELECT min(id) FROM messages), 0), coalesce((SELECT max(id) FROM messages), 0)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Returns the state of the indexes, from a few small tables and a count of rows.
pub(crate) fn health(database: &Database) -> Result<IndexHealth, Failure> {
    if database.layout().is_torn() {
        return Ok(IndexHealth::Broken { why: "a table of the indexes is missing".to_owned() });
    }
    let lost = indexes::lost(database)?.len() as u64;
    // Only a rebuild indexes those again.
    if lost > 0 && !indexes::is_ours(database)? {
        return Ok(IndexHealth::Broken { why: format!("messages_fts lacks {lost} of the messages") });
    }
    let behind = indexes::backlog(database)? + lost;
    Ok(match behind.max(indexes::own_backlog(database)?) {
        0 => IndexHealth::Whole,
        messages => IndexHealth::Behind { messages },
    })
}
