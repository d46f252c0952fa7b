//! What was saved of a damaged file, for programs.

use super::{SCHEMA, array, boolean, double};
use crate::reports::RepairOutcome;
use hermes_session::json::ObjectWriter;

/// What it came to.
pub(crate) fn repaired(outcome: &RepairOutcome) -> String {
    let (salvage, report, proof) = (&outcome.repaired.salvage, &outcome.repaired.report, &outcome.repaired.proof);
    let tables = salvage.tables.iter().map(|table| {
        let mut object = ObjectWriter::new();
        object
            .text("table", Some(&table.name))
            .raw("saved", &table.saved.to_string())
            .raw("cut", &table.cut.to_string())
            .raw("lost", &table.lost.to_string())
            .raw("certain", boolean(table.is_certain));
        object.finish()
    });
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("from", Some(&outcome.from.display().to_string()))
        .text("to", Some(&outcome.to.display().to_string()))
        .raw("sessions", &report.sessions.to_string())
        .raw("messages", &report.messages.to_string())
        .raw("pages", &salvage.pages.to_string())
        .raw("damaged", &salvage.damaged.to_string())
        .raw("log_frames", &salvage.wal_frames.to_string())
        .raw("damaged_frames", &salvage.damaged_frames.to_string())
        .raw("tables", &array(tables))
        .raw("found", &report.found.to_string())
        .raw("findings", &super::store::findings(report))
        .raw("stray_rows", &salvage.stray_rows.to_string())
        .raw("rebuilt_sessions", &salvage.rebuilt_sessions.to_string())
        .raw("recovered_sessions", &salvage.recovered_sessions.to_string())
        .raw("hidden_sessions", &salvage.hidden_sessions.to_string())
        .raw("may_revive", boolean(salvage.may_revive))
        .raw("guessed", boolean(salvage.has_guessed))
        .raw("changed", boolean(salvage.has_changed))
        .raw("journal", boolean(salvage.has_journal))
        .raw("proven", boolean(proof.holds()))
        .raw("seconds", &double(Some(outcome.took.as_secs_f64())));
    object.finish()
}
