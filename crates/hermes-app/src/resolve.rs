//! Finds the session that a person means: everything that takes a SESSION asks here.

use crate::Workspace;
use crate::last_list::{LastList, NoRow};
use crate::listing::default_filter;
use hermes_session::resume::{FindError, Selector, find};
use hermes_session::{ConversationStore, SessionId, StoreError, Timestamp};

/// The session that was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The session that the text names.
    pub asked: SessionId,
    /// The session in which its conversation goes on today; the same one unless its context was compressed.
    pub session: SessionId,
    /// Whether exactly the named session is meant: by its whole id, or as a row of a list of single sessions.
    is_exact: bool,
}

impl Resolved {
    /// Returns the session to look at: the named one if exactly that is meant, else the one its conversation goes on in.
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

/// Why a text names no session.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The text is empty.
    #[error("SESSION is empty")]
    Empty,
    /// The text is a number that names no row of the last list.
    #[error(transparent)]
    NoRow(#[from] NoRow),
    /// The session of the row is gone.
    #[error("row {text} of the last list, {id}, is not there any more")]
    RowGone {
        /// What was typed.
        text: String,
        /// The session of the row.
        id: String,
    },
    /// No session is named so.
    #[error("no session matches {text:?}")]
    NotFound {
        /// What was typed.
        text: String,
    },
    /// Several ids start so.
    #[error("more than one session id starts with {text:?}")]
    Ambiguous {
        /// What was typed.
        text: String,
        /// The first of them, by id.
        candidates: Vec<SessionCandidate>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds the session that a text means: its id, its title, the start of its id, `@last`, or `#3` and `@3` for a row of the list that was
/// printed last.
///
/// # Errors
/// If there is none; if several ids start so, with the candidates.
pub async fn resolve(
    workspace: &Workspace,
    store: &dyn ConversationStore,
    text: &str,
    now: Timestamp,
) -> Result<Resolved, ResolveError> {
    if text.is_empty() {
        return Err(ResolveError::Empty);
    }
    let (id, is_exact) = match row_number(text) {
        Some(number) => {
            let list = LastList::read(workspace, now)?;
            (list.row(number)?.as_str().to_owned(), list.is_of_sessions)
        }
        None => (text.to_owned(), false),
    };
    let found = find(store, &Selector::parse(&id), &default_filter()).await;
    let is_number = id != text;
    match found {
        // A row is named by its whole id: one that only starts so is another session.
        Ok(found) if !is_number || found.asked.as_str() == id => {
            let is_exact = is_exact || found.asked.as_str() == text;
            Ok(Resolved { asked: found.asked, session: found.session, is_exact })
        }
        Err(FindError::Store(error)) => Err(error.into()),
        _ if is_number => Err(ResolveError::RowGone { text: text.to_owned(), id }),
        Err(FindError::Ambiguous { candidates, .. }) => {
            let candidates = described(store, &candidates).await?;
            Err(ResolveError::Ambiguous { text: text.to_owned(), candidates })
        }
        Ok(_) | Err(FindError::NotFound { .. }) => Err(ResolveError::NotFound { text: text.to_owned() }),
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
