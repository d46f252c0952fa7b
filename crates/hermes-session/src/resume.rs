//! Finds the session that a person means. Every command that takes a session uses this module.

use crate::title::{Title, split_number};
use crate::{
    ConversationStore, ListRequest, Order, PageRequest, SessionFilter, SessionId, StoreError, Titled, View, quoted,
};

/// Maximum number of candidates reported for an ambiguous prefix.
const MAX_CANDIDATES: u32 = 10;

/// User input that names a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `@last`: the conversation that was last active.
    Last,
    /// An id, a title, or the prefix of an id.
    Text(String),
}

impl Selector {
    /// Parses user input.
    pub fn parse(text: &str) -> Self {
        if text == "@last" { Self::Last } else { Self::Text(text.to_owned()) }
    }
}

/// Result of a lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Session that the text names.
    pub asked: SessionId,
    /// Its last continuation; the same session unless its context was compressed.
    pub session: SessionId,
}

/// Reason why no session was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No session has that name.
    #[error("no session matches {}", quoted(what))]
    NotFound {
        /// The input.
        what: String,
    },

    /// Several ids start with the input.
    #[error("more than one session id starts with {}", quoted(what))]
    Ambiguous {
        /// The input.
        what: String,
        /// The first ten of these ids, in order.
        candidates: Vec<SessionId>,
    },

    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds the session that a selector means, and its last continuation.
///
/// Tried in this order: the id; the title, as typed or normalised as titles are; the highest number of that title, if
/// no session has the title itself; the only id that starts with the text. `@last` is the last active conversation that
/// passes the filter; the filter does not apply to named sessions.
///
/// # Errors
/// [`FindError::NotFound`] if there is none, [`FindError::Ambiguous`] if several ids start with the text.
pub async fn find(
    store: &dyn ConversationStore,
    selector: &Selector,
    filter: &SessionFilter,
) -> Result<Found, FindError> {
    let (asked, what) = match selector {
        Selector::Last => (last_active(store, filter).await?, "@last"),
        Selector::Text(text) => (named(store, text).await?, text.as_str()),
    };
    let asked = asked.ok_or_else(|| FindError::NotFound { what: what.to_owned() })?;
    let session = store.lineage(&asked).await?.tip(&asked);
    Ok(Found { asked, session })
}

async fn last_active(store: &dyn ConversationStore, filter: &SessionFilter) -> Result<Option<SessionId>, StoreError> {
    let mut request = ListRequest {
        view: View::Conversations,
        filter: filter.clone(),
        order: Order::Active,
        page: PageRequest::first(1),
        after: None,
    };
    loop {
        let page = store.list(&request).await?;
        // A page may consist of unreadable rows only.
        match (page.rows.into_iter().next(), page.next) {
            (Some(row), _) => return Ok(Some(row.id)),
            (None, None) => return Ok(None),
            (None, next) => request.after = next,
        }
    }
}

async fn named(store: &dyn ConversationStore, text: &str) -> Result<Option<SessionId>, FindError> {
    let id = SessionId::parse(text).ok();
    if let Some(id) = &id
        && store.session(id).await?.is_some()
    {
        return Ok(Some(id.clone()));
    }
    for title in spellings(text) {
        if let Some(hit) = best_titled(&title, &store.titled(&title).await?) {
            return Ok(Some(hit.id.clone()));
        }
    }
    match id {
        Some(_) => only(text, store.ids_with_prefix(text, MAX_CANDIDATES).await?),
        // The text can't be the prefix of an id: it is empty, over-long or holds a NUL.
        None => Ok(None),
    }
}

/// Returns the titles that a text may stand for: the text itself, as a foreign writer may have stored it, and its
/// normalised form.
fn spellings(text: &str) -> Vec<String> {
    let cleaned = Title::clean(text).ok().flatten().map(|title| title.as_str().to_owned());
    let stored = Some(text.to_owned()).filter(|text| !text.is_empty() && cleaned.as_ref() != Some(text));
    stored.into_iter().chain(cleaned).collect()
}

