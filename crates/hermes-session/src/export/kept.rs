//! Lines of a file for data that is not part of an export: pins and tags alone, and conversations in the trash.

use crate::export::FORMAT;
use crate::import::{InTrash, TableRow, rows};
use crate::json::ObjectWriter;
use crate::{Json, PinAndTags, SessionId};

/// Value of `format` on a line that has only the pin and the tags of a conversation.
pub const PINS_AND_TAGS_FORMAT: &str = "hermes-marks/1";

/// Text that opens the messages of a line.
const MESSAGES: &str = ", \"messages\": [";

/// Returns a line with only the pin and the tags stored with a session.
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

/// Returns a line with only the fact that a session is archived.
pub fn archived_line(id: &SessionId) -> String {
    let mut object = ObjectWriter::new();
    object.text("format", Some(PINS_AND_TAGS_FORMAT)).text("id", Some(id.as_str())).integer("archived", Some(1));
    object.finish() + "\n"
}

/// Adds the trash entry of its conversation to the head of a session's line, with the rows of other tables that
/// refer to the session.
pub fn with_trash(head: &str, trash: &InTrash, rows: &[TableRow]) -> String {
    let mut object = ObjectWriter::new();
    object
        .text("conversation", Some(trash.conversation.as_str()))
        .double("deleted_at", Some(trash.deleted_at.seconds()))
        .double("kept_until", Some(trash.kept_until.seconds()));
    if !rows.is_empty() {
        object.raw("tables", &rows::to_json(rows));
    }
    debug_assert!(head.contains(FORMAT), "the head of a line of ours");
    let open = head.strip_suffix(MESSAGES).unwrap_or(head);
    format!("{open}, \"trash\": {}{MESSAGES}", object.finish())
}
