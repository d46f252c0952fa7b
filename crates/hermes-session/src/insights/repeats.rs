//! Tells what the agent wrote down again when it compressed a context, without keeping what was said: a number stands for each message.
//!
//! A split starts the next session with copies of the start and the end of the one before; a compaction within a session does
//! the same behind what it put away. What is a copy is told as in a replay.

use crate::replay::without_repeats;
use crate::{Content, Message, MessageBody, MessageId, Role, SessionId, Timestamp, compaction};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The number of messages compared at either end. A copied part has to fit into a context.
const MAX_COPIED: usize = 2048;
/// Within how many messages a compacted context comes to its summary.
const OPENING: usize = 16;

/// What is kept of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    id: MessageId,
    /// Equal for a message and its copy.
    print: u64,
    /// Whether it starts with what the agent wrote in the person's place.
    is_handover: bool,
}

impl Trace {
    /// The trace of a message. Its id, its role, its content and its calls are enough.
    pub fn of(message: &Message) -> Self {
        let MessageBody { role, content, tool_call_id, tool_calls, tool_name, .. } = &message.body;
        let mut print = DefaultHasher::new();
        (role.as_str(), tool_call_id, tool_calls, tool_name).hash(&mut print);
        match content {
            // The agent trims what it loads before it writes it again, and an empty text may come back as none.
            Some(Content::Text(text)) if matches!(role, Role::User | Role::Assistant) => text.trim().hash(&mut print),
            Some(Content::Text(text)) => text.hash(&mut print),
            Some(Content::Json(json)) => (1, json).hash(&mut print),
            Some(Content::Bytes(bytes)) => (2, bytes).hash(&mut print),
            None => "".hash(&mut print),
        }
        let is_handover = content.as_ref().is_some_and(|content| compaction::is_handover(&content.plain_text()));
        Self { id: message.id, print: print.finish(), is_handover }
    }

    /// A message that is equal to others as what was said was.
    fn as_message(&self) -> Message {
        let start = if self.is_handover { "[CONTEXT SUMMARY]: " } else { "" };
        let body = MessageBody::new(Role::User, format!("{start}{:x}", self.print));
        Message::new(self.id, SessionId::from_stored(""), Timestamp::EPOCH, body)
    }
}

/// The messages of a session that are copies: of the session that it carries on, and of what was compacted away in it.
///
/// `said` is all that was said in it, the `compacted` messages that were put away first; `before` is that of the session before, if there is one.
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

/// Where the contexts that a session had one after another start. The last one is what is not put away; those before are told by their summaries,
/// in front of which the start of the session may stand again. A session that carries on another one starts with such a summary itself.
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

/// The messages of `context` that are copies of the start and the end of `before`.
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

    /// A trace for each word, ids from `first` on; with a `#` it is a summary.
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
        // What is said again is no copy.
        check("a b c", "# x b c", 0, &[]);
    }

    #[test]
    fn what_is_kept_in_a_compaction_is_told_each_time() {
        check("", "a b c d  a b #1 d e", 4, &[4, 5, 7]);
        // Three contexts: the first two are put away.
        check("", "a b c d  a b #1 d e f  a b #2 e f g", 10, &[4, 5, 7, 10, 11, 13, 14]);
        // Without a start that is kept, and with a list of tasks behind the end.
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
