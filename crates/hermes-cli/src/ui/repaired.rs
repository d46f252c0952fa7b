//! Result of repairing a damaged file: the rows saved and the rows lost.

use super::checks::fact;
use crate::reports::RepairOutcome;
use hermes_rescue::SalvagedTable;
use hermes_terminal::Line;
use hermes_terminal::figures::{number, plural};
use hermes_terminal::shell::shell_word;

/// Returns the lines of the result.
pub(crate) fn lines(outcome: &RepairOutcome) -> Vec<Line> {
    let (salvage, report) = (&outcome.repaired.salvage, &outcome.repaired.report);
    let saved = format!("{}, {}", plural(report.sessions, "sessions"), plural(report.messages, "messages"));
    let mut lines = vec![Line::plain_text(format!("Saved {saved} in {:.1}s", outcome.took.as_secs_f64()))];
    let mut read = vec![plural(salvage.pages, "pages")];
    let mut more = |count: u64, text: &str| read.extend((count > 0).then(|| format!("{} {text}", number(count))));
    more(salvage.wal_frames, "from the WAL");
    more(salvage.damaged_frames, "damaged in the WAL");
    let lost = salvage.tables.iter().filter(|table| is_shown(table)).map(|table| table.lost).sum();
    read.push(damage(salvage.damaged, lost));
    let mut facts = vec![
        ("from", outcome.from.display().to_string()),
        ("to", outcome.to.display().to_string()),
        ("read", read.join(", ")),
    ];
    for table in salvage.tables.iter().filter(|table| is_shown(table)) {
        facts.push((table.name.as_str(), counts(table)));
    }
    let some = |count: u64, text: &str| (count > 0).then(|| format!("{} {text}", plural(count, "sessions")));
    facts.extend(some(salvage.rebuilt_sessions, "rebuilt from index entries").map(|text| ("rebuilt", text)));
    let recovered = "rebuilt from their messages alone, with the source `recovered`";
    facts.extend(some(salvage.recovered_sessions, recovered).map(|text| ("recovered", text)));
    facts.extend(some(salvage.hidden_sessions, "that were being deleted or imported").map(|text| ("left out", text)));
    let stray = format!("{} on unreferenced pages", plural(salvage.stray_rows, "rows"));
    facts.extend((salvage.stray_rows > 0).then_some(("strays", stray)));
    let proof = &outcome.repaired.proof;
    let same = format!(
        "{} of {} are in the new store as they were read",
        number(proof.equal),
        plural(proof.sessions, "sessions")
    );
    facts.push(("proof", same));
    lines.extend(facts.into_iter().map(fact));
    let (from, to) = (shell_word(&outcome.from.display().to_string()), shell_word(&outcome.to.display().to_string()));
    // While the marker is there, nothing writes to a file of that name.
    let aside = match &outcome.marker {
        Some(marker) => format!("{from}, its -wal and -shm, and {}", shell_word(&marker.display().to_string())),
        None => format!("{from} and its -wal and -shm"),
    };
    lines.push(Line::plain_text(format!("To use it: stop every agent, move {aside} away, then mv {to} {from}")));
    lines
}

/// Describes the damage. Rows can also be lost from sound pages: a row without an id can be read but not kept.
fn damage(places: u64, lost: u64) -> String {
    match (places, lost) {
        (0, 0) => "nothing damaged".to_owned(),
        (0, lost) => format!("no page damaged, but {} could not be kept", plural(lost, "rows")),
        (places, _) => format!("{} damaged", plural(places, "places")),
    }
}

/// Returns whether a table gets a line. The agent's version does not, nor do tables that the file does not have.
fn is_shown(table: &SalvagedTable) -> bool {
    table.name != "schema_version"
        && (table.saved + table.lost > 0 || matches!(table.name.as_str(), "messages" | "sessions"))
}

fn counts(table: &SalvagedTable) -> String {
    let lost = match (table.lost, table.is_certain) {
        (0, true) => "none lost".to_owned(),
        (0, false) => "none known to be lost".to_owned(),
        (lost, true) => format!("{} lost", number(lost)),
        (lost, false) => format!("at least {} lost", number(lost)),
    };
    match table.cut {
        0 => format!("{} saved, {lost}", number(table.saved)),
        cut => format!("{} saved, {} of them truncated, {lost}", number(table.saved), number(cut)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_called_undamaged_while_rows_are_lost() {
        assert_eq!(damage(0, 0), "nothing damaged");
        assert_eq!(damage(0, 1), "no page damaged, but 1 row could not be kept");
        assert_eq!(damage(0, 12), "no page damaged, but 12 rows could not be kept");
        assert_eq!(damage(3, 12), "3 places damaged");
    }
}
