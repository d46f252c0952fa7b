//! Creates the agent's schema, or upgrades a file of an older one to it, in the caller's transaction.

use super::{VERSION, agent};
use crate::calls::titles;
use crate::error::Failure;
use crate::index::indexes;
use crate::open::notice::Notice;
use crate::write::database::Database;
use hermes_session::{SessionId, Title};
use rusqlite::params;
use rusqlite::types::Value;

/// Creates the schema in an empty file.
pub(super) fn create(database: &Database) -> Result<(), Failure> {
    database.execute_batch(&agent::create_tables())?;
    database.execute_batch(agent::INDEXES)?;
    database.execute("INSERT INTO schema_version (version) VALUES (?)", [VERSION])?;
    indexes::create(database)?;
    Ok(())
}

/// Returns whether [`adopt`] alters rows or objects of the agent, so that a copy is kept first. It does not in a sound
/// file of schema 11, where only the insert triggers are replaced, which `detach` restores.
pub(super) fn alters(database: &Database, version: i64) -> Result<bool, Failure> {
    let is_whole = || {
        let layout = indexes::Layout::of(database)?;
        Ok::<_, Failure>(indexes::INDEXES.into_iter().all(|index| layout.look(index).kind != indexes::Kind::Missing))
    };
    Ok(version < VERSION
        || !agent::missing_columns(database)?.is_empty()
        || has_doubled_titles(database)?
        || !is_whole()?)
}

fn has_doubled_titles(database: &Database) -> Result<bool, Failure> {
    let sql = "SELECT 1 FROM sessions WHERE title IS NOT NULL AND id IS NOT NULL GROUP BY title HAVING count(*) > 1";
    Ok(database.prepare(sql)?.exists([])?)
}

/// Upgrades a file of schema 1 to 11 to a complete schema 11: columns, indexes, one version row, full-text tables. Rows
/// missing in these are indexed later, in steps.
pub(super) fn adopt(database: &Database, version: i64) -> Result<Vec<Notice>, Failure> {
    // Columns first: the indexes name some that old files lack.
    // The names are quoted as the agent quotes them: SQLite stores the text, and `detach` leaves it there.
    for column in agent::missing_columns(database)? {
        database.execute_batch(&format!(
            "ALTER TABLE \"{}\" ADD COLUMN \"{}\" {}",
            column.table, column.name, column.declaration
        ))?;
    }
    database.execute_batch(&agent::create_tables())?;
    let mut notices = part_titles(database)?;
    database.execute_batch(agent::INDEXES)?;
    notices.extend(keep_one_version_row(database, VERSION)?);
    if version < VERSION {
        indexes::drop_all(database)?;
    }
    if indexes::create_missing(database, true)? {
        notices.push(Notice::IndexBehind);
    }
    Ok(notices)
}

/// Makes `version` the only row of the agent's version table. Returns a notice if there were several.
pub(super) fn keep_one_version_row(database: &Database, version: i64) -> Result<Option<Notice>, Failure> {
    let rows: Vec<Value> = database
        .prepare("SELECT version FROM schema_version")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if rows == [Value::Integer(version)] {
        return Ok(None);
    }
    database.execute("DELETE FROM schema_version", [])?;
    database.execute("INSERT INTO schema_version (version) VALUES (?)", [version])?;
    let mut removed = rows.clone();
    if let Some(kept) = removed.iter().position(|row| *row == Value::Integer(version)) {
        removed.remove(kept);
    }
    let removed = removed.iter().map(shown).collect();
    Ok((rows.len() > 1).then_some(Notice::VersionRowsRemoved { kept: version, removed }))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// Makes titles unique, because old files let two sessions share one: the session that started last keeps it.
pub(super) fn part_titles(database: &Database) -> Result<Vec<Notice>, Failure> {
    let mut doubled = database.prepare(
        "SELECT id, title FROM (SELECT id, title, row_number() OVER (PARTITION BY title ORDER BY started_at DESC, id DESC) AS place \
         FROM sessions WHERE title IS NOT NULL AND id IS NOT NULL) WHERE place > 1 ORDER BY title, place",
    )?;
    let doubled: Vec<(String, String)> =
        doubled.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut notices = Vec::new();
    for (session, before) in doubled {
        let id = SessionId::from_stored(session.as_str());
        let after = match Title::clean(&before) {
            Ok(Some(title)) => Some(titles::next(database, &id, &title)?),
            Ok(None) | Err(_) => None,
        };
        database.execute(
            "UPDATE sessions SET title = ? WHERE id = ?",
            params![after.as_ref().map(Title::as_str), session],
        )?;
        notices.push(Notice::TitleChanged { session, before, after: after.map(|title| title.as_str().to_owned()) });
    }
    Ok(notices)
}
