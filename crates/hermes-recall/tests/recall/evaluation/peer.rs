//! The Python agent's own search, in a process of its own, without its model.

use super::data::Conversation;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The release that figures are taken beside.
const VERSION: &str = "0.14.0";

/// A process of the agent's with the conversations in its file. Killed when dropped.
pub(super) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _home: tempfile::TempDir,
}

impl Peer {
    /// Starts it and has it write the conversations; nothing if it is not there.
    pub(super) fn filled(conversations: &[Conversation]) -> Option<Self> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let beside = crates.join("../target/peers");
        let folder = std::env::var_os("HERMES_PEERS").map_or(beside, PathBuf::from).join(VERSION);
        let is_skipped = std::env::var("HERMES_TEST_SKIP").is_ok_and(|skip| skip.contains("peers"));
        if is_skipped || !folder.join("hermes_state.py").is_file() {
            return None;
        }
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new("python3");
        command.arg(crates.join("hermes-sqlite/tests/interop/peer.py"));
        command.env("PYTHONPATH", &folder).env("HERMES_HOME", home.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let path = home.path().join("state.db");
        let mut peer = Self { child, input, output, _home: home };
        peer.ask(&json!({"do": "open", "path": path})).unwrap();
        for conversation in conversations {
            peer.call("create_session", json!({"session_id": conversation.id, "source": "cli"})).unwrap();
            for said in &conversation.messages {
                let arguments = json!({
                    "session_id": conversation.id, "role": said.role(), "content": said.text, "tool_name": said.tool(),
                });
                peer.call("append_message", arguments).unwrap();
            }
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

    /// What it would give its model: the transcripts of the first sessions among its fifty best hits, whole, since all are shorter than its window.
    pub(super) fn texts(&mut self, question: &str) -> Vec<String> {
        let arguments = json!({"query": question, "limit": 50, "exclude_sources": ["tool"]});
        let Ok(Value::Array(hits)) = self.call("search_messages", arguments) else { return Vec::new() };
        let mut sessions: Vec<String> = Vec::new();
        for hit in hits {
            let session = hit["session_id"].as_str().unwrap().to_owned();
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        sessions.truncate(5);
        let mut texts = Vec::new();
        for session in sessions {
            let messages = self.call("get_messages_as_conversation", json!({"session_id": session})).unwrap();
            let said = messages.as_array().unwrap().iter().filter_map(|message| message["content"].as_str());
            texts.push(said.collect::<Vec<_>>().join("\n\n"));
        }
        texts
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
