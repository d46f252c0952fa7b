//! Removes our objects: large tables are emptied in steps, then one transaction drops all objects.

use crate::calls::trash;
use crate::error::Failure;
use crate::index::indexes;
use crate::index::indexes::Progress;
use crate::write::budget::Budget;
use crate::write::database::Database;
use hermes_session::Emptying;

/// Request keys deleted by one statement.
const PIECE: i64 = 200;

/// Empties the next part of our large tables. Returns whether there may be more. After an interruption the store can be
/// used: the next upkeep rebuilds our indexes.
pub(super) fn empty_step(database: &Database) -> Result<bool, Failure> {
    if !trash::list(database, None, 1)?.is_empty() {
        trash::empty(database, &Emptying::All)?;
        return Ok(true);
    }
    if trash::sweep(database)? || indexes::own_empty_step(database)? {
        return Ok(true);
    }
    let mut budget = Budget::step();
    let mut keys = database
        .prepare_cached("DELETE FROM hx_request WHERE request_key IN (SELECT request_key FROM hx_request LIMIT ?)")?;
    while keys.execute([PIECE])? > 0 {
        (0..PIECE).for_each(|_| _ = budget.spend());
        if budget.is_spent() {
            return Ok(true);
        }
    }
    // One index per transaction: in a file with many sessions dropping one takes long.
    match names(database, "index")?.first() {
        Some(index) => {
            database.execute_batch(&format!("DROP INDEX {index}"))?;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Removes all our objects and resets `user_version`. Returns `false` and changes nothing if new work is unfinished:
/// the agent may be writing.
pub(super) fn all(database: &Database) -> Result<bool, Failure> {
    let is_outstanding = database.prepare("SELECT 1 FROM hx_hidden UNION ALL SELECT 1 FROM hx_pending")?.exists([])?;
    if is_outstanding || indexes::agents_step(database)? != Progress::Done {
        return Ok(false);
    }
    for kind in ["trigger", "view", "index"] {
        for name in names(database, kind)? {
            database.execute_batch(&format!("DROP {kind} {name}"))?;
        }
    }
    // Dropping an FTS5 index drops its shadow tables too.
    while let Some(name) = next_table(database)? {
        database.execute_batch(&format!("DROP TABLE {name}"))?;
    }
    indexes::spell_as_agent(database)?;
    database.pragma_update(None, "user_version", 0)?;
    Ok(true)
}

fn next_table(database: &Database) -> Result<Option<String>, Failure> {
    let is_virtual = "SELECT '\"' || replace(name, '\"', '\"\"') || '\"' FROM main.sqlite_schema \
        WHERE type = 'table' AND name GLOB 'hx_*' AND sql LIKE 'CREATE VIRTUAL%'";
    let found: Option<String> = database.prepare(is_virtual)?.query_map([], |row| row.get(0))?.next().transpose()?;
    Ok(found.or(names(database, "table")?.into_iter().next()))
}

/// Returns the quoted names of our objects of a kind.
fn names(database: &Database, kind: &str) -> Result<Vec<String>, Failure> {
    let sql = "SELECT '\"' || replace(name, '\"', '\"\"') || '\"' FROM main.sqlite_schema WHERE type = ? AND name GLOB 'hx_*' AND sql IS NOT NULL";
    let names = database.prepare(sql)?.query_map([kind], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}
