//! A file that agent 0.19 compacted in place and rewound. Export, import and migration lose nothing of it.

use super::*;
use hermes_conformance::agent::{Agent, release};
use hermes_conformance::servers::{Mariadb, Postgres, is_skipped};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Returns the release that compacts in place, or `None` if it is not tested here.
fn newest() -> Option<PathBuf> {
    match release("0.19.0") {
        Ok(folder) => Some(folder),
        Err(why) => {
            assert!(why.to_string().contains("names peers"), "{why}");
            None
        }
    }
}

fn call(agent: &mut Agent, method: &str, arguments: Value) -> Value {
    agent.call(method, &arguments).unwrap_or_else(|error| panic!("{method}: {error}"))
}

fn close(mut agent: Agent) {
    agent.say(&json!({"do": "close"}));
}

/// Returns a home with 19 messages in `s`: 12 compacted, 5 active, 2 undone. `away` is archived, with structured
/// content.
pub(super) fn compacted(release: &Path) -> Home {
    let home = Home::empty();
    let mut agent = Agent::open(release, home.path());
    let say = |agent: &mut Agent, session: &str, role: &str, content: Value| {
        let arguments = json!({"session_id": session, "role": role, "content": content});
        call(agent, "append_message", arguments)
    };
    call(&mut agent, "create_session", json!({"session_id": "s", "source": "cli", "model": "m"}));
    for number in 0..6 {
        say(&mut agent, "s", "user", json!(format!("question {number} about kangaroo 大别山徒步")));
        say(&mut agent, "s", "assistant", json!(format!("answer {number} about kangaroo")));
    }
    let summary = json!([
        {"role": "user", "content": "[CONTEXT SUMMARY]: they spoke of animals"},
        {"role": "assistant", "content": "so they did"},
        {"role": "user", "content": "go on"},
    ]);
    call(&mut agent, "archive_and_compact", json!({"session_id": "s", "compacted_messages": summary}));
    say(&mut agent, "s", "assistant", json!("a wallaby then"));
    say(&mut agent, "s", "user", json!("yes, the wallaby"));
    let taken_back = say(&mut agent, "s", "user", json!("a mistaken wombat"));
    say(&mut agent, "s", "assistant", json!("about the wombat"));
    call(&mut agent, "rewind_to_message", json!({"session_id": "s", "target_message_id": taken_back}));
    call(&mut agent, "create_session", json!({"session_id": "away", "source": "telegram", "cwd": "/tmp/é"}));
    say(&mut agent, "away", "user", json!([{"type": "text", "text": "a picture of a platypus"}]));
    call(&mut agent, "set_session_archived", json!({"session_id": "away", "archived": true}));
    close(agent);
    home
}

/// Returns the agent's view of a file: replays, hits and lists.
pub(super) fn view(release: &Path, home: &Home) -> Value {
    let mut agent = Agent::open(release, home.path());
    let mut view = serde_json::Map::new();
    for session in ["s", "away"] {
        for (name, method, more) in [
            ("transcript", "get_messages", json!({})),
            ("all", "get_messages", json!({"include_inactive": true})),
            ("replay", "get_messages_as_conversation", json!({})),
            ("session", "get_session", json!({})),
        ] {
            let mut arguments = json!({"session_id": session});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            view.insert(format!("{session} {name}"), call(&mut agent, method, arguments));
        }
    }
    for query in ["kangaroo", "大别山", "wombat", "wallaby", "platypus"] {
        let hits = call(&mut agent, "search_messages", json!({"query": query, "limit": 100}));
        let mut hits: Vec<i64> = hits.as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
        hits.sort_unstable();
        view.insert(format!("search {query}"), json!(hits));
    }
    let listed = call(&mut agent, "list_sessions_rich", json!({}));
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|row| &row["id"]).collect();
    view.insert("list".to_owned(), json!(ids));
    close(agent);
    Value::Object(view)
}

#[track_caller]
fn same(release: &Path, home: &Home, expected: &Value) {
    let found = view(release, home);
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&found[name], value, "{name}");
    }
}

