//! Files of the agent's schemas 1 to 10, made from the table of versions.

/// Returns the schema of a version, as the agent had it then: each version adds to the one before.
pub(crate) fn schema(version: i64) -> String {
    let since = |from: i64, columns: &str| if version >= from { columns.to_owned() } else { String::new() };
    let sessions = [
        "id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
         parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0,
         tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0"
            .to_owned(),
        since(3, ", title TEXT"),
        since(
            5,
            ", cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0,
             billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL,
             cost_status TEXT, cost_source TEXT, pricing_version TEXT",
        ),
        since(8, ", api_call_count INTEGER DEFAULT 0"),
    ]
    .concat();
    let messages = [
        "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT,
         tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER"
            .to_owned(),
        since(2, ", finish_reason TEXT"),
        since(6, ", reasoning TEXT, reasoning_details TEXT, codex_reasoning_items TEXT"),
        since(7, ", reasoning_content TEXT"),
        since(9, ", codex_message_items TEXT"),
    ]
    .concat();
    let fts = |table: &str, options: &str| {
        format!(
            "CREATE VIRTUAL TABLE {table} USING fts5(content, {options}content=messages, content_rowid=id);
             CREATE TRIGGER {table}_insert AFTER INSERT ON messages BEGIN
                 INSERT INTO {table}(rowid, content) VALUES (new.id, new.content); END;
             CREATE TRIGGER {table}_delete AFTER DELETE ON messages BEGIN
                 INSERT INTO {table}({table}, rowid, content) VALUES('delete', old.id, old.content); END;
             CREATE TRIGGER {table}_update AFTER UPDATE ON messages BEGIN
                 INSERT INTO {table}({table}, rowid, content) VALUES('delete', old.id, old.content);
                 INSERT INTO {table}(rowid, content) VALUES (new.id, new.content); END;"
        )
    };
    format!(
        "CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version VALUES ({version});
         CREATE TABLE sessions ({sessions}); CREATE TABLE messages ({messages});
         CREATE INDEX idx_sessions_source ON sessions(source);
         CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
         {} {} {}",
        since(4, "CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;"),
        fts("messages_fts", ""),
        since(10, &fts("messages_fts_trigram", "tokenize='trigram', ")),
    )
}

/// A compressed conversation, a delegate, and messages in two scripts.
pub(crate) const ROWS: &str = "
    INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason) VALUES
        ('old', 'cli', NULL, 1.0, 10.0, 'compression'), ('new', 'cli', 'old', 10.0, NULL, NULL), ('helper', 'cli', 'old', 5.0, NULL, NULL);
    INSERT INTO messages (session_id, role, content, timestamp) VALUES
        ('old', 'user', 'the quick fox', 2.0), ('new', 'user', '大别山项目', 12.0), ('new', 'assistant', 'lazy dog', 13.0);";
