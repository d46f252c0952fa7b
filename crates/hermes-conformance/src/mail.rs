//! Mail: messages received from platforms, and replies to deliver.

mod delivered;
mod received;

pub use delivered::{
    a_lost_deliverer_leaves_a_doubtful_part, a_part_waits_until_its_time, a_refused_part_is_final,
    an_old_attempt_settles_nothing, parts_go_in_order, posted_without_a_turn, posting_answers_a_message_once,
    two_deliverers_share_nothing,
};
pub use received::{
    a_large_message_is_received, gone_with_the_conversation, old_mail_is_forgotten, received_once,
    the_cursor_moves_with_the_batch, unusable_values_are_refused,
};

use crate::fixture::at;
use hermes_session::live::{Account, Inbound, InboxId, InboxItem, NewOutbound, NewPart, Outbound, Received, Settled};
use hermes_session::{Store, StoreError};

fn account() -> Account {
    Account::parse("telegram:12ab").unwrap()
}

fn inbound(chat: &str, message_id: &str, payload: &str) -> Inbound {
    Inbound { chat: chat.into(), message_id: message_id.into(), route: None, session: None, payload: payload.into() }
}

fn reply(destination: &str, bodies: &[&str]) -> NewOutbound {
    let part = |body: &&str| NewPart { body: (*body).into(), plain: None, nonce: body.chars().take(20).collect() };
    NewOutbound { account: account(), destination: destination.into(), parts: bodies.iter().map(part).collect() }
}

fn sent(platform_id: &str) -> Settled {
    Settled::Sent { platform_id: Some(platform_id.into()) }
}

fn later(seconds: i32, certain: bool) -> Settled {
    Settled::Later { not_before: at(seconds), certain, error: "429".into() }
}

/// Returns the ids of messages that were all new.
fn new_ids(received: &[Received]) -> Vec<InboxId> {
    let id = |received: &Received| match received {
        Received::New(id) => *id,
        known @ Received::Known(_) => panic!("{known:?} was stored before"),
    };
    received.iter().map(id).collect()
}

fn bodies(parts: &[Outbound]) -> Vec<&str> {
    parts.iter().map(|part| part.content.body.as_str()).collect()
}

async fn waiting(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    Ok(store.waiting(None, 100).await?.into_iter().map(|item| item.inbound.payload).collect())
}

async fn stored_item(store: &dyn Store, id: InboxId) -> Result<InboxItem, StoreError> {
    Ok(store.inbox_item(id).await?.unwrap_or_else(|| panic!("message {id:?} is not there")))
}
