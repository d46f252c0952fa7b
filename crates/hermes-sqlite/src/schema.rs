//! The tables: the agent's schema 11 as it makes it, and our side tables beside it.
//!
//! Opening a file that is current reads two numbers and changes nothing.

mod side;

use crate::error::Failure;
use crate::indexes;
use hermes_session::StoreError;
use rusqlite::Connection;
use std::path::Path;

/// The agent's schema that we make and know how to write.
pub(crate) const VERSION: i64 = 11;
/// Our own revision, kept in `PRAGMA user_version`, which the agent leaves at 0.
pub(crate) const REVISION: i64 = 1;

const TABLES: &str = "
CREATE TABLE schema_version (
    version INTEGER NOT NULL
);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    user_id TEXT,
    model TEXT,
    model_config TEXT,
    system_prompt TEXT,
    parent_session_id TEXT,
    started_at REAL NOT NULL,
    ended_at REAL,
    end_reason TEXT,
    message_count INTEGER DEFAULT 0,
    tool_call_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0,
    cache_read_tokens INTEGER DEFAULT 0,
    cache_write_tokens INTEGER DEFAULT 0,
    reasoning_tokens INTEGER DEFAULT 0,
    billing_provider TEXT,
    billing_base_url TEXT,
    billing_mode TEXT,
    estimated_cost_usd REAL,
    actual_cost_usd REAL,
    cost_status TEXT,
    cost_source TEXT,
    pricing_version TEXT,
    title TEXT,
    api_call_count INTEGER DEFAULT 0,
    handoff_state TEXT,
    handoff_platform TEXT,
    handoff_error TEXT,
    FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL,
    content TEXT,
    tool_call_id TEXT,
    tool_calls TEXT,
    tool_name TEXT,
    timestamp REAL NOT NULL,
    token_count INTEGER,
    finish_reason TEXT,
    reasoning TEXT,
    reasoning_content TEXT,
    reasoning_details TEXT,
    codex_reasoning_items TEXT,
    codex_message_items TEXT
);
CREATE TABLE state_meta (
    key TEXT PRIMARY KEY,
    value TEXT
);
CREATE INDEX idx_sessions_source ON sessions(source);
CREATE INDEX idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX idx_sessions_started ON sessions(started_at DESC);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
INSERT INTO schema_version (version) VALUES (11);
";

/// Makes the schema in an empty file, puts our side tables into a file of the agent's, or sees that all is there.
pub(crate) fn prepare(connection: &Connection, path: &Path) -> Result<(), Failure> {
    match look(connection, path)? {
        State::Current => return Ok(()),
        State::Empty => {
            // Both only take effect on a file without tables, outside a transaction; two processes may do it at once.
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            write_ahead(connection)?;
        }
        State::Foreign => {}
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // Another process may have been here in the meantime: only what is seen under the lock counts.
    let outcome = match look(connection, path) {
        Ok(State::Current) => Ok(()),
        Ok(State::Empty) => create(connection),
        Ok(State::Foreign) => side::add(connection),
        Err(failure) => Err(failure),
    };
    if outcome.is_err() {
        connection.execute_batch("ROLLBACK")?;
        return outcome;
    }
    Ok(connection.execute_batch("COMMIT")?)
}

/// What a file is to us.
enum State {
    /// Nothing is in it.
    Empty,
    /// The agent made it, and we were not here yet.
    Foreign,
    /// All is there.
    Current,
}

fn look(connection: &Connection, path: &Path) -> Result<State, Failure> {
    let refused = |why: String, hint: &'static str| {
        Failure::Store(StoreError::Refused { path: path.to_owned(), why, hint: hint.into() })
    };
    let revision: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if revision == REVISION && version(connection).is_ok_and(|version| version == Some(VERSION)) {
        return Ok(State::Current);
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 && revision == 0 {
        return Ok(State::Empty);
    }
    let has_version: bool = connection.query_row(
        "SELECT count(*) = 3 FROM sqlite_schema WHERE type = 'table' AND name IN ('schema_version', 'sessions', 'messages')",
        [],
        |row| row.get(0),
    )?;
    if !has_version {
        return Err(refused("is a database of another program".into(), "give the path of an agent's state.db"));
    }
    match (version(connection)?, revision) {
        (Some(VERSION), 0) => Ok(State::Foreign),
        (_, newer) if newer > REVISION => {
            Err(refused(format!("was written by a newer hermes (revision {newer})"), "install the newest hermes"))
        }
        (Some(version), _) => Err(refused(
            format!("has schema {version}; this hermes reads schema {VERSION}"),
            "open it once with hermes-agent 0.14, which brings older files to schema 11",
        )),
        (None, _) => Err(refused("has no schema version".into(), "open it once with hermes-agent 0.14")),
    }
}

/// The agent's schema version; it has one row, or by its own mistake several.
pub(crate) fn version(connection: &Connection) -> Result<Option<i64>, rusqlite::Error> {
    connection.query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0))
}

fn create(connection: &Connection) -> Result<(), Failure> {
    connection.execute_batch(TABLES)?;
    connection.execute_batch(indexes::CREATE)?;
    side::add(connection)
}

/// Asks for the write-ahead log. The answer tells the mode that holds; where WAL can't be had, the rollback journal serves.
fn write_ahead(connection: &Connection) -> Result<(), Failure> {
    let _mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    Ok(())
}
