//! Checks a whole file in one read transaction and reports all problems. Changes nothing.
//!
//! Each check reads the tables themselves, row by row. Memory use grows with the number of sessions, not with the size
//! of the messages.

mod counters;
mod file;
mod objects;
mod relations;
mod side;
mod terms;
mod text;

pub(crate) use file::about_table;

use crate::calls::maintenance;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{Check, Report};
use rusqlite::ErrorCode;
use std::path::Path;

/// Checks the file at `path`, which `database` has open.
pub(crate) fn run(database: &Database, path: &Path) -> Result<Report, Failure> {
    // Uses its own connection: when FTS5 checks an index it relies on cached data, which other writers may have made
    // outdated.
    let database = maintenance::open_again(database, path)?;
    // The temporary tables of the checks are kept in memory.
    database.pragma_update(None, "temp_store", "MEMORY")?;
    database.pragma_update(None, "query_only", false)?;
    // The transaction is never ended explicitly: on a damaged file even ending one that wrote nothing may fail. Closing
    // the connection ends it.
    database.execute_batch("BEGIN")?;
    database.refresh()?;
    look(&database, path)
}

/// Runs every check, even if another one found the file damaged.
fn look(database: &Database, path: &Path) -> Result<Report, Failure> {
    let mut about_indexes = Vec::new();
    let checks = vec![
        check("file", "pages", |check| file::look(database, path, check, &mut about_indexes))?,
        check("schema", "objects", |check| objects::look(database, check))?,
        check("indexes", "messages", |check| text::look(database, check, &about_indexes))?,
        check("counters", "sessions", |check| counters::look(database, check))?,
        check("relations", "sessions", |check| relations::look(database, check))?,
        check("side tables", "sessions", |check| side::look(database, check))?,
        check("index backlog", "indexes", |check| text::backlog(database, check))?,
    ];
    Ok(Report { checks })
}

/// Runs one check. An error that stops it is reported as a problem, unless a retry may help.
fn check(
    name: &'static str,
    things: &'static str,
    look: impl FnOnce(&mut Check) -> Result<(), Failure>,
) -> Result<Check, Failure> {
    let mut check = Check::new(name, things);
    match look(&mut check) {
        Ok(()) => {}
        Err(Failure::Sqlite(error)) if !is_passing(&error) => {
            check.problem("file", format!("can't be read to the end: {error}"));
        }
        Err(Failure::Damaged(what)) => {
            check.problem("file", format!("can't be read to the end: {what}"));
        }
        Err(failure) => return Err(failure),
    }
    Ok(check)
}

fn is_passing(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, OperationInterrupted, OutOfMemory};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | OperationInterrupted | OutOfMemory))
}

/// Returns the count that a statement selects.
fn count(database: &Database, sql: &str) -> Result<u64, rusqlite::Error> {
    database.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| u64::try_from(count).unwrap_or(0))
}
