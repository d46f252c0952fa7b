//! Live data that a store shows, without what differs between stores.

use super::apply::shown;
use super::strategy::CHATS;
use super::{account, lease_of};
use crate::fixture::id;
use crate::property::strategy::SESSIONS;
use hermes_session::live::Outbound;
use hermes_session::{MessageRequest, Store, StoreError};

/// Returns everything that a store shows, split into parts.
pub(in crate::property) async fn take(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let mut picture = Vec::new();
    for lease in store.leases("").await? {
        picture.push(format!("lease {:?} of {:?}, busy: {}", lease.resource, lease.holder, lease.busy));
    }
    for turn in store.open_turns(None, u32::MAX).await? {
        let owner = lease_of(store, &turn.conversation).await?;
        let is_owned = owner.is_some_and(|lease| turn.fence == Some(lease.fence));
        picture.push(format!("turn {}, of the present owner: {is_owned}", shown(&turn)));
    }
    for name in SESSIONS {
        picture.extend(of_session(store, name).await?);
    }
    for item in store.waiting(None, u32::MAX).await? {
        picture.push(format!("waiting {:?} {} {:?}", item.inbound, item.attempts, item.received_at));
    }
    for kept in store.outbound(None, u32::MAX).await? {
        picture.push(part(&kept));
    }
    picture.push(format!("cursor {:?}", store.cursor(&account()).await?));
    picture.push(format!("routes {:?}", store.routes(None, u32::MAX).await?));
    for chat in CHATS {
        picture.push(format!("route of {chat}: {:?}", store.route(&super::strategy::place(chat)).await?));
    }
    Ok(picture)
}

async fn of_session(store: &dyn Store, name: &str) -> Result<Vec<String>, StoreError> {
    let session = id(name);
    let all = match store.messages(&session, &MessageRequest::first(u32::MAX).every()).await {
        Ok(all) => all,
        Err(StoreError::NotFound(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let states: Vec<_> = all.iter().map(|message| (message.state, &message.body)).collect();
    let undone: Vec<_> = store.undone(&session).await?;
    let undone: Vec<_> = undone.iter().map(|one| (&one.message.body, one.message.timestamp)).collect();
    let routes: Vec<String> = store.routes_of(&session).await?.iter().map(|route| route.key.to_stored()).collect();
    Ok(vec![
        format!("messages of every state of {name}: {states:?}"),
        format!("undone in {name}: {undone:?}"),
        format!("routes to {name}: {routes:?}, reset by {:?}", store.reset_cause(&session).await?),
    ])
}

/// Returns a part of a reply without the ids of its row and turn.
pub(super) fn part(part: &Outbound) -> String {
    let (destination, content, holder) = (&part.destination, &part.content, &part.holder);
    let delivery = (part.state, part.attempts, part.doubtful, part.not_before, &part.platform_id, &part.last_error);
    let times = (part.created_at, part.settled_at);
    let of = (part.turn.is_some(), &part.session, part.part, part.parts);
    format!("part {of:?} to {destination}: {content:?} {delivery:?} {holder:?} {times:?}")
}
