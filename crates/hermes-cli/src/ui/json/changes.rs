//! What commands that change something tell programs.

use super::{SCHEMA, array, boolean, time};
use crate::ui::changes::{Imported, PruneRow, Written};
use hermes_app::trash::{DeletePreview, DeleteReport};
use hermes_session::json::ObjectWriter;
use hermes_session::retention::Pruned;
use hermes_session::{Json, SessionId, Title};

fn object() -> ObjectWriter {
    let mut object = ObjectWriter::new();
    object.raw("schema", &SCHEMA.to_string());
    object
}

/// A session with its new title.
pub(crate) fn renamed(id: &SessionId, title: &Title) -> String {
    let mut object = object();
    object.text("id", Some(id.as_str())).text("title", Some(title.as_str()));
    object.finish()
}

/// What went with a conversation or a delegate.
pub(crate) fn deleted(preview: &DeletePreview, report: &DeleteReport) -> String {
    let mut object = object();
    object
        .text("id", Some(preview.id.as_str()))
        .text("sent_from", preview.sent_from.as_ref().map(SessionId::as_str))
        .raw("sessions", &report.deleted.sessions.to_string())
        .raw("messages", &report.deleted.messages.to_string())
        .raw("files", &report.transcripts.files.to_string())
        .raw("until", &time(report.until));
    object.finish()
}

/// What pruning would delete.
pub(crate) fn prune_plan(rows: &[PruneRow], pinned: u64) -> String {
    let row = |row: &PruneRow| {
        let members = row.candidate.members.iter().map(|id| Json::string(id.as_str()).to_string());
        let mut object = ObjectWriter::new();
        object
            .text("id", Some(row.id.as_str()))
            .text("conversation", Some(row.candidate.conversation.as_str()))
            .text("title", row.title.as_deref())
            .text("source", Some(&row.source))
            .raw("sessions", &array(members))
            .raw("message_count", &row.candidate.messages.to_string())
            .raw("last_active", &time(Some(row.candidate.last_active)));
        object.finish()
    };
    let mut object = object();
    object.raw("dry_run", "true").raw("conversations", &array(rows.iter().map(row))).raw("pinned", &pinned.to_string());
    object.finish()
}

/// What pruning deleted.
pub(crate) fn pruned(pruned: &Pruned, files: u64, pinned: u64) -> String {
    let mut object = object();
    object
        .raw("dry_run", "false")
        .raw("conversations", &pruned.conversations.to_string())
        .raw("sessions", &pruned.sessions.to_string())
        .raw("messages", &pruned.messages.to_string())
        .raw("kept", &pruned.kept.to_string())
        .raw("pinned", &pinned.to_string())
        .raw("files", &files.to_string());
    object.finish()
}

/// What an export holds.
pub(crate) fn exported(written: &Written) -> String {
    let mut object = object();
    object
        .text("path", Some(&written.path.display().to_string()))
        .text("format", Some(written.format))
        .raw("sessions", &written.sessions.to_string())
        .raw("messages", &written.messages.to_string())
        .raw("bytes", &written.bytes.to_string());
    object.finish()
}

/// What an import came to.
pub(crate) fn imported(imported: &Imported) -> String {
    let report = &imported.report;
    let findings = imported.findings().map(|(place, finding)| {
        let mut object = ObjectWriter::new();
        object
            .text("file", Some(&place.file))
            .raw("line", &place.line.to_string())
            .text("session_id", finding.session.as_ref().map(SessionId::as_str))
            .text("kind", Some(crate::ui::changes::kind(finding.kind)))
            .text("what", Some(&finding.what));
        object.finish()
    });
    let mut object = object();
    object
        .raw("dry_run", boolean(imported.is_rehearsal))
        .raw("sessions", &report.sessions.to_string())
        .raw("messages", &report.messages.to_string())
        .raw("states", &super::store::states(report.states))
        .raw("skipped", &report.skipped.to_string())
        .raw("conflicts", &report.conflicts.to_string())
        .raw("trashed", &report.trashed.to_string())
        .raw("marked", &report.marked.to_string())
        .raw("bad", &report.bad.to_string())
        .raw("findings", &array(findings));
    object.finish()
}
