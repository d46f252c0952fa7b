//! What commands that change something tell a person, before and after.

use super::checks::{fact, messages};
use anstyle::{AnsiColor, Style};
use hermes_app::trash::{DeletePreview, DeleteReport};
use hermes_session::import::{Finding, FindingKind, ImportReport};
use hermes_session::retention::{Candidate, Pruned};
use hermes_session::{SessionId, StateCounts, Title};
use hermes_terminal::figures::{number, plural, size};
use hermes_terminal::shell::shell_word;
use hermes_terminal::table::{Column, Table};
use hermes_terminal::time::Now;
use hermes_terminal::{Line, Visible};
use std::path::PathBuf;

/// How narrow a title may become in a table.
const LEAST_TITLE: usize = 12;

/// How many conversations somebody is shown who is asked about them.
const SHOWN: usize = 20;

/// A conversation that may go.
#[derive(Debug, Clone)]
pub(crate) struct PruneRow {
    /// The session it goes on in today.
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
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
}

/// Where a line is that was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: u64,
}

/// What an import came to.
pub(crate) struct Imported {
    pub(crate) report: ImportReport,
    /// Where each finding of the report is, in the same order.
    pub(crate) places: Vec<Place>,
    pub(crate) is_rehearsal: bool,
}

impl Imported {
    /// What was found, and where.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&Place, &Finding)> {
        self.places.iter().zip(&self.report.findings)
    }
}

/// A title as it is stored now.
pub(crate) fn renamed(id: &SessionId, title: &Title) -> Vec<Line> {
    vec![Line::plain_text(format!("Session {id} has the title ")).with(title.as_str(), Style::new().bold())]
}

/// What a conversation or a delegate is that would go.
pub(crate) fn preview(preview: &DeletePreview, now: &Now) -> Vec<Line> {
    let facts = [
        ("id", Some(preview.id.to_string())),
        ("source", preview.source.clone()),
        ("started", preview.started_at.map(|at| now.day_and_minute(at))),
        ("sessions", Some(number(preview.members.len() as u64))),
        ("messages", Some(number(preview.messages))),
        ("files", (preview.files > 0).then(|| plural(preview.files, "transcripts"))),
        ("sent from", preview.sent_from.as_ref().map(|id| format!("{id}, which stays"))),
        ("branches", (preview.branches > 0).then(|| format!("{}, which stay", number(preview.branches)))),
    ];
    let title = Line::styled(preview.title.as_deref().unwrap_or("(no title)"), Style::new().bold());
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    [title].into_iter().chain(known.map(fact)).collect()
}

