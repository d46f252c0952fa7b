//! `-v` and `HERMES_LOG`: events on stderr, never on stdout, and without stored text.

use super::*;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};

const SECRET: &str = "zanzibarium";

/// Returns the lines of stderr that are events: a time, a level, a target.
fn events(output: &Output) -> Vec<String> {
    let levels = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let is_event = |line: &&str| line.split_whitespace().nth(1).is_some_and(|level| levels.contains(&level));
    text.lines().filter(is_event).map(ToOwned::to_owned).collect()
}

fn of_level(events: &[String], level: &str) -> usize {
    events.iter().filter(|line| line.split_whitespace().nth(1) == Some(level)).count()
}

#[test]
fn events_go_to_stderr_and_stdout_stays_the_same() {
    let home = several();
    let list = |more: &[&str]| home.hermes(&[&["sessions", "list", "--json"], more].concat()).output();
    let plain = list(&[]);
    assert!(plain.stderr.is_empty(), "{}", String::from_utf8_lossy(&plain.stderr));
    let mut counts = Vec::new();
    for flag in ["-v", "-vv", "-vvv"] {
        let output = list(&[flag]);
        assert_eq!(output.stdout, plain.stdout, "{flag}");
        let events = events(&output);
        let lines = String::from_utf8(output.stderr).unwrap().lines().count();
        assert_eq!(events.len(), lines, "{flag}: every line of stderr is an event");
        counts.push((of_level(&events, "INFO"), of_level(&events, "DEBUG")));
    }
    assert!(counts[0].0 > 0 && counts[0].1 == 0 && counts[1].1 > 0, "{counts:?}");
}

#[test]
fn the_variable_sets_targets_and_the_flag_comes_first() {
    let home = several();
    let run = |log: &str, args: &[&str]| home.hermes(args).env("HERMES_LOG", log).output();
    let list = ["sessions", "list"];
    assert!(of_level(&events(&run("debug", &list)), "DEBUG") > 0);
    let some = events(&run("hermes_sqlite=debug", &list));
    assert!(!some.is_empty() && some.iter().all(|line| line.contains(" hermes_sqlite::")), "{some:?}");
    assert_eq!(of_level(&events(&run("trace", &["-v", "sessions", "list"])), "DEBUG"), 0);
    assert!(run(" ", &list).stderr.is_empty());
    let seen = home.hermes(&list).env("HERMES_LOG", "hermes=loud").see();
    assert!(seen.contains("error: HERMES_LOG can't be read") && seen.contains("hint: write a level"), "{seen}");
}

#[test]
fn a_wait_for_a_foreign_writer_is_logged() {
    let home = several();
    let foreign = home.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut run = home.hermes(&["sessions", "rename", "refactoring auth", "New name", "-vv"]);
    let mut child = run.command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("DEBUG hermes_sqlite::write::writer: waiting for a foreign writer")));
    foreign.execute_batch("COMMIT").unwrap();
    assert!(lines.any(|line| line.contains("waited for a foreign writer") && line.contains("is_ours=true")));
    drop(lines);
    assert!(child.wait().unwrap().success());
}

