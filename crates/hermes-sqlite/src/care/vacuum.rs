//! Gives the room of deleted rows back to the file system, bit by bit.
//!
//! Only files that were made for it can do so (`auto_vacuum`), which ours are. In others the room stays in the file and is used again:
//! making them smaller takes a `VACUUM`, which rewrites the whole file under one lock, and may only be run when nobody else has it open.

use crate::error::Failure;
use crate::write::budget::Budget;
use crate::write::database::Database;

/// The number of free pages that a file keeps for the next writes.
const KEPT_FREE_PAGES: i64 = 1_000;
/// Up to this part of its pages too.
const SHARE: i64 = 10;
/// How many pages are moved between two looks at the clock.
const PIECE: i64 = 50;
/// As `PRAGMA auto_vacuum` tells it.
const INCREMENTAL: i64 = 2;

/// Gives some pages back if many are free; whether there are more to give.
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
        // Each row that this answers is a page.
        let mut statement = database.prepare(&format!("PRAGMA incremental_vacuum({PIECE})"))?;
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
        if number("freelist_count")? >= before {
            break;
        }
    }
    Ok(false)
}

/// Whether a file has more free pages than it should keep.
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
