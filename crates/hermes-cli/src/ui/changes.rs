//! Messages of commands that change something: the preview before the change, and the result after it.

use super::checks::{fact, messages};
use super::stacked::{Entry, table_or_entries};
use crate::program;
use anstyle::{AnsiColor, Style};
use hermes_app::trash::{DeletePreview, DeleteReport};
use hermes_session::import::{Finding, FindingKind, ImportReport};
use hermes_session::live::Holder;
use hermes_session::retention::{Candidate, Pruned};
use hermes_session::{SessionId, StateCounts, Timestamp, Title};
use hermes_terminal::figures::{number, plural, size};
use hermes_terminal::shell::shell_word;
use hermes_terminal::table::{Column, Table};
use hermes_terminal::time::Now;
use hermes_terminal::transcript::NO_TITLE;
use hermes_terminal::{Line, Visible};
use std::path::PathBuf;

/// Minimum width of a title in a table, in columns.
const LEAST_TITLE: usize = 12;

/// Maximum number of conversations listed in a confirmation prompt.
const SHOWN: usize = 20;

/// A conversation that pruning would delete.
#[derive(Debug, Clone)]
pub(crate) struct PruneRow {
    /// The session that the conversation continues in today.
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
    /// The beginning of its first message, for a person; empty if there is none.
    pub(crate) preview: String,
    pub(crate) source: String,
    pub(crate) candidate: Candidate,
}

/// An export that was written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    pub(crate) format: &'static str,
    pub(crate) sessions: u64,
    pub(crate) messages: u64,
    pub(crate) states: StateCounts,
    pub(crate) bytes: u64,
    /// The secrets that were masked; `None` without `--redact`.
    pub(crate) masked: Option<Vec<MaskedSecrets>>,
}

/// Secrets of one kind that were masked in a session.
#[derive(Debug)]
pub(crate) struct MaskedSecrets {
    pub(crate) session: SessionId,
    pub(crate) kind: &'static str,
    pub(crate) count: u64,
}

/// The position of an imported line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// Line number, from 1.
    pub(crate) line: u64,
}

/// Result of an import.
pub(crate) struct Imported {
    pub(crate) report: ImportReport,
    /// The position of each finding of the report, in the same order.
    pub(crate) places: Vec<Place>,
    pub(crate) is_rehearsal: bool,
}

impl Imported {
    /// Returns the findings with their positions.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&Place, &Finding)> {
        self.places.iter().zip(&self.report.findings)
    }
}

/// Returns a line with the old and the new title of a session.
pub(crate) fn renamed(id: &SessionId, before: Option<&str>, title: &Title) -> Vec<Line> {
    let bold = Style::new().bold();
    let line = match before {
        Some(before) => Line::plain_text("Renamed \"").with(before, bold).text("\""),
        None => Line::plain_text(format!("Renamed session {id}")),
    };
    vec![line.text(" to \"").with(title.as_str(), bold).text("\"")]
}

/// Returns lines that describe a conversation or a delegate about to be deleted.
pub(crate) fn preview(preview: &DeletePreview, now: &Now) -> Vec<Line> {
    let facts = [
        ("id", Some(preview.id.to_string())),
        ("source", preview.source.clone()),
        ("started", preview.started_at.map(|at| now.day_and_minute(at))),
        ("sessions", Some(number(preview.members.len() as u64))),
        ("messages", Some(with_states(number(preview.states.total()), preview.states))),
        ("files", (preview.files > 0).then(|| plural(preview.files, "transcripts"))),
        ("sent from", preview.sent_from.as_ref().map(|id| format!("{id}, which stays"))),
        ("in use by", preview.owner.as_ref().map(|owner| holder(&owner.lease.holder))),
        ("branches", (preview.branches > 0).then(|| format!("{}, which stay", number(preview.branches)))),
    ];
    let title = Line::styled(named(preview.title.as_deref(), &preview.preview), Style::new().bold());
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    [title].into_iter().chain(known.map(fact)).collect()
}

/// Returns the process that owns a conversation, for a person who is about to delete it.
fn holder(holder: &Holder) -> String {
    format!("{} (process {}), which loses it", holder.label, holder.process)
}

/// Conversations and delegates about to be deleted.
pub(crate) struct DeletePlan<'a> {
    pub(crate) doomed: &'a [DeletePreview],
    /// Until when they can be restored; `None` if they are deleted for good.
    pub(crate) until: Option<Timestamp>,
}

