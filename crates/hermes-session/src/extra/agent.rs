//! The single list of the columns that releases of the agent after 0.14 added to its tables.

use super::{Scalar, Table};

/// A column of the agent, as the agent defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type and constraints, in the words of the agent's schema.
    pub definition: &'static str,
    /// Its default; `None` is NULL.
    default: Option<i64>,
}

impl AgentColumn {
    const fn new(name: &'static str, definition: &'static str, default: Option<i64>) -> Self {
        Self { name, definition, default }
    }

    /// Returns the value of the column in a row that does not set it.
    pub fn default(&self) -> Scalar {
        self.default.map_or(Scalar::Null, Scalar::Integer)
    }
}

const TEXT: &str = "TEXT";
const COUNTER: &str = "INTEGER NOT NULL DEFAULT 0";

/// The columns that releases up to 0.19.0 added to `sessions`, in the order of that release.
pub const SESSION_COLUMNS: [AgentColumn; 16] = [
    AgentColumn::new("session_key", TEXT, None),
    AgentColumn::new("chat_id", TEXT, None),
    AgentColumn::new("chat_type", TEXT, None),
    AgentColumn::new("thread_id", TEXT, None),
    AgentColumn::new("display_name", TEXT, None),
    AgentColumn::new("origin_json", TEXT, None),
    AgentColumn::new("expiry_finalized", "INTEGER DEFAULT 0", Some(0)),
    AgentColumn::new("cwd", TEXT, None),
    AgentColumn::new("git_branch", TEXT, None),
    AgentColumn::new("git_repo_root", TEXT, None),
    AgentColumn::new("compression_failure_cooldown_until", "REAL", None),
    AgentColumn::new("compression_failure_error", TEXT, None),
    AgentColumn::new("compression_fallback_streak", COUNTER, Some(0)),
    AgentColumn::new("profile_name", TEXT, None),
    AgentColumn::new("rewind_count", COUNTER, Some(0)),
    AgentColumn::new("archived", COUNTER, Some(0)),
];

/// The columns that releases up to 0.19.0 added to `messages`, in the order of that release.
pub const MESSAGE_COLUMNS: [AgentColumn; 6] = [
    AgentColumn::new("effect_disposition", TEXT, None),
    AgentColumn::new("platform_message_id", TEXT, None),
    AgentColumn::new("observed", "INTEGER DEFAULT 0", Some(0)),
    AgentColumn::new("active", "INTEGER NOT NULL DEFAULT 1", Some(1)),
    AgentColumn::new("compacted", COUNTER, Some(0)),
    AgentColumn::new("api_content", TEXT, None),
];

/// Returns a column that the agent added to a table; `None` if it has no such column.
pub fn column_of(table: Table, name: &str) -> Option<&'static AgentColumn> {
    let columns: &[AgentColumn] = match table {
        Table::Sessions => &SESSION_COLUMNS,
        Table::Messages => &MESSAGE_COLUMNS,
    };
    columns.iter().find(|column| column.name == name)
}
