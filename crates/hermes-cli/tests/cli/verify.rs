//! `hermes sessions verify`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

const VERIFY: [&str; 2] = ["sessions", "verify"];

#[test]
fn a_sound_store() {
    assert_snapshot!(several().see(&VERIFY), @r#"
    ✓ file           65 pages
    ✓ schema         59 objects
    ✓ indexes        6 messages
    ✓ counters       5 sessions
    ✓ relations      5 sessions
    ✓ side tables    5 sessions
    ✓ index backlog  2 indexes
    The store is sound.
    --- exit 0
    "#);
    assert_snapshot!(Home::with_store().see(&["sessions", "verify", "--json"]), @r#"
    {"schema": 1, "sound": true, "checks": [{"name": "file", "looked_at": 65, "things": "pages", "problems": 0, "notes": 0, "findings": []}, {"name": "schema", "looked_at": 59, "things": "objects", "problems": 0, "notes": 0, "findings": []}, {"name": "indexes", "looked_at": 0, "things": "messages", "problems": 0, "notes": 0, "findings": []}, {"name": "counters", "looked_at": 0, "things": "sessions", "problems": 0, "notes": 0, "findings": []}, {"name": "relations", "looked_at": 0, "things": "sessions", "problems": 0, "notes": 0, "findings": []}, {"name": "side tables", "looked_at": 0, "things": "sessions", "problems": 0, "notes": 0, "findings": []}, {"name": "index backlog", "looked_at": 2, "things": "indexes", "problems": 0, "notes": 0, "findings": []}]}
    --- exit 0
    "#);
}

#[test]
fn counters_that_do_not_add_up() {
    let home = several();
    home.damage("UPDATE sessions SET message_count = 40 WHERE id LIKE '2025%'");
    assert_snapshot!(home.see(&VERIFY), @r#"
    ✓ file           65 pages
    ✓ schema         59 objects
    ✓ indexes        6 messages
    ✗ counters       5 sessions, 3 problems
      ✗ sessions 20250305_091523_a1b2c3 has message_count 40, not 2
      ✗ sessions 20250304_150000_b0b0b0 has message_count 40, not 1
      ✗ sessions 20250303_101500_f1f2f3f4 has message_count 40, not 1
    ✓ relations      5 sessions
    ✓ side tables    5 sessions
    ✓ index backlog  2 indexes
    --- stderr
    error: the store has 3 problems
    hint: the file itself can be read: keep a copy with `hermes sessions backup FILE` before you change anything
    --- exit 3
    "#);
    let json: Value = serde_json::from_str(&home.hermes(&["sessions", "verify", "--json"]).stdout()).unwrap();
    assert_eq!(json["sound"], false);
    let counters = json["checks"].as_array().unwrap().iter().find(|check| check["name"] == "counters").unwrap();
    assert_eq!((&counters["problems"], &counters["looked_at"]), (&Value::from(3), &Value::from(5)));
    assert_eq!(counters["findings"][0]["severity"], "problem");
    assert_eq!(counters["findings"][0]["what"], "has message_count 40, not 2");
}

#[test]
fn an_index_that_is_missing() {
    let home = several();
    home.damage("DROP TABLE messages_fts");
    assert_snapshot!(home.see(&VERIFY), @r#"
    ✓ file           65 pages
    ✗ schema         59 objects, 1 problem
      ✗ table messages_fts is missing
    ✗ indexes        6 messages, 1 problem
      ✗ table messages_fts can't be compared with the messages: no such table:
        messages_fts_docsize
    ✓ counters       5 sessions
    ✓ relations      5 sessions
    ✓ side tables    5 sessions
    ✓ index backlog  2 indexes
    --- stderr
    error: the store has 2 problems
    hint: the file itself can be read: keep a copy with `hermes sessions backup FILE` before you change anything
    --- exit 3
    "#);
}

#[test]
fn a_trigger_that_is_missing_and_what_it_missed() {
    let home = several();
    home.damage(
        "DROP TRIGGER messages_fts_trigram_insert;
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('tool_1', 'assistant', '没人听到', 1800000000.0);
         UPDATE sessions SET message_count = 2 WHERE id = 'tool_1'",
    );
    assert_snapshot!(home.see(&VERIFY), @r#"
    ✓ file           65 pages
    ✗ schema         59 objects, 1 problem
      ✗ trigger messages_fts_trigram_insert is missing
    ✗ indexes        7 messages, 1 problem
      ✗ messages_fts_trigram 7 is a message that is not in the index
    ✓ counters       5 sessions
    ✓ relations      5 sessions
    ✓ side tables    5 sessions
    ✓ index backlog  2 indexes, 1 note
      · table messages has a message that is not indexed yet
    --- stderr
    error: the store has 2 problems
    hint: the file itself can be read: keep a copy with `hermes sessions backup FILE` before you change anything
    --- exit 3
    "#);
}

#[test]
fn what_is_outstanding_is_no_problem() {
    let home = several();
    home.damage(
        "INSERT INTO hx_pending VALUES (4, 5);
         INSERT INTO messages_fts(messages_fts, rowid, content) SELECT 'delete', id, content || '  ' FROM messages WHERE id IN (4, 5);
         UPDATE messages SET content = 'Run it' WHERE session_id = 'cron_job1'",
    );
    assert_snapshot!(home.see(&VERIFY), @r#"
    ✓ file           65 pages
    ✓ schema         59 objects
    ✓ indexes        6 messages
    ✓ counters       5 sessions
    ✓ relations      5 sessions
    ✓ side tables    5 sessions, 1 note
      · hx_session cron_job1 has a stale preview and stale times; the next write
        refreshes them
    ✓ index backlog  2 indexes, 1 note
      · table messages has 2 messages that are not indexed yet
    The store is sound.
    --- exit 0
    "#);
}

/// Overwrites a page in the middle of the closed file.
fn spoil(home: &Home) {
    use std::os::unix::fs::FileExt as _;
    let bytes = std::fs::File::options().write(true).open(home.database()).unwrap();
    let pages = bytes.metadata().unwrap().len() / 4096;
    bytes.write_all_at(&[0; 4096], pages / 2 * 4096).unwrap();
}

#[test]
fn a_page_in_the_middle_that_is_gone() {
    let home = several();
    for number in 0..40 {
        let text = format!("{number} {}", "many words ".repeat(100));
        home.talk(&format!("long_{number}"), "cli", None, LONG_AGO, &[(Role::User, &text)]);
    }
    spoil(&home);
    let seen = home.see(&VERIFY);
    assert!(seen.contains("✗ file") && seen.contains("\n✓ schema") && seen.contains("index backlog"), "{seen}");
    assert!(
        seen.ends_with(
            "hint: stop every agent, keep a copy of the file and its -wal, then restore a backup or run `hermes sessions repair [HOME]/state.db`\n--- exit 3"
        ),
        "{seen}"
    );
}

/// Returns a home whose file has damage in the table `messages`, and the bytes of that file.
fn damaged() -> (Home, Vec<u8>) {
    let home = several();
    let sql = "SELECT pageno FROM dbstat WHERE name = 'messages' LIMIT 1";
    let page = home.foreign().query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap() as usize;
    let mut bytes = std::fs::read(home.database()).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
    std::fs::write(home.database(), &bytes).unwrap();
    (home, bytes)
}

/// Damage is recorded and sets the exit code, wherever the report goes.
#[test]
fn a_report_that_nobody_reads_is_a_verdict_all_the_same() {
    for args in [&["sessions", "verify"][..], &["sessions", "verify", "--json"], &["doctor"], &["doctor", "--json"]] {
        let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
        let closed = || std::io::pipe().unwrap().1;
        for is_closed in [true, false] {
            let (home, _) = damaged();
            let mut command = home.hermes(args).command;
            if is_closed {
                command.stdout(closed()).stderr(closed())
            } else {
                command.stdout(full())
            };
            assert_eq!(command.output().unwrap().status.code(), Some(3), "{args:?}, {is_closed}");
            assert!(home.path().join("state.db.damaged").exists(), "{args:?}, {is_closed}");
        }
    }
    let home = several();
    let mut command = home.hermes(&VERIFY).command;
    assert_eq!(command.stdout(std::io::pipe().unwrap().1).output().unwrap().status.code(), Some(0));
}

/// Each command that finds damage in the agent's tables keeps the next one from writing to the file.
#[test]
fn damage_that_any_command_finds_is_recorded() {
    let finders: [&[&str]; 5] = [
        &VERIFY,
        &["doctor"],
        &["sessions", "backup", "copy.db"],
        &["sessions", "show", "20250305_091523_a1b2c3"],
        &["sessiondb", "detach", "--yes"],
    ];
    for args in finders {
        let (home, bytes) = damaged();
        let seen = home.see(args);
        assert!(seen.ends_with("--- exit 3"), "{args:?}: {seen}");
        let marker = std::fs::read_to_string(home.path().join("state.db.damaged")).expect("it is recorded");
        assert!(marker.lines().count() > 1 && marker.contains("messages"), "{args:?}: {marker}");
        let pinned = home.see(&["sessions", "pin", "20250305_091523_a1b2c3"]);
        assert!(pinned.contains("is damaged: this is recorded in [HOME]/state.db.damaged"), "{args:?}: {pinned}");
        assert!(
            pinned.contains("`hermes sessions repair [HOME]/state.db`") && pinned.ends_with("--- exit 3"),
            "{pinned}"
        );
        assert!(std::fs::read(home.database()).unwrap() == bytes, "{args:?}");
    }
}

/// Indexes and our tables are derived from the agent's tables, and are rebuilt while the file is in use.
#[test]
fn damage_in_an_index_is_not_recorded() {
    let home = several();
    home.damage("DELETE FROM messages_fts_docsize; DELETE FROM hx_session");
    for args in [&VERIFY[..], &["doctor"], &["sessions", "backup", "copy.db"]] {
        home.see(args);
        assert!(!home.path().join("state.db.damaged").exists(), "{args:?}");
    }
}

/// The steps that `repair` prints lead to a file that can be written.
#[test]
fn a_repaired_file_can_be_written() {
    let (home, _) = damaged();
    let file = home.database().display().to_string();
    let told = home.see(&["sessions", "repair", &file]);
    assert!(told.contains("move [HOME]/state.db and its -wal and -shm away, then mv"), "{told}");
    std::fs::remove_file(home.path().join("state.db.repaired")).unwrap();
    home.see(&VERIFY);
    let told = home.see(&["sessions", "repair", &file]);
    assert!(
        told.contains("move [HOME]/state.db, its -wal and -shm, and [HOME]/state.db.damaged away, then mv"),
        "{told}"
    );
    for end in ["", "-wal", "-shm", ".damaged"] {
        _ = std::fs::rename(format!("{file}{end}"), home.path().join(format!("old{end}")));
    }
    std::fs::rename(format!("{file}.repaired"), &file).unwrap();
    let seen = home.see(&["sessions", "pin", "20250305_091523_a1b2c3"]);
    assert!(seen.ends_with("--- exit 0"), "{seen}");
}

#[test]
fn a_file_that_is_cut_off_is_reported_when_it_is_opened() {
    let home = several();
    let length = std::fs::metadata(home.database()).unwrap().len();
    std::fs::File::options().write(true).open(home.database()).unwrap().set_len(length / 2).unwrap();
    assert_snapshot!(home.see(&VERIFY), @r#"
    --- stderr
    error: [HOME]/state.db is damaged: database disk image is malformed
    hint: stop every agent, keep a copy of the file and its -wal, then restore a backup or run `hermes sessions repair [HOME]/state.db`
    --- exit 3
    "#);
}

#[test]
fn a_narrow_terminal_wraps_what_was_found() {
    let home = several();
    home.damage("UPDATE sessions SET message_count = 40 WHERE id = 'cron_job1'");
    let shown = home.hermes(&VERIFY).env("COLUMNS", "40").stdout();
    assert!(shown.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 40), "{shown}");
}

#[test]
fn a_store_that_is_not_there() {
    let seen = Home::empty().see(&VERIFY);
    assert!(seen.contains("there is no session store at") && seen.ends_with("--- exit 1"), "{seen}");
}