/// Runs commands that read, write, search and rebuild, also with damaged indexes. Asserts that no event contains a word
/// that occurs only in stored text, titles and queries.
#[test]
fn no_event_shows_text_titles_or_queries() {
    let home = Home::empty();
    let said = format!("the codename {SECRET} stays between us");
    home.talk("plain_1", "cli", Some(&format!("About {SECRET}")), LONG_AGO, &[(Role::User, &said)]);
    home.talk("plain_2", "cli", None, LONG_AGO + 9.0, &[(Role::User, "hello"), (Role::Assistant, "hi")]);
    let title = format!("More of {SECRET}");
    let commands: [&[&str]; 15] = [
        &["sessions", "list"],
        &["sessions", "show", "plain_1"],
        &["sessions", "search", SECRET],
        &["sessions", "search", "\"codename zanzibarium\" OR zanzib*"],
        &["sessions", "rename", "plain_2", &title],
        &["sessions", "tag", "plain_1", "--add", SECRET],
        &["sessions", "export", "all.jsonl"],
        &["sessions", "optimize", "--rebuild"],
        &["sessions", "backup", "copy.db"],
        &["sessions", "delete", &title, "--yes"],
        &["sessions", "restore", "plain_2"],
        &["sessions", "import", "all.jsonl"],
        &["sessions", "verify"],
        &["sessions", "repair", "copy.db"],
        &["sessions", "erase", "plain_2", "--yes"],
    ];
    let (mut count, mut warnings) = (0, Vec::new());
    let mut run = |command: &[&str]| {
        let output = home.hermes(&[command, &["-vvv"]].concat()).output();
        let events = events(&output);
        count += events.len();
        warnings.extend(events.iter().filter(|line| line.contains(" WARN ")).cloned());
        let shown: Vec<&String> = events.iter().filter(|line| line.to_lowercase().contains("zanzib")).collect();
        assert!(shown.is_empty(), "{command:?}: {shown:?}");
    };
    commands.into_iter().for_each(&mut run);
    home.damage("DELETE FROM messages_fts_data");
    run(&["sessions", "import", "all.jsonl"]);
    for name in ["all.jsonl", "copy.db", "copy.db.repaired"] {
        std::fs::remove_file(home.path().join(name)).unwrap();
    }
    commands.into_iter().for_each(&mut run);
    assert!(count > 100, "{count} events");
    assert!(warnings.iter().any(|line| line.contains("search index damaged")), "{warnings:?}");
}

/// Sends requests to a server one after the other, and returns its events once it has ended. Every line of stdout is an
/// answer.
fn served(home: &Home, command: &[&str], requests: &[Value], answers_at_start: usize) -> Vec<String> {
    let log = home.path().join("stderr");
    let mut run = home.hermes(&[command, &["-vvv"]].concat());
    run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap());
    let mut child = run.command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut answer = || serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap();
    (0..answers_at_start).for_each(|_| assert!(answer().is_object()));
    for request in requests {
        writeln!(stdin, "{request}").unwrap();
        if !request["id"].is_null() {
            assert_eq!(answer()["id"], request["id"], "{request}");
        }
    }
    drop(stdin);
    assert_eq!(lines.next(), None);
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(log).unwrap();
    let events: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    let shown: Vec<&String> = events.iter().filter(|line| line.to_lowercase().contains("zanzib")).collect();
    assert!(shown.is_empty(), "{shown:?}");
    events
}

#[test]
fn no_event_shows_the_arguments_of_an_rpc_call() {
    let home = Home::empty();
    let said = format!("the codename {SECRET} stays between us");
    let calls = [
        ("create_session", json!(["s1", "cli"])),
        ("create_session", json!(["s2", "cli"])),
        ("append_message", json!(["s1", "user", said])),
        ("set_session_title", json!(["s1", SECRET])),
        // The title is in use already.
        ("set_session_title", json!(["s2", SECRET])),
        ("get_session_by_title", json!([SECRET])),
        ("get_session", json!([SECRET])),
        ("search_messages", json!([SECRET])),
        ("session_search", json!([SECRET])),
        ("set_meta", json!([SECRET, SECRET])),
        ("get_messages", json!(["s1"])),
        ("update_session_meta", json!(["s1", SECRET])),
        ("no_such_method", json!([SECRET])),
        (SECRET, json!([])),
        ("ping", json!([SECRET])),
        ("delete_session", json!(["s1"])),
    ];
    let requests: Vec<Value> =
        calls.iter().enumerate().map(|(id, (method, given))| json!({"id": id, "m": method, "a": given})).collect();
    let events = served(&home, &["sessiondb", "rpc"], &requests, 1);
    let has = |parts: &[&str]| events.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(has(&["DEBUG hermes_rpc::serve: call answered", "method=\"search_messages\"", "took="]), "{events:#?}");
    assert!(has(&["call answered", "method=\"set_session_title\"", "error=\"ValueError\""]), "{events:#?}");
    assert!(has(&["request refused", "error=\"TypeError\""]), "{events:#?}");
}

