//! The document of `repair`.

use crate::reports::RepairOutcome;
use hermes_wire::transfer::TransferFinding;
use hermes_wire::{document, repair as wire};

/// Returns what was saved of a damaged file.
pub(crate) fn repaired(outcome: &RepairOutcome) -> String {
    let (salvage, report, proof) = (&outcome.repaired.salvage, &outcome.repaired.report, &outcome.repaired.proof);
    let tables = salvage.tables.iter().map(|table| wire::SavedTable {
        table: &table.name,
        saved: table.saved,
        cut: table.cut,
        lost: table.lost,
        certain: table.is_certain,
    });
    document(&wire::Repaired {
        from: outcome.from.display().to_string(),
        to: outcome.to.display().to_string(),
        sessions: report.sessions,
        messages: report.messages,
        pages: salvage.pages,
        damaged: salvage.damaged,
        log_frames: salvage.wal_frames,
        damaged_frames: salvage.damaged_frames,
        tables: tables.collect(),
        found: report.found,
        findings: TransferFinding::all(report),
        stray_rows: salvage.stray_rows,
        rebuilt_sessions: salvage.rebuilt_sessions,
        recovered_sessions: salvage.recovered_sessions,
        hidden_sessions: salvage.hidden_sessions,
        may_revive: salvage.may_revive,
        guessed: salvage.has_guessed,
        changed: salvage.has_changed,
        journal: salvage.has_journal,
        proven: proof.holds(),
        seconds: outcome.took.as_secs_f64(),
    })
}
