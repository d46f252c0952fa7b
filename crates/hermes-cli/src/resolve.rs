//! Which session a person means. Every command that takes a SESSION asks here.

pub(crate) mod last_list;

use crate::commands::list::default_filter;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::layout::{cut, fit, width};
use crate::ui::{Line, Visible};
use anstyle::Style;
use hermes_session::resume::{FindError, Selector, find};
use hermes_session::{ConversationStore, SessionId};
use last_list::LastList;

/// What can be typed for a session, for help and hints.
pub(crate) const FORMS: &str = "give an id, the start of one, a title, @last, or the number of a row such as @3";

/// The session that was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// The session that the text names.
    pub(crate) asked: SessionId,
    /// Where its work goes on today; the same one unless its context was compressed.
    pub(crate) session: SessionId,
    /// Whether the one that was named is meant and no other: by its whole id, or as a row of a list of single sessions.
    is_exact: bool,
}

impl Resolved {
    /// The one session to look at: the one that was named if just that is meant, else where its work goes on.
    pub(crate) const fn meant(&self) -> &SessionId {
        if self.is_exact { &self.asked } else { &self.session }
    }
}

/// Finds the session that a text means: its id, its title, the start of its id, `@last`, or `#3` and `@3` for a row of the list
/// that was printed last.
///
/// # Errors
/// If there is none; if several ids start so, with all of them told.
pub(crate) async fn resolve(
    context: &Context,
    store: &dyn ConversationStore,
    text: &str,
) -> Result<Resolved, CliError> {
    if text.is_empty() {
        return Err(CliError::new(Kind::Usage, "SESSION is empty", FORMS));
    }
    let (id, is_exact) = match row_number(text) {
        Some(number) => {
            let list = LastList::read(context)?;
            (list.row(number)?.as_str().to_owned(), list.is_of_sessions)
        }
        None => (text.to_owned(), false),
    };
    let found = find(store, &Selector::parse(&id), &default_filter()).await;
    let is_number = id != text;
    match found {
        // A row is named by its whole id: what only begins so is another session.
        Ok(found) if !is_number || found.asked.as_str() == id => {
            let is_exact = is_exact || found.asked.as_str() == text;
            Ok(Resolved { asked: found.asked, session: found.session, is_exact })
        }
        Err(FindError::Store(error)) => Err(error.into()),
        _ if is_number => {
            let error = format!("row {text} of the last list, {id}, is not there any more");
            Err(CliError::new(Kind::User, error, last_list::AGAIN))
        }
        Err(FindError::Ambiguous { what, candidates }) => {
            let lines = told(context, store, &candidates).await?;
            let error = FindError::Ambiguous { what, candidates };
            Err(CliError::new(Kind::User, error, "give more of the id").with_details(lines))
        }
        Ok(_) | Err(FindError::NotFound { .. }) => Err(FindError::NotFound { what: text.to_owned() }.into()),
    }
}

/// The number behind `#` or `@`. Most shells take `#` for the start of a comment, so both will do.
fn row_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix(['#', '@'])?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// A line for each session: its id, when it started, its title.
async fn told(context: &Context, store: &dyn ConversationStore, ids: &[SessionId]) -> Result<Vec<Line>, CliError> {
    let mut rows: Vec<[Visible; 3]> = Vec::with_capacity(ids.len());
    for id in ids {
        // One that went meanwhile is no candidate any more.
        if let Some(session) = store.session(id).await? {
            let title = session.title.as_deref().unwrap_or("(no title)").into();
            rows.push([id.as_str().into(), context.now.relative(session.started_at).into(), title]);
        }
    }
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let (id, when) = (widest(0), widest(1));
    let room = context.ui.width().saturating_sub(id + when + 6);
    let line = |row: &[Visible; 3]| {
        let start = Line::plain_text("  ").with(fit(&row[0], id), Style::new().bold()).text("  ");
        start.with(fit(&row[1], when), Style::new().dimmed()).text("  ").text(cut(&row[2], room))
    };
    Ok(rows.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_make_a_number() {
        for (text, expect) in [("#3", Some(3)), ("@12", Some(12)), ("#0", Some(0))] {
            assert_eq!(row_number(text), expect, "{text}");
        }
        for text in ["3", "#", "@", "@last", "#3a", "#-3", "# 3", "##3", "#99999999999999999999999"] {
            assert_eq!(row_number(text), None, "{text}");
        }
    }
}
