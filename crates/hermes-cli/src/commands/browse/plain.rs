//! The list without a terminal: numbered lines and a prompt.

use super::desk::Desk;
use crate::error::CliError;
use crate::ui::pins_and_tags::SIGN;
use crate::warnings;
use hermes_session::{ListRequest, Order, PageRequest, SessionId, SessionSummary};
use hermes_terminal::layout::{fit, right, width};
use hermes_terminal::transcript::NO_TITLE;
use hermes_terminal::{Line, UNLIMITED, Visible};

/// The default number of rows, the same as the agent.
const DEFAULT_ROWS: u64 = 500;
/// The width of a name in columns; wider if nothing limits it.
const NAME: usize = 50;
const ACTIVE: usize = 10;

/// Shows the list and reads a number. Returns `None` if none is entered.
pub(super) async fn pick(desk: &Desk, most: Option<u64>) -> Result<Option<SessionId>, CliError> {
    let most = match most {
        None => DEFAULT_ROWS,
        Some(0) => u64::MAX,
        Some(most) => most,
    };
    let rows = rows(desk, most).await?;
    let ui = &desk.context.ui;
    if rows.is_empty() {
        ui.print([Line::plain_text("No sessions found.")])?;
        return Ok(None);
    }
    let head = "  Browse sessions  (enter number to resume, q to cancel)";
    let names: Vec<Visible> = rows.iter().map(name).collect();
    let widest = names.iter().map(width).max().unwrap_or(0);
    let room = if ui.table_width() == UNLIMITED { widest.max(NAME) } else { NAME };
    let numbered = rows.iter().zip(&names).zip(1_usize..);
    let numbered = numbered.map(|((row, name), number)| line(desk, row, fit(name, room), number));
    ui.print([Line::plain_text(head), Line::default()].into_iter().chain(numbered).chain([Line::default()]))?;
    loop {
        let answer = ui.answer(&format!("  Select [1-{}]: ", rows.len()))?;
        let chosen = match answer.as_deref().map(str::trim) {
            None | Some("" | "q" | "quit" | "exit") => {
                ui.print([Line::plain_text("Cancelled.")])?;
                return Ok(None);
            }
            Some(text) => text.parse::<usize>(),
        };
        let complaint = match chosen.map(|number| number.checked_sub(1).and_then(|place| rows.get(place))) {
            Ok(Some(row)) => return Ok(Some(row.id.clone())),
            Ok(None) => format!("  Invalid selection. Enter 1-{} or q to cancel.", rows.len()),
            Err(_) => "  Invalid input. Enter a number or q to cancel.".to_owned(),
        };
        ui.print([Line::plain_text(complaint)])?;
    }
}

async fn rows(desk: &Desk, most: u64) -> Result<Vec<SessionSummary>, CliError> {
    let mut rows: Vec<SessionSummary> = Vec::new();
    let mut request = ListRequest { filter: desk.filter.clone(), order: Order::PinnedFirst, ..ListRequest::default() };
    loop {
        let left = most - rows.len() as u64;
        request.page = PageRequest::first(u32::try_from(left).unwrap_or(u32::MAX));
        let listing = desk.store().list(&request).await?;
        warnings::unreadable(&desk.context, &listing.unreadable);
        rows.extend(listing.rows);
        match listing.next.filter(|_| (rows.len() as u64) < most) {
            Some(next) => request.after = Some(next),
            None => return Ok(rows),
        }
    }
}

fn name(row: &SessionSummary) -> Visible {
    let name = match &row.title {
        Some(title) => title.as_str(),
        None if row.preview.is_empty() => NO_TITLE,
        None => row.preview.as_str(),
    };
    let star = if row.pinned_at.is_some() { SIGN } else { "" };
    format!("{star}{name}").into()
}

fn line(desk: &Desk, row: &SessionSummary, name: Visible, number: usize) -> Line {
    let number = right(&number.to_string().into(), 3);
    let active = fit(&desk.context.now.relative(row.last_active).into(), ACTIVE);
    let line = Line::plain_text("  ").text(number).text(". ").text(name);
    line.text("  ").text(active).text("  ").text(row.source.as_str())
}
