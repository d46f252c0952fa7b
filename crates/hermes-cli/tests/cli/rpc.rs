//! `hermes sessiondb rpc`: the store served to another program.

use super::*;
use hermes_conformance::servers::{Postgres, is_skipped};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

/// A running `sessiondb rpc`.
pub(crate) struct Served {
    child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Served {
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::run(home.hermes(&[&["sessiondb", "rpc"], arguments].concat()))
    }

    fn run(mut run: Run<'_>) -> Self {
        let mut child =
            run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout }
    }

    /// Returns the next line as JSON, or `None` after the last.
    pub(crate) fn line(&mut self) -> Option<serde_json::Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        if line.is_empty() { None } else { Some(serde_json::from_str(&line).unwrap()) }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn call(&mut self, line: &str) -> serde_json::Value {
        self.send(line);
        self.line().unwrap()
    }

    /// Asks the process to end, while its input stays open.
    pub(crate) fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Returns all remaining lines and the exit code.
    pub(crate) fn end(mut self) -> (Vec<serde_json::Value>, Option<i32>) {
        let lines = std::iter::from_fn(|| self.line()).collect();
        (lines, self.child.wait().unwrap().code())
    }
}

#[test]
fn it_says_what_it_serves_and_makes_the_store_if_there_is_none() {
    let home = Home::empty();
    for (arguments, file) in [
        (&[][..], "state.db"),
        (&["config"], "state.db"),
        (&["other.db"], "other.db"),
        (&["sqlite:third.db"], "third.db"),
    ] {
        let mut served = Served::start(&home, arguments);
        let hello = served.line().unwrap()["hello"].clone();
        assert_eq!((&hello["protocol"], &hello["provider"]), (&1.into(), &"sqlite".into()));
        assert_eq!((&hello["version"], &hello["schema_version"]), (&env!("CARGO_PKG_VERSION").into(), &11.into()));
        assert!(hello["location"].as_str().unwrap().ends_with(file), "{hello}");
        drop(served.stdin.take());
        assert_eq!(served.end(), (vec![], Some(0)));
        assert!(home.path().join(file).exists());
    }
}

#[test]
fn what_was_written_is_in_the_store_when_it_is_answered() {
    let home = Home::empty();
    let mut served = Served::start(&home, &[]);
    served.line();
    served.call(r#"{"m": "create_session", "a": ["s", "cli"]}"#);
    let answer = served.call(r#"{"id": "x", "m": "append_message", "a": ["s", "user", "find \ud800 me"], "q": "k"}"#);
    assert_eq!(answer, serde_json::json!({"id": "x", "r": 1}));
    assert!(home.see(&["sessions", "search", "find"]).contains("find"));
    served.child.kill().unwrap();
    let mut again = Served::start(&home, &[]);
    again.line();
    let answer = again.call(r#"{"id": "x", "m": "append_message", "a": ["s", "user", "find \ud800 me"], "q": "k"}"#);
    assert_eq!(answer, serde_json::json!({"id": "x", "r": 1}), "it is not written a second time");
    drop(again.stdin.take());
    assert_eq!(again.end().1, Some(0));
    let count: i64 = home.foreign().query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_store_that_cannot_be_opened_is_reported_on_the_first_line() {
    let home = Home::empty();
    std::fs::write(home.path().join("text.db"), "this is no database, it is a text that is long enough").unwrap();
    for (store, error, code) in
        [("text.db", "DatabaseError", 3), ("mysql://", "ValueError", 2), ("env:NOT_SET", "ValueError", 1)]
    {
        let mut served = Served::start(&home, &[store]);
        let hello = served.line().unwrap()["hello"].clone();
        assert_eq!(hello["e"], error, "{hello}");
        assert!(!hello["t"].as_str().unwrap().is_empty());
        assert_eq!(served.end(), (vec![], Some(code)), "{store}");
    }
}

#[test]
fn a_signal_ends_it_when_all_it_took_is_answered() {
    let home = Home::empty();
    let mut served = Served::start(&home, &[]);
    served.line();
    served.call(r#"{"m": "create_session", "a": ["s", "cli"]}"#);
    for number in 0..50 {
        served
            .send(&format!("{{\"id\": {number}, \"m\": \"append_message\", \"a\": [\"s\", \"user\", \"{number}\"]}}"));
    }
    // After the first answer, other requests are in progress.
    served.line();
    served.terminate();
    // Its input stays open.
    let stdin = served.stdin.take();
    let (answers, code) = served.end();
    assert_eq!(code, Some(0));
    assert!(answers.iter().all(|answer| answer.get("r").is_some()), "{answers:?}");
    let count: i64 = home.foreign().query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1 + answers.len() as i64);
    drop(stdin);
}

#[test]
fn what_a_terminal_sends_to_all_does_not_end_it() {
    let home = Home::empty();
    let mut served = Served::start(&home, &[]);
    served.line();
    assert_eq!(served.call(r#"{"m": "ping"}"#)["r"], true);
    for signal in [Signal::INT, Signal::HUP] {
        kill_process(Pid::from_child(&served.child), signal).unwrap();
        assert_eq!(served.call(r#"{"m": "ping"}"#)["r"], true);
    }
    drop(served.stdin.take());
    assert_eq!(served.end().1, Some(0));
}

#[test]
fn it_ends_with_the_program_that_started_it() {
    let home = Home::empty();
    let hermes = home.hermes(&[]).command.get_program().to_owned();
    let mut run = home.hermes(&[]);
    run.command = Command::new("sh");
    run.command.args(["-c", "exec 3<&0; \"$0\" sessiondb rpc <&3 & wait"]).arg(hermes).env("HERMES_HOME", home.path());
    let mut served = Served::run(run);
    assert!(served.line().unwrap().get("hello").is_some());
    served.child.kill().unwrap();
    // Its input is still open here; its output ends only when the process does.
    assert!(served.stdin.is_some() && served.line().is_none());
}

#[test]
fn a_server_is_served_as_a_file_is() {
    if is_skipped("postgres") {
        return;
    }
    let server = Postgres::start(&[]);
    let home = Home::empty();
    let mut served = Served::run(home.hermes(&["sessiondb", "rpc"]).env("HERMES_SESSIONDB_URL", &server.url()));
    assert_eq!(served.line().unwrap()["hello"]["provider"], "postgresql");
    served.call(r#"{"m": "create_session", "a": ["s", "cli"]}"#);
    for number in 0..100 {
        served.send(&format!("{{\"m\": \"append_message\", \"a\": [\"s\", \"user\", \"word{number} \\ud800\"]}}"));
    }
    for _ in 0..100 {
        assert!(served.line().unwrap()["r"].is_i64());
    }
    served.send(r#"{"m": "search_messages", "a": ["word42"]}"#);
    let mut answer = String::new();
    served.stdout.read_line(&mut answer).unwrap();
    assert!(answer.contains(">>>word42<<<"), "{answer}");
    served.send(r#"{"m": "get_messages_as_conversation", "a": ["s"]}"#);
    answer.clear();
    served.stdout.read_line(&mut answer).unwrap();
    assert!(answer.starts_with(
        r#"{"r": [{"role": "user", "content": "word0 \ud800"}, {"role": "user", "content": "word1 \ud800"}"#
    ));
    drop(served.stdin.take());
    assert_eq!(served.end(), (vec![], Some(0)));
}
