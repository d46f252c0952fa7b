//! Files in the agent's layout of schema 11.

use crate::fixture::File;

/// Returns the indexes of schema 11: each stores a copy of every text.
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

/// Makes a file as the agent leaves it: one of ours without our side tables, and with the agent's indexes.
pub(crate) fn agents_file(rows: &str) -> File {
    let file = File::new();
    drop(file.open());
    let foreign = file.foreign();
    for table in ["messages_fts", "messages_fts_trigram"] {
        for event in ["insert", "delete", "update"] {
            foreign.execute_batch(&format!("DROP TRIGGER {table}_{event}")).unwrap();
        }
        foreign.execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
    let ours: Vec<(String, String)> = foreign
        .prepare("SELECT type, name FROM sqlite_schema WHERE name LIKE 'hx\\_%' ESCAPE '\\' ORDER BY type = 'table', rootpage = 0 DESC")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (kind, name) in ours {
        foreign.execute_batch(&format!("DROP {kind} IF EXISTS {name}")).unwrap();
    }
    foreign.execute_batch("PRAGMA user_version = 0").unwrap();
    foreign.execute_batch(&inline_indexes()).unwrap();
    foreign.execute_batch(rows).unwrap();
    file
}
