//! Returns free space to the file system all at once, which needs exclusive access to the file.

use crate::error::{Circumstances, Failure};
use crate::open::{connection, damage, place, schema};
use hermes_session::{Location, StoreError};
use rusqlite::ErrorCode;
use std::path::Path;
use std::time::{Duration, Instant};

/// The outcome of shrinking a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrunk {
    /// The file has too little free space, or was never adopted.
    NotNeeded,
    /// The file is as small as it can be.
    Done,
    /// Another program has the file open. Later writes reuse the free space.
    InUse,
    /// The disk has no room for the copy that VACUUM makes.
    NoRoom,
}

/// How long to wait for other programs to close the file.
const WAIT: Duration = Duration::from_millis(500);

/// Shrinks a file to its minimum size, if at least a tenth of it is free and no other program has it open. From then on
/// the file can release space incrementally.
///
/// # Errors
/// If the file can't be opened or read. A file that was not adopted is left alone.
pub fn shrink(path: &Path) -> Result<Shrunk, StoreError> {
    let path = &place::resolve(path)?;
    place::check(path, false)?;
    damage::refuse_marked(path)?;
    connection::set_deadline(WAIT);
    let start = Instant::now();
    let location = Location::from(path);
    match attempt(path) {
        Err(failure) if failure.is_passing() => Ok(Shrunk::InUse),
        Err(Failure::Sqlite(error)) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok(Shrunk::NoRoom),
        outcome => outcome.map_err(|failure| {
            failure.into_store_error(Circumstances {
                op: "shrink the store",
                waited: start.elapsed(),
                location: &location,
            })
        }),
    }
}

fn attempt(path: &Path) -> Result<Shrunk, Failure> {
    let database = connection::open_alone(path)?;
    let number = |name: &str| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let is_ours = schema::is_in_use(&database, path)?;
    if !is_ours || number("freelist_count")? * 10 < number("page_count")? {
        return Ok(Shrunk::NotNeeded);
    }
    database.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    database.execute_batch("VACUUM")?;
    Ok(Shrunk::Done)
}
