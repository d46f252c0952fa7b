//! Binds every result to the call that it answers.

use crate::{AssistantMessage, Part, WireMessage};
use std::collections::BTreeMap;

/// A message, and the results of the calls that it makes.
#[derive(Debug)]
pub(super) enum Entry {
    System(String),
    User(Vec<Part>),
    /// The second value has one element for each call.
    Assistant(AssistantMessage, Vec<Option<String>>),
}

/// Returns the messages without results, which are with their calls. A result that answers no call is dropped.
///
/// An id can be reused. A result belongs to the last message before it that makes a call with its id.
pub(super) fn bind<M: Into<WireMessage>>(messages: impl IntoIterator<Item = M>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut called: BTreeMap<String, usize> = BTreeMap::new();
    for message in messages {
        match message.into() {
            WireMessage::System(text) => entries.push(Entry::System(text)),
            WireMessage::User(parts) => entries.push(Entry::User(parts)),
            WireMessage::Assistant(message) => {
                called.extend(message.calls.iter().map(|call| (call.id.clone(), entries.len())));
                let results = vec![None; message.calls.len()];
                entries.push(Entry::Assistant(message, results));
            }
            WireMessage::Result(result) => {
                let caller = called.get(&result.call_id).map(|place| &mut entries[*place]);
                let Some(Entry::Assistant(message, results)) = caller else { continue };
                let mut open = message.calls.iter().zip(results).filter(|(_, result)| result.is_none());
                if let Some((_, place)) = open.find(|(call, _)| call.id == result.call_id) {
                    *place = Some(result.text);
                }
            }
        }
    }
    entries
}
