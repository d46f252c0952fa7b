//! The trash, for programs.

use super::{SCHEMA, array, time};
use hermes_session::json::ObjectWriter;
use hermes_session::{Restored, SessionId, Trashed};

fn object() -> ObjectWriter {
    let mut object = ObjectWriter::new();
    object.raw("schema", &SCHEMA.to_string());
    object
}

fn entry(entry: &Trashed) -> String {
    let mut object = ObjectWriter::new();
    object
        .text("id", Some(entry.id.as_str()))
        .text("title", entry.title.as_deref())
        .text("source", Some(&entry.source))
        .raw("sessions", &entry.sessions.to_string())
        .raw("messages", &entry.messages.to_string())
        .raw("deleted_at", &time(Some(entry.deleted_at)))
        .raw("until", &time(Some(entry.until)));
    object.finish()
}

/// What is in the trash.
pub(crate) fn list(entries: &[Trashed]) -> String {
    let mut object = object();
    object.raw("trash", &array(entries.iter().map(entry)));
    object.finish()
}

/// What came back.
pub(crate) fn restored(entry: &Trashed, restored: &Restored, files: u64) -> String {
    let retitled = restored.retitled.iter().map(|one| {
        let mut object = ObjectWriter::new();
        object.text("id", Some(one.id.as_str())).text("had", Some(&one.had)).text("title", one.has.as_deref());
        object.finish()
    });
    let mut object = object();
    object
        .text("id", Some(SessionId::as_str(&entry.id)))
        .raw("sessions", &restored.sessions.to_string())
        .raw("messages", &restored.messages.to_string())
        .raw("files", &files.to_string())
        .raw("retitled", &array(retitled));
    object.finish()
}

/// What went for good.
pub(crate) fn emptied(gone: &[Trashed], files: u64) -> String {
    let mut object = object();
    object.raw("deleted", &array(gone.iter().map(entry))).raw("files", &files.to_string());
    object.finish()
}
