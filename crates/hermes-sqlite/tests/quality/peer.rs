//! The Python agent's own search, in a process of its own.

use crate::corpus::Said;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The release that figures are taken beside.
const VERSION: &str = "0.14.0";

/// A process of the agent's with the corpus in its file. Killed when dropped.
pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _home: tempfile::TempDir,
    /// The places of messages, by id.
    first: i64,
}

impl Peer {
    /// Starts it and has it write the corpus; nothing if it is not there.
    pub(crate) fn filled(said: &[Said]) -> Option<Self> {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let beside = tests.join("../../../target/peers");
        let folder = std::env::var_os("HERMES_PEERS").map_or(beside, PathBuf::from).join(VERSION);
        let is_skipped = std::env::var("HERMES_TEST_SKIP").is_ok_and(|skip| skip.contains("peers"));
        if is_skipped || !folder.join("hermes_state.py").is_file() {
            return None;
        }
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new("python3");
        command.arg(tests.join("interop/peer.py")).env("PYTHONPATH", &folder).env("HERMES_HOME", home.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let path = home.path().join("state.db");
        let mut peer = Self { child, input, output, _home: home, first: 0 };
        peer.ask(&json!({"do": "open", "path": path})).unwrap();
        peer.call("create_session", json!({"session_id": "s", "source": "cli"})).unwrap();
        for (place, said) in said.iter().enumerate() {
            let arguments = json!({
                "session_id": "s", "role": "user", "content": said.content(), "tool_calls": said.calls(), "tool_name": said.tool(),
            });
            let id = peer.call("append_message", arguments).unwrap().as_i64().unwrap();
            if place == 0 {
                peer.first = id;
            }
            assert_eq!(id - peer.first, place as i64, "its ids follow each other");
        }
        Some(peer)
    }

    fn ask(&mut self, command: &Value) -> Result<Value, String> {
        writeln!(self.input, "{command}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        match answer.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(answer["value"].take()),
        }
    }

    fn call(&mut self, method: &str, arguments: Value) -> Result<Value, String> {
        self.ask(&json!({"do": "call", "method": method, "arguments": arguments}))
    }

    /// The places of all messages that it finds; an error of its is none.
    pub(crate) fn found(&mut self, question: &str) -> BTreeSet<usize> {
        self.search(question, 10_000_000)
    }

    /// Whether it finds anything.
    pub(crate) fn finds_any(&mut self, question: &str) -> bool {
        !self.search(question, 1).is_empty()
    }

    fn search(&mut self, question: &str, limit: u32) -> BTreeSet<usize> {
        let answer = self.call("search_messages", json!({"query": question, "limit": limit}));
        let Ok(Value::Array(hits)) = answer else { return BTreeSet::new() };
        hits.iter().map(|hit| (hit["id"].as_i64().unwrap() - self.first) as usize).collect()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
