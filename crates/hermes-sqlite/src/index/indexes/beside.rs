//! Indexes that are built beside the ones in use: their watermark, and how they replace the old ones.

use super::{INDEXES, Index, drop_triggers, rebuild};
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use rusqlite::{OptionalExtension as _, params};

/// A pair of indexes that is built beside the pair in use.
pub(super) struct Beside {
    /// Key of the watermark in `hx_state`: the last message up to which they are filled. Absent if none are being
    /// built.
    pub(super) key: &'static str,
    /// Their names, in the order of [`INDEXES`].
    pub(super) names: [&'static str; 2],
    /// Drops the triggers that carry over changes to messages below the watermark.
    pub(super) drop_triggers: &'static str,
}

impl Beside {
    /// Returns the name of an index.
    pub(super) const fn name(&self, index: Index) -> &'static str {
        match index {
            Index::Words => self.names[0],
            Index::Trigrams => self.names[1],
        }
    }

    /// Returns the last message up to which they are filled; `None` if they are not being built.
    pub(super) fn watermark(&self, database: &Database) -> Result<Option<i64>, Failure> {
        let value: Option<String> = database
            .prepare_cached("SELECT value FROM hx_state WHERE key = ?")?
            .query_row([self.key], |row| row.get(0))
            .optional()?;
        Ok(value.map(|text| text.parse().unwrap_or(i64::MIN)))
    }

    /// Stores the watermark.
    pub(super) fn set_watermark(&self, database: &Database, edge: i64) -> Result<(), Failure> {
        database
            .prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)")?
            .execute(params![self.key, edge.to_string()])?;
        Ok(())
    }

    /// Discards the indexes being built. They are cleared in steps, like replaced indexes.
    pub(super) fn abandon(&self, database: &Database) -> Result<(), Failure> {
        database.execute_batch(self.drop_triggers)?;
        for index in INDEXES {
            rebuild::put_aside(database, index, self.name(index))?;
        }
        self.forget(database)
    }

    /// Replaces the old indexes by the new ones, with the triggers that `create_triggers` makes.
    pub(super) fn swap(
        &self,
        database: &Database,
        create_triggers: impl Fn(&Database, Index) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        database.execute_batch(self.drop_triggers)?;
        for index in INDEXES {
            drop_triggers(database, index)?;
            rebuild::put_aside(database, index, index.table())?;
            let rename = format!("ALTER TABLE {} RENAME TO {}", self.name(index), index.table());
            vocabulary::renaming(database, || Ok(database.execute_batch(&rename)?))?;
            create_triggers(database, index)?;
        }
        self.forget(database)
    }

    fn forget(&self, database: &Database) -> Result<(), Failure> {
        database.prepare_cached("DELETE FROM hx_state WHERE key = ?")?.execute([self.key])?;
        Ok(())
    }
}
