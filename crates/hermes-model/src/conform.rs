//! Builds the list of messages that the strictest provider accepts, from any list.
//!
//! The store keeps what was said; the wire is strict. [`conform`] is the only road between them, and [`validate`]
//! knows the same rules without sharing code with it.

mod arguments;
mod build;
mod ids;
mod pairing;
mod validate;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use arguments::is_object;
pub use validate::{Violation, validate};

use crate::{CallResult, Quirks, ReturnedReasoning, WireMessage};
use build::List;
use hermes_session::replay::INTERRUPTED;
use pairing::Entry;

/// Stands for the user where a conversation does not begin with one.
pub const OPENING: &str = "[Earlier messages are not shown.]";
/// Stands for the model between the result of a tool and the next message of the user.
pub const BRIDGE: &str = "[The answer was interrupted.]";
/// Stands for the user where a conversation ends with the model.
pub const CONTINUE: &str = "Continue.";
/// Stands for the empty result of a tool.
pub const EMPTY_RESULT: &str = "[The tool returned no text.]";
/// Stands for the name of a tool that has none.
pub const NAMELESS: &str = "unknown";
/// Maximum length of a tool's name, as OpenAI has it.
const MAX_NAME: usize = 64;

/// Returns a list that every provider accepts and that says the same.
///
/// * Empty texts are dropped, neighbours of one role are merged, and only fields that the provider wants are left.
/// * The first message, after the instructions, is the user's, and so is the last one unless it is a result.
///   Instructions in the middle become the user's.
/// * Every tool call has an id of its own, in the provider's form, and is answered exactly once, directly after it: by
///   its result, however late that came, or by [`INTERRUPTED`]. Results that answer no call are dropped.
/// * Arguments that are not a JSON object become `{}`; the result of the call quotes them.
///
/// No text of a user is lost. Conforming a second time changes nothing. Adding messages at the end leaves the start as
/// it was, so that providers' caches still match; only a list that ended with a call without a result, or with the
/// model, may change there.
pub fn conform<M: Into<WireMessage>>(messages: impl IntoIterator<Item = M>, quirks: &Quirks) -> Vec<WireMessage> {
    let mut list = List::default();
    for entry in pairing::bind(messages) {
        list.push(entry, quirks);
    }
    let conformed = on_the_wire(list.finish(), quirks);
    debug_assert_eq!(validate(&conformed, quirks), Ok(()));
    conformed
}

/// Gives every call its id, and puts its result behind it.
fn on_the_wire(entries: Vec<Entry>, quirks: &Quirks) -> Vec<WireMessage> {
    let mut ids = ids::Ids::new(quirks.call_ids);
    let mut wire = Vec::with_capacity(entries.len());
    for entry in entries {
        let (mut message, results) = match entry {
            Entry::System(text) => {
                wire.push(WireMessage::System(text));
                continue;
            }
            Entry::User(parts) => {
                wire.push(WireMessage::User(parts));
                continue;
            }
            Entry::Assistant(message, results) => (message, results),
        };
        if quirks.reasoning == ReturnedReasoning::Content && !message.calls.is_empty() {
            // Asked for with every call, also those that another model made.
            message.reasoning.text.get_or_insert_default();
        }
        let mut answers = Vec::with_capacity(results.len());
        for (call, result) in message.calls.iter_mut().zip(results) {
            call.id = ids.assign(std::mem::take(&mut call.id));
            call.name = tool_name(&call.name);
            let broken = arguments::repair(&mut call.arguments);
            let result = match result {
                None => INTERRUPTED.to_owned(),
                Some(text) if is_blank(&text) => EMPTY_RESULT.to_owned(),
                Some(text) => text,
            };
            let text = match broken {
                Some(broken) => format!("{}\n{result}", arguments::note(&broken)),
                None => result,
            };
            answers.push(WireMessage::Result(CallResult { call_id: call.id.clone(), text }));
        }
        wire.push(WireMessage::Assistant(message));
        wire.extend(answers);
    }
    wire
}

/// Returns the name with only the characters that providers allow. A model may have made up any name.
fn tool_name(name: &str) -> String {
    if name.is_empty() {
        return NAMELESS.to_owned();
    }
    name.chars().take(MAX_NAME).map(|character| if is_name_character(character) { character } else { '_' }).collect()
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

/// Returns whether a text has nothing but white space, which strict providers reject.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
