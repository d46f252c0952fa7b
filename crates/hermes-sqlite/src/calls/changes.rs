//! The feed of changes: triggers that foreign writers fire too record them, once somebody asks for them.
//!
//! `hx_change` has one row for each session, with the number of the latest change of each kind, so that it does not grow
//! with the changes. SQLite has one writer at a time: numbers are given in the order of the commits.

use crate::care::fresh::{self, Decides};
use crate::care::refresh;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::SessionId;
use hermes_session::live::{ChangeMark, Changed, Changes, Kinds};
use rusqlite::{Connection, OptionalExtension as _};

/// Key in `hx_state` of the name of a recording: marks of another one are not comparable.
pub(crate) const RECORDING: &str = "changes";

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS hx_change (
    session_id TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0,
    rewritten INTEGER NOT NULL DEFAULT 0,
    session INTEGER NOT NULL DEFAULT 0,
    owner INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_change_number ON hx_change(number);
";

/// Triggers: name, event, condition, session, kind. A session is visible while it has a row in `hx_session`. The list of
/// the columns of a session follows [`SESSION_EVENT`].
const TRIGGERS: [(&str, &str, &str, &str, &str); 14] = [
    ("created", "INSERT ON hx_session", "1", "new.session_id", "created"),
    ("deleted", "DELETE ON hx_session", "1", "old.session_id", "deleted"),
    ("moved", "UPDATE OF root ON hx_session", "new.root <> old.root", "new.session_id", "session"),
    ("updated", SESSION_EVENT, "1", "new.id", "session"),
    ("said", "INSERT ON messages", "1", "new.session_id", "messages"),
    ("edited", "UPDATE ON messages", "1", "new.session_id", "rewritten"),
    ("left", "UPDATE OF session_id ON messages", "new.session_id IS NOT old.session_id", "old.session_id", "rewritten"),
    ("unsaid", "DELETE ON messages", "1", "old.session_id", "rewritten"),
    ("taken", "INSERT ON hx_lease", "new.resource GLOB 'c:*'", "substr(new.resource, 3)", "owner"),
    ("retaken", "UPDATE OF token ON hx_lease", "new.resource GLOB 'c:*'", "substr(new.resource, 3)", "owner"),
    ("released", "DELETE ON hx_lease", "old.resource GLOB 'c:*'", "substr(old.resource, 3)", "owner"),
    ("opened", "INSERT ON hx_turn", "1", OPENED_ROOT, "owner"),
    ("resumed", "UPDATE ON hx_turn", "1", OPENED_ROOT, "owner"),
    ("closed", "DELETE ON hx_turn", "1", CLOSED_ROOT, "owner"),
];

const SESSION_EVENT: &str = "UPDATE OF ";
const OPENED_ROOT: &str = "coalesce((SELECT root FROM hx_session WHERE session_id = new.session_id), new.session_id)";
const CLOSED_ROOT: &str = "coalesce((SELECT root FROM hx_session WHERE session_id = old.session_id), old.session_id)";

/// Returns the changes since a mark; `None` if nothing is recorded yet, so that recording has to be started.
pub(crate) fn since(database: &Database, after: Option<&ChangeMark>) -> Result<Option<Changes>, Failure> {
    let Some(recording) = recording(database)? else { return Ok(None) };
    let last: i64 =
        database.prepare_cached("SELECT coalesce(max(number), 0) FROM hx_change")?.query_row([], |row| row.get(0))?;
    let next = ChangeMark(format!("{recording}:{last}"));
    let known = after.and_then(|mark| number(mark, &recording)).filter(|number| *number <= last);
    let changed = match known {
        Some(number) if number < last => fresh::read(database, Decides::ByPlace, |database| changed(database, number))?,
        _ => Vec::new(),
    };
    Ok(Some(Changes { changed, is_reset: after.is_some() && known.is_none(), next }))
}

/// Returns the number in a mark of a recording; `None` for the mark of another one.
fn number(mark: &ChangeMark, recording: &str) -> Option<i64> {
    mark.0.strip_prefix(recording)?.strip_prefix(':')?.parse().ok().filter(|number| *number >= 0)
}

fn changed(database: &Database, after: i64) -> Result<Vec<Changed>, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT c.session_id, h.root, c.messages > ?1, c.rewritten > ?1, c.session > ?1, c.owner > ?1, c.created > ?1, \
         c.deleted > ?1 FROM hx_change c LEFT JOIN hx_session h ON h.session_id = c.session_id \
         WHERE c.number > ?1 ORDER BY c.session_id",
    )?;
    let rows = statement.query_map([after], |row| {
        Ok(Changed {
            session: SessionId::from_stored(row.get::<_, String>(0)?),
            conversation: row.get::<_, Option<String>>(1)?.map(SessionId::from_stored),
            kinds: Kinds {
                messages: row.get(2)?,
                rewritten: row.get(3)?,
                session: row.get(4)?,
                owner: row.get(5)?,
                created: row.get(6)?,
                deleted: row.get(7)?,
            },
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Starts recording, unless it was started before, and returns the changes since a mark.
pub(crate) fn start(database: &Database, after: Option<&ChangeMark>) -> Result<Changes, Failure> {
    if recording(database)?.is_none() {
        database.execute_batch(TABLE)?;
        for (name, event, condition, session, kind) in TRIGGERS {
            let event = match event {
                SESSION_EVENT => format!("{SESSION_EVENT}{} ON sessions", columns_to_follow(database)?),
                event => event.to_owned(),
            };
            database.execute_batch(&format!(
                "CREATE TRIGGER IF NOT EXISTS hx_change_{name} AFTER {event} WHEN {condition} BEGIN
                     INSERT INTO hx_change (session_id, number, {kind})
                         SELECT {session}, n.next, n.next FROM (SELECT coalesce(max(number), 0) + 1 AS next FROM hx_change) n WHERE 1
                         ON CONFLICT (session_id) DO UPDATE SET number = excluded.number, {kind} = excluded.{kind};
                 END"
            ))?;
        }
        database.execute(
            "INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, lower(hex(randomblob(8))))",
            [RECORDING],
        )?;
        database.refresh()?;
    }
    // Stale places are recomputed in memory only by a reader.
    refresh::places(database)?;
    since(database, after)?.ok_or_else(|| Failure::Damaged("hx_change: no recording".into()))
}

/// Records that a value of a session changed that no trigger sees. Only we change it.
pub(crate) fn note(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if database.shape().changes {
        database
            .prepare_cached(
                "INSERT INTO hx_change (session_id, number, session) \
                     SELECT ?, n.next, n.next FROM (SELECT coalesce(max(number), 0) + 1 AS next FROM hx_change) n WHERE 1 \
                     ON CONFLICT (session_id) DO UPDATE SET number = excluded.number, session = excluded.session",
            )?
            .execute([id.as_str()])?;
    }
    Ok(())
}

/// Returns the columns of a session that are values of it. Its counters change with each message.
fn columns_to_follow(connection: &Connection) -> Result<String, rusqlite::Error> {
    connection.query_row(
        "SELECT group_concat('\"' || replace(name, '\"', '\"\"') || '\"', ', ') FROM pragma_table_info('sessions', 'main') \
         WHERE name NOT IN ('id', 'message_count', 'tool_call_count')",
        [],
        |row| row.get(0),
    )
}

/// Returns the name of the recording; `None` if nothing is recorded.
fn recording(database: &Database) -> Result<Option<String>, Failure> {
    if !database.shape().changes {
        return Ok(None);
    }
    let mut statement = database.prepare_cached("SELECT value FROM hx_state WHERE key = ?")?;
    Ok(statement.query_row([RECORDING], |row| row.get(0)).optional()?)
}
