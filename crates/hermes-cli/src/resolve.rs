//! Which session a person means: [`hermes_app::resolve`] with errors for people.

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::trash as shown;
use anstyle::Style;
use hermes_app::last_list::NoRow;
pub(crate) use hermes_app::resolve::Resolved;
use hermes_app::resolve::{ResolveError, SessionCandidate};
use hermes_app::trash::{self, FindTrashedError};
use hermes_session::{ConversationStore, Maintenance, SessionId, Trashed};
use hermes_terminal::layout::{cut, fit, width};
use hermes_terminal::{Line, Visible};

/// What can be typed for a session, for help and hints.
pub(crate) const FORMS: &str = "give an id, the start of one, a title, @last, or the number of a row such as @3";
/// What to do if a number names no session.
const LIST_AGAIN: &str = "`hermes sessions list` numbers its rows anew";

/// Finds the session that a text means, as [`hermes_app::resolve::resolve`] does.
///
/// # Errors
/// If there is none; if several ids start so, with a line for each.
pub(crate) async fn resolve(
    context: &Context,
    store: &dyn ConversationStore,
    text: &str,
) -> Result<Resolved, CliError> {
    let found = hermes_app::resolve::resolve(&context.workspace, store, text, context.now.at).await;
    found.map_err(|error| failed(context, error))
}

fn failed(context: &Context, error: ResolveError) -> CliError {
    match error {
        ResolveError::Store(error) => error.into(),
        ResolveError::Empty => CliError::new(Kind::Usage, error, FORMS),
        ResolveError::NoRow(NoRow::TooOld { at }) => {
            let text = format!("the last list is from {}, too old to go by", context.now.day_and_minute(at));
            CliError::new(Kind::User, text, LIST_AGAIN)
        }
        ResolveError::NoRow(_) | ResolveError::RowGone { .. } => CliError::new(Kind::User, error, LIST_AGAIN),
        ResolveError::NotFound { .. } => CliError::new(Kind::User, error, "`hermes sessions list` shows what there is"),
        ResolveError::Ambiguous { ref candidates, .. } => {
            let lines = lines(context, candidates);
            CliError::new(Kind::User, error, "give more of the id").with_details(lines)
        }
    }
}

/// Returns a line for each session: its id, when it started, its title.
fn lines(context: &Context, candidates: &[SessionCandidate]) -> Vec<Line> {
    let row = |candidate: &SessionCandidate| -> [Visible; 3] {
        let title = candidate.title.as_deref().unwrap_or("(no title)").into();
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

/// Finds what a text means in the trash, as [`trash::find`] does.
///
/// # Errors
/// If there is none; if there are several, with a line for each.
pub(crate) async fn find_trashed(
    context: &Context,
    store: &dyn Maintenance,
    text: &str,
) -> Result<(Trashed, Vec<SessionId>), CliError> {
    trash::find(store, text).await.map_err(|error| match error {
        FindTrashedError::Store(error) => error.into(),
        FindTrashedError::NotFound { .. } => {
            let hint = format!("`hermes sessions trash list{}` shows what can come back", context.place());
            CliError::new(Kind::User, error, hint)
        }
        FindTrashedError::Ambiguous { ref candidates, .. } => {
            let lines = candidates.iter().map(|entry| shown::candidate(entry, &context.now)).collect();
            CliError::new(Kind::User, error, "give the whole id").with_details(lines)
        }
    })
}
