//! Titles that are similar to a text.

use super::SessionCandidate;
use hermes_session::search::fold::fold;
use hermes_session::{
    ConversationStore, ListRequest, Order, PageRequest, SessionFilter, SessionSummary, StoreError, View,
};

/// Maximum number of sessions that are offered.
pub(super) const MAX_CANDIDATES: usize = 5;
/// Number of titles that are compared with a text that no title contains: those active last.
const COMPARED: u32 = 1_000;
/// Minimum similarity of a title that is offered, from 0 to 1.
const LEAST: f64 = 0.6;

/// Returns the form of a title that counts when titles are compared: case, accents and outer white space do not.
pub(crate) fn key(title: &str) -> String {
    fold(title.trim()).into_owned()
}

/// Returns the sessions to compare: those with the text in their titles or, if there are none, those active last.
pub(super) async fn rows(store: &dyn ConversationStore, text: &str) -> Result<Vec<SessionSummary>, StoreError> {
    let request = |title| ListRequest {
        view: View::Sessions,
        filter: SessionFilter { title, ..SessionFilter::default() },
        order: Order::Active,
        page: PageRequest::first(COMPARED),
        after: None,
    };
    let rows = store.list(&request(Some(text.trim().to_owned()))).await?.rows;
    if !rows.is_empty() {
        return Ok(rows);
    }
    Ok(store.list(&request(None)).await?.rows)
}

/// Returns the sessions with similar titles, the most similar first, each title once.
pub(super) fn near(wanted: &str, rows: &[SessionSummary]) -> Vec<SessionCandidate> {
    let mut near: Vec<(f64, &SessionSummary)> = Vec::new();
    for row in rows {
        let Some(title) = row.title.as_deref() else { continue };
        let similarity = similarity(wanted, &key(title));
        if similarity >= LEAST && near.iter().all(|(_, other)| other.title != row.title) {
            near.push((similarity, row));
        }
    }
    // Stable, so that of equally similar ones the one active last comes first.
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.into_iter().take(MAX_CANDIDATES).map(|(_, row)| SessionCandidate::of(row)).collect()
}

/// Returns how similar a title is to a text, from 0 to 1: as a whole, or in one of its words.
fn similarity(wanted: &str, title: &str) -> f64 {
    // Short texts are in most titles, and long ones take long to compare.
    const LENGTHS: std::ops::RangeInclusive<usize> = 3..=200;
    let length = wanted.chars().count();
    if wanted.is_empty() || length > *LENGTHS.end() {
        return 0.0;
    }
    if title.contains(wanted) {
        return 1.0;
    }
    if !LENGTHS.contains(&length) {
        return 0.0;
    }
    let one = |text: &str| strsim::normalized_damerau_levenshtein(wanted, text);
    title.split_whitespace().chain([title]).map(one).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_title_or_one_of_its_words_is_compared() {
        for (wanted, title, is_near) in [
            ("billing", "Billing on a new queue", true),
            ("biling", "Billing on a new queue", true),
            ("flaky logni test", "Flaky login test", true),
            ("大別山", "大別山徒步計劃", true),
            ("grocery", "Billing on a new queue", false),
            ("ab", "Billing", false),
            ("", "Billing", false),
        ] {
            assert_eq!(similarity(&key(wanted), &key(title)) >= LEAST, is_near, "{wanted} and {title}");
        }
        assert!(similarity(&"x".repeat(100_000), "x") < LEAST);
    }

    #[test]
    fn case_accents_and_outer_spaces_do_not_count() {
        assert_eq!(key(" Überprüfung "), key("uberprufung"));
    }
}
