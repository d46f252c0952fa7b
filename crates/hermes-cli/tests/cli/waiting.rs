//! Waiting for a lock: after a second a note is shown at a terminal, not to a program.

use super::*;
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::time::Duration;

/// Renames a session while a lock is held, which `release` ends after the note was seen. Returns stderr, which is a
/// terminal.
fn renamed_while_locked(home: &Home, session: &str, release: impl FnOnce()) -> String {
    let (master, terminal) = terminal::a_terminal(200);
    let mut run = home.hermes(&["sessions", "rename", session, "New name"]).env("TERM", "dumb");
    let mut child = run.command.stdout(Stdio::null()).stderr(terminal).spawn().unwrap();
    // The command itself keeps the terminal open.
    drop(run);
    let (mut master, mut seen, mut buffer) = (std::fs::File::from(master), Vec::new(), [0; 4096]);
    let mut release = Some(release);
    // Reading fails once the terminal has no other user.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
        if seen.contains(&b'\n')
            && let Some(release) = release.take()
        {
            release();
        }
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(seen).unwrap().replace("\r\n", "\n")
}

#[test]
fn a_wait_for_a_foreign_writer_is_shown_with_its_process() {
    for journal in ["wal", "delete"] {
        let home = several();
        let foreign = home.foreign();
        foreign.pragma_update(None, "journal_mode", journal).unwrap();
        foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
        let seen = renamed_while_locked(&home, "refactoring auth", || foreign.execute_batch("COMMIT").unwrap());
        let start = format!("note: waiting for a lock on the store, held by process {} (", std::process::id());
        assert!(seen.starts_with(&start) && seen.lines().count() == 1, "{journal}: {seen:?}");
    }
}

#[test]
fn a_wait_before_a_file_is_adopted_is_shown() {
    let home = contact::foreign_home();
    let foreign = home.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let seen = renamed_while_locked(&home, "new", || foreign.execute_batch("COMMIT").unwrap());
    assert!(seen.starts_with("note: waiting for a lock on the store, held by process "), "{seen:?}");
}

#[test]
fn a_wait_in_the_queue_is_shown() {
    let home = several();
    let queue = std::fs::File::open(home.path().join("state.db.queue")).unwrap();
    queue.lock().unwrap();
    let seen = renamed_while_locked(&home, "refactoring auth", || queue.unlock().unwrap());
    assert_eq!(seen, "note: waiting for a lock on the store, held by another process\n");
}

#[test]
fn a_wait_is_not_shown_to_a_program() {
    let home = several();
    let foreign = home.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut run = home.hermes(&["sessions", "rename", "refactoring auth", "New name"]);
    let child = run.command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // Longer than the wait that is shown to people.
    std::thread::sleep(Duration::from_millis(1_500));
    foreign.execute_batch("COMMIT").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
}

#[test]
fn a_wait_is_not_shown_on_the_terminal_of_a_program_that_is_served() {
    let home = several();
    let foreign = home.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (master, terminal) = terminal::a_terminal(200);
    let mut run = home.hermes(&["mcp", "--all", "--write"]);
    let mut child = run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(terminal).spawn().unwrap();
    drop(run);
    let mut stdin = child.stdin.take().unwrap();
    let rename =
        json!({"name": "rename_conversation", "arguments": {"session_id": "20250305_091523_a1b2c3", "title": "New"}});
    for line in
        mcp::hello().iter().chain([&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": rename})])
    {
        writeln!(stdin, "{line}").unwrap();
    }
    std::thread::sleep(Duration::from_millis(1_500));
    foreign.execute_batch("COMMIT").unwrap();
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(answers.any(|line| line.unwrap().contains("\"isError\":false")));
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let mut seen = Vec::new();
    // Reading fails at the end.
    _ = std::fs::File::from(master).read_to_end(&mut seen);
    assert_eq!(String::from_utf8(seen).unwrap(), "");
}
