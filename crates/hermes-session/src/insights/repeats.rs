//! Finds copies that the agent wrote when it compressed a context. Only a hash of each message is kept, not its text.
//!
//! A split starts the next session with copies of the start and the end of the one before. A compaction within a
//! session writes the same copies after the messages that it compacted. Copies are recognised as in a replay.

use crate::replay::without_repeats;
use crate::{Content, Message, MessageBody, MessageId, Role, SessionId, Timestamp, compaction};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of messages compared at either end. A copied part has to fit into a context.
const MAX_COPIED: usize = 2048;
/// Number of messages at the start of a compacted context within which its summary is expected.
const OPENING: usize = 16;

/// The facts kept about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    id: MessageId,
    /// Hash that is equal for a message and its copy.
    print: u64,
    /// Whether it starts with text that the agent wrote under the user role.
    is_handover: bool,
}

impl Trace {
    /// Returns the trace of a message. Only the id, role, content and tool calls of the message are needed.
    pub fn of(message: &Message) -> Self {
        let MessageBody { role, content, tool_call_id, tool_calls, tool_name, .. } = &message.body;
        let mut print = DefaultHasher::new();
        (role.as_str(), tool_call_id, tool_calls, tool_name).hash(&mut print);
        match content {
            // The agent trims texts on loading before it writes them again, and an empty text may come back as NULL.
            Some(Content::Text(text)) if matches!(role, Role::User | Role::Assistant) => text.trim().hash(&mut print),
            Some(Content::Text(text)) => text.hash(&mut print),
            Some(Content::Json(json)) => (1, json).hash(&mut print),
            Some(Content::Bytes(bytes)) => (2, bytes).hash(&mut print),
            None => "".hash(&mut print),
        }
        let is_handover = content.as_ref().is_some_and(|content| compaction::is_handover(&content.plain_text()));
        Self { id: message.id, print: print.finish(), is_handover }
    }

    /// Returns a message that is equal to another one exactly if the original messages were.
    fn as_message(&self) -> Message {
        let start = if self.is_handover { "[CONTEXT SUMMARY]: " } else { "" };
        let body = MessageBody::new(Role::User, format!("{start}{:x}", self.print));
        Message::new(self.id, SessionId::from_stored(""), Timestamp::EPOCH, body)
    }
}

/// Returns the messages of a session that are copies of the session it continues, or of messages compacted in it.
///
/// `said` is everything said in it, the first `compacted` of which were compacted; `before` is everything said in the
/// previous session, if there is one.
pub fn repeats(before: &[Trace], said: &[Trace], compacted: usize) -> Vec<MessageId> {
    let starts = starts(said, compacted.min(said.len()), !before.is_empty());
    let ends = starts.iter().skip(1).copied().chain([said.len()]);
    let mut found = Vec::new();
    for (start, end) in starts.iter().copied().zip(ends) {
        let before = if start == 0 { before } else { &said[..start] };
        found.extend(copies(before, &said[start..end]));
    }
    found
}

/// Returns where the consecutive contexts of a session start. The last context is the part that is not compacted.
/// Earlier ones are recognised by their summaries, which may be preceded by a copy of the session's start. A
/// continuation itself starts with such a summary, which does not count.
fn starts(said: &[Trace], compacted: usize, carries_on: bool) -> Vec<usize> {
    let mut starts = vec![0];
    let mut add = |start: usize| {
        if starts.last().is_some_and(|last| *last < start) && start < said.len() {
            starts.push(start);
        }
    };
    let first = said.iter().take(OPENING).position(|trace| trace.is_handover).filter(|_| carries_on);
    for at in (0..compacted).filter(|at| said[*at].is_handover && Some(*at) != first) {
        let is_head = |count: &usize| {
            said[at - count..at].iter().map(|trace| trace.print).eq(said[..*count].iter().map(|trace| trace.print))
        };
        add(at - (0..=OPENING.min(at / 2)).rev().find(is_head).unwrap_or(0));
    }
    add(compacted);
    starts
}

