//! A reference for search, as simple as possible: it looks at every message.

pub use hermes_session::search::matching::reference::tier;

use hermes_session::search::{Hit, SearchRequest};
use hermes_session::{ConversationStore, PageRequest, StoreError};

/// Returns the hits of every page, each page after the last hit of the previous one.
///
/// # Errors
/// If the store fails.
///
/// # Panics
/// If there are far too many pages, or time ran out.
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