impl DeletePlan<'_> {
    /// Returns the last line of a dry run.
    pub(crate) fn total(&self, now: &Now) -> Line {
        let what = self.what(|number, noun| format!("{number} {noun}"));
        Line::plain_text(match self.until {
            Some(until) => format!("Would move {what} to the trash until {}. Nothing was changed.", now.date(until)),
            None => format!("Would delete {what} for good. Nothing was changed."),
        })
    }

    /// Returns lines that describe the first of them, for the question.
    pub(crate) fn about(&self, now: &Now) -> Vec<Line> {
        let mut lines = self.described(SHOWN, now);
        if self.doomed.len() > SHOWN {
            let more = format!("… and {} more (--dry-run shows all)", number((self.doomed.len() - SHOWN) as u64));
            lines.push(Line::styled(more, Style::new().dimmed()));
        }
        lines
    }

    /// Returns lines that describe the first of them.
    pub(crate) fn described(&self, count: usize, now: &Now) -> Vec<Line> {
        let each = self.doomed.iter().take(count).map(|one| preview(one, now));
        each.reduce(|one, other| one.into_iter().chain([Line::default()]).chain(other).collect()).unwrap_or_default()
    }

    /// Returns the question that asks to confirm.
    pub(crate) fn question(&self) -> String {
        let is_one = self.doomed.len() == 1;
        let what = self.what(|number, noun| match is_one {
            true => format!("this {noun}"),
            false => format!("{number} {noun}"),
        });
        match self.until {
            Some(_) => format!("Move {what} to the trash?"),
            None => format!("Delete {what} for good?"),
        }
    }

    /// Returns what is deleted: conversations, delegates or both, each with their number.
    fn what(&self, counted: impl Fn(String, &str) -> String) -> String {
        let delegates = self.doomed.iter().filter(|one| one.sent_from.is_some()).count();
        let kinds = [(self.doomed.len() - delegates, "conversation"), (delegates, "delegate")];
        let part = |(count, noun): (usize, &str)| {
            let noun = if count == 1 { noun.to_owned() } else { format!("{noun}s") };
            (count > 0).then(|| counted(number(count as u64), &noun))
        };
        kinds.into_iter().filter_map(part).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the line with the command that restores them; `None` if they were deleted for good.
    pub(crate) fn way_back(&self, now: &Now, place: &str) -> Option<Line> {
        let it = if self.doomed.len() == 1 { "It" } else { "They" };
        let words: Vec<String> = self.doomed.iter().map(|one| shell_word(one.id.as_str())).collect();
        let command = format!("{} sessions restore {}{place}", program::name(), words.join(" "));
        self.until.map(|until| Line::plain_text(format!("{it} can be restored until {}: {command}", now.date(until))))
    }
}

