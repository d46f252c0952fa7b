//! What a store is, and what came of copying one to another, for programs.

use super::{SCHEMA, array, boolean, double};
use crate::reports::Adopted;
use hermes_app::migrate::Migrated;
use hermes_session::json::ObjectWriter;
use hermes_session::transfer::{Proof, TransferReport};
use hermes_session::{Counts, IndexHealth, Json, SessionId, StateCounts, StoreStatus};

/// What and where a store is.
pub(crate) fn status(status: &StoreStatus, counts: &Counts) -> String {
    let (state, behind, why) = match &status.indexes {
        IndexHealth::Whole => ("whole", 0, None),
        IndexHealth::Behind { messages } => ("behind", *messages, None),
        IndexHealth::Broken { why } => ("broken", 0, Some(why.as_str())),
    };
    let mut indexes = ObjectWriter::new();
    indexes.text("state", Some(state)).raw("behind", &behind.to_string()).text("why", why);
    let pool = status.pool.map_or_else(
        || "null".to_owned(),
        |pool| {
            let mut object = ObjectWriter::new();
            object
                .raw("size", &pool.size.to_string())
                .raw("in_use", &pool.in_use.to_string())
                .raw("most", &pool.most.to_string());
            object.finish()
        },
    );
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("provider", Some(status.provider))
        .text("version", Some(&status.version))
        .text("location", Some(&status.location))
        .raw("schema_version", &status.schema_version.to_string())
        .text("schema_name", status.schema.as_deref())
        .raw("conversations", &counts.conversations.to_string())
        .raw("sessions", &counts.sessions.to_string())
        .raw("messages", &counts.messages.to_string())
        .raw("bytes", &status.bytes.to_string())
        .raw("free_bytes", &status.free_bytes.to_string())
        .raw("indexes", &indexes.finish())
        .raw("pool", &pool);
    object.finish()
}

/// What adopting a store did.
pub(crate) fn adopted(adopted: &Adopted) -> String {
    let texts = |texts: &[String]| array(texts.iter().map(|text| Json::string(text).as_str().to_owned()));
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("location", Some(&adopted.location))
        .raw("was_adopted", boolean(adopted.was_adopted))
        .raw("added", &texts(&adopted.added))
        .raw("notices", &texts(&adopted.notices));
    object.finish()
}

/// What a person should know of a transfer.
pub(super) fn findings(report: &TransferReport) -> String {
    array(report.findings.iter().map(|finding| {
        let mut object = ObjectWriter::new();
        object
            .text("kind", Some(finding.kind.as_str()))
            .text("session_id", finding.session.as_ref().map(SessionId::as_str))
            .text("what", Some(&finding.what));
        object.finish()
    }))
}

/// What a migration came to.
pub(crate) fn migrated(migrated: &Migrated) -> String {
    let report = &migrated.report;
    let conflicts = report.conflicts.iter().map(|id| Json::string(id.as_str()).to_string());
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("dry_run", boolean(migrated.is_rehearsal))
        .text("from", Some(&migrated.from))
        .text("to", Some(&migrated.to))
        .text("resumed_after", report.resumed_after.as_ref().map(SessionId::as_str))
        .raw("sessions", &report.sessions.to_string())
        .raw("messages", &report.messages.to_string())
        .raw("states", &states(report.states))
        .raw("skipped", &report.skipped.to_string())
        .raw("caught_up", &report.caught_up.to_string())
        .raw("conflicts", &array(conflicts))
        .raw("unreadable", &report.unreadable.to_string())
        .raw("values", &report.values.to_string())
        .raw("topics", &report.topics.to_string())
        .raw("marks", &report.marks.to_string())
        .raw("fts_entries", &migrated.fts_entries.to_string())
        .raw("seconds", &double(Some(migrated.took.as_secs_f64())))
        .raw("found", &report.found.to_string())
        .raw("findings", &findings(report))
        .raw("proof", &migrated.proof.as_ref().map_or_else(|| "null".to_owned(), proof));
    object.finish()
}

/// Messages by state.
pub(crate) fn states(states: StateCounts) -> String {
    let mut object = ObjectWriter::new();
    object
        .raw("active", &states.active.to_string())
        .raw("compacted", &states.compacted.to_string())
        .raw("undone", &states.undone.to_string());
    object.finish()
}

fn proof(proof: &Proof) -> String {
    let mismatches = proof.found.iter().map(|mismatch| {
        let mut object = ObjectWriter::new();
        object
            .text("session_id", Some(mismatch.session.as_str()))
            .text("what", Some(&mismatch.what))
            .raw("behind", boolean(mismatch.is_behind));
        object.finish()
    });
    let queries = proof.queries.iter().map(|query| {
        let mut object = ObjectWriter::new();
        object
            .text("word", Some(&query.word))
            .raw("hits", &query.hits.to_string())
            .raw("missing", &query.missing.to_string())
            .raw("extra", &query.extra.to_string());
        object.finish()
    });
    let mut object = ObjectWriter::new();
    object
        .raw("holds", boolean(proof.holds()))
        .raw("sessions", &proof.sessions.to_string())
        .raw("messages", &proof.messages.to_string())
        .raw("states_from", &states(proof.states.0))
        .raw("states_to", &states(proof.states.1))
        .raw("missing", &proof.missing.to_string())
        .raw("equal", &proof.equal.to_string())
        .raw("renumbered", &proof.renumbered.to_string())
        .raw("renamed", &proof.renamed.to_string())
        .raw("unlinked", &proof.unlinked.to_string())
        .raw("left_out", &proof.left_out.to_string())
        .raw("marks", &proof.marks.to_string())
        .text("sha256_from", Some(&proof.hashes.0))
        .text("sha256_to", Some(&proof.hashes.1))
        .raw("mismatch_count", &proof.mismatches.to_string())
        .raw("mismatches", &array(mismatches))
        .raw("queries", &array(queries));
    object.finish()
}
