//! A command that writes ends with every message in the index that the agent searches.

use super::rpc::Served;
use super::*;

const MESSAGES: i64 = 2500;

/// A home with a file of schema 10 whose backlog takes longer to index than the 200 ms of closing a store.
fn old_home() -> Home {
    let home = Home::empty();
    home.damage(&old_schema::schema(10));
    home.damage(old_schema::ROWS);
    home.damage(&format!(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {MESSAGES}) \
         INSERT INTO messages (session_id, role, content, timestamp) \
             SELECT 'new', 'user', 'pebble ' || i || ' ' || replace(hex(randomblob(600)), '0', ' '), 20.0 + i FROM n"
    ));
    home
}

#[track_caller]
fn check_indexed(home: &Home, messages: i64) {
    let number = |sql: &str| home.foreign().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'pebble'"), messages);
    assert_eq!(number("SELECT count(*) FROM hx_pending"), 0);
}

#[test]
fn an_old_file_is_indexed_when_a_short_command_ends() {
    for arguments in [&["sessions", "rename", "new", "stones"][..], &["sessions", "restore", "nothing"]] {
        let home = old_home();
        let seen = home.see(arguments);
        if arguments.contains(&"restore") {
            // There was nothing to restore, so nothing was written: the file is unchanged.
            assert!(seen.ends_with("--- exit 1"), "{seen}");
            let ours = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_*'";
            assert_eq!(home.foreign().query_row(ours, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
            continue;
        }
        assert!(seen.ends_with("--- exit 0"), "{seen}");
        check_indexed(&home, MESSAGES);
    }
}

#[test]
fn an_old_file_is_indexed_when_an_import_ends() {
    let home = old_home();
    let line = r#"{"id": "came", "source": "cli", "started_at": 5.0, "messages": [{"role": "user", "content": "pebble", "timestamp": 6.0}]}"#;
    std::fs::write(home.path().join("came.jsonl"), line).unwrap();
    let seen = home.see(&["sessions", "import", "came.jsonl"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    check_indexed(&home, MESSAGES + 1);
}

#[test]
fn an_old_file_is_indexed_when_rpc_ends() {
    for arguments in [&[][..], &["--upgrade"]] {
        let home = old_home();
        let mut served = Served::start(&home, arguments);
        served.line();
        served.call(r#"{"m": "append_message", "a": ["new", "user", "pebble"]}"#);
        drop(served.stdin.take());
        assert_eq!(served.end(), (vec![], Some(0)));
        check_indexed(&home, MESSAGES + 1);
    }
}

/// A signal ends the process soon; the next process indexes the rest.
#[test]
fn a_signal_leaves_the_rest_of_the_indexing() {
    let home = old_home();
    let mut served = Served::start(&home, &[]);
    served.line();
    served.call(r#"{"m": "append_message", "a": ["new", "user", "pebble"]}"#);
    // Background indexing runs meanwhile; it pauses while another program holds the write lock.
    let foreign = home.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let pending = || foreign.query_row("SELECT count(*) FROM hx_pending", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = pending();
    assert!(before > 0);
    served.terminate();
    assert_eq!(served.end().1, Some(0));
    assert_eq!(pending(), before);
    foreign.execute_batch("ROLLBACK").unwrap();
    let seen = home.see(&["sessions", "pin", "new"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
    check_indexed(&home, MESSAGES + 1);
}
