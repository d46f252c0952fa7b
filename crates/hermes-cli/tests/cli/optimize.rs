//! `hermes sessions optimize`

use super::*;
use serde_json::Value;

const OPTIMIZE: [&str; 2] = ["sessions", "optimize"];

/// A store with the agent's indexes, each with a copy of every text, and much in it.
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
    assert_eq!(lines, ["before", "after", "won", "---", "note:", "---"], "{seen}");
    assert!(seen.contains("a copy of the file as it was before is in [HOME]/state.db.backup-v11"), "{seen}");
    assert!(size() * 2 < before, "{before} bytes before, {} after", size());
    sound(&home);
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "optimize", "--json"]).stdout()).unwrap();
    assert_eq!((&json["schema"], &json["shrunk"]), (&Value::from(1), &Value::from("not needed")));
    assert_eq!((&json["bytes_before"], &json["bytes_after"]), (&Value::from(size()), &Value::from(size())));
}

#[test]
fn a_file_that_somebody_has_open_keeps_its_room_for_now() {
    let home = inline();
    let open = home.foreign();
    open.query_row("SELECT count(*) FROM sessions", [], |_| Ok(())).unwrap();
    let seen = home.see(&OPTIMIZE);
    assert!(seen.contains("free inside") && seen.contains("Somebody has the store open"), "{seen}");
    drop(open);
    assert!(!home.see(&OPTIMIZE).contains("Somebody"));
    sound(&home);
}

#[test]
fn indexes_that_are_damaged_are_made_anew() {
    let home = several();
    home.damage("INSERT INTO messages_fts(messages_fts, rowid, content) SELECT 'delete', id, content || '  ' FROM messages WHERE id = 4");
    let seen = home.see(&["sessions", "verify"]);
    assert!(seen.contains("messages_fts 4 is a message that the index does not have"), "{seen}");
    assert!(seen.contains("hint: all messages are there: `hermes sessions optimize --rebuild`"), "{seen}");
    assert!(home.see(&["sessions", "optimize", "--rebuild"]).ends_with("--- exit 0"));
    sound(&home);
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let home = Home::empty();
    assert!(home.see(&OPTIMIZE).ends_with("--- exit 1"));
    assert!(!home.database().exists());
}