pub(super) fn states(home: &Home) -> Vec<(i64, i64, i64)> {
    let sql = "SELECT active, compacted, count(*) FROM messages GROUP BY 1, 2 ORDER BY 1, 2";
    let connection = home.foreign();
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

pub(super) const STATES: [(i64, i64, i64); 3] = [(0, 0, 2), (0, 1, 12), (1, 0, 6)];

/// Prints a line that is visible even if the test passes.
fn report(line: &str) {
    use std::io::Write as _;
    _ = writeln!(std::io::stderr().lock(), "states: {line}");
}

/// Returns a home with an empty file of the agent's, or without a file, so that hermes creates it.
fn target(release: &Path, is_theirs: bool) -> Home {
    let home = Home::empty();
    if is_theirs {
        close(Agent::open(release, home.path()));
    }
    home
}

#[test]
fn an_export_of_a_compacted_file_is_imported_as_it_was() {
    let Some(release) = newest() else { return };
    let home = compacted(&release);
    let before = view(&release, &home);
    assert_eq!(before["s transcript"].as_array().unwrap().len(), 5);
    assert_eq!(before["search kangaroo"].as_array().unwrap().len(), 12);
    let lines = home.hermes(&["sessions", "export", "-"]).stdout();
    assert_eq!(lines.matches("\"state\": \"compacted\"").count(), 12);
    assert_eq!(lines.matches("\"state\": \"undone\"").count(), 2);
    let markdown = home.hermes(&["sessions", "export", "--format", "markdown", "-"]).stdout();
    assert_eq!((markdown.matches(" · compacted\n").count(), markdown.matches(" · undone\n").count()), (12, 2));
    assert!(markdown.contains("- archived: yes"), "{markdown}");
    for is_theirs in [true, false] {
        let to = target(&release, is_theirs);
        let file = to.path().join("all.jsonl");
        std::fs::write(&file, &lines).unwrap();
        let seen = to.see(&["sessions", "import", file.to_str().unwrap()]);
        assert!(seen.contains("2 sessions, 20 messages (6 active, 12 compacted, 2 undone)"), "{seen}");
        assert_eq!(seen.contains("columns of newer agents were added"), !is_theirs, "{seen}");
        assert_eq!(states(&to), STATES);
        let again = to.see(&["sessions", "import", file.to_str().unwrap()]);
        assert!(again.contains("2 sessions, already in the store"), "{again}");
        let sound = to.see(&["sessions", "verify"]);
        assert!(sound.contains("The store is sound."), "{sound}");
        same(&release, &to, &before);
        assert_eq!(states(&to), STATES, "the agent's upgrade changes no state");
    }
}

#[test]
fn a_compacted_file_is_the_same_after_three_engines() {
    let Some(release) = newest() else { return };
    if is_skipped("postgres") || is_skipped("mysql") {
        return;
    }
    let home = compacted(&release);
    let before = view(&release, &home);
    let (postgres, mariadb) = (Postgres::start(&[]), Mariadb::start(&[]));
    mariadb.sql("CREATE DATABASE states");
    let file = home.database().display().to_string();
    let (one, other) = (format!("{}?schema=states", postgres.url()), mariadb.url_of("states"));
    let row = |engine: &str, counts: &[(i64, i64, i64)]| {
        let of =
            |active, compacted| counts.iter().find(|row| (row.0, row.1) == (active, compacted)).map_or(0, |row| row.2);
        let all: i64 = counts.iter().map(|row| row.2).sum();
        report(&format!("{engine:<30} {all:>4} {:>7} {:>10} {:>7}", of(1, 0), of(0, 1), of(0, 0)));
    };
    report(&format!("{:<30} {:>4} {:>7} {:>10} {:>7}", "engine", "rows", "active", "compacted", "undone"));
    row("SQLite, file of 0.19.0", &states(&home));
    let migrate = |from: &str, to: &str| {
        let run = home.hermes(&["sessiondb", "migrate", "--from", "env:FROM", "--to", "env:TO"]);
        let seen = run.env("FROM", from).env("TO", to).see();
        assert!(seen.contains("Migrated 2 sessions, 20 messages (6 active, 12 compacted, 2 undone)"), "{seen}");
        assert!(
            seen.contains("2 of 2 sessions with 20 messages (6 active, 12 compacted, 2 undone) are the same"),
            "{seen}"
        );
        assert!(seen.ends_with("exit 0"), "{seen}");
    };
    migrate(&file, &one);
    let counts = |lines: &str| -> Vec<(i64, i64, i64)> {
        let numbers =
            |line: &str| -> Vec<i64> { line.split('/').map(|number| number.trim().parse().unwrap()).collect() };
        lines.trim().lines().map(numbers).map(|row| (row[0], row[1], row[2])).collect()
    };
    let sql = "SELECT concat(active, '/', compacted, '/', count(*)) FROM states.messages GROUP BY active, compacted ORDER BY active, compacted";
    let there = counts(&postgres.sql(sql));
    assert_eq!(there, STATES);
    row("PostgreSQL", &there);
    migrate(&one, &other);
    let there = counts(&mariadb.sql(sql));
    assert_eq!(there, STATES);
    row("MariaDB", &there);
    for is_theirs in [true, false] {
        let to = target(&release, is_theirs);
        migrate(&other, &to.database().display().to_string());
        assert_eq!(states(&to), STATES);
        row(if is_theirs { "SQLite, into a file of 0.19.0" } else { "SQLite, into a new file" }, &states(&to));
        same(&release, &to, &before);
    }
}

#[test]
fn messages_that_are_not_there_are_counted_and_named() {
    let Some(release) = newest() else { return };
    let (from, to) = (compacted(&release), Home::empty());
    let (source, target) = (from.database().display().to_string(), to.database().display().to_string());
    let migrate = |more: &[&str]| {
        let args = ["sessiondb", "migrate", "--from", &source, "--to", &target];
        from.hermes(&[&args[..], more].concat()).see()
    };
    assert!(migrate(&[]).ends_with("exit 0"));
    // An older program carried only active messages.
    to.damage("DELETE FROM messages WHERE active = 0");
    let seen = migrate(&["--merge"]);
    assert!(seen.contains("session s: message 1 differs; 14 of 19 messages are missing"), "{seen}");
    assert!(seen.ends_with("exit 1"), "{seen}");
}
