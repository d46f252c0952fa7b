//! Documents about a store: its status, adopting it, copying it to another.

use crate::reports::Adopted;
use hermes_app::migrate::Migrated;
use hermes_session::{Counts, SessionId, StoreStatus};
use hermes_wire::transfer::{self as wire, TransferFinding};
use hermes_wire::{document, status};

/// Returns what and where a store is.
pub(crate) fn status(status: &StoreStatus, counts: &Counts) -> String {
    document(&status::StoreStatus::new(status, counts))
}

/// Returns what was added to a store when it was adopted.
pub(crate) fn adopted(adopted: &Adopted) -> String {
    document(&wire::Adopted {
        location: &adopted.location,
        was_adopted: adopted.was_adopted,
        added: &adopted.added,
        notices: &adopted.notices,
    })
}

/// Returns what was copied, and the proof.
pub(crate) fn migrated(migrated: &Migrated) -> String {
    let report = &migrated.report;
    document(&wire::Migrated {
        dry_run: migrated.is_rehearsal,
        from: &migrated.from,
        to: &migrated.to,
        resumed_after: report.resumed_after.as_ref().map(SessionId::as_str),
        sessions: report.sessions,
        messages: report.messages,
        states: report.states.into(),
        skipped: report.skipped,
        caught_up: report.caught_up,
        conflicts: report.conflicts.iter().map(SessionId::as_str).collect(),
        unreadable: report.unreadable,
        values: report.values,
        topics: report.topics,
        marks: report.pins_and_tags,
        live: report.live,
        fts_entries: migrated.fts_entries,
        seconds: migrated.took.as_secs_f64(),
        found: report.found,
        findings: TransferFinding::all(report),
        proof: migrated.proof.as_ref().map(wire::Proof::from),
    })
}
