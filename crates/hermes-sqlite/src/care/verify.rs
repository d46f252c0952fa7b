//! Looks through a whole file on one state of it, changes nothing, and tells what is not as it should be.
//!
//! Every check goes by the tables themselves, row by row: what is held in memory grows with the sessions, never with what was said.

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

/// Looks through the file at `path`, which `database` has open.
pub(crate) fn run(database: &Database, path: &Path) -> Result<Report, Failure> {
    // On a connection of its own: FTS5 goes by what it has cached when its index is checked, and others have written since.
    let database = maintenance::open_again(database, path)?;
    // What the checks write is in memory.
    database.pragma_update(None, "temp_store", "MEMORY")?;
    database.pragma_update(None, "query_only", false)?;
    // Never ended: on a damaged file even the end of a transaction that wrote nothing may fail. Closing the connection ends it.
    database.execute_batch("BEGIN")?;
    database.refresh()?;
    look(&database, path)
}

/// Makes every check, also where another one found the file damaged.
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

/// Makes one check. What keeps it from reading to the end is a problem that it found, unless trying again may help.
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

/// The number that a statement answers with, which counts something.
fn count(database: &Database, sql: &str) -> Result<u64, rusqlite::Error> {
    database.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| u64::try_from(count).unwrap_or(0))
}
