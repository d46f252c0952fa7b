//! Pins and tags, stored under the first session of a conversation. Their tables are created with the first pin or tag.
//!
//! A trigger deletes them with their session, whoever deletes it, so that a session with a reused id does not inherit
//! them.

use crate::calls::lineage;
use crate::calls::row::{require, time};
use crate::care::fresh;
use crate::care::fresh::Decides;
use crate::error::Failure;
use crate::open::shape::Shape;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::pins_and_tags::changed_tags;
use hermes_session::{PinAndTags, Request, SessionFilter, SessionId, SessionSummary, Tag, Timestamp, change};
use rusqlite::{OptionalExtension as _, params};

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hx_pin (
    session_id TEXT NOT NULL PRIMARY KEY,
    pinned_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hx_tag (
    session_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (session_id, tag)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_tag_tag ON hx_tag(tag);
CREATE TRIGGER IF NOT EXISTS hx_mark_gone AFTER DELETE ON sessions BEGIN
    DELETE FROM hx_pin WHERE session_id = old.id;
    DELETE FROM hx_tag WHERE session_id = old.id;
END;
";

pub(crate) fn set_pinned(
    database: &Database,
    id: &SessionId,
    is_pinned: bool,
    request: &Request,
) -> Result<bool, Failure> {
    once(database, request, id, &change::set_pinned(id, is_pinned), || {
        let root = lineage::read(database, id)?.conversation_root(id);
        let was_pinned = self::is_pinned(database, &root)?;
        match is_pinned {
            true if !was_pinned => pin(database, &root, request.at)?,
            false if was_pinned => {
                database.prepare_cached("DELETE FROM hx_pin WHERE session_id = ?")?.execute(params![root.as_str()])?;
            }
            _ => {}
        }
        Ok(was_pinned != is_pinned)
    })
}

pub(crate) fn change_tags(
    database: &Database,
    id: &SessionId,
    add: &[Tag],
    remove: &[Tag],
    request: &Request,
) -> Result<Vec<Tag>, Failure> {
    once(database, request, id, &change::change_tags(id, add, remove), || {
        let root = lineage::read(database, id)?.conversation_root(id);
        let has = read(database, &root)?.tags;
        let tags = changed_tags(&has, add, remove)?;
        write_tags(database, &root, &has, &tags)?;
        Ok(tags)
    })
}

pub(crate) fn tags(database: &Database) -> Result<Vec<(Tag, u64)>, Failure> {
    fresh::read(database, Decides::ByPlace, count_tags)
}

fn count_tags(database: &Database) -> Result<Vec<(Tag, u64)>, Failure> {
    if !are_there(database)? {
        return Ok(Vec::new());
    }
    // Only conversations count: a session that has become part of another conversation has the tags of that one.
    let mut statement = database.prepare_cached(
        "SELECT g.tag, count(*) FROM hx_tag g JOIN hx_session h ON h.session_id = g.session_id AND h.root = h.session_id \
         GROUP BY g.tag ORDER BY g.tag",
    )?;
    let rows = statement
        .query_map([], |row| Ok((Tag::from_stored(row.get::<_, String>(0)?), row.get::<_, i64>(1)?.unsigned_abs())))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Adds pins and tags from outside to sessions that exist. Returns how many sessions changed.
pub(crate) fn import(database: &Database, pins_and_tags: &[(SessionId, PinAndTags)]) -> Result<u64, Failure> {
    let mut changed = 0;
    for (id, outside) in pins_and_tags {
        let has = read(database, id)?;
        let joined = has.joined(outside);
        if joined == has || require(database, id).is_err() {
            continue;
        }
        if let (None, Some(at)) = (has.pinned_at, joined.pinned_at) {
            pin(database, id, at)?;
        }
        write_tags(database, id, &has.tags, &joined.tags)?;
        changed += 1;
    }
    Ok(changed)
}

/// Returns whether the conversation that starts with a session is pinned.
pub(crate) fn is_pinned(database: &Database, root: &SessionId) -> Result<bool, Failure> {
    Ok(are_there(database)?
        && database.prepare_cached("SELECT 1 FROM hx_pin WHERE session_id = ?")?.exists(params![root.as_str()])?)
}

/// Removes the pin and tags of a session that is deleted.
pub(crate) fn forget(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if are_there(database)? {
        database.prepare_cached("DELETE FROM hx_pin WHERE session_id = ?")?.execute(params![id.as_str()])?;
        database.prepare_cached("DELETE FROM hx_tag WHERE session_id = ?")?.execute(params![id.as_str()])?;
    }
    Ok(())
}

/// Fills in the pin and tags of a row of a list.
pub(crate) fn fill(database: &Database, summary: &mut SessionSummary) -> Result<(), Failure> {
    if database.shape().pins_and_tags {
        let pins_and_tags = stored(database, &summary.conversation)?;
        (summary.pinned_at, summary.tags) = (pins_and_tags.pinned_at, pins_and_tags.tags);
    }
    Ok(())
}

/// Returns the conditions of a filter on the pin and tags of the conversation of `h`, each with an `AND` before it.
pub(crate) fn condition(shape: Shape, filter: &SessionFilter, bind: impl FnMut(&str) -> String) -> String {
    match shape.pins_and_tags {
        true => hermes_sql::pins_and_tags::condition(filter, "h.root", bind),
        // Without the tables nothing is pinned or tagged.
        false if filter.pinned == Some(true) || !filter.tags.is_empty() => " AND 0".to_owned(),
        false => String::new(),
    }
}

/// Returns the conditions that the conversation of `h` has all of these tags, each with an `AND` before it.
pub(crate) fn tags_condition(shape: Shape, tags: &[Tag], bind: impl FnMut(&str) -> String) -> String {
    match shape.pins_and_tags {
        true => hermes_sql::pins_and_tags::conversation_has(tags, "h.root", bind),
        // Without the table nothing has a tag.
        false if !tags.is_empty() => " AND 0".to_owned(),
        false => String::new(),
    }
}

/// Returns the pin and tags stored under a session.
pub(crate) fn read(database: &Database, id: &SessionId) -> Result<PinAndTags, Failure> {
    if are_there(database)? { stored(database, id) } else { Ok(PinAndTags::default()) }
}

fn stored(database: &Database, id: &SessionId) -> Result<PinAndTags, Failure> {
    let pinned_at = database
        .prepare_cached("SELECT pinned_at FROM hx_pin WHERE session_id = ?")?
        .query_row(params![id.as_str()], |row| time(row, 0))
        .optional()?;
    let mut statement = database.prepare_cached("SELECT tag FROM hx_tag WHERE session_id = ? ORDER BY tag")?;
    let tags = statement.query_map(params![id.as_str()], |row| Ok(Tag::from_stored(row.get::<_, String>(0)?)))?;
    Ok(PinAndTags { pinned_at: pinned_at.flatten(), tags: tags.collect::<Result<_, _>>()? })
}

fn pin(database: &Database, id: &SessionId, at: Timestamp) -> Result<(), Failure> {
    make_tables(database)?;
    database
        .prepare_cached("INSERT OR REPLACE INTO hx_pin (session_id, pinned_at) VALUES (?, ?)")?
        .execute(params![id.as_str(), at.seconds()])?;
    Ok(())
}

/// Changes the stored tags of a session from `has` to `tags`.
fn write_tags(database: &Database, id: &SessionId, has: &[Tag], tags: &[Tag]) -> Result<(), Failure> {
    if has == tags {
        return Ok(());
    }
    make_tables(database)?;
    for gone in has.iter().filter(|tag| !tags.contains(tag)) {
        database
            .prepare_cached("DELETE FROM hx_tag WHERE session_id = ? AND tag = ?")?
            .execute(params![id.as_str(), gone.as_str()])?;
    }
    for new in tags.iter().filter(|tag| !has.contains(tag)) {
        database
            .prepare_cached("INSERT INTO hx_tag (session_id, tag) VALUES (?, ?)")?
            .execute(params![id.as_str(), new.as_str()])?;
    }
    Ok(())
}

fn make_tables(database: &Database) -> Result<(), Failure> {
    if !are_there(database)? {
        database.execute_batch(TABLES)?;
    }
    Ok(())
}

/// Returns whether the tables exist. Reads the schema, because an earlier job may have created them in the same
/// transaction.
fn are_there(database: &Database) -> Result<bool, rusqlite::Error> {
    let mut statement = database.prepare_cached(
        "SELECT count(*) = 2 FROM sqlite_schema WHERE type = 'table' AND name IN ('hx_pin', 'hx_tag')",
    )?;
    statement.query_row([], |row| row.get(0))
}
