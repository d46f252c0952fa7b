//! What erasing came to, for programs.

use super::{SCHEMA, array, boolean};
use crate::reports::EraseOutcome;
use hermes_rescue::{Erased, Rewritten};
use hermes_session::Json;
use hermes_session::json::ObjectWriter;
use std::path::Path;

const fn told(rewritten: Rewritten) -> &'static str {
    match rewritten {
        Rewritten::Done => "done",
        Rewritten::InUse => "in use",
        Rewritten::NoRoom => "no room",
    }
}

fn path(path: &Path) -> String {
    Json::string(&path.display().to_string()).to_string()
}

/// What was erased, and what was proven.
pub(crate) fn erased(outcome: &EraseOutcome) -> String {
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("id", Some(outcome.id.as_str()))
        .raw("sessions", &outcome.deleted.sessions.to_string())
        .raw("messages", &outcome.deleted.messages.to_string())
        .raw("files", &outcome.files.to_string())
        .raw("elsewhere", &array(outcome.elsewhere.iter().map(|file| path(file))));
    match &outcome.erased {
        None => object.raw("clean", "null"),
        Some(erased) => object
            .raw("clean", boolean(erased.is_clean()))
            .text("rewritten", Some(told(erased.rewritten)))
            .raw("needles", &erased.needles.to_string())
            .raw("words", &erased.words.to_string())
            .raw("scanned_bytes", &erased.scanned.to_string())
            .raw("left", &array(erased.left.iter().map(|left| path(&left.path))))
            .raw("words_left", &erased.words_left.to_string())
            .raw("tables_left", &array(erased.tables_left.iter().map(|table| Json::string(table).to_string()))),
    };
    object.finish()
}

/// What became of a file that was to be rewritten.
pub(crate) fn finished(erased: &Erased, files: u64) -> String {
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("files", &files.to_string())
        .text("rewritten", Some(told(erased.rewritten)))
        .raw("clean", boolean(erased.is_clean()));
    object.finish()
}
