//! Builds both indexes again, compact, beside the ones in use, and replaces those.
//!
//! Every step is a short transaction and leaves a state from which any process can continue: building, swapped,
//! clearing. Meanwhile all programs may write. Triggers carry over changes to messages below the watermark; messages
//! above it are indexed later.

use super::beside::Beside;
use super::step::{STEP, Text, add_compact, some};
use super::{INDEXES, Index, Kind, Layout, Merging, compact, health, own, pending, text};
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use std::time::Instant;

/// Compact indexes, while they are being built.
const NEW: Beside = Beside {
    key: "index:built",
    names: BUILT,
    drop_triggers: "DROP TRIGGER IF EXISTS hx_built_delete; DROP TRIGGER IF EXISTS hx_built_update;",
};

/// Progress of the rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// New indexes are filled up to a message.
    Built {
        up_to: i64,
    },
    /// The old indexes are being cleared.
    Clearing,
    Done,
}

/// The names of indexes that are being built, in the order of [`INDEXES`].
pub(super) const BUILT: [&str; 2] = ["hx_built_words", "hx_built_trigrams"];

/// Suffixes of the shadow tables of an index.
const PARTS: [&str; 5] = ["content", "data", "idx", "docsize", "config"];

/// Returns the prefix of the table names of a replaced index.
const fn replaced(index: Index) -> &'static str {
    match index {
        Index::Words => "hx_replaced_words",
        Index::Trigrams => "hx_replaced_trigrams",
    }
}

/// Returns the message up to which the new indexes are filled; `None` if none are being built.
pub(super) fn watermark(database: &Database) -> Result<Option<i64>, Failure> {
    NEW.watermark(database)
}

/// Starts to rebuild all indexes, including our own, because one of them may be wrong.
pub(crate) fn start(database: &Database) -> Result<(), Failure> {
    convert(database)?;
    own::restart(database)
}

/// Starts to build new indexes, unless they are being built. Our own indexes are the same in either layout, and stay.
pub(crate) fn convert(database: &Database) -> Result<(), Failure> {
    if watermark(database)?.is_some() {
        return Ok(());
    }
    super::lay_ground(database)?;
    for index in INDEXES {
        compact::create_table(database, index, NEW.name(index))?;
    }
    NEW.set_watermark(database, i64::MIN)?;
    Ok(database.execute_batch(&sync_triggers())?)
}

/// Returns the triggers that carry over changes to messages that the new indexes have.
fn sync_triggers() -> String {
    let each = |body: &dyn Fn(Index) -> String| INDEXES.map(body).concat();
    let take_out = each(&|index| compact::take_out(index, NEW.name(index)));
    let put_in = each(&|index| {
        let text = compact::form(index, &text("new"));
        format!(
            "INSERT INTO {}(rowid, content) SELECT new.id, {} \
             WHERE new.id <= (SELECT CAST(value AS INTEGER) FROM hx_state WHERE key = '{}') AND NOT {} AND {};",
            NEW.name(index),
            text,
            NEW.key,
            pending::holds("new.id"),
            compact::is_taken(index, &text),
        )
    });
    format!(
        "CREATE TRIGGER hx_built_delete AFTER DELETE ON messages BEGIN {take_out} END;
         CREATE TRIGGER hx_built_update AFTER UPDATE OF content, tool_name, tool_calls ON messages BEGIN {take_out} {put_in} END;"
    )
}

/// Adds a message to a new index.
pub(super) fn add(database: &Database, index: Index, message: &Text) -> Result<(), Failure> {
    add_compact(database, index, NEW.name(index), message)
}

/// Adds a message to the new indexes if they are filled past it.
pub(super) fn late(database: &Database, id: i64) -> Result<(), Failure> {
    if watermark(database)?.is_none_or(|edge| id > edge) {
        return Ok(());
    }
    for message in read(database, id - 1)?.iter().filter(|message| message.id == id) {
        for index in INDEXES {
            add(database, index, message)?;
        }
    }
    Ok(())
}

/// Does one more step of the rebuild.
pub(crate) fn step(database: &Database) -> Result<Progress, Failure> {
    let start = Instant::now();
    // Remains of an earlier rebuild go first: they have the names that the old indexes will get.
    if clear(database, start).map_err(health::elsewhere)? != Progress::Done {
        return Ok(Progress::Clearing);
    }
    let Some(mut edge) = watermark(database)? else { return Ok(Progress::Done) };
    let mut merging = Merging::by_itself(database);
    merging.hold_these(BUILT)?;
    loop {
        let texts = read(database, edge).map_err(health::elsewhere)?;
        for message in &texts {
            for index in INDEXES {
                add(database, index, message)?;
            }
            edge = message.id;
            if start.elapsed() > STEP {
                NEW.set_watermark(database, edge)?;
                merging.end()?;
                return Ok(Progress::Built { up_to: edge });
            }
        }
        if texts.is_empty() {
            merging.end()?;
            swap(database)?;
            return Ok(Progress::Clearing);
        }
    }
}

