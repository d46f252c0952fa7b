//! The Python agent's own search, in a process of its own, without its model.

use super::data::Conversation;
use hermes_conformance::agent::{Agent, PEER, release_for_figures};
use serde_json::{Value, json};

/// A process of the agent with the conversations in its file.
pub(super) struct Peer {
    agent: Agent,
    _home: tempfile::TempDir,
}

impl Peer {
    /// Starts it and lets it write the conversations. Returns `None` if the agent is not available.
    pub(super) fn filled(conversations: &[Conversation]) -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        let mut agent = Agent::open(&release_for_figures(PEER)?, home.path());
        for conversation in conversations {
            agent.call("create_session", &json!({"session_id": conversation.id, "source": "cli"})).unwrap();
            for said in &conversation.messages {
                let arguments = json!({
                    "session_id": conversation.id, "role": said.role(), "content": said.text, "tool_name": said.tool(),
                });
                agent.call("append_message", &arguments).unwrap();
            }
        }
        Some(Self { agent, _home: home })
    }

    /// Returns the input for its model: the whole transcripts of the first sessions among its fifty best hits, since
    /// all are shorter than its window.
    pub(super) fn texts(&mut self, question: &str) -> Vec<String> {
        let arguments = json!({"query": question, "limit": 50, "exclude_sources": ["tool"]});
        let Ok(Value::Array(hits)) = self.agent.call("search_messages", &arguments) else { return Vec::new() };
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
            let messages = self.agent.call("get_messages_as_conversation", &json!({"session_id": session})).unwrap();
            let said = messages.as_array().unwrap().iter().filter_map(|message| message["content"].as_str());
            texts.push(said.collect::<Vec<_>>().join("\n\n"));
        }
        texts
    }
}