#[test]
fn no_event_shows_the_arguments_of_an_mcp_tool() {
    let home = Home::empty();
    let said = format!("the codename {SECRET} stays between us");
    home.talk("plain_1", "cli", Some(&format!("About {SECRET}")), LONG_AGO, &[(Role::User, &said)]);
    home.talk("plain_2", "cli", None, LONG_AGO + 9.0, &[(Role::User, "hello")]);
    let client = json!({"name": "test", "version": "1"});
    let greeting = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let tool = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let calls = [
        ("initialize", greeting),
        tool("session_search", json!({"query": SECRET})),
        tool("session_search", json!({"query": SECRET, "since": SECRET})),
        tool("list_conversations", json!({"title": SECRET})),
        tool("read_conversation", json!({"session_id": "plain_1"})),
        tool("read_conversation", json!({"session_id": SECRET})),
        tool("rename_conversation", json!({"session_id": "plain_2", "title": format!("About {SECRET}")})),
        tool("rename_conversation", json!({"session_id": "plain_2", "title": format!("More of {SECRET}")})),
        tool("append_note", json!({"session_id": "plain_2", "note": said})),
        tool("session_search", json!({SECRET: SECRET})),
        tool(SECRET, json!({"query": SECRET})),
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "hermes://conversation/plain_1"})),
        ("resources/read", json!({"uri": format!("hermes://conversation/{SECRET}")})),
    ];
    let mut requests: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id + 1, "method": method, "params": params}))
        .collect();
    requests.insert(1, json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let events = served(&home, &["mcp", "--all", "--write"], &requests, 0);
    let has = |parts: &[&str]| events.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    for (name, is_ok) in [("session_search", true), ("rename_conversation", false), ("append_note", true)] {
        let (tool, is_ok) = (format!("tool=\"{name}\""), format!("is_ok={is_ok}"));
        assert!(has(&["DEBUG hermes_mcp::server: tool called", "took=", &tool, &is_ok]), "{name}: {events:#?}");
    }
    assert!(has(&["transcript read", "session=\"plain_1\""]), "{events:#?}");
}

#[test]
fn chores_are_logged_with_counts() {
    let home = several();
    home.talk("old", "cli", None, LONG_AGO, &[(Role::User, "x")]);
    home.damage(&format!("UPDATE sessions SET ended_at = {LONG_AGO}, end_reason = 'cli_close' WHERE id = 'old'"));
    home.config("sessions:\n  auto_prune: true\n  retention_days: 99999\n");
    let rename = |title| events(&home.hermes(&["sessions", "rename", "refactoring auth", title, "-vv"]).output());
    let first = rename("refactoring auth");
    let has = |events: &[String], part: &str| events.iter().any(|line| line.contains(part));
    assert!(has(&first, "INFO hermes_app::retention: auto-prune finished conversations=0"), "{first:#?}");
    let second = rename("refactoring auth");
    assert!(has(&second, "DEBUG hermes_app::retention: auto-prune skipped: not due"), "{second:#?}");
    let emptied = events(&home.hermes(&["sessions", "delete", "old", "--yes", "-vv"]).output());
    assert!(!has(&emptied, "trash emptied"), "{emptied:#?}");
    home.damage("UPDATE hx_trash SET kept_until = 1.0");
    let third = rename("refactoring auth");
    assert!(has(&third, "INFO hermes_app::trash: trash emptied entries=1"), "{third:#?}");
}

#[test]
fn names_of_files_reach_the_terminal_harmlessly() {
    let home = Home::empty();
    let odd = home.path().join("odd\u{1b}[2J");
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("config.yaml"), "{}").unwrap();
    let output = home.hermes(&["sessions", "list", "-vvv", "--home", odd.to_str().unwrap()]).output();
    let events = events(&output);
    assert!(events.iter().any(|line| line.contains("read config.yaml")), "{events:?}");
    assert!(!output.stderr.contains(&0x1b), "{events:?}");
}

#[test]
fn no_event_shows_the_password_of_a_url() {
    for scheme in ["postgresql", "mysql"] {
        let url = format!("{scheme}://ada:hunter2@127.0.0.1:1/hermes?connect_timeout=1");
        let output = Home::empty().hermes(&["sessions", "list", "-vvv", "--url", &url]).output();
        let text = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(events(&output).iter().any(|line| line.contains("ada:***@127.0.0.1:1")), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}