/// Returns the session with the title, or else the one with its highest number. Ties go to the one that started last.
fn best_titled<'a>(title: &str, hits: &'a [Titled]) -> Option<&'a Titled> {
    let rank = |hit: &Titled| match split_number(&hit.title) {
        _ if hit.title == title => Some(u64::MAX),
        (base, number) => number.filter(|_| base == title),
    };
    let ranked = hits.iter().filter_map(|hit| Some((rank(hit)?, hit.started_at, &hit.id, hit)));
    ranked.max_by(|one, other| (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2))).map(|(.., hit)| hit)
}

fn only(text: &str, mut candidates: Vec<SessionId>) -> Result<Option<SessionId>, FindError> {
    match candidates.len() {
        0 | 1 => Ok(candidates.pop()),
        _ => Err(FindError::Ambiguous { what: text.to_owned(), candidates }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use proptest::prelude::*;

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    fn titled(name: &str, title: &str, started: f64) -> Titled {
        Titled { id: id(name), title: title.into(), started_at: Timestamp::from_seconds(started).unwrap() }
    }

    #[track_caller]
    fn check(title: &str, hits: &[(&str, f64)], expect: Option<&str>) {
        let hits: Vec<Titled> = hits
            .iter()
            .map(|(title, started)| titled(&format!("id of {title} at {started}"), title, *started))
            .collect();
        let found = best_titled(title, &hits).map(|hit| format!("{} at {}", hit.title, hit.started_at.seconds()));
        assert_eq!(found.as_deref(), expect);
    }

    #[test]
    fn only_the_word_alone_means_the_last() {
        assert_eq!(Selector::parse("@last"), Selector::Last);
        for text in ["@Last", " @last", "last", ""] {
            assert_eq!(Selector::parse(text), Selector::Text(text.into()));
        }
    }

    #[test]
    fn the_title_itself_comes_before_its_numbers() {
        check("proj", &[("proj #2", 200.0), ("proj", 100.0), ("proj #10", 50.0)], Some("proj at 100"));
        check("proj #2", &[("proj #2", 2.0), ("proj #2 #7", 7.0)], Some("proj #2 at 2"));
    }

    #[test]
    fn without_it_the_highest_number_wins() {
        check("proj", &[("proj #2", 200.0), ("proj #10", 50.0), ("proj #9", 90.0)], Some("proj #10 at 50"));
    }

    #[test]
    fn other_suffixes_and_other_cases_are_other_titles() {
        check(
            "proj",
            &[("PROJ #3", 1.0), ("proj #notes", 2.0), ("proj #2 #3", 3.0), ("projx #4", 4.0), ("Proj", 5.0)],
            None,
        );
    }

    #[test]
    fn of_two_that_a_foreign_writer_titled_alike_the_later_counts() {
        check("x", &[("x", 1.0), ("x", 3.0), ("x", 2.0)], Some("x at 3"));
    }

    #[test]
    fn a_title_is_found_as_it_was_typed_and_as_it_is_stored() {
        assert_eq!(spellings("my  project "), ["my  project ", "my project"]);
        assert_eq!(spellings("my project"), ["my project"]);
        assert_eq!(spellings(""), [""; 0]);
        assert_eq!(spellings(" "), [" "]);
        assert_eq!(spellings(&"x".repeat(101)), ["x".repeat(101)]);
    }

    #[test]
    fn a_start_of_two_ids_names_neither() {
        assert_eq!(only("2025", vec![]).unwrap(), None);
        assert_eq!(only("2025", vec![id("2025a")]).unwrap(), Some(id("2025a")));
        let error = only("2025", vec![id("2025a"), id("2025b")]).unwrap_err();
        assert_eq!(error.to_string(), "more than one session id starts with \"2025\"");
    }

    proptest! {
        #[test]
        fn the_answer_does_not_depend_on_the_order(mut hits in prop::collection::vec(("x( #[0-9]{1,2}| #n)?", 0..3_u8), 0..8)) {
            let list = |hits: &[(String, u8)]| -> Vec<Titled> {
                hits.iter().map(|(title, at)| titled(&format!("{title} {at}"), title, f64::from(*at))).collect()
            };
            let forwards = best_titled("x", &list(&hits)).cloned();
            hits.reverse();
            prop_assert_eq!(&forwards, &best_titled("x", &list(&hits)).cloned());
            if hits.iter().any(|(title, _)| title == "x") {
                prop_assert_eq!(forwards.unwrap().title, "x");
            }
        }
    }
}
