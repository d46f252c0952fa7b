//! The gateway's index of routes from chats to sessions, in the folder of transcripts.

use hermes_config::Settings;
use hermes_session::SessionId;
use hermes_store::StoreUrl;
use serde_json::Value;
use std::path::PathBuf;

const INDEX: &str = "sessions.json";

/// The gateway's index.
pub(super) struct Routes {
    file: PathBuf,
}

impl Routes {
    /// Returns the index of a store, or `None` if the store is not the one of the home folder.
    pub(super) fn of(settings: &Settings, url: &StoreUrl) -> Option<Self> {
        let folder = hermes_app::transcripts::folder(settings, url)?;
        Some(Self { file: folder.join(INDEX) })
    }

    /// Returns the sessions that a chat leads to now. Empty if the index does not exist or can't be read.
    pub(super) fn sessions(&self, platform: &str, chat_id: &str) -> Vec<SessionId> {
        let index = match std::fs::read_to_string(&self.file) {
            Ok(text) => serde_json::from_str(&text).unwrap_or_else(|error| {
                tracing::warn!(file = ?self.file, line = error.line(), column = error.column(), "the gateway's index is not JSON");
                Value::Null
            }),
            Err(error) => {
                if error.kind() != std::io::ErrorKind::NotFound {
                    tracing::warn!(file = ?self.file, %error, "the gateway's index can't be read");
                }
                Value::Null
            }
        };
        sessions(&index, platform, chat_id)
    }
}

fn sessions(index: &Value, platform: &str, chat_id: &str) -> Vec<SessionId> {
    let routes = index.as_object().into_iter().flatten().filter(|(key, _)| !key.starts_with('_'));
    let is_its = |route: &Value| {
        let origin = &route["origin"];
        origin["platform"] == platform && origin["chat_id"].as_str() == Some(chat_id)
    };
    let session = |route: &Value| SessionId::parse(route["session_id"].as_str()?).ok();
    routes.filter(|(_, route)| is_its(route)).filter_map(|(_, route)| session(route)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_routes_of_the_chat() {
        let route = |platform: &str, chat: &str, session: &str| json!({"session_id": session, "origin": {"platform": platform, "chat_id": chat}});
        let index = json!({
            "_README": {"session_id": "x", "origin": {"platform": "telegram", "chat_id": "7"}},
            "agent:main:telegram:group:7:1": route("telegram", "7", "a"),
            "agent:main:telegram:group:7:2": route("telegram", "7", "b"),
            "agent:main:telegram:dm:8": route("telegram", "8", "c"),
            "agent:main:discord:dm:7": route("discord", "7", "d"),
            "odd": 3, "no origin": {"session_id": "e"}, "no id": route("telegram", "7", ""),
        });
        let found: Vec<String> = sessions(&index, "telegram", "7").iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a", "b"]);
        assert!(sessions(&Value::Null, "telegram", "7").is_empty());
    }
}
