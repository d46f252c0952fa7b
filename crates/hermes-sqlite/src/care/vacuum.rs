//! Returns the space of deleted rows to the file system in small steps.
//!
//! This works only in files created for it (`auto_vacuum`), which ours are. In other files the space is reused but not
//! returned: that takes a `VACUUM`, which rewrites the whole file under one lock and may only run while no other
//! program has it open.

use crate::error::Failure;
use crate::write::budget::Budget;
use crate::write::database::Database;

/// Number of free pages that a file may keep for the next writes.
const KEPT_FREE_PAGES: i64 = 1_000;
/// Fraction of its pages, as a divisor, that may be free too.
const SHARE: i64 = 10;
/// How many pages are freed between two checks of the clock.
const PIECE: i64 = 50;
/// The value of `PRAGMA auto_vacuum` for incremental mode.
const INCREMENTAL: i64 = 2;

/// Releases some pages if many are free. Returns whether there are more to release.
pub(crate) fn step(database: &Database) -> Result<bool, Failure> {
    let number = |name: &str| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let is_wasteful = || Ok::<_, Failure>(wastes(number("freelist_count")?, number("page_count")?));
    if !is_wasteful()? || number("auto_vacuum")? != INCREMENTAL {
        return Ok(false);
    }
    let budget = Budget::step();
    while is_wasteful()? {
        if budget.is_spent() {
            return Ok(true);
        }
        let before = number("freelist_count")?;
        // The pragma frees one page for each row that is stepped through.
        let mut statement = database.prepare(&format!("PRAGMA incremental_vacuum({PIECE})"))?;
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
        if number("freelist_count")? >= before {
            break;
        }
    }
    Ok(false)
}

/// Returns whether a file has more free pages than it should keep.
const fn wastes(free: i64, pages: i64) -> bool {
    free > KEPT_FREE_PAGES && free > pages / SHARE
}

#[cfg(test)]
mod tests {
    use super::wastes;

    #[test]
    fn a_few_pages_are_kept() {
        assert!(!wastes(1_000, 1_100), "too few to matter");
        assert!(!wastes(10_000, 100_000), "a tenth");
        assert!(wastes(10_001, 100_000) && wastes(1_001, 1_100));
    }
}
