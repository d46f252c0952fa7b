//! Reports of commands that check, copy or optimize a store.

use crate::reports::Optimized;
use anstyle::{AnsiColor, Style};
use hermes_rescue::BackupRestored;
use hermes_session::{BackupReport, Check, Finding, MAX_FINDINGS, Report, Severity, StateCounts};
use hermes_store::Shrunk;
use hermes_terminal::figures::size;
pub(crate) use hermes_terminal::figures::{number, plural};
use hermes_terminal::layout::{fit, width, wrap};
use hermes_terminal::{Line, Visible};

/// Maximum number of findings shown per check.
const SHOWN: usize = 20;

/// Returns the lines of a report: each check, followed by its findings.
pub(crate) fn report(report: &Report, columns: usize) -> Vec<Line> {
    let widest = report.checks.iter().map(|check| width(&check.name.into())).max().unwrap_or(0);
    let mut lines: Vec<Line> = Vec::new();
    for check in &report.checks {
        lines.push(head(check, widest));
        // Problems come before notes.
        let (problems, notes): (Vec<&Finding>, Vec<&Finding>) =
            check.findings.iter().partition(|finding| finding.severity == Severity::Problem);
        let shown = problems.into_iter().chain(notes).take(SHOWN);
        lines.extend(shown.flat_map(|finding| found(finding, columns)));
        let hidden = (check.problems + check.notes).saturating_sub(SHOWN as u64);
        if hidden > 0 {
            let more = format!("  … and {} more (--json lists the first {MAX_FINDINGS} of each kind)", number(hidden));
            lines.extend(wrap(&more.into(), columns).into_iter().map(|line| Line::styled(line, Style::new().dimmed())));
        }
    }
    if report.is_sound() {
        lines.push(Line::plain_text("The store is sound."));
    }
    lines
}

fn head(check: &Check, widest: usize) -> Line {
    let (mark, color) = if check.problems > 0 { ("✗", AnsiColor::Red) } else { ("✓", AnsiColor::Green) };
    let mut facts = vec![plural(check.looked_at, check.things)];
    facts.extend((check.problems > 0).then(|| plural(check.problems, "problems")));
    facts.extend((check.notes > 0).then(|| plural(check.notes, "notes")));
    Line::styled(mark, Style::new().bold().fg_color(Some(color.into())))
        .text(" ")
        .text(fit(&check.name.into(), widest))
        .with(format!("  {}", facts.join(", ")), Style::new().dimmed())
}

/// Returns the lines of a finding, indented under its check.
fn found(finding: &Finding, columns: usize) -> Vec<Line> {
    let (mark, style) = match finding.severity {
        Severity::Problem => ("✗", Style::new().fg_color(Some(AnsiColor::Red.into()))),
        Severity::Note => ("·", Style::new()),
    };
    let text = Visible::line(&format!("{} {}", finding.object, finding.what));
    let wrapped = wrap(&text, columns.saturating_sub(4)).into_iter().enumerate();
    let line = |(index, text): (usize, Visible)| {
        let start =
            if index == 0 { Line::plain_text("  ").with(mark, style).text(" ") } else { Line::plain_text("    ") };
        start.text(text)
    };
    wrapped.map(line).collect()
}

/// Returns lines that describe a backup.
pub(crate) fn backup(report: &BackupReport) -> Vec<Line> {
    let facts = [
        ("backup", report.path.display().to_string()),
        ("sessions", number(report.sessions)),
        ("messages", number(report.messages)),
        ("size", size(report.bytes)),
    ];
    facts.into_iter().map(fact).collect()
}

/// Returns lines that describe a store after a backup was restored.
pub(crate) fn backup_restored(restored: &BackupRestored) -> Vec<Line> {
    let facts = [
        ("sessions", Some(number(restored.sessions))),
        ("messages", Some(number(restored.messages))),
        ("size", Some(size(restored.bytes))),
        ("old file", restored.kept.as_ref().map(|kept| kept.display().to_string())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some(fact((name, value?)))).collect()
}

/// Returns lines with the result of optimizing.
pub(crate) fn optimized(optimized: &Optimized) -> Vec<Line> {
    let (before, after) = (optimized.before.bytes, optimized.after.bytes);
    let saved = format!("{} ({}%)", size(before.saturating_sub(after)), percent(before.saturating_sub(after), before));
    let mut facts = vec![("before", size(before)), ("after", size(after)), ("saved", saved)];
    if optimized.after.free_bytes > 0 {
        facts.push(("free pages", size(optimized.after.free_bytes)));
    }
    let mut lines: Vec<Line> = facts.into_iter().map(fact).collect();
    lines.extend(
        match optimized.shrunk {
            Shrunk::InUse => Some(
                "Another program has the store open: free pages stay in the file and are reused. \
             Run optimize again once it is closed.",
            ),
            Shrunk::NoRoom => {
                Some("There is not enough disk space to rewrite the file: free pages stay in it and are reused.")
            }
            Shrunk::Done | Shrunk::NotNeeded => None,
        }
        .map(Line::plain_text),
    );
    lines
}

pub(crate) fn fact((name, value): (&str, String)) -> Line {
    Line::styled(format!("{name:<12}"), Style::new().dimmed()).text(value)
}

/// Returns a part in whole percent.
fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

/// Returns the number of messages, broken down by state if not all are active.
pub(crate) fn messages(states: StateCounts) -> String {
    let all = plural(states.total(), "messages");
    match states.by_state() {
        None => all,
        Some(by_state) => format!("{all} ({by_state})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_some_and_problems_first() {
        let mut check = Check::new("side tables", "sessions");
        for number in 0..1_019 {
            check.note(format!("hx_session {number}"), "is stale; the next write refreshes it");
        }
        check.problem("hx_session x", "is missing");
        let plain: Vec<String> = report(&Report { checks: vec![check] }, 80).iter().map(Line::plain).collect();
        assert_eq!((plain.len(), plain[1].as_str()), (22, "  ✗ hx_session x is missing"));
        assert_eq!(plain[21], "  … and 1,000 more (--json lists the first 100 of each kind)");
    }

    #[test]
    fn a_long_finding_goes_on_under_its_text() {
        let mut check = Check::new("file", "pages");
        check.note("messages 1", "is a message that is not in the index");
        let lines = report(&Report { checks: vec![check] }, 30);
        let plain: Vec<String> = lines.iter().map(Line::plain).collect();
        assert_eq!(plain[1..3], ["  · messages 1 is a message", "    that is not in the index"]);
    }
}
