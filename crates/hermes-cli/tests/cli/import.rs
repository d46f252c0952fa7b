//! `hermes sessions import`

use super::*;
use insta::assert_snapshot;
use serde_json::Value;
use std::io::Write as _;

fn import(home: &Home, args: &[&str]) -> String {
    home.see(&[&["sessions", "import"], args].concat())
}

/// Returns everything that is stored, row by row.
pub(super) fn rows(home: &Home) -> Vec<String> {
    let connection = home.foreign();
    let mut rows = Vec::new();
    for table in ["sessions", "messages"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY id")).unwrap();
        let columns = statement.column_count();
        let found = statement.query_map([], |row| {
            (0..columns).map(|column| row.get::<_, rusqlite::types::Value>(column)).collect::<Result<Vec<_>, _>>()
        });
        rows.extend(found.unwrap().map(|row| format!("{table} {:?}", row.unwrap())));
    }
    rows
}

/// Returns a store with every kind of data.
pub(super) fn rich() -> Home {
    let home = compressed();
    home.talk(
        "20250304_150000_b0b0b0",
        "telegram",
        Some("大别山徒步计划"),
        LONG_AGO + 0.1,
        &[(Role::User, "周末\u{1b}[2J\u{0}x")],
    );
    home.talk("empty", "tui", None, LONG_AGO, &[]);
    let calls = hermes_session::Json::parse(r#"[{"id": "c", "function": {"name": "x", "arguments": "{}"}}]"#).unwrap();
    home.add("empty", MessageBody { tool_calls: Some(calls), ..MessageBody::empty(Role::Assistant) });
    home.damage(
        "UPDATE sessions SET input_tokens = 7, estimated_cost_usd = 0.1, model_config = '{\"a\": [1, 2.50]}', system_prompt = 'be' WHERE id = 'empty';
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('empty', 'user', char(0) || 'json:[{\"type\": \"text\"}]', 1741166123.25);
         UPDATE sessions SET message_count = 2 WHERE id = 'empty'",
    );
    home
}

#[test]
fn a_line_that_was_cut_in_a_string_is_reported_as_such() {
    let home = Home::with_store();
    let cut = r#"{"id": "a", "source": "cli", "started_at": 1, "title": "hel"#;
    for end in ["", "\n", "\r\n"] {
        std::fs::write(home.path().join("cut.jsonl"), format!("{cut}{end}")).unwrap();
        let seen = import(&home, &["cut.jsonl"]);
        let expect = format!("cut.jsonl:1: JSON is broken at byte {}: it ends inside a string\n", cut.len());
        assert!(seen.contains(&expect) && seen.ends_with("--- exit 1"), "{end:?}: {seen}");
    }
}

#[test]
fn what_was_exported_comes_back_row_by_row() {
    let (home, new) = (rich(), Home::empty());
    assert!(home.see(&["sessions", "export", "out.jsonl"]).ends_with("--- exit 0"));
    let file = home.path().join("out.jsonl");
    let file = file.to_str().unwrap();
    assert_snapshot!(import(&new, &[file]), @r#"
    imported    4 sessions, 5 messages
    --- stderr
    note: there was no session store; created a new one: sqlite:[HOME]/state.db
    --- exit 0
    "#);
    assert_eq!(rows(&new), rows(&home));
    assert_snapshot!(import(&new, &[file]), @r#"
    imported    0 sessions, 0 messages
    skipped     4 sessions, already in the store
    --- exit 0
    "#);
    assert_eq!(rows(&new), rows(&home), "a second time changes nothing");
    assert_eq!(new.hermes(&["sessions", "export", "-"]).stdout(), std::fs::read_to_string(file).unwrap());
    assert!(new.see(&["sessions", "verify"]).contains("The store is sound."));
}

/// Returns an export line in the agent's format.
fn foreign_line(id: &str, title: &str, parent: &str) -> String {
    format!(
        r#"{{"id": "{id}", "source": "cli", "model_config": "{{\"x\": 1}}", "parent_session_id": {parent}, "started_at": 1741166123.5, "ended_at": null, "title": "{title}", "messages": [{{"id": 1, "session_id": "{id}", "role": "user", "content": "hi", "timestamp": 1741166124.0}}]}}"#
    )
}

#[test]
fn a_bad_line_is_reported_with_its_number_and_the_rest_goes_in() {
    let home = several();
    let lines = [
        foreign_line("a", "refactoring auth", "null"),
        r#"{"id": "no messages", "source": "cli", "started_at": 1}"#.into(),
        String::new(),
        foreign_line("b", "b", r#""nowhere""#),
        "{broken".into(),
        foreign_line("tool_1", "other", "null"),
    ];
    std::fs::write(home.path().join("one.jsonl"), lines.join("\n")).unwrap();
    std::fs::write(home.path().join("two.jsonl"), format!("{}\nnot a session\n", foreign_line("c", "c", r#""d""#)))
        .unwrap();
    std::fs::write(home.path().join("three.jsonl"), foreign_line("d", "d", "null")).unwrap();
    let files = ["one.jsonl", "two.jsonl", "three.jsonl"];
    assert_snapshot!(import(&home, &[&["--dry-run"], &files[..]].concat()), @r#"
    to import   4 sessions, 4 messages
    conflicts   1 session, already in the store with other content
    bad lines   3
    --- stderr
    one.jsonl:1: session a: its title "refactoring auth" is taken; it would get the next free one
    one.jsonl:2: messages is missing
    one.jsonl:4: session b: its parent nowhere does not exist
    one.jsonl:5: JSON is broken at byte 1: a key in quotes is missing
    one.jsonl:6: session tool_1: source differs
    two.jsonl:2: JSON is broken at byte 0: a value is missing
    error: 4 lines would not be imported
    hint: existing sessions are not changed; to import one of these, delete the existing one first
    --- exit 1
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)), Ok(5_i64));
    assert_snapshot!(import(&home, &files), @r#"
    imported    4 sessions, 4 messages
    conflicts   1 session, already in the store with other content
    bad lines   3
    --- stderr
    one.jsonl:1: session a: its title is taken; it has the title "refactoring auth #2"
    one.jsonl:2: messages is missing
    one.jsonl:4: session b: its parent nowhere does not exist
    one.jsonl:5: JSON is broken at byte 1: a key in quotes is missing
    one.jsonl:6: session tool_1: source differs
    two.jsonl:2: JSON is broken at byte 0: a value is missing
    error: 4 lines were not imported
    hint: existing sessions are not changed; to import one of these, delete the existing one first
    --- exit 1
    "#);
    let parent =
        home.foreign().query_row("SELECT parent_session_id FROM sessions WHERE id = 'c'", [], |row| row.get(0));
    assert_eq!(parent, Ok("d".to_owned()), "a parent may be in another file");
    let json: Value =
        serde_json::from_str(&home.hermes(&["sessions", "import", "--json", "one.jsonl"]).stdout()).unwrap();
    assert_eq!(
        (&json["skipped"], &json["conflicts"], &json["bad"]),
        (&Value::from(2), &Value::from(1), &Value::from(2))
    );
    assert_eq!(json["findings"][0]["line"], 2);
    assert_eq!(json["findings"][0]["kind"], "bad");
}

#[test]
fn a_dry_run_makes_no_store() {
    let home = Home::empty();
    let line = foreign_line("a", "x", "null");
    std::fs::write(home.path().join("in.jsonl"), format!("{line}\n{line}\n{}\n", foreign_line("a", "y", "null")))
        .unwrap();
    assert_snapshot!(import(&home, &["--dry-run", "in.jsonl"]), @r#"
    to import   1 session, 1 message
    skipped     1 session, already in the store
    conflicts   1 session, already in the store with other content
    --- stderr
    in.jsonl:3: session a: a line before it differs
    error: 1 line would not be imported
    hint: existing sessions are not changed; to import one of these, delete the existing one first
    --- exit 1
    "#);
    assert!(!home.database().exists());
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn stdin_is_read() {
    let home = Home::with_store();
    let mut run = home.hermes(&["sessions", "import", "-"]);
    let mut child = run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(foreign_line("a", "x", "null").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "imported    1 session, 1 message\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn another_kind_of_file_is_refused() {
    let home = several();
    let write = |name: &str, bytes: &[u8]| std::fs::write(home.path().join(name), bytes).unwrap();
    write("good.jsonl", foreign_line("a", "x", "null").as_bytes());
    write("packed.gz", b"\x1f\x8b\x08\x00");
    write("list.json", b"[\n{\"id\": 1}\n]");
    write("snapshot.json", b"{\n  \"session_id\": \"x\"\n}");
    write("notes.txt", b"hello\nworld\n");
    write("gateway.jsonl", b"{\"role\": \"user\"}\n{\"role\": \"assistant\"}\n");
    write("empty", b"");
    assert_snapshot!(import(&home, &["good.jsonl", "state.db"]), @r#"
    --- stderr
    error: state.db is a store, not an export of one
    hint: export it first: `hermes sessions export --url STORE FILE`
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["packed.gz"]), @r#"
    --- stderr
    error: packed.gz is packed with gzip
    hint: unpack it: `gunzip -c FILE | hermes sessions import -`
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["list.json"]), @r#"
    --- stderr
    error: list.json is a JSON list
    hint: import reads one session per line, without brackets around them
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["snapshot.json"]), @r#"
    --- stderr
    error: snapshot.json is one JSON document over several lines
    hint: import reads one session per line, as `hermes sessions export` writes them
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["notes.txt"]), @r#"
    --- stderr
    error: notes.txt is not an export of sessions
    hint: import reads what `hermes sessions export` writes
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["."]), @r#"
    --- stderr
    error: . is a folder
    hint: give the files in it
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["missing"]), @r#"
    --- stderr
    error: could not read missing: No such file or directory (os error 2)
    hint: give the path of a file that you may read, or - for stdin
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["gateway.jsonl"]), @r#"
    imported    0 sessions, 0 messages
    bad lines   2
    --- stderr
    gateway.jsonl:1: messages is missing
    gateway.jsonl:2: messages is missing
    error: no line of the file is a session
    hint: import reads what `hermes sessions export` writes, one session per line
    --- exit 1
    "#);
    assert_snapshot!(import(&home, &["empty"]), @r#"
    imported    0 sessions, 0 messages
    --- exit 0
    "#);
    assert_snapshot!(import(&home, &[]), @r#"
    --- stderr
    error: the following required arguments were not provided:
      <FILE>...

    Usage: hermes sessions import <FILE>...

    For more information, try '--help'.
    --- exit 2
    "#);
    assert_eq!(home.foreign().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)), Ok(5_i64));
}

/// A column that the store lacks is reported and left out. On the second import the session exists already.
#[test]
fn a_column_that_the_store_lacks_is_no_conflict_the_second_time() {
    let home = Home::with_store();
    let line = r#"{"format": "hermes-sessions/1", "id": "came", "source": "cli", "started_at": 5.0, "stripes": 7, "messages": [{"role": "user", "content": "x", "timestamp": 6.0, "zebra": 1}]}"#;
    std::fs::write(home.path().join("came.jsonl"), line).unwrap();
    let first = home.see(&["sessions", "import", "came.jsonl"]);
    assert!(first.contains("stripes") && first.contains("zebra") && first.ends_with("--- exit 0"), "{first}");
    let second = home.see(&["sessions", "import", "came.jsonl"]);
    assert!(!second.contains("differs") && second.ends_with("--- exit 0"), "{second}");
    std::fs::write(home.path().join("came.jsonl"), line.replace("\"x\"", "\"y\"")).unwrap();
    let other = home.see(&["sessions", "import", "came.jsonl"]);
    assert!(other.contains("message 1 differs") && other.ends_with("--- exit 1"), "{other}");
}
