//! Pins and tags, for programs.

use super::{SCHEMA, array, boolean};
use crate::ui::marks::{Pinned, Tagged};
use hermes_session::json::ObjectWriter;
use hermes_session::{Json, Tag};

fn told(key: &str, rows: impl IntoIterator<Item = String>) -> String {
    let mut object = ObjectWriter::new();
    object.raw("schema", &SCHEMA.to_string()).raw(key, &array(rows));
    object.finish()
}

/// A list of tags.
pub(super) fn list(tags: &[Tag]) -> String {
    array(tags.iter().map(|tag| Json::string(tag.as_str()).to_string()))
}

/// What became of pins.
pub(crate) fn pinned(done: &[Pinned]) -> String {
    let row = |one: &Pinned| {
        let mut object = ObjectWriter::new();
        object
            .text("id", Some(one.id.as_str()))
            .text("title", one.title.as_deref())
            .raw("pinned", boolean(one.is_pinned))
            .raw("changed", boolean(one.is_changed));
        object.finish()
    };
    told("sessions", done.iter().map(row))
}

/// The tags of conversations.
pub(crate) fn tagged(done: &[Tagged]) -> String {
    let row = |one: &Tagged| {
        let mut object = ObjectWriter::new();
        object.text("id", Some(one.id.as_str())).raw("tags", &list(&one.tags));
        object.finish()
    };
    told("sessions", done.iter().map(row))
}

/// Every tag, and how many conversations have it.
pub(crate) fn tags(tags: &[(Tag, u64)]) -> String {
    let row = |(tag, count): &(Tag, u64)| {
        let mut object = ObjectWriter::new();
        object.text("tag", Some(tag.as_str())).raw("conversations", &count.to_string());
        object.finish()
    };
    told("tags", tags.iter().map(row))
}
