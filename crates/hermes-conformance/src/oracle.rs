//! What a search has to find, told as plainly as can be: every message is looked at, and nothing is clever.

pub use hermes_session::search::matching::reference::tier;

use hermes_session::search::{Hit, SearchRequest};
use hermes_session::{ConversationStore, PageRequest, StoreError};

/// The hits of every page, each page after the last hit of the one before.
///
/// # Errors
/// Whatever the store answers.
///
/// # Panics
/// If pages go on beyond all reason, or time ran out.
pub async fn every_page<S: ConversationStore + ?Sized>(
    store: &S,
    request: &SearchRequest,
) -> Result<Vec<Hit>, StoreError> {
    let mut request = request.clone();
    let mut hits = Vec::new();
    for _ in 0..1_000_000 {
        let answer = store.search(&request).await?;
        assert!(!answer.served.is_partial, "time ran out: {:?}", answer.served);
        hits.extend(answer.hits);
        request.page = PageRequest::first(request.page.limit());
        match answer.next {
            Some(next) => request.after = Some(next),
            None => return Ok(hits),
        }
    }
    panic!("the pages do not end");
}