/// Returns the next messages that are not in the backlog.
fn read(database: &Database, edge: i64) -> Result<Vec<Text>, Failure> {
    let mut statement = database
        .prepare_cached(&format!("SELECT id, content FROM {} WHERE id > ? ORDER BY id", compact::view(Index::Words)))?;
    let mut rows = statement.query_map([edge], Text::new)?;
    Ok(some(&mut rows, 32, |message| message.bytes.len())?)
}

/// Discards compact indexes that are being built, if there are any; those in use suffice.
pub(crate) fn abandon_begun(database: &Database) -> Result<(), Failure> {
    if is_building(database)? { abandon(database) } else { Ok(()) }
}

/// Discards the indexes that are being built. They are cleared in steps, like old ones.
pub(super) fn abandon(database: &Database) -> Result<(), Failure> {
    NEW.abandon(database)
}

/// Replaces the old indexes by the new ones.
fn swap(database: &Database) -> Result<(), Failure> {
    tracing::info!("rebuilt search indexes take the place of the old ones");
    NEW.swap(database, compact::create_triggers)?;
    Ok(database.refresh()?)
}

/// Drops an index but keeps the contents of its shadow tables under other names, to be deleted in steps. They are no
/// longer an index, because an incomplete one would be reported as damaged.
pub(super) fn put_aside(database: &Database, index: Index, table: &str) -> Result<(), Failure> {
    for part in PARTS {
        if exists(database, &format!("{table}_{part}"))? {
            let aside = free_name(database, replaced(index), part)?;
            vocabulary::renaming(database, || {
                Ok(database.execute_batch(&format!("ALTER TABLE {table}_{part} RENAME TO {aside}"))?)
            })?;
        }
    }
    if !exists(database, table)? {
        return Ok(());
    }
    // An index can't be dropped without its shadow tables.
    let keeps_texts = table == index.table() && Layout::of(database)?.look(index).kind == Kind::Inline;
    let texts =
        if keeps_texts { format!("CREATE TABLE {table}_content(id INTEGER PRIMARY KEY, c0);") } else { String::new() };
    Ok(database.execute_batch(&format!(
        "{texts}
         CREATE TABLE {table}_data(id INTEGER PRIMARY KEY, block BLOB);
         CREATE TABLE {table}_idx(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
         CREATE TABLE {table}_docsize(id INTEGER PRIMARY KEY, sz BLOB);
         CREATE TABLE {table}_config(k PRIMARY KEY, v) WITHOUT ROWID;
         INSERT INTO {table}_config VALUES ('version', 4);
         DROP TABLE {table};"
    ))?)
}

/// Returns a free name for a discarded shadow table; others may still wait to be cleared.
fn free_name(database: &Database, replaced: &str, part: &str) -> Result<String, Failure> {
    let (mut name, mut count) = (format!("{replaced}_{part}"), 1);
    while exists(database, &name)? {
        count += 1;
        name = format!("{replaced}_{count}_{part}");
    }
    Ok(name)
}

fn exists(database: &Database, name: &str) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = ?")?.exists([name])?)
}

/// Lists the remaining tables of replaced indexes.
const REPLACED: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'hx_replaced_*'";

/// Empties remaining tables of old indexes in steps, and drops empty ones.
pub(super) fn clear(database: &Database, start: Instant) -> Result<Progress, Failure> {
    let tables: Vec<String> =
        database.prepare_cached(REPLACED)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for table in tables {
        let key = match table.rsplit('_').next() {
            Some("idx") => "segid, term",
            Some("config") => "k",
            _ => "id",
        };
        let delete = format!("DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} LIMIT 50)");
        let is_over = vocabulary::or_leave(database, &table, || {
            while database.prepare_cached(&delete)?.execute([])? > 0 {
                if start.elapsed() > STEP {
                    return Ok(false);
                }
            }
            database.execute_batch(&format!("DROP TABLE {table}"))?;
            Ok(true)
        })?;
        if is_over == Some(false) {
            return Ok(Progress::Clearing);
        }
    }
    Ok(Progress::Done)
}

/// Returns whether new indexes are being built.
fn is_building(database: &Database) -> Result<bool, Failure> {
    Ok(watermark(database)?.is_some())
}

/// Returns whether old indexes are still to be cleared.
fn is_clearing(database: &Database) -> Result<bool, Failure> {
    Ok(database.prepare_cached(REPLACED)?.exists([])?)
}

/// Returns whether [`step`] has anything to do: the indexes are not compact, or a step is under way.
pub(crate) fn is_needed(database: &Database) -> Result<bool, Failure> {
    Ok(is_building(database)? || is_clearing(database)? || wants_start(database)?)
}

/// Returns whether the indexes should be rebuilt and no rebuild is under way.
pub(crate) fn wants_start(database: &Database) -> Result<bool, Failure> {
    Ok(!is_building(database)? && !database.layout().is_compact())
}

/// Continues a rebuild that was started. Returns whether there is more to do.
///
/// Indexes that are not compact stay as they are: only a user's request changes those.
pub(crate) fn heal(database: &Database) -> Result<bool, Failure> {
    // A process that detaches a store has exclusive access, so an unfinished detach was interrupted.
    super::abandon_agents(database)?;
    Ok((is_building(database)? || is_clearing(database)?) && step(database)? != Progress::Done)
}