/// Returns the messages of `context` that are copies of the start and the end of `before`.
fn copies(before: &[Trace], context: &[Trace]) -> Vec<MessageId> {
    let context = &context[..context.len().min(MAX_COPIED)];
    let (head, rest) = before.split_at(before.len().min(MAX_COPIED));
    let tail = &rest[rest.len().saturating_sub(MAX_COPIED)..];
    let before: Vec<Message> = head.iter().chain(tail).map(Trace::as_message).collect();
    if before.is_empty() {
        return Vec::new();
    }
    without_repeats([before, context.iter().map(Trace::as_message).collect()]).copies.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;

    /// Returns a trace for each word, with ids from `first` on. A word with a `#` is a summary.
    fn traces(first: i64, words: &str) -> Vec<Trace> {
        let text = |word: &str| word.replace('#', "[CONTEXT SUMMARY]: ");
        let words = words.split_whitespace().zip(first..);
        words.map(|(word, id)| trace(id, MessageBody::new(Role::User, text(word)))).collect()
    }

    fn trace(id: i64, body: MessageBody) -> Trace {
        let session_id = SessionId::from_stored("s");
        Trace::of(&Message::new(MessageId(id), session_id, Timestamp::EPOCH, body))
    }

    #[track_caller]
    fn check(before: &str, said: &str, compacted: usize, expect: &[i64]) {
        let found = repeats(&traces(1000, before), &traces(0, said), compacted);
        assert_eq!(found, expect.iter().map(|id| MessageId(*id)).collect::<Vec<_>>(), "{said}");
    }

    #[test]
    fn a_split_copies_the_start_and_the_end() {
        check("a b c d e f", "a b # e f g", 0, &[0, 1, 3, 4]);
        check("a b c d e f", "# f g", 0, &[1]);
        check("a b c", "a b c", 0, &[0, 1, 2]);
        check("", "a a a", 0, &[]);
        // A repeated message is not a copy.
        check("a b c", "# x b c", 0, &[]);
    }

    #[test]
    fn what_is_kept_in_a_compaction_is_told_each_time() {
        check("", "a b c d  a b #1 d e", 4, &[4, 5, 7]);
        // Three contexts: the first two are compacted.
        check("", "a b c d  a b #1 d e f  a b #2 e f g", 10, &[4, 5, 7, 10, 11, 13, 14]);
        // Without a preserved start, and with a task list after the end.
        check("", "a b c  #1 c #2 d e  #3 d e f", 8, &[4, 9, 10]);
        check("a y b", "a #1 b c  a #2 c d", 4, &[0, 2, 4, 6]);
        check("", "a b c", 3, &[]);
    }

    #[test]
    fn long_sessions_are_looked_at_from_their_ends() {
        let words = |range: std::ops::Range<usize>| range.map(|word| format!("w{word} ")).collect::<String>();
        let before = words(0..10_000);
        let said = format!("w0 # {} new", words(9_990..10_000));
        check(&before, &said, 0, &[0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn a_copy_has_the_same_trace() {
        let calls = |text: &str| MessageBody {
            tool_calls: Some(Json::parse(text).unwrap()),
            ..MessageBody::empty(Role::Assistant)
        };
        let print = |body: MessageBody| trace(0, body).print;
        let says = |role: Role, text: &str| print(MessageBody::new(role, text));
        assert_eq!(says(Role::Assistant, " x\n"), says(Role::Assistant, "x"));
        assert_ne!(says(Role::Tool, " x\n"), says(Role::Tool, "x"));
        assert_ne!(says(Role::User, "x"), says(Role::Assistant, "x"));
        assert_eq!(says(Role::User, ""), print(MessageBody::empty(Role::User)));
        assert_ne!(print(calls(r#"[{"id": "1"}]"#)), print(calls(r#"[{"id": "2"}]"#)));
    }
}
