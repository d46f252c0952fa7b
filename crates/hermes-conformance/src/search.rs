//! Search: what is found, in what order, and how it is shown; the same whether indexes know a message or not.

mod filters;
mod found;
mod large;
mod natural;
mod order;
mod paging;
mod results;

pub use filters::{
    a_tag_of_many_conversations, every_filter_by_itself, filters_together, tags_admit_whole_conversations,
};
pub use found::{as_written, behind_escapes_and_in_parts, gone_is_gone, operators_bind_as_they_should};
pub use large::{a_session_of_twenty_thousand, ten_megabytes};
pub use natural::natural_questions;
pub use order::{absence_is_told_newest_first, newest_first, whole_words_before_pieces};
pub use paging::{by_cursor_and_by_offset, relaxed_pages, while_indexes_catch_up, while_others_write};
pub use results::{a_hit_tells_where_it_is, neighbours, nothing_wanted, relaxed_only_if_nothing_matches, snippets};

use hermes_session::search::matching::Tier;
use hermes_session::search::{Hit, Query, SearchRequest};
use hermes_session::{MessageId, Optimizing, PageRequest, Store, StoreError};
use std::time::Duration;

/// What indexes know when a store is asked.
pub(crate) const MOMENTS: [Moment; 3] = [Moment::Unindexed, Moment::Indexed, Moment::Anew];

/// How much indexes know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Nothing yet.
    Unindexed,
    /// All there is.
    Indexed,
    /// All there is, made anew.
    Anew,
}

impl Moment {
    /// Brings a store there, which does nothing unasked.
    pub(crate) async fn come(self, store: &dyn Store) -> Result<(), StoreError> {
        if self == Self::Anew {
            store.rebuild_indexes().await?;
            while store.optimize().await? != Optimizing::Done {}
        }
        if self != Self::Unindexed {
            while store.upkeep().await? {}
        }
        Ok(())
    }
}

/// A question for what matches as it is written, in pages of a hundred, without hurry.
pub(crate) fn question(text: &str) -> SearchRequest {
    SearchRequest {
        page: PageRequest::first(100),
        relax: false,
        timeout: Duration::from_secs(100),
        ..SearchRequest::new(Query::parse(text))
    }
}

/// The first page of an answer, which nothing may have cut short.
pub(crate) async fn asked(store: &dyn Store, request: &SearchRequest) -> Result<Vec<Hit>, StoreError> {
    let answer = store.search(request).await?;
    assert!(!answer.served.is_partial, "{:?}", answer.served);
    Ok(answer.hits)
}

/// Which of the messages are found, by their places, in the order of the answer.
async fn places(store: &dyn Store, request: &SearchRequest, said: &[MessageId]) -> Result<Vec<usize>, StoreError> {
    let hits = asked(store, request).await?;
    let place = |hit: &Hit| said.iter().position(|id| *id == hit.message).unwrap();
    Ok(hits.iter().map(place).collect())
}

fn ids(hits: &[Hit]) -> Vec<MessageId> {
    hits.iter().map(|hit| hit.message).collect()
}

fn is_whole(hit: &Hit) -> bool {
    hit.tier == Tier::Words
}
