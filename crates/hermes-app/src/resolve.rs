//! Finds the session that a person means. Every command that takes a SESSION resolves it here.

use crate::Workspace;
use crate::last_list::{LastList, Lists, NoRow};
use crate::listing::default_filter;
use hermes_session::resume::{FindError, Selector, find};
use hermes_session::{ConversationStore, SessionId, SessionSummary, StoreError, Timestamp, quoted};

mod similar;

pub(crate) use similar::key as title_key;

/// Names the conversation that was last active.
const LAST: &str = "@last";

/// The session that was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The session that the text names.
    pub asked: SessionId,
    /// The session in which its conversation continues today; the same one unless its context was compressed.
    pub session: SessionId,
    /// Whether exactly the named session is meant: by its whole id, or as a row of a list of single sessions.
    is_exact: bool,
    /// When another terminal printed the list of the row; `None` if this one did, or if the text is not a number.
    pub list_elsewhere: Option<Timestamp>,
}

impl Resolved {
    /// Returns the session to show: the named one if exactly that is meant, else the one in which its conversation
    /// continues.
    pub const fn meant(&self) -> &SessionId {
        if self.is_exact { &self.asked } else { &self.session }
    }
}

/// A session that an ambiguous text may mean.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionCandidate {
    /// Its id.
    pub id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// When it started.
    pub started_at: Timestamp,
}

impl SessionCandidate {
    fn of(row: &SessionSummary) -> Self {
        Self { id: row.id.clone(), title: row.title.clone(), started_at: row.started_at }
    }
}

/// Reason why a text names no session.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The text is empty.
    #[error("SESSION is empty")]
    Empty,
    /// The text is a number that names no row of the last list.
    #[error(transparent)]
    NoRow(#[from] NoRow),
    /// The session of the row is gone.
    #[error("row {text} of the last list, {id}, no longer exists")]
    RowGone {
        /// The text as typed.
        text: String,
        /// The session of the row.
        id: String,
    },
    /// No session matches the text.
    #[error("no session matches {}", quoted(text))]
    NotFound {
        /// The text as typed.
        text: String,
        /// Sessions with a similar title, the most similar first.
        near: Vec<SessionCandidate>,
    },
    /// Several sessions have the title, if case and accents are ignored.
    #[error("more than one session is called {}", quoted(text))]
    AmbiguousTitle {
        /// The text as typed.
        text: String,
        /// The first of these sessions, those active last first.
        candidates: Vec<SessionCandidate>,
    },
    /// Several ids start with the text.
    #[error("more than one session id starts with {}", quoted(text))]
    Ambiguous {
        /// The text as typed.
        text: String,
        /// The first matching sessions, by id.
        candidates: Vec<SessionCandidate>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds the session that a text means: its id, its title, the start of its id, `@last`, or `#3` and `@3` for a row of
/// the list that was printed last. If none of these matches, the only title that differs just in case and accents does.
/// `lists` says whether a list of another terminal counts.
///
/// # Errors
/// If there is none, with similar titles; if several ids start with the text or several titles match, with the
/// candidates.
pub async fn resolve(
    workspace: &Workspace,
    store: &dyn ConversationStore,
    text: &str,
    lists: Lists,
    now: Timestamp,
) -> Result<Resolved, ResolveError> {
    if text.is_empty() {
        return Err(ResolveError::Empty);
    }
    let (id, is_exact, list_elsewhere) = match row_number(text) {
        Some(number) => {
            let found = LastList::read(workspace, lists, now)?;
            (found.list.row(number)?.as_str().to_owned(), found.list.is_of_sessions, found.elsewhere)
        }
        None => (text.to_owned(), false, None),
    };
    let found = find(store, &Selector::parse(&id), &default_filter()).await;
    let is_number = id != text;
    match found {
        // A row is named by its whole id. A session whose id only starts with it is another one.
        Ok(found) if !is_number || found.asked.as_str() == id => {
            let is_exact = is_exact || found.asked.as_str() == text;
            Ok(Resolved { asked: found.asked, session: found.session, is_exact, list_elsewhere })
        }
        Err(FindError::Store(error)) => Err(error.into()),
        _ if is_number => Err(ResolveError::RowGone { text: text.to_owned(), id }),
        Err(FindError::Ambiguous { candidates, .. }) => {
            let candidates = described(store, &candidates).await?;
            Err(ResolveError::Ambiguous { text: text.to_owned(), candidates })
        }
        Ok(_) | Err(FindError::NotFound { .. }) if id == LAST => Err(not_found(text, Vec::new())),
        Ok(_) | Err(FindError::NotFound { .. }) => by_similar_title(store, text).await,
    }
}

fn not_found(text: &str, near: Vec<SessionCandidate>) -> ResolveError {
    ResolveError::NotFound { text: text.to_owned(), near }
}

/// Finds the session whose title is the text but for case and accents.
async fn by_similar_title(store: &dyn ConversationStore, text: &str) -> Result<Resolved, ResolveError> {
    let wanted = similar::key(text);
    let rows = similar::rows(store, text).await?;
    let same: Vec<&SessionSummary> =
        rows.iter().filter(|row| row.title.as_deref().is_some_and(|title| similar::key(title) == wanted)).collect();
    let mut titles: Vec<&str> = same.iter().filter_map(|row| row.title.as_deref()).collect();
    titles.sort_unstable();
    titles.dedup();
    match titles[..] {
        [] => Err(not_found(text, similar::near(&wanted, &rows))),
        // Resolved by the title as it is stored, so that numbers and continuations count as always.
        [title] => match find(store, &Selector::Text(title.to_owned()), &default_filter()).await {
            Ok(found) => {
                Ok(Resolved { asked: found.asked, session: found.session, is_exact: false, list_elsewhere: None })
            }
            Err(FindError::Store(error)) => Err(error.into()),
            Err(_) => Err(not_found(text, Vec::new())),
        },
        _ => {
            let candidates = same.into_iter().take(similar::MAX_CANDIDATES).map(SessionCandidate::of).collect();
            Err(ResolveError::AmbiguousTitle { text: text.to_owned(), candidates })
        }
    }
}

/// Parses the number behind `#` or `@`. Most shells take `#` for the start of a comment, so both are accepted.
fn row_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix(['#', '@'])?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Returns title and start of each session. One that was deleted meanwhile is left out.
async fn described(store: &dyn ConversationStore, ids: &[SessionId]) -> Result<Vec<SessionCandidate>, StoreError> {
    let mut candidates = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(session) = store.session(id).await? {
            candidates.push(SessionCandidate { id: id.clone(), title: session.title, started_at: session.started_at });
        }
    }
    Ok(candidates)
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
