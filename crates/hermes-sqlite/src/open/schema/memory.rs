//! The side tables of a file that is not adopted: temporary tables of one connection, which are not in the file.
//!
//! The first read fills them, and so does the next read after another program changed the file. So a reader that stays
//! open beside a running agent sees what the agent wrote.

use super::{agent, live, side};
use crate::care::refresh;
use crate::error::Failure;
use crate::index::indexes;
use crate::write::database::Database;

/// Creates the tables, empty. Temporary tables shadow tables of the same name in the file.
pub(super) fn prepare(database: &Database) -> Result<(), Failure> {
    agent::complete_in_memory(database)?;
    database.execute_batch(&side::temporary_tables())?;
    add_live(database)?;
    Ok(database.execute_batch(indexes::IN_MEMORY)?)
}

/// Creates the tables of live clients, which stay empty: an earlier revision adopted the file, or none.
pub(super) fn add_live(database: &Database) -> Result<(), Failure> {
    Ok(database.execute_batch(&side::temporary(live::TABLES))?)
}

/// Fills the tables if the file has changed since they were filled. Runs inside the transaction of a read, so that both
/// see one state.
pub(crate) fn refresh(database: &Database) -> Result<(), Failure> {
    let Some(memory) = database.memory() else { return Ok(()) };
    let version: i64 = database.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
    if memory.version.get() == Some(version) {
        return Ok(());
    }
    // A failure below leaves the tables half filled.
    memory.version.set(None);
    database.execute_batch("DELETE FROM temp.hx_session")?;
    database.execute_batch(side::STAMP)?;
    // Only places are computed, as after an adoption: lists depend on them. Previews are computed for the rows of a
    // page.
    refresh::places(database)?;
    memory.version.set(Some(version));
    Ok(())
}
