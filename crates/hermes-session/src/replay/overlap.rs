//! Leaves out messages that a continuation copied from the session before it.

use super::{Joined, ReplayMessage};
use crate::{Content, Message, MessageId, Role, compaction};
use std::ops::Range;

/// Number of messages after the copied start within which the summary is expected. The agent protects three messages
/// and those that belong to them, and may have shortened them.
const OPENING: usize = 16;

/// Joins the messages of a chain of sessions into one list, oldest first.
///
/// A continuation starts with copies of the start and the end of its parent, and a summary between them.
pub(super) fn join(segments: impl Iterator<Item = Vec<ReplayMessage>>) -> Vec<ReplayMessage> {
    // An empty session is skipped, so that its neighbours are compared with each other.
    let mut segments = segments.filter(|segment| !segment.is_empty()).peekable();
    let (mut joined, mut before) = (Vec::new(), Vec::new());
    while let Some(segment) = segments.next() {
        let copies = Copies::of(&before, &segment);
        if segments.peek().is_some() {
            before.clone_from(&segment);
        }
        let said = segment.into_iter().enumerate().filter(|(at, _)| copies.original(*at).is_none());
        joined.extend(said.map(|(_, message)| message));
    }
    joined
}

/// Joins stored messages, and records for each one left out which message it is a copy of.
pub(super) fn join_stored(segments: impl Iterator<Item = Vec<Message>>) -> Joined {
    let compared = |message: &Message| ReplayMessage {
        role: message.body.role.clone(),
        content: message.body.content.clone(),
        tool_call_id: message.body.tool_call_id.clone(),
        tool_name: message.body.tool_name.clone(),
        tool_calls: message.body.tool_calls.clone(),
        finish_reason: None,
        reasoning: None,
        reasoning_content: None,
        reasoning_details: None,
        codex_reasoning_items: None,
        codex_message_items: None,
    };
    let mut joined = Joined::default();
    // Messages of the previous session, and the id of the original of each.
    let (mut before, mut said): (Vec<ReplayMessage>, Vec<MessageId>) = (Vec::new(), Vec::new());
    for segment in segments.filter(|segment| !segment.is_empty()) {
        let current: Vec<ReplayMessage> = segment.iter().map(compared).collect();
        let copies = Copies::of(&before, &current);
        let mut said_here = Vec::with_capacity(segment.len());
        for (at, message) in segment.into_iter().enumerate() {
            let original = copies.original(at).map_or(message.id, |place| said[place]);
            said_here.push(original);
            if copies.original(at).is_some() {
                joined.copies.insert(message.id, original);
            } else {
                joined.messages.push(message);
            }
        }
        (before, said) = (current, said_here);
    }
    joined
}

/// Messages of a session that are copies from its parent.
struct Copies {
    head: usize,
    tail: Range<usize>,
    /// Index in the parent at which the copied end starts.
    end: usize,
}

impl Copies {
    fn of(parent: &[ReplayMessage], child: &[ReplayMessage]) -> Self {
        let head = parent.iter().zip(child).take_while(|(old, new)| is_same(old, new)).count();
        let rest = &child[head..];
        let summary = rest.iter().take(OPENING).position(starts_with_summary);
        // A later stretch that equals the parent's end was said again: the copy comes directly after the summary.
        let last_start = summary.map_or(1, |at| at + 1).min(rest.len());
        // Messages of the parent that the head covers can't be its end as well.
        let free = &parent[head..];
        let (length, start) = (0..=last_start)
            .map(|start| (copied_end(free, &rest[start..]), start))
            .fold((0, 0), |best, next| if next.0 > best.0 { next } else { best });
        Self { head, tail: head + start..head + start + length, end: parent.len() - length }
    }

    /// Returns the index in the parent of the message that a message is a copy of; `None` if it is not a copy.
    fn original(&self, at: usize) -> Option<usize> {
        if at < self.head {
            return Some(at);
        }
        self.tail.contains(&at).then(|| self.end + at - self.tail.start)
    }
}

/// Returns the largest number of messages at the start of `child` that equal the end of `parent`.
fn copied_end(parent: &[ReplayMessage], child: &[ReplayMessage]) -> usize {
    let most = parent.len().min(child.len());
    let is_end = |length: &usize| parent[parent.len() - length..].iter().zip(child).all(|(old, new)| is_same(old, new));
    (1..=most).rev().find(is_end).unwrap_or(0)
}

fn starts_with_summary(message: &ReplayMessage) -> bool {
    message.content.as_ref().is_some_and(|content| compaction::is_handover(&content.plain_text()))
}

fn is_same(old: &ReplayMessage, new: &ReplayMessage) -> bool {
    old.role == new.role
        && old.tool_calls == new.tool_calls
        && old.tool_call_id == new.tool_call_id
        && old.tool_name == new.tool_name
        && is_same_content(&old.role, old.content.as_ref(), new.content.as_ref())
}

/// Returns whether one content is a copy of the other. The agent trims texts on loading before it writes them again.
fn is_same_content(role: &Role, old: Option<&Content>, new: Option<&Content>) -> bool {
    match (old, new) {
        (Some(Content::Text(old)), Some(Content::Text(new))) if matches!(role, Role::User | Role::Assistant) => {
            old.trim() == new.trim()
        }
        (None, Some(Content::Text(text))) | (Some(Content::Text(text)), None) => text.is_empty(),
        _ => old == new,
    }
}
