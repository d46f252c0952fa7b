//! The agent's tables, column by column.

use rusqlite::Connection;

/// A layout of the agent's tables that is known column by column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentLayout {
    /// Schema 11, which we create.
    Schema11,
    /// Schema 22, as release 0.19 creates it.
    Schema22,
}

use AgentLayout::{Schema11, Schema22};

/// A table of the agent.
#[derive(Debug, Clone)]
pub struct AgentTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns in order, each as `name TYPE constraints`.
    pub columns: Vec<&'static str>,
    constraints: Vec<&'static str>,
}

impl AgentTable {
    /// Returns the statement that creates the table if it is missing, as the agent spells it: SQLite stores the text.
    pub fn statement(&self) -> String {
        let lines: Vec<&str> = self.columns.iter().chain(&self.constraints).copied().collect();
        format!("CREATE TABLE IF NOT EXISTS {} (\n    {}\n);\n", self.name, lines.join(",\n    "))
    }
}

/// Returns the agent's tables in a layout. Schema 22 has further tables, which are not listed.
pub fn agent_tables(layout: AgentLayout) -> Vec<AgentTable> {
    let table = |(name, lines): (&'static str, &[(AgentLayout, &'static str)])| {
        let lines = lines.iter().filter(|(since, _)| *since <= layout).map(|(_, line)| *line);
        let (constraints, columns) = lines.partition(|line| line.starts_with("FOREIGN KEY"));
        AgentTable { name, columns, constraints }
    };
    let tables = [("schema_version", VERSIONS), ("sessions", SESSIONS), ("messages", MESSAGES), ("state_meta", VALUES)];
    tables.into_iter().map(table).collect()
}

/// Returns the statements that create the tables of schema 11, if they are missing.
pub(crate) fn create_tables() -> String {
    agent_tables(Schema11).iter().map(AgentTable::statement).collect()
}

/// The lines of each table's definition, with the first layout that has the line.
const VERSIONS: &[(AgentLayout, &str)] = &[(Schema11, "version INTEGER NOT NULL")];

const VALUES: &[(AgentLayout, &str)] = &[(Schema11, "key TEXT PRIMARY KEY"), (Schema11, "value TEXT")];

const SESSIONS: &[(AgentLayout, &str)] = &[
    (Schema11, "id TEXT PRIMARY KEY"),
    (Schema11, "source TEXT NOT NULL"),
    (Schema11, "user_id TEXT"),
    (Schema22, "session_key TEXT"),
    (Schema22, "chat_id TEXT"),
    (Schema22, "chat_type TEXT"),
    (Schema22, "thread_id TEXT"),
    (Schema22, "display_name TEXT"),
    (Schema22, "origin_json TEXT"),
    (Schema22, "expiry_finalized INTEGER DEFAULT 0"),
    (Schema11, "model TEXT"),
    (Schema11, "model_config TEXT"),
    (Schema11, "system_prompt TEXT"),
    (Schema11, "parent_session_id TEXT"),
    (Schema11, "started_at REAL NOT NULL"),
    (Schema11, "ended_at REAL"),
    (Schema11, "end_reason TEXT"),
    (Schema11, "message_count INTEGER DEFAULT 0"),
    (Schema11, "tool_call_count INTEGER DEFAULT 0"),
    (Schema11, "input_tokens INTEGER DEFAULT 0"),
    (Schema11, "output_tokens INTEGER DEFAULT 0"),
    (Schema11, "cache_read_tokens INTEGER DEFAULT 0"),
    (Schema11, "cache_write_tokens INTEGER DEFAULT 0"),
    (Schema11, "reasoning_tokens INTEGER DEFAULT 0"),
    (Schema22, "cwd TEXT"),
    (Schema22, "git_branch TEXT"),
    (Schema22, "git_repo_root TEXT"),
    (Schema11, "billing_provider TEXT"),
    (Schema11, "billing_base_url TEXT"),
    (Schema11, "billing_mode TEXT"),
    (Schema11, "estimated_cost_usd REAL"),
    (Schema11, "actual_cost_usd REAL"),
    (Schema11, "cost_status TEXT"),
    (Schema11, "cost_source TEXT"),
    (Schema11, "pricing_version TEXT"),
    (Schema11, "title TEXT"),
    (Schema11, "api_call_count INTEGER DEFAULT 0"),
    (Schema11, "handoff_state TEXT"),
    (Schema11, "handoff_platform TEXT"),
    (Schema11, "handoff_error TEXT"),
    (Schema22, "compression_failure_cooldown_until REAL"),
    (Schema22, "compression_failure_error TEXT"),
    (Schema22, "compression_fallback_streak INTEGER NOT NULL DEFAULT 0"),
    (Schema22, "profile_name TEXT"),
    (Schema22, "rewind_count INTEGER NOT NULL DEFAULT 0"),
    (Schema22, "archived INTEGER NOT NULL DEFAULT 0"),
    (Schema11, "FOREIGN KEY (parent_session_id) REFERENCES sessions(id)"),
];

const MESSAGES: &[(AgentLayout, &str)] = &[
    (Schema11, "id INTEGER PRIMARY KEY AUTOINCREMENT"),
    (Schema11, "session_id TEXT NOT NULL REFERENCES sessions(id)"),
    (Schema11, "role TEXT NOT NULL"),
    (Schema11, "content TEXT"),
    (Schema11, "tool_call_id TEXT"),
    (Schema11, "tool_calls TEXT"),
    (Schema11, "tool_name TEXT"),
    (Schema22, "effect_disposition TEXT"),
    (Schema11, "timestamp REAL NOT NULL"),
    (Schema11, "token_count INTEGER"),
    (Schema11, "finish_reason TEXT"),
    (Schema11, "reasoning TEXT"),
    (Schema11, "reasoning_content TEXT"),
    (Schema11, "reasoning_details TEXT"),
    (Schema11, "codex_reasoning_items TEXT"),
    (Schema11, "codex_message_items TEXT"),
    (Schema22, "platform_message_id TEXT"),
    (Schema22, "observed INTEGER DEFAULT 0"),
    (Schema22, "active INTEGER NOT NULL DEFAULT 1"),
    (Schema22, "compacted INTEGER NOT NULL DEFAULT 0"),
    (Schema22, "api_content TEXT"),
];

/// The indexes of these tables. The last one fails if two sessions share a title.
pub(super) const INDEXES: &str = "
CREATE INDEX IF NOT EXISTS idx_sessions_source ON sessions(source);
CREATE INDEX IF NOT EXISTS idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX IF NOT EXISTS idx_sessions_started ON sessions(started_at DESC);
CREATE INDEX IF NOT EXISTS idx_messages_session ON messages(session_id, timestamp);
CREATE UNIQUE INDEX IF NOT EXISTS idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
";

/// A column of schema 11: its table, its name, and its declaration.
pub(super) struct Column {
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) declaration: String,
}

/// Returns the columns that a file lacks, with their declarations. They are read from the created tables, so that there
/// is only one list.
pub(super) fn missing_columns(connection: &Connection) -> Result<Vec<Column>, rusqlite::Error> {
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(&create_tables())?;
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

/// Makes an old file readable as if it were complete: temporary views shadow its tables and add the missing columns,
/// and a missing table appears as an empty one.
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
