//! The agent's tables, as schema 11 has them.

use rusqlite::Connection;

/// The tables, in the agent's own words.
pub(crate) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS sessions (
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
CREATE TABLE IF NOT EXISTS messages (
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
CREATE TABLE IF NOT EXISTS state_meta (
    key TEXT PRIMARY KEY,
    value TEXT
);
";

/// Their indexes. The last one fails if two sessions share a title.
pub(super) const INDEXES: &str = "
CREATE INDEX IF NOT EXISTS idx_sessions_source ON sessions(source);
CREATE INDEX IF NOT EXISTS idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX IF NOT EXISTS idx_sessions_started ON sessions(started_at DESC);
CREATE INDEX IF NOT EXISTS idx_messages_session ON messages(session_id, timestamp);
CREATE UNIQUE INDEX IF NOT EXISTS idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
";

/// A column that schema 11 has: its table, its name, and its declaration.
pub(super) struct Column {
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) declaration: String,
}

/// The columns that a file lacks, each with what it takes to add it. They are told by making the tables and looking at them, so that
/// there is one list.
pub(super) fn missing_columns(connection: &Connection) -> Result<Vec<Column>, rusqlite::Error> {
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(TABLES)?;
    let mut missing = Vec::new();
    for table in ["sessions", "messages"] {
        let mut columns =
            expected.prepare("SELECT name, type || CASE WHEN dflt_value IS NULL THEN '' ELSE ' DEFAULT ' || dflt_value END FROM pragma_table_info(?)")?;
        let columns = columns.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for column in columns {
            let (name, declaration): (String, String) = column?;
            let there = connection
                .prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?")?
                .exists([table, name.as_str()])?;
            if !there {
                missing.push(Column { table, name, declaration });
            }
        }
    }
    Ok(missing)
}

/// Has an old file read as if it had what it lacks: views in memory come before its own tables and fill in the columns, and a table that is
/// not there is an empty one.
pub(super) fn complete_in_memory(connection: &Connection) -> Result<(), rusqlite::Error> {
    let missing = missing_columns(connection)?;
    for table in ["sessions", "messages"] {
        let lacking: Vec<String> = missing
            .iter()
            .filter(|column| column.table == table)
            .map(|column| {
                let default = column.declaration.split_once(" DEFAULT ").map_or("NULL", |(_, default)| default);
                format!(", {default} AS {}", column.name)
            })
            .collect();
        if !lacking.is_empty() {
            let lacking = lacking.concat();
            connection.execute_batch(&format!(
                "CREATE TEMP VIEW {table} AS SELECT rowid AS rowid, *{lacking} FROM main.{table}"
            ))?;
        }
    }
    let has_values = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'state_meta'")?.exists([])?;
    if !has_values {
        connection.execute_batch("CREATE TEMP TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)")?;
    }
    Ok(())
}
