//! Resolves the session that a person names: [`hermes_app::resolve`] with errors for people.

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::program::called;
use crate::ui::trash as shown;
use anstyle::Style;
use hermes_app::last_list::{LastList, Lists, NoRow};
pub(crate) use hermes_app::resolve::Resolved;
use hermes_app::resolve::{ResolveError, SessionCandidate};
use hermes_app::trash::{self, FindTrashedError};
use hermes_session::{ConversationStore, Maintenance, SessionId, Trashed};
use hermes_terminal::layout::{cut, fit, width};
use hermes_terminal::transcript::NO_TITLE;
use hermes_terminal::{Line, Visible};
use std::io::IsTerminal as _;

/// The ways to name a session, for help and hints.
pub(crate) const FORMS: &str = "give an id, the start of one, a title, @last, or the number of a row such as @3";
/// The hint for a number whose list another terminal printed.
const LIST_HERE: &str = "run `hermes sessions list` in this terminal first, or give the id; row numbers of another terminal only work for reading";
/// The hint for a number whose list was not printed on the terminal.
const LIST_FIRST: &str = "run `hermes sessions list` first, or give the id";
/// The hint for a number that names no session.
const LIST_AGAIN: &str = "run `hermes sessions list` for new row numbers";

/// Resolves the session that a text names, as [`hermes_app::resolve::resolve`] does, for a command that changes it. A
/// number refers to a list of this terminal; if the command runs at one, to a list that was printed on it.
///
/// # Errors
/// If no session matches, or if several ids start with the text; the error then lists them.
pub(crate) async fn resolve(
    context: &Context,
    store: &dyn ConversationStore,
    text: &str,
) -> Result<Resolved, CliError> {
    let is_at_terminal = std::io::stdin().is_terminal() || std::io::stdout().is_terminal();
    resolve_in(context, store, text, if is_at_terminal { Lists::OnTerminal } else { Lists::Own }).await
}

/// Resolves several sessions as [`resolve`] does, before any of them is changed.
///
/// # Errors
/// As [`resolve`], for the first that is not found.
pub(crate) async fn resolve_all(
    context: &Context,
    store: &dyn ConversationStore,
    texts: &[String],
) -> Result<Vec<Resolved>, CliError> {
    let mut found = Vec::with_capacity(texts.len());
    for text in texts {
        found.push(resolve(context, store, text).await?);
    }
    Ok(found)
}

/// Resolves a session as [`resolve`] does, for a command that only reads it. If this terminal has no list, a number
/// refers to the newest list of another one, and a note says so.
///
/// # Errors
/// As [`resolve`].
pub(crate) async fn resolve_to_read(
    context: &Context,
    store: &dyn ConversationStore,
    text: &str,
) -> Result<Resolved, CliError> {
    let found = resolve_in(context, store, text, Lists::Any).await?;
    if let Some(at) = found.list_elsewhere {
        let when = context.now.relative(at);
        context.ui.note(&format!("{text} is a row of a list that another terminal printed {when}"));
    }
    Ok(found)
}

async fn resolve_in(
    context: &Context,
    store: &dyn ConversationStore,
    text: &str,
    lists: Lists,
) -> Result<Resolved, CliError> {
    let found = hermes_app::resolve::resolve(&context.workspace, store, text, lists, context.now.at).await;
    found.map_err(|error| failed(context, error))
}

fn failed(context: &Context, error: ResolveError) -> CliError {
    match error {
        ResolveError::Store(error) => error.into(),
        ResolveError::Empty => CliError::new(Kind::Usage, error, FORMS),
        ResolveError::NoRow(NoRow::TooOld { at }) => {
            let text = format!(
                "the last list was printed {}, too long ago to use its row numbers",
                context.now.day_and_minute(at)
            );
            CliError::new(Kind::User, text, LIST_AGAIN)
        }
        ResolveError::NoRow(NoRow::NoList) => {
            let text = format!("no numbered list yet; run \"{}\" first", called("hermes sessions list"));
            CliError::new(Kind::User, text, "@N is row N of the last list that was printed in this terminal")
        }
        ResolveError::NoRow(NoRow::OtherTerminal) => CliError::new(Kind::User, error, LIST_HERE),
        ResolveError::NoRow(NoRow::NotOnTerminal) => CliError::new(Kind::User, error, LIST_FIRST),
        ResolveError::NoRow(_) | ResolveError::RowGone { .. } => CliError::new(Kind::User, error, LIST_AGAIN),
        ResolveError::NotFound { ref text, ref near } => {
            // Titles that contain a bare number are no guess.
            let near = if is_number(text) { &[][..] } else { &near[..] };
            let lines = lines(context, near);
            let hint = match near.is_empty() {
                true if is_row(context, text) => format!("row {text} of the last list is @{text}"),
                true => {
                    "`hermes sessions list` lists conversations, `hermes sessions search` finds messages".to_owned()
                }
                false => "these titles are similar; give one of them, or an id".to_owned(),
            };
            CliError::new(Kind::User, error, hint).with_details(lines)
        }
        ResolveError::AmbiguousTitle { ref candidates, .. } => {
            let lines = lines(context, candidates);
            CliError::new(Kind::User, error, "give the id, or the title with its case and accents").with_details(lines)
        }
        ResolveError::Ambiguous { ref candidates, .. } => {
            let lines = lines(context, candidates);
            CliError::new(Kind::User, error, "give more of the id").with_details(lines)
        }
    }
}

/// Returns whether a text looks like the number of a row, without `@`.
fn is_number(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a text is the number of a row of the last list, without `@`.
fn is_row(context: &Context, text: &str) -> bool {
    let list = || LastList::read(&context.workspace, Lists::Any, context.now.at).ok();
    let number = text.parse().ok().filter(|_| is_number(text));
    number.is_some_and(|number| list().is_some_and(|found| found.list.row(number).is_ok()))
}

/// Returns a line for each session: its id, start time and title.
fn lines(context: &Context, candidates: &[SessionCandidate]) -> Vec<Line> {
    let row = |candidate: &SessionCandidate| -> [Visible; 3] {
        let title = candidate.title.as_deref().unwrap_or(NO_TITLE).into();
        [candidate.id.as_str().into(), context.now.relative(candidate.started_at).into(), title]
    };
    let rows: Vec<[Visible; 3]> = candidates.iter().map(row).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let (id, when) = (widest(0), widest(1));
    let room = context.ui.width().saturating_sub(id + when + 6);
    let line = |row: &[Visible; 3]| {
        let start = Line::plain_text("  ").with(fit(&row[0], id), Style::new().bold()).text("  ");
        start.with(fit(&row[1], when), Style::new().dimmed()).text("  ").text(cut(&row[2], room))
    };
    rows.iter().map(line).collect()
}

/// Resolves an entry of the trash that a text names, as [`trash::find`] does.
///
/// # Errors
/// If no entry matches, or if several do; the error then lists them.
pub(crate) async fn find_trashed(
    context: &Context,
    store: &dyn Maintenance,
    text: &str,
) -> Result<(Trashed, Vec<SessionId>), CliError> {
    trash::find(store, text).await.map_err(|error| match error {
        FindTrashedError::Store(error) => error.into(),
        FindTrashedError::NotFound { .. } => {
            let hint = format!("`hermes sessions trash list{}` shows what can be restored", context.place());
            CliError::new(Kind::User, error, hint)
        }
        FindTrashedError::Ambiguous { ref candidates, .. } => {
            let lines = candidates.iter().map(|entry| shown::candidate(entry, &context.now)).collect();
            CliError::new(Kind::User, error, "give the whole id").with_details(lines)
        }
    })
}
