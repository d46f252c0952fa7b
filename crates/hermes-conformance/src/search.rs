//! Search: matches, order and presentation; the same whether or not a message is indexed.

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
pub use order::{absence_is_reported_newest_first, newest_first, whole_words_before_pieces};
pub use paging::{by_cursor_and_by_offset, relaxed_pages, while_indexes_catch_up, while_others_write};
pub use results::{a_hit_tells_where_it_is, neighbours, nothing_wanted, relaxed_only_if_nothing_matches, snippets};

use hermes_session::search::matching::Tier;
use hermes_session::search::{Hit, Query, SearchRequest};
use hermes_session::{MessageId, Optimizing, PageRequest, Store, StoreError};
use std::time::Duration;

/// All states of the indexes in which a store is queried.
pub(crate) const MOMENTS: [Moment; 3] = [Moment::Unindexed, Moment::Indexed, Moment::Anew];

/// State of the indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Nothing is indexed yet.
    Unindexed,
    /// Everything is indexed.
    Indexed,
    /// Everything is indexed, after a rebuild.
    Anew,
}

impl Moment {
    /// Brings a store without background work into this state.
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

/// Returns an exact search request, with pages of a hundred hits and a long timeout.
pub(crate) fn question(text: &str) -> SearchRequest {
    SearchRequest {
        page: PageRequest::first(100),
        relax: false,
        timeout: Duration::from_secs(100),
        ..SearchRequest::new(Query::parse(text))
    }
}

/// Returns the first page of an answer, which must not be partial.
pub(crate) async fn asked(store: &dyn Store, request: &SearchRequest) -> Result<Vec<Hit>, StoreError> {
    let answer = store.search(request).await?;
    assert!(!answer.served.is_partial, "{:?}", answer.served);
    Ok(answer.hits)
}

/// Returns the indexes of the messages that are found, in the order of the answer.
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
