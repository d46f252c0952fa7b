//! Upkeep, and the status of the store.

use crate::calls::{archive, deletion, trash};
use crate::care::{optimize, orphans, refresh, vacuum};
use crate::error::Failure;
use crate::index::indexes;
use crate::open::{connection, schema};
use crate::write::background::Background;
use crate::write::database::Database;
use hermes_session::{IndexHealth, StoreStatus};
use std::path::Path;

/// Opens the file once more in the same mode as `database`, for reading on a connection with an empty cache.
pub(crate) fn open_again(database: &Database, path: &Path) -> Result<Database, Failure> {
    let is_read_only = database.is_readonly(rusqlite::MAIN_DB)?;
    if is_read_only { connection::open_read_only(path) } else { connection::open_reader(path) }
}

/// The work that the writer does in the background.
pub(crate) const BACKGROUND: Background = Background { step: upkeep, pressing };

/// Does a short piece of outstanding work. Returns whether more is left.
pub(crate) fn upkeep(database: &Database) -> Result<bool, Failure> {
    if schema::lacks_card(database)? {
        schema::add_card(database).map_err(indexes::elsewhere)?;
    }
    archive::settle(database).map_err(indexes::elsewhere)?;
    Ok(!deletion::step(database)?
        || trash::sweep(database).map_err(indexes::elsewhere)?
        || refresh::step(database).map_err(indexes::elsewhere)? > 0
        || indexes::fill(database)?
        || indexes::note_lost(database)?
        || indexes::heal(database)?
        || vacuum::step(database).map_err(indexes::elsewhere)?
        || swept(database).map_err(indexes::elsewhere)?)
}

/// Removes rows of live clients that refer to nothing, once nothing else is left to do. Returns `false`: none are left.
fn swept(database: &Database) -> Result<bool, Failure> {
    orphans::remove(database).map(|()| false)
}

/// Does a short piece of the work that should not wait for a pause between writes: recomputing rows that foreign
/// writers made stale, and indexing. Returns whether more is left. Other upkeep blocks nobody.
fn pressing(database: &Database) -> Result<bool, Failure> {
    Ok(refresh::step(database).map_err(indexes::elsewhere)? > 0 || indexes::fill(database)?)
}

pub(crate) fn status(database: &Database, path: &Path) -> Result<StoreStatus, Failure> {
    let schema_version = schema::version(database)?.unwrap_or(0);
    let number =
        |name: &str| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0).map(i64::unsigned_abs));
    let page = number("page_size")?;
    let indexes = match optimize::health(database) {
        Err(failure) if failure.is_damage() => {
            IndexHealth::Broken { why: "messages can't be read, because the file is damaged".to_owned() }
        }
        health => health?,
    };
    Ok(StoreStatus {
        provider: "sqlite",
        version: rusqlite::version().to_owned(),
        location: path.display().to_string(),
        schema_version,
        schema: None,
        bytes: number("page_count")? * page,
        free_bytes: number("freelist_count")? * page,
        indexes,
        pool: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteOptions;

    #[test]
    fn what_fails_beside_the_indexes_is_not_put_down_to_them() {
        for step in [BACKGROUND.step, BACKGROUND.pressing] {
            let folder = tempfile::tempdir().unwrap();
            let opened = connection::open_writer(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap();
            let database = opened.writer.unwrap();
            database.execute_batch("DROP TABLE hx_session; BEGIN").unwrap();
            indexes::despite_indexes(&database, || step(&database)).unwrap_err();
            assert!(!database.has_blame());
        }
    }
}