/// Returns a line about a deleted conversation or delegate: where it went, and how much it was.
pub(crate) fn deleted(preview: &DeletePreview, report: &DeleteReport) -> Line {
    let name = preview.title.as_deref().unwrap_or(preview.id.as_str());
    let messages = plural(report.deleted.messages, "messages");
    // An agent that writes at the same time may have changed the messages since they were counted by state.
    let is_as_counted = preview.states.total() == report.deleted.messages;
    let messages = if is_as_counted { with_states(messages, preview.states) } else { messages };
    let parts = [plural(report.deleted.sessions, "sessions"), messages]
        .into_iter()
        .chain((report.transcripts.files > 0).then(|| plural(report.transcripts.files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    let (kind, rest) = match &preview.sent_from {
        Some(id) => ("the delegate ", format!(" The conversation {id} stays.")),
        None => ("", String::new()),
    };
    let (verb, whither) = if report.until.is_some() { ("Moved", " to the trash") } else { ("Deleted", " for good") };
    let line = Line::plain_text(format!("{verb} {kind}")).with(name, Style::new().bold());
    line.text(format!("{whither} ({what}).{rest}"))
}

/// Adds to a number of messages how many of them are not active.
fn with_states(total: String, states: StateCounts) -> String {
    match states.not_active() {
        Some(states) => format!("{total} ({states})"),
        None => total,
    }
}

/// Returns a count of conversations, in words.
pub(crate) fn conversations(count: u64) -> String {
    plural(count, "conversations")
}

/// Returns the totals of a dry run.
pub(crate) fn prune_total(rows: &[PruneRow]) -> Line {
    if rows.is_empty() {
        return Line::plain_text("No ended conversation is old enough to delete.");
    }
    let messages = plural(rows.iter().map(|row| row.candidate.messages).sum(), "messages");
    let what = conversations(rows.len() as u64);
    Line::plain_text(format!("Would delete {what} ({messages}) for good. Nothing was changed."))
}

/// Returns the conversations that pruning would delete. Empty if there are none.
pub(crate) fn prune_rows(rows: &[PruneRow], now: &Now, columns: usize) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
    }
    let column = |head, style, least, is_number| Column { head, style, least, is_number };
    let dim = Style::new().dimmed();
    let table = Table {
        columns: vec![
            column("Title", Style::new(), Some(LEAST_TITLE), false),
            column("Last active", Style::new(), None, false),
            column("Source", Style::new().fg_color(Some(AnsiColor::Cyan.into())), Some(LEAST_TITLE), false),
            column("Sessions", Style::new(), None, true),
            column("Msgs", Style::new(), None, true),
            column("ID", dim, None, false),
        ],
        rows: rows.iter().map(|row| cells(row, now)).collect(),
    };
    table_or_entries(&table, rows.iter().map(|row| narrow(row, now)), columns)
}

/// Returns the table for a confirmation prompt: its first rows, and how many more there are.
pub(crate) fn prune_question(rows: &[PruneRow], now: &Now, columns: usize) -> Vec<Line> {
    let mut lines = prune_rows(&rows[..rows.len().min(SHOWN)], now, columns);
    if rows.len() > SHOWN {
        let more = format!("… and {} more (--dry-run shows all)", number((rows.len() - SHOWN) as u64));
        lines.push(Line::styled(more, Style::new().dimmed()));
    }
    lines
}

/// Returns the name of a conversation: its title, or its first words.
fn name(row: &PruneRow) -> Visible {
    named(row.title.as_deref(), &row.preview).into()
}

/// Returns a title, else the first words, else `(no title)`.
fn named<'a>(title: Option<&'a str>, first_words: &'a str) -> &'a str {
    title.or(Some(first_words).filter(|text| !text.is_empty())).unwrap_or(NO_TITLE)
}

/// Returns a conversation for the narrow layout.
fn narrow<'a>(row: &'a PruneRow, now: &Now) -> Entry<'a> {
    let active = now.relative(row.candidate.last_active);
    let sessions = plural(row.candidate.members.len() as u64, "sessions");
    let messages = plural(row.candidate.messages, "messages");
    let facts = vec![active, row.source.clone(), sessions, messages];
    Entry { head: Visible::default(), name: name(row), facts, id: row.id.as_str() }
}

fn cells(row: &PruneRow, now: &Now) -> Vec<Visible> {
    vec![
        name(row),
        now.relative(row.candidate.last_active).into(),
        row.source.as_str().into(),
        row.candidate.members.len().to_string().into(),
        row.candidate.messages.to_string().into(),
        row.id.as_str().into(),
    ]
}

/// Returns lines with the result of pruning.
pub(crate) fn pruned(pruned: &Pruned, files: u64) -> Vec<Line> {
    if pruned.looked_at == 0 {
        return vec![Line::plain_text("No ended conversation is old enough to delete.")];
    }
    let mut lines = vec![Line::plain_text(format!("Deleted {}.", taken_for_good(pruned, files)))];
    if pruned.kept > 0 {
        let text = format!("Kept {}, which became active or pinned meanwhile.", conversations(pruned.kept));
        lines.push(Line::plain_text(text));
    }
    lines
}

/// Returns the question that asks to confirm pruning, with the age of the conversations.
pub(crate) fn prune_asked(count: u64, days: f64) -> String {
    let what = conversations(count);
    let age = match days {
        days if days <= 0.0 => return format!("Delete {what} for good?"),
        1.0 => "1 day".to_owned(),
        days if days.fract() > 0.0 && (days * 24.0).fract() == 0.0 => plural((days * 24.0) as u64, "hours"),
        days => format!("{days} days"),
    };
    format!("Delete {what} without activity for {age}, for good?")
}

/// Returns a line about the conversations kept because a session has not ended, beside the `others` that may be
/// deleted. `None` if there are none.
pub(crate) fn not_ended(count: u64, others: usize) -> Option<Line> {
    let (noun, have) = if count == 1 { ("conversation is", "has") } else { ("conversations are", "have") };
    let more = if others == 0 { "" } else { "more " };
    (count > 0).then(|| Line::plain_text(format!("{} {more}{noun} old enough, but {have} not ended.", number(count))))
}

