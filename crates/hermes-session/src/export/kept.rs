//! Lines of a file that keeps what is no part of an export: pins and tags by themselves, conversations of the trash.

use crate::export::FORMAT;
use crate::import::InTrash;
use crate::json::ObjectWriter;
use crate::{Json, PinAndTags, SessionId};

/// What a line says it is that has only the pin and the tags of a conversation.
pub const PINS_AND_TAGS_FORMAT: &str = "hermes-marks/1";

/// What opens the messages of a line.
const MESSAGES: &str = ", \"messages\": [";

/// Returns the line with the pin and the tags that are kept with a session, and nothing else of it.
pub fn pins_and_tags_line(id: &SessionId, pins_and_tags: &PinAndTags) -> String {
    let mut object = ObjectWriter::new();
    object.text("format", Some(PINS_AND_TAGS_FORMAT)).text("id", Some(id.as_str()));
    if let Some(pinned_at) = pins_and_tags.pinned_at {
        object.double("pinned_at", Some(pinned_at.seconds()));
    }
    let tags: Vec<String> = pins_and_tags.tags.iter().map(|tag| Json::string(tag.as_str()).to_string()).collect();
    object.raw("tags", &format!("[{}]", tags.join(", ")));
    object.finish() + "\n"
}

/// Adds to the head of a session's line that its conversation is in the trash.
pub fn with_trash(head: &str, trash: &InTrash) -> String {
    let mut object = ObjectWriter::new();
    object
        .text("conversation", Some(trash.conversation.as_str()))
        .double("deleted_at", Some(trash.deleted_at.seconds()))
        .double("kept_until", Some(trash.kept_until.seconds()));
    debug_assert!(head.contains(FORMAT), "the head of a line of ours");
    let open = head.strip_suffix(MESSAGES).unwrap_or(head);
    format!("{open}, \"trash\": {}{MESSAGES}", object.finish())
}
