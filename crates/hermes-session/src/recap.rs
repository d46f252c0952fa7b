//! Recap: a short view of the end of a conversation, shown when it is resumed.

mod visible;

use crate::{Message, MessageBody, Role, compaction, scrub, tool_calls::tool_calls};
use visible::without_machinery;

/// Limits of a recap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecapLimits {
    /// Entries with text. Entries with only tool calls are included and do not count.
    pub entries: usize,
    /// Characters of a user message.
    pub user_characters: usize,
    /// Characters of an answer.
    pub assistant_characters: usize,
    /// Lines of an answer.
    pub assistant_lines: usize,
    /// Tool names.
    pub tool_names: usize,
}

impl Default for RecapLimits {
    fn default() -> Self {
        Self { entries: 20, user_characters: 300, assistant_characters: 200, assistant_lines: 3, tool_names: 4 }
    }
}

/// Role in a recap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message, or a series of tool calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecapEntry {
    /// Its role.
    pub speaker: Speaker,
    /// Its text, cut to the limits. Control characters are kept; the printer has to neutralise them.
    pub text: String,
    /// Whether it is the assistant's last entry, which is shown in full.
    pub is_last_answer: bool,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recap {
    /// Number of entries before those shown.
    pub earlier: usize,
    /// The entries, oldest first.
    pub entries: Vec<RecapEntry>,
}

/// Summarises the end of a transcript.
///
/// Only messages of the user and the model are shown, without recalled memory, reasoning, and text that the agent wrote
/// under the user role when it compressed the context. Assistant turns with only tool calls are merged into one entry.
pub fn recap(messages: &[Message], limits: RecapLimits) -> Recap {
    let mut drafts: Vec<Draft> = Vec::new();
    for draft in messages.iter().filter_map(|message| Draft::of(&message.body)) {
        match drafts.last_mut() {
            Some(last) if last.is_silent() && draft.is_silent() => last.tools.add(draft.tools),
            _ => drafts.push(draft),
        }
    }
    let speaking = drafts.iter().enumerate().rev().filter(|(_, draft)| !draft.is_silent());
    let earlier = match limits.entries.checked_sub(1) {
        Some(others) => speaking.map(|(at, _)| at).nth(others).unwrap_or(0),
        None => drafts.len(),
    };
    let last_answer = drafts.iter().rposition(|draft| draft.speaker == Speaker::Assistant);
    let shown = drafts.into_iter().enumerate().skip(earlier);
    let entries = shown.map(|(at, draft)| draft.into_entry(limits, Some(at) == last_answer)).collect();
    Recap { earlier, entries }
}

/// An entry before it is cut.
struct Draft {
    speaker: Speaker,
    text: String,
    tools: Tools,
}

/// The tools that were called, in the order in which they were first called.
#[derive(Default)]
struct Tools {
    calls: usize,
    names: Vec<String>,
}

impl Tools {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        for name in other.names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }

    fn bracket(&self, limit: usize) -> String {
        let noun = if self.calls == 1 { "call" } else { "calls" };
        let mut names: Vec<&str> = self.names.iter().take(limit).map(String::as_str).collect();
        if names.len() < self.names.len() {
            names.push("...");
        }
        let colon = if names.is_empty() { "" } else { ": " };
        format!("[{} tool {noun}{colon}{}]", self.calls, names.join(", "))
    }
}

impl Draft {
    fn of(body: &MessageBody) -> Option<Self> {
        let speaker = match body.role {
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
            Role::Tool | Role::System | Role::Other(_) => return None,
        };
        let stored = body.plain_text();
        let scrubbed = scrub::without_memory_blocks(&stored);
        let said = compaction::without_summary(&scrubbed);
        let mut tools = Tools::default();
        let text = match speaker {
            Speaker::User => said.trim().to_owned(),
            Speaker::Assistant => {
                for call in body.tool_calls.iter().flat_map(tool_calls) {
                    tools.add(Tools { calls: 1, names: call.name.into_iter().collect() });
                }
                without_machinery(said).trim().to_owned()
            }
        };
        let is_visible = !text.is_empty() || tools.calls > 0;
        is_visible.then_some(Self { speaker, text, tools })
    }

    fn is_silent(&self) -> bool {
        self.text.is_empty()
    }

    fn into_entry(self, limits: RecapLimits, is_last_answer: bool) -> RecapEntry {
        let mut text = match self.speaker {
            _ if is_last_answer => self.text,
            Speaker::User => cut(self.text, limits.user_characters),
            Speaker::Assistant => cut(first_lines(self.text, limits.assistant_lines), limits.assistant_characters),
        };
        if self.tools.calls > 0 {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(&self.tools.bracket(limits.tool_names));
        }
        RecapEntry { speaker: self.speaker, text, is_last_answer }
    }
}

fn first_lines(text: String, limit: usize) -> String {
    if text.lines().nth(limit).is_none() {
        return text;
    }
    text.lines().take(limit).collect::<Vec<_>>().join("\n") + " ..."
}

fn cut(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests;