/// Returns a line about the conversations kept because they are pinned. `None` if there are none.
pub(crate) fn pinned(count: u64) -> Option<Line> {
    let why = if count == 1 { "stays because it is pinned" } else { "stay because they are pinned" };
    (count > 0).then(|| Line::plain_text(format!("{} {why}.", conversations(count))))
}

/// Returns a summary of the conversations that pruning deleted.
pub(crate) fn taken_for_good(pruned: &Pruned, files: u64) -> String {
    let parts = [plural(pruned.sessions, "sessions"), plural(pruned.messages, "messages")];
    let parts = parts.into_iter().chain((files > 0).then(|| plural(files, "transcripts")));
    format!("{} for good ({})", conversations(pruned.conversations), parts.collect::<Vec<_>>().join(", "))
}

/// Returns lines that describe a written export.
pub(crate) fn exported(written: &Written) -> Vec<Line> {
    let facts = [
        ("export", written.path.display().to_string()),
        ("sessions", number(written.sessions)),
        (
            "messages",
            written
                .states
                .by_state()
                .map_or_else(|| number(written.messages), |by| format!("{} ({by})", number(written.messages))),
        ),
        ("size", size(written.bytes)),
    ];
    facts.into_iter().map(fact).collect()
}

/// Returns notes about the secrets that an export masked: the kinds and numbers for each session, never the secrets.
pub(crate) fn masked(masked: &[MaskedSecrets]) -> Vec<String> {
    const MAX_SESSIONS: usize = 50;
    const CAUTION: &str = "only well-known forms are found; read the export before you share it";
    let total: u64 = masked.iter().map(|one| one.count).sum();
    let mut sessions: Vec<(&SessionId, Vec<String>)> = Vec::new();
    for MaskedSecrets { session, kind, count } in masked {
        let what = format!("{kind} ({})", number(*count));
        match sessions.last_mut().filter(|(last, _)| *last == session) {
            Some((_, kinds)) => kinds.push(what),
            None => sessions.push((session, vec![what])),
        }
    }
    if sessions.is_empty() {
        return vec![format!("no secrets were masked; {CAUTION}")];
    }
    let of = plural(sessions.len() as u64, "sessions");
    let mut notes = vec![format!("masked {} in {of}; {CAUTION}", plural(total, "secrets"))];
    let rest = sessions.len().saturating_sub(MAX_SESSIONS);
    notes.extend(sessions.iter().take(MAX_SESSIONS).map(|(session, kinds)| format!("{session}: {}", kinds.join(", "))));
    if rest > 0 {
        notes.push(format!("and {} more; --json names all", plural(rest as u64, "sessions")));
    }
    notes
}

/// Returns lines with the result of an import.
pub(crate) fn imported(imported: &Imported) -> Vec<Line> {
    let report = &imported.report;
    let what = format!("{}, {}", plural(report.sessions, "sessions"), messages(report.states));
    let mut facts = vec![(if imported.is_rehearsal { "to import" } else { "imported" }, what)];
    if report.skipped > 0 {
        facts.push(("skipped", format!("{}, already in the store", plural(report.skipped, "sessions"))));
    }
    if report.trashed > 0 {
        facts.push(("trash", format!("{} moved back into it", plural(report.trashed, "conversations"))));
    }
    if report.marked > 0 {
        facts.push(("marked", format!("{} with a pin or tags", plural(report.marked, "conversations"))));
    }
    if report.conflicts > 0 {
        facts.push((
            "conflicts",
            format!("{}, already in the store with other content", plural(report.conflicts, "sessions")),
        ));
    }
    if report.bad > 0 {
        facts.push(("bad lines", number(report.bad)));
    }
    facts.into_iter().map(fact).collect()
}

/// Returns the name of a kind of finding, for programs.
pub(crate) const fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Bad => "bad",
        FindingKind::Conflict => "conflict",
        FindingKind::Title => "title",
        FindingKind::Parent => "parent",
        FindingKind::Column => "column",
    }
}

/// Returns a count of sessions, in words.
pub(crate) fn sessions(count: u64) -> String {
    plural(count, "sessions")
}

/// Returns the amount of work done so far, in words.
pub(crate) fn so_far(sessions: u64, messages: u64) -> String {
    format!("{} and {}", plural(sessions, "sessions"), plural(messages, "messages"))
}
