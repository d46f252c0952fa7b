//! Documents of commands that change something.

use crate::ui::changes::{Imported, MaskedSecrets, PruneRow, Written};
use hermes_app::trash::{DeletePreview, DeleteReport};
use hermes_session::retention::Pruned;
use hermes_session::{SessionId, Timestamp, Title};
use hermes_wire::{changes as wire, document};

/// Returns a session with its new title.
pub(crate) fn renamed(id: &SessionId, title: &Title) -> String {
    document(&wire::Renamed { id: id.as_str(), title: title.as_str() })
}

/// Returns what was deleted of a conversation or a delegate.
pub(crate) fn deleted(preview: &DeletePreview, report: &DeleteReport) -> String {
    document(&wire::Deleted {
        dry_run: false,
        id: preview.id.as_str(),
        sent_from: preview.sent_from.as_ref().map(SessionId::as_str),
        sessions: report.deleted.sessions,
        messages: report.deleted.messages,
        files: report.transcripts.files,
        until: report.until.map(Timestamp::seconds),
        owner: owner(preview),
    })
}

fn owner(preview: &DeletePreview) -> Option<&str> {
    preview.owner.as_ref().map(|owner| owner.lease.holder.label.as_str())
}

/// Returns what would be deleted of a conversation or a delegate.
pub(crate) fn to_delete(preview: &DeletePreview, until: Option<Timestamp>) -> String {
    document(&wire::Deleted {
        dry_run: true,
        id: preview.id.as_str(),
        sent_from: preview.sent_from.as_ref().map(SessionId::as_str),
        sessions: preview.members.len() as u64,
        messages: preview.states.total(),
        files: preview.files,
        until: until.map(Timestamp::seconds),
        owner: owner(preview),
    })
}

/// Returns what pruning would delete.
pub(crate) fn prune_plan(rows: &[PruneRow], pinned: u64) -> String {
    let conversations = rows.iter().map(|row| wire::PruneCandidate {
        id: row.id.as_str(),
        conversation: row.candidate.conversation.as_str(),
        title: row.title.as_deref(),
        preview: &row.preview,
        source: &row.source,
        sessions: row.candidate.members.iter().map(SessionId::as_str).collect(),
        message_count: row.candidate.messages,
        last_active: row.candidate.last_active.seconds(),
    });
    document(&wire::PrunePlan { dry_run: true, conversations: conversations.collect(), pinned })
}

/// Returns what pruning deleted.
pub(crate) fn pruned(pruned: &Pruned, files: u64, pinned: u64) -> String {
    document(&wire::Pruned {
        dry_run: false,
        conversations: pruned.conversations,
        sessions: pruned.sessions,
        messages: pruned.messages,
        kept: pruned.kept,
        pinned,
        files,
    })
}

/// Returns what an export holds.
pub(crate) fn exported(written: &Written) -> String {
    document(&wire::Exported {
        path: written.path.display().to_string(),
        format: written.format,
        sessions: written.sessions,
        messages: written.messages,
        bytes: written.bytes,
        masked: written.masked.iter().flatten().map(masked).collect(),
    })
}

fn masked(one: &MaskedSecrets) -> wire::Masked {
    wire::Masked { session_id: one.session.as_str().to_owned(), kind: one.kind, count: one.count }
}

/// Returns what was imported.
pub(crate) fn imported(imported: &Imported) -> String {
    let report = &imported.report;
    let findings = imported.findings().map(|(place, finding)| wire::ImportFinding {
        file: &place.file,
        line: place.line,
        session_id: finding.session.as_ref().map(SessionId::as_str),
        kind: crate::ui::changes::kind(finding.kind),
        what: &finding.what,
    });
    document(&wire::Imported {
        dry_run: imported.is_rehearsal,
        sessions: report.sessions,
        messages: report.messages,
        states: report.states.into(),
        skipped: report.skipped,
        conflicts: report.conflicts,
        trashed: report.trashed,
        marked: report.marked,
        bad: report.bad,
        findings: findings.collect(),
    })
}
