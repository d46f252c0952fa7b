//! The indexes of the agent's schema 11.

/// The indexes of schema 11: each keeps a copy of every text.
pub(crate) fn inline_indexes() -> String {
    let index = |table: &str, tokenizer: &str| {
        let insert = format!(
            "INSERT INTO {table}(rowid, content) VALUES (new.id, \
             COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, ''));"
        );
        let delete = format!("DELETE FROM {table} WHERE rowid = old.id;");
        format!(
            "CREATE VIRTUAL TABLE {table} USING fts5(content{tokenizer});
             CREATE TRIGGER {table}_insert AFTER INSERT ON messages BEGIN {insert} END;
             CREATE TRIGGER {table}_delete AFTER DELETE ON messages BEGIN {delete} END;
             CREATE TRIGGER {table}_update AFTER UPDATE ON messages BEGIN {delete} {insert} END;"
        )
    };
    index("messages_fts", "") + &index("messages_fts_trigram", ", tokenize='trigram'")
}
