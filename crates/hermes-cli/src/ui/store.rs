//! Status of a store, and the result of copying one to another.

use super::checks::{fact, messages};
use hermes_app::migrate::Migrated;
use hermes_session::transfer::Proof;
use hermes_session::{Counts, IndexHealth, StoreStatus};
use hermes_terminal::Line;
use hermes_terminal::figures::{number, plural, size};

/// Returns the kind, location and state of a store.
pub(crate) fn status(status: &StoreStatus, counts: &Counts) -> Vec<Line> {
    let indexes = match &status.indexes {
        IndexHealth::Whole => "complete".to_owned(),
        IndexHealth::Behind { messages } => {
            format!("{} not indexed yet; search scans them", plural(*messages, "messages"))
        }
        IndexHealth::Broken { why } => format!("broken: {why}"),
    };
    let schema = match &status.schema {
        Some(name) => format!("{} in {name}", status.schema_version),
        None => status.schema_version.to_string(),
    };
    let bytes = match status.free_bytes {
        0 => size(status.bytes),
        free => format!("{}, {} of it free", size(status.bytes), size(free)),
    };
    let pool = status.pool.map(|pool| {
        let (open, used, most) = (pool.size, pool.in_use, pool.most);
        format!("{open} open, {used} in use, at most {most}")
    });
    let facts = [
        ("provider", Some(format!("{} {}", status.provider, status.version))),
        ("location", Some(status.location.clone())),
        ("schema", Some(schema)),
        ("conversations", Some(number(counts.conversations))),
        ("sessions", Some(number(counts.sessions))),
        ("messages", Some(number(counts.messages))),
        ("size", Some(bytes)),
        ("indexes", Some(indexes)),
        ("connections", pool),
    ];
    facts.into_iter().filter_map(|(name, value)| Some(wide((name, value?)))).collect()
}

/// Returns a fact whose name may be as long as `conversations`.
fn wide((name, value): (&str, String)) -> Line {
    Line::styled(format!("{name:<13}  "), anstyle::Style::new().dimmed()).text(value)
}

/// Returns lines with the result of a migration.
pub(crate) fn migrated(migrated: &Migrated) -> Vec<Line> {
    let report = &migrated.report;
    let what = format!("{}, {}", plural(report.sessions, "sessions"), messages(report.states));
    let seconds = migrated.took.as_secs_f64();
    let summary = match migrated.is_rehearsal {
        true => format!("Would migrate {what}. Nothing was written."),
        false => format!("Migrated {what}, {} in {seconds:.1}s", entries(migrated.fts_entries)),
    };
    let some = |count: u64, text: String| (count > 0).then_some(text);
    let conflicts = report.conflicts.len() as u64;
    let facts = [
        ("from", Some(migrated.from.clone())),
        ("to", Some(migrated.to.clone())),
        ("resumed", report.resumed_after.as_ref().map(|id| format!("after session {id}"))),
        ("skipped", some(report.skipped, format!("{}, already in the target", plural(report.skipped, "sessions")))),
        ("caught up", some(report.caught_up, format!("{}, older in the target", plural(report.caught_up, "sessions")))),
        (
            "conflicts",
            some(conflicts, format!("{}, already in the target with other content", plural(conflicts, "sessions"))),
        ),
        ("not copied", some(report.unreadable, plural(report.unreadable, "rows"))),
        (
            "beside",
            some(
                report.values + report.topics,
                format!("{}, {} about topics", plural(report.values, "values"), plural(report.topics, "rows")),
            ),
        ),
        ("pins, tags", some(report.pins_and_tags, format!("of {}", plural(report.pins_and_tags, "conversations")))),
        ("live data", some(report.live, plural(report.live, "records"))),
    ];
    let mut lines = vec![Line::plain_text(summary)];
    lines.extend(facts.into_iter().filter_map(|(name, value)| Some(fact((name, value?)))));
    lines.extend(migrated.proof.iter().flat_map(proof));
    lines
}

fn entries(count: u64) -> String {
    format!("{} FTS {}", number(count), if count == 1 { "entry" } else { "entries" })
}

fn proof(proof: &Proof) -> Vec<Line> {
    let agreed = proof.queries.iter().filter(|query| query.missing == 0 && query.extra == 0).count() as u64;
    let counted = |count: u64, text: &str| (count > 0).then(|| format!("{} {text}", number(count)));
    let aside = [
        counted(proof.renumbered, "with other message ids"),
        counted(proof.renamed, "under another title"),
        counted(proof.unlinked, "without their missing parent"),
    ];
    let aside = aside.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let same = format!(
        "{} of {} with {} are the same",
        number(proof.equal),
        plural(proof.sessions, "sessions"),
        messages(proof.states.0)
    );
    let mut facts = vec![("proof", if aside.is_empty() { same } else { format!("{same} ({aside})") })];
    if proof.missing > 0 {
        facts.push(("missing", format!("{} of the source are not in the target", plural(proof.missing, "messages"))));
    }
    if proof.live_missing > 0 {
        let missing = plural(proof.live_missing, "records");
        facts.push(("live data", format!("{missing} of {} are not in the target", number(proof.live))));
    }
    facts.push(("sha256", proof.hashes.1.clone()));
    facts.push((
        "searches",
        format!("{} of {} find the same messages", number(agreed), number(proof.queries.len() as u64)),
    ));
    facts.into_iter().map(fact).collect()
}

/// Returns the first mismatches.
pub(crate) fn mismatches(proof: &Proof, shown: usize) -> Vec<Line> {
    let sessions = proof.found.iter().map(|mismatch| format!("  session {}: {}", mismatch.session, mismatch.what));
    let queries = proof.queries.iter().filter(|query| query.missing + query.extra > 0).map(|query| {
        format!("  searching {:?}: {} missing, {} too many", query.word, number(query.missing), number(query.extra))
    });
    let mut lines: Vec<Line> = sessions.chain(queries).take(shown).map(Line::plain_text).collect();
    let hidden = proof.mismatches.saturating_sub(shown as u64);
    lines.extend((hidden > 0).then(|| Line::plain_text(format!("  … and {} more", number(hidden)))));
    lines
}
