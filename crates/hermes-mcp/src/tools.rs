//! The tools: their names, their arguments, and their descriptions for models.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Search,
    List,
    Read,
    Statistics,
    Rename,
    Note,
}

impl Call {
    pub(crate) const ALL: [Self; 6] =
        [Self::Search, Self::List, Self::Read, Self::Statistics, Self::Rename, Self::Note];

    /// Returns the tool of this name, if it may be used.
    pub(crate) fn named(name: &str, writes: bool) -> Option<Self> {
        Self::ALL.into_iter().find(|call| call.name() == name && (writes || !call.changes()))
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Search => "session_search",
            Self::List => "list_conversations",
            Self::Read => "read_conversation",
            Self::Statistics => "conversation_stats",
            Self::Rename => "rename_conversation",
            Self::Note => "append_note",
        }
    }

    /// Returns whether it changes anything.
    pub(crate) const fn changes(self) -> bool {
        matches!(self, Self::Rename | Self::Note)
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Search => {
                "Finds what was said in past conversations and returns the passages around it, best conversation first. \
                 Use it before asking somebody to repeat what they told you earlier. Plain words or a question will do; \
                 \"exact phrase\", OR, NOT and prefix* work too. Without a query it lists the most recent conversations."
            }
            Self::List => "Lists conversations, the last active first, with title, source, time and how they begin.",
            Self::Read => {
                "Reads the messages of a conversation from the start, page by page: give `next` of a page as `cursor` for the one after it. \
                 Messages that were compacted out of the transcript are included, with state \"compacted\"."
            }
            Self::Statistics => {
                "Tells how much there is: of one conversation its messages, tools, models, tokens and cost; else how many conversations."
            }
            Self::Rename => "Gives a conversation a title. Titles are unique.",
            Self::Note => {
                "Adds a note to a conversation. Searches find it and readers of the conversation see it, but it is not a message of the conversation."
            }
        }
    }

    /// Returns the names of its arguments.
    pub(crate) fn arguments(self) -> Vec<&'static str> {
        self.properties().iter().map(|(name, _)| *name).collect()
    }

    fn properties(self) -> Vec<(&'static str, Value)> {
        let session = || {
            ("session_id", json!({"type": "string", "description": "The conversation: the id of any of its sessions"}))
        };
        let source =
            || ("source", json!({"type": "string", "description": "Only this source, such as cli or telegram"}));
        let since = || {
            (
                "since",
                json!({"type": "string", "description": "Only from then on: yesterday, 3d (three days ago), 2026-05-01 or 2026-05-01T10:00"}),
            )
        };
        let before = || ("before", json!({"type": "string", "description": "Only before then"}));
        let number = |least: u64, most: u64, default: u64, text: &str| json!({"type": "integer", "minimum": least, "maximum": most, "default": default, "description": text});
        match self {
            Self::Search => vec![
                (
                    "query",
                    json!({"type": "string", "description": "What to look for; blank for the most recent conversations"}),
                ),
                ("limit", number(1, 10, 3, "How many conversations")),
                ("budget", number(1_000, 100_000, BUDGET, "How many characters of each conversation")),
                (
                    "role_filter",
                    json!({"type": "string", "description": "Only what these said: user, assistant, tool; several with commas"}),
                ),
                source(),
                since(),
                before(),
                (
                    "current_session_id",
                    json!({"type": "string", "description": "The conversation you are in; it is left out"}),
                ),
            ],
            Self::List => vec![
                ("limit", number(1, 100, 20, "How many conversations")),
                ("offset", number(0, 1_000_000, 0, "How many to pass over first")),
                ("title", json!({"type": "string", "description": "Only those with this in their titles"})),
                source(),
                since(),
                before(),
            ],
            Self::Read => vec![
                session(),
                ("cursor", json!({"type": "string", "description": "What the page before called next"})),
                ("limit", number(1, 200, 50, "How many messages")),
                (
                    "include_undone",
                    json!({"type": "boolean", "default": false, "description": "Also messages that were undone; each has state \"undone\""}),
                ),
            ],
            Self::Statistics => vec![session()],
            Self::Rename => {
                vec![session(), ("title", json!({"type": "string", "description": "At most 100 characters"}))]
            }
            Self::Note => {
                vec![session(), ("note", json!({"type": "string", "description": "At most 10,000 characters"}))]
            }
        }
    }

    const fn required(self) -> &'static [&'static str] {
        match self {
            Self::Search | Self::List | Self::Statistics => &[],
            Self::Read => &["session_id"],
            Self::Rename => &["session_id", "title"],
            Self::Note => &["session_id", "note"],
        }
    }

    /// Returns the description of the tool for clients.
    pub(crate) fn tool(self) -> Tool {
        let properties: JsonObject =
            self.properties().into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": self.required(), "additionalProperties": false,
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        let annotations = ToolAnnotations::new()
            .read_only(!self.changes())
            .destructive(self == Self::Rename)
            .idempotent(self != Self::Note)
            .open_world(false);
        Tool::new(self.name(), self.description(), Arc::new(schema)).annotate(annotations)
    }
}

/// Default number of characters of a conversation that a client gets: a few pages, not a whole context.
pub(crate) const BUDGET: u64 = 8_000;
