//! Data that a gateway keeps in a store: handoffs of sessions between surfaces, and topics of chats.

mod handoff;

pub use handoff::{
    Beside, Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest, HandoffState, MAX_HANDOFF_ERROR,
    TIMED_OUT,
};

use crate::{GatewayStore, ListRequest, Order, PageRequest, SessionFilter, SessionSummary, Source, StoreError, View};

/// Returns up to `limit` sessions of a user on a platform that no topic is linked to, last active first.
///
/// # Errors
/// If the store fails.
pub async fn unlinked_sessions(
    store: &dyn GatewayStore,
    source: &Source,
    user_id: &str,
    limit: usize,
) -> Result<Vec<SessionSummary>, StoreError> {
    const PAGE: u32 = 100;
    let filter = SessionFilter {
        sources: Some(vec![source.clone()]),
        user_id: Some(user_id.to_owned()),
        ..SessionFilter::default()
    };
    let page = PageRequest::first(PAGE);
    let mut request = ListRequest { view: View::Sessions, order: Order::Active, filter, page, after: None };
    let mut unlinked = Vec::new();
    loop {
        let found = store.list(&request).await?;
        for row in found.rows {
            if unlinked.len() >= limit {
                return Ok(unlinked);
            }
            if store.topic_of(&row.id).await?.is_none() {
                unlinked.push(row);
            }
        }
        match found.next {
            Some(next) => request.after = Some(next),
            None => return Ok(unlinked),
        }
    }
}
