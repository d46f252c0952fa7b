//! Building both indexes anew beside the ones in use, compact, and putting them in their place.
//!
//! Every step is a short transaction and leaves a state that can be carried on from: being built, swapped, being cleared away. While it
//! goes on everybody may write; what is changed behind the watermark is brought over by triggers, what comes after it follows.

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

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// New indexes are filled up to a message.
    Built {
        up_to: i64,
    },
    /// The old ones are being cleared away.
    Clearing,
    Done,
}

/// The names of indexes that are being built, in the order of [`INDEXES`].
pub(super) const BUILT: [&str; 2] = ["hx_built_words", "hx_built_trigrams"];

/// The tables that an index is kept in.
const PARTS: [&str; 5] = ["content", "data", "idx", "docsize", "config"];

/// What the names of the tables of an index that was replaced begin with.
const fn replaced(index: Index) -> &'static str {
    match index {
        Index::Words => "hx_replaced_words",
        Index::Trigrams => "hx_replaced_trigrams",
    }
}

/// Returns up to which message new indexes are filled; `None` if none are being built.
pub(super) fn watermark(database: &Database) -> Result<Option<i64>, Failure> {
    NEW.watermark(database)
}

/// Begins to make all indexes anew, our own as well: one of them may be wrong.
pub(crate) fn start(database: &Database) -> Result<(), Failure> {
    convert(database)?;
    own::restart(database)
}

/// Begins to build new indexes, unless that is under way. Our own are the same in either layout, and stay.
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

/// Brings over what is changed among the messages that the new indexes have.
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

/// Puts a message into a new index.
pub(super) fn add(database: &Database, index: Index, message: &Text) -> Result<(), Failure> {
    add_compact(database, index, NEW.name(index), message)
}

/// Puts a message into the new indexes if they are filled past it already.
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

/// Does some more of what is under way.
pub(crate) fn step(database: &Database) -> Result<Progress, Failure> {
    let start = Instant::now();
    // First what an earlier one has left: it has the names that the old indexes are to get.
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

/// The next messages that are not noted to be indexed later.
fn read(database: &Database, edge: i64) -> Result<Vec<Text>, Failure> {
    let mut statement = database
        .prepare_cached(&format!("SELECT id, content FROM {} WHERE id > ? ORDER BY id", compact::view(Index::Words)))?;
    let mut rows = statement.query_map([edge], Text::new)?;
    Ok(some(&mut rows, 32, |message| message.bytes.len())?)
}

/// Gives up compact indexes that are being built, if any are: those in use are as good.
pub(crate) fn abandon_begun(database: &Database) -> Result<(), Failure> {
    if is_building(database)? { abandon(database) } else { Ok(()) }
}

/// Gives up what is being built, which is cleared away as old indexes are.
pub(super) fn abandon(database: &Database) -> Result<(), Failure> {
    NEW.abandon(database)
}

/// Puts the new indexes in the place of the old ones.
fn swap(database: &Database) -> Result<(), Failure> {
    tracing::info!("rebuilt search indexes take the place of the old ones");
    NEW.swap(database, compact::create_triggers)?;
    Ok(database.refresh()?)
}

/// Drops an index, but for what fills its tables: that goes bit by bit, and no longer as an index, which nobody could call whole.
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
    // Without tables to keep it in an index can't be dropped.
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

/// A name for a part that is put aside; others of its kind may wait to be cleared away.
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

/// What is left of indexes that were replaced.
const REPLACED: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'hx_replaced_*'";

/// Empties what is left of the old indexes bit by bit, and drops what is empty.
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

/// Whether new indexes are being built.
fn is_building(database: &Database) -> Result<bool, Failure> {
    Ok(watermark(database)?.is_some())
}

/// Whether old ones are still to be cleared away.
fn is_clearing(database: &Database) -> Result<bool, Failure> {
    Ok(database.prepare_cached(REPLACED)?.exists([])?)
}

/// What [`step`] has to do: nothing if the indexes are compact and whole and no step is under way.
pub(crate) fn is_needed(database: &Database) -> Result<bool, Failure> {
    Ok(is_building(database)? || is_clearing(database)? || wants_start(database)?)
}

/// Whether the indexes have to be built anew, and nobody has begun.
pub(crate) fn wants_start(database: &Database) -> Result<bool, Failure> {
    Ok(!is_building(database)? && !database.layout().is_compact())
}

/// Goes on with what was begun; whether there is more to do.
///
/// Indexes that are not compact stay as they are: changing those is a wish that somebody has to have.
pub(crate) fn heal(database: &Database) -> Result<bool, Failure> {
    // Whoever detaches a store has it alone, so nobody goes on with that now.
    super::abandon_agents(database)?;
    Ok((is_building(database)? || is_clearing(database)?) && step(database)? != Progress::Done)
}