/// What went with a conversation or a delegate.
pub(crate) fn deleted(preview: &DeletePreview, report: &DeleteReport, now: &Now, place: &str) -> Vec<Line> {
    let name = preview.title.as_deref().unwrap_or(preview.id.as_str());
    let parts = [plural(report.deleted.sessions, "sessions"), plural(report.deleted.messages, "messages")];
    let parts = parts
        .into_iter()
        .chain((report.transcripts.files > 0).then(|| plural(report.transcripts.files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    let (kind, rest) = match &preview.sent_from {
        Some(id) => ("the delegate ", format!(" The conversation {id} stays.")),
        None => ("", String::new()),
    };
    let line = Line::plain_text(format!("Deleted {kind}")).with(name, Style::new().bold());
    let line = line.text(format!(" ({what}).{rest}"));
    let back = report.until.map(|until| {
        let word = shell_word(preview.id.as_str());
        let text = format!("Until {} it can come back: hermes sessions restore {word}{place}", now.date(until));
        Line::plain_text(text)
    });
    [line].into_iter().chain(back).collect()
}

/// A number of conversations.
pub(crate) fn conversations(count: u64) -> String {
    plural(count, "conversations")
}

/// The conversations that may go, and how much that is.
pub(crate) fn prune_plan(rows: &[PruneRow], now: &Now, columns: usize) -> Vec<Line> {
    if rows.is_empty() {
        return vec![Line::plain_text("Nothing is old enough to go.")];
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
    let messages = rows.iter().map(|row| row.candidate.messages).sum();
    let total = format!("{} with {}.", conversations(rows.len() as u64), plural(messages, "messages"));
    table.lines(columns).into_iter().chain([Line::plain_text(total)]).collect()
}

/// The same for somebody who is asked: the first of them, and how many there are.
pub(crate) fn prune_question(rows: &[PruneRow], now: &Now, columns: usize) -> Vec<Line> {
    let mut lines = prune_plan(&rows[..rows.len().min(SHOWN)], now, columns);
    if rows.len() > SHOWN {
        lines.pop();
        let more = format!("… and {} more (--dry-run shows all)", number((rows.len() - SHOWN) as u64));
        lines.push(Line::styled(more, Style::new().dimmed()));
    }
    lines
}

fn cells(row: &PruneRow, now: &Now) -> Vec<Visible> {
    vec![
        row.title.as_deref().unwrap_or("—").into(),
        now.relative(row.candidate.last_active).into(),
        row.source.as_str().into(),
        row.candidate.members.len().to_string().into(),
        row.candidate.messages.to_string().into(),
        row.id.as_str().into(),
    ]
}

/// What pruning deleted.
pub(crate) fn pruned(pruned: &Pruned, files: u64) -> Vec<Line> {
    if pruned.looked_at == 0 {
        return vec![Line::plain_text("Nothing is old enough to go.")];
    }
    let mut lines = vec![Line::plain_text(format!("Deleted {}.", taken(pruned, files)))];
    if pruned.kept > 0 {
        let text = format!(
            "Kept {}, in which something happened meanwhile, or which were pinned.",
            conversations(pruned.kept)
        );
        lines.push(Line::plain_text(text));
    }
    lines
}

/// What stays because it is pinned, if anything does.
pub(crate) fn pinned(count: u64) -> Option<Line> {
    let why = if count == 1 { "stays because it is pinned" } else { "stay because they are pinned" };
    (count > 0).then(|| Line::plain_text(format!("{} {why}.", conversations(count))))
}

/// What pruning took, in words.
pub(crate) fn taken(pruned: &Pruned, files: u64) -> String {
    let parts = [plural(pruned.sessions, "sessions"), plural(pruned.messages, "messages")];
    let parts = parts.into_iter().chain((files > 0).then(|| plural(files, "transcripts")));
    format!("{} ({})", conversations(pruned.conversations), parts.collect::<Vec<_>>().join(", "))
}

/// What an export holds.
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

/// What an import came to.
pub(crate) fn imported(imported: &Imported) -> Vec<Line> {
    let report = &imported.report;
    let what = format!("{}, {}", plural(report.sessions, "sessions"), messages(report.states));
    let mut facts = vec![(if imported.is_rehearsal { "to import" } else { "imported" }, what)];
    if report.skipped > 0 {
        facts.push(("skipped", format!("{}, there already", plural(report.skipped, "sessions"))));
    }
    if report.trashed > 0 {
        facts.push(("trash", format!("{} moved back into it", plural(report.trashed, "conversations"))));
    }
    if report.marked > 0 {
        facts.push(("marked", format!("{} with a pin or tags", plural(report.marked, "conversations"))));
    }
    if report.conflicts > 0 {
        facts
            .push(("conflicts", format!("{}, there already with other content", plural(report.conflicts, "sessions"))));
    }
    if report.bad > 0 {
        facts.push(("bad lines", number(report.bad)));
    }
    facts.into_iter().map(fact).collect()
}

/// What kind of thing was found, for programs.
pub(crate) const fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Bad => "bad",
        FindingKind::Conflict => "conflict",
        FindingKind::Title => "title",
        FindingKind::Parent => "parent",
        FindingKind::Column => "column",
    }
}

/// A number of sessions.
pub(crate) fn sessions(count: u64) -> String {
    plural(count, "sessions")
}

/// How much was gone through.
pub(crate) fn so_far(sessions: u64, messages: u64) -> String {
    format!("{} and {}", plural(sessions, "sessions"), plural(messages, "messages"))
}
