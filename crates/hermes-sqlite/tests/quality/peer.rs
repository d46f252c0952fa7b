//! The Python agent's own search, in a separate process.

use crate::corpus::Said;
use hermes_conformance::agent::{Agent, PEER, release_for_figures};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A process of the agent with the corpus in its file.
pub(crate) struct Peer {
    agent: Agent,
    _home: tempfile::TempDir,
    /// The id of the first message; the others follow it.
    first: i64,
}

impl Peer {
    /// Starts it and has it write the corpus; `None` if the release is missing.
    pub(crate) fn filled(said: &[Said]) -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        let mut agent = Agent::open(&release_for_figures(PEER)?, home.path());
        agent.call("create_session", &json!({"session_id": "s", "source": "cli"})).unwrap();
        let mut first = 0;
        for (place, said) in said.iter().enumerate() {
            let arguments = json!({
                "session_id": "s", "role": "user", "content": said.content(), "tool_calls": said.calls(), "tool_name": said.tool(),
            });
            let id = agent.call("append_message", &arguments).unwrap().as_i64().unwrap();
            if place == 0 {
                first = id;
            }
            assert_eq!(id - first, place as i64, "its ids follow each other");
        }
        Some(Self { agent, _home: home, first })
    }

    /// Returns the positions of all messages that it finds; an error counts as none.
    pub(crate) fn found(&mut self, question: &str) -> BTreeSet<usize> {
        self.search(question, 10_000_000)
    }

    /// Returns whether it finds anything.
    pub(crate) fn finds_any(&mut self, question: &str) -> bool {
        !self.search(question, 1).is_empty()
    }

    fn search(&mut self, question: &str, limit: u32) -> BTreeSet<usize> {
        let answer = self.agent.call("search_messages", &json!({"query": question, "limit": limit}));
        let Ok(Value::Array(hits)) = answer else { return BTreeSet::new() };
        hits.iter().map(|hit| (hit["id"].as_i64().unwrap() - self.first) as usize).collect()
    }
}
