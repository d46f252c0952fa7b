//! `hermes sessions optimize`

use super::*;
use serde_json::Value;

const OPTIMIZE: [&str; 2] = ["sessions", "optimize"];

/// Returns a large store with the agent's indexes, each of which holds a copy of every text.
pub(super) fn inline() -> Home {
    let home = several();
    let text = "coalesce(new.content, '') || ' ' || coalesce(new.tool_name, '') || ' ' || coalesce(new.tool_calls, '')";
    for (table, options) in [("messages_fts", "content"), ("messages_fts_trigram", "content, tokenize='trigram'")] {
        let drops: String =
            ["insert", "delete", "update"].map(|event| format!("DROP TRIGGER {table}_{event};")).concat();
        let insert = format!("INSERT INTO {table}(rowid, content) VALUES (new.id, {text});");
        let delete = format!("DELETE FROM {table} WHERE rowid = old.id;");
        home.damage(&format!(
            "{drops} DROP TABLE {table}; CREATE VIRTUAL TABLE {table} USING fts5({options});
             INSERT INTO {table}(rowid, content) SELECT id, {} FROM messages;
             CREATE TRIGGER {table}_insert AFTER INSERT ON messages BEGIN {insert} END;
             CREATE TRIGGER {table}_delete AFTER DELETE ON messages BEGIN {delete} END;
             CREATE TRIGGER {table}_update AFTER UPDATE ON messages BEGIN {delete} {insert} END;",
            text.replace("new.", "")
        ));
    }
    home.damage(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO messages (session_id, role, content, timestamp) SELECT 'tool_1', 'user', hex(randomblob(300)), 1800000000.0 FROM n;
         UPDATE sessions SET message_count = 1001 WHERE id = 'tool_1'",
    );
    home
}

fn sound(home: &Home) {
    let seen = home.see(&["sessions", "verify"]);
    assert!(seen.contains("The store is sound."), "{seen}");
}

#[test]
fn the_agents_file_gets_smaller() {
    let home = inline();
    let size = || std::fs::metadata(home.database()).unwrap().len();
    let before = size();
    let seen = home.see(&OPTIMIZE);
    let lines: Vec<&str> = seen.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(lines, ["before", "after", "saved", "---", "note:", "---"], "{seen}");
    assert!(seen.contains("the file as it was: [HOME]/state.db.backup-v11"), "{seen}");
    assert!(size() * 2 < before, "{before} bytes before, {} after", size());
    sound(&home);
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "optimize", "--json"]).stdout()).unwrap();
    assert_eq!((&json["schema"], &json["shrunk"]), (&Value::from(1), &Value::from("not needed")));
    assert_eq!((&json["bytes_before"], &json["bytes_after"]), (&Value::from(size()), &Value::from(size())));
}

#[test]
fn a_file_that_is_open_elsewhere_keeps_its_free_pages() {
    let home = inline();
    let open = home.foreign();
    open.query_row("SELECT count(*) FROM sessions", [], |_| Ok(())).unwrap();
    let seen = home.see(&OPTIMIZE);
    assert!(seen.contains("free pages") && seen.contains("Another program has the store open"), "{seen}");
    drop(open);
    assert!(!home.see(&OPTIMIZE).contains("Another program"));
    sound(&home);
}

#[test]
fn damaged_indexes_are_rebuilt() {
    let home = several();
    home.damage("INSERT INTO messages_fts(messages_fts, rowid, content) SELECT 'delete', id, content || '  ' FROM messages WHERE id = 4");
    let seen = home.see(&["sessions", "verify"]);
    assert!(seen.contains("messages_fts 4 is a message that is not in the index"), "{seen}");
    assert!(seen.contains("hint: no message is lost: `hermes sessions optimize --rebuild`"), "{seen}");
    assert!(home.see(&["sessions", "optimize", "--rebuild"]).ends_with("--- exit 0"));
    sound(&home);
}

#[test]
fn a_missing_store_is_not_created() {
    let home = Home::empty();
    assert!(home.see(&OPTIMIZE).ends_with("--- exit 1"));
    assert!(!home.database().exists());
}
