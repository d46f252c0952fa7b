//! The tables of newer agents, for files that no longer say what their columns are.
//!
//! Rows of schema 11 are recognized without this. A file that a newer agent created has wider rows; that is seen from how many
//! values a row has and where its numbers are. Files of the releases between, and files that were upgraded column by column, are not
//! recognized: the order of their columns differs.

use super::record::Value;
use super::walk::Row;

/// A table as a release of the agent creates it.
struct Layout {
    table: &'static str,
    sql: &'static str,
    /// How many columns it has.
    width: usize,
    /// Columns that always hold a number.
    numbers: &'static [usize],
    /// Columns that never hold one, though they do in a file that was upgraded to as many columns.
    others: &'static [usize],
}

/// The tables of release 0.19 (schema 22).
const LAYOUTS: [Layout; 2] = [
    Layout { table: "messages", sql: MESSAGES, width: 21, numbers: &[8, 18, 19], others: &[7, 16, 20] },
    Layout { table: "sessions", sql: SESSIONS, width: 46, numbers: &[14, 42, 44, 45], others: &[13, 43] },
];

const MESSAGES: &str = "CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL,
    content TEXT,
    tool_call_id TEXT,
    tool_calls TEXT,
    tool_name TEXT,
    effect_disposition TEXT,
    timestamp REAL NOT NULL,
    token_count INTEGER,
    finish_reason TEXT,
    reasoning TEXT,
    reasoning_content TEXT,
    reasoning_details TEXT,
    codex_reasoning_items TEXT,
    codex_message_items TEXT,
    platform_message_id TEXT,
    observed INTEGER DEFAULT 0,
    active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0,
    api_content TEXT
)";

const SESSIONS: &str = "CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    user_id TEXT,
    session_key TEXT,
    chat_id TEXT,
    chat_type TEXT,
    thread_id TEXT,
    display_name TEXT,
    origin_json TEXT,
    expiry_finalized INTEGER DEFAULT 0,
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
    cwd TEXT,
    git_branch TEXT,
    git_repo_root TEXT,
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
    compression_failure_cooldown_until REAL,
    compression_failure_error TEXT,
    compression_fallback_streak INTEGER NOT NULL DEFAULT 0,
    profile_name TEXT,
    rewind_count INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
)";

/// Counts rows that look like those of a newer agent.
#[derive(Debug, Default)]
pub(super) struct Votes([u64; LAYOUTS.len()]);

impl Votes {
    /// Looks at a row of a page that no known tree leads to.
    pub(super) fn take(&mut self, row: &Row) {
        for (votes, layout) in self.0.iter_mut().zip(&LAYOUTS) {
            *votes += u64::from(layout.is_of(row));
        }
    }

    /// Returns the statement that creates a table as the file most likely has it; `None` if no row speaks for it.
    pub(super) fn statement(&self, table: &str) -> Option<&'static str> {
        let voted = self.0.iter().zip(&LAYOUTS).find(|(votes, layout)| layout.table == table && **votes > 0);
        voted.map(|(_, layout)| layout.sql)
    }
}

impl Layout {
    fn is_of(&self, row: &Row) -> bool {
        let is_text = |place: usize| matches!(row.values.get(place), Some(Value::Text(_)));
        let is_number = |place: usize| matches!(row.values.get(place), Some(Value::Real(_) | Value::Integer(_)));
        let starts_like_it = match self.table {
            // The number of a message is kept apart from its values.
            "messages" => row.values.first() == Some(&Value::Null) && is_text(1) && is_text(2),
            _ => is_text(0) && is_text(1),
        };
        row.values.len() == self.width
            && starts_like_it
            && self.numbers.iter().all(|place| is_number(*place))
            && !self.others.iter().any(|place| is_number(*place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of a session in which these columns hold numbers.
    fn session(numbers: &[usize]) -> Row {
        let value = |place: usize| match place {
            0 | 1 => Value::Text(b"x".to_vec()),
            place if numbers.contains(&place) => Value::Integer(1),
            _ => Value::Null,
        };
        Row { rowid: 1, values: (0..46).map(value).collect(), is_cut: false }
    }

    #[test]
    fn a_row_of_an_upgraded_file_is_not_taken_for_one_of_a_new_file() {
        let mut votes = Votes::default();
        // 0.18.2 has 44 columns, the last of them rewind_count and archived; 0.19.0 adds two behind them.
        votes.take(&session(&[14, 42, 43, 44]));
        assert_eq!(votes.statement("sessions"), None);
        votes.take(&session(&[14, 42, 44, 45]));
        assert!(votes.statement("sessions").is_some_and(|sql| sql.contains("profile_name")));
        assert_eq!(votes.statement("messages"), None);
    }
}
