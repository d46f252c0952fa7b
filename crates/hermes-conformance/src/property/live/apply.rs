//! Application of operations, and their answers without what differs between stores.

use super::{Live, Taking, account, lease_of, newest, turn};
use crate::fixture::live::{HOUR, conversation, holder};
use crate::property::operation::placed;
use hermes_session::live::{Acquired, Fence, InboxId, NewTurn, OutboundId, Received, Renewed, Said, Take, Terms, Turn};
use hermes_session::{MessageId, MessageRequest, Request, SessionId, Store, StoreError};

impl Live {
    /// Applies it and returns its answer, as far as it is the same for all stores.
    pub(super) async fn answer(&self, store: &dyn Store, request: &Request) -> Result<String, StoreError> {
        Ok(match self {
            Self::Acquire { session, process, take } => acquire(store, session, *process, *take, request).await?,
            Self::Renew { session, is_busy } => match lease_of(store, session).await? {
                None => "nobody has it".into(),
                Some(lease) => match store.renew(&lease, HOUR, *is_busy, request).await? {
                    Renewed::Kept(lease) => format!("kept by {:?}, busy: {}", lease.holder, lease.busy),
                    Renewed::Lost(other) => format!("lost to {other:?}"),
                },
            },
            Self::Release(session) => match lease_of(store, session).await? {
                None => "nobody has it".into(),
                Some(lease) => store.release(&lease, request).await?.to_string(),
            },
            Self::OpenTurn { session, kind, route, said } => {
                let rows = waiting(store).await?;
                let row = |index: &Option<usize>| index.map(|index| row_of(&rows, index));
                let said = said.iter().map(|(message, index)| Said { message: message.clone(), inbox: row(index) });
                let new = NewTurn {
                    session: session.clone(),
                    kind: *kind,
                    route: route.clone(),
                    opened_by: "property".into(),
                    said: said.collect(),
                };
                let opened = store.open_turn(&new, request).await?;
                let places = placed(store, session, Ok(opened.messages)).await?;
                let interrupts = opened.interrupted.is_some();
                format!("{} {places:?}, interrupts: {interrupts}, {:?}", shown(&opened.turn), opened.notice)
            }
            Self::ResumeTurn(index) => shown(&store.resume_turn(turn(store, *index).await?, request).await?),
            Self::CloseTurn(index, close) => {
                let id = turn(store, *index).await?;
                store.close_turn(id, close, request).await?.len().to_string()
            }
            Self::Undo(session, index) => {
                let messages = match store.messages(session, &MessageRequest::first(u32::MAX)).await {
                    Err(StoreError::NotFound(_)) => Vec::new(),
                    messages => messages?,
                };
                let from = messages.get(*index).map_or(MessageId(i64::MAX), |message| message.id);
                store.undo(session, from, request).await?.messages.to_string()
            }
            Self::Receive(batch, cursor) => {
                let received = store.receive(&account(), batch, cursor.as_deref(), request).await?;
                let is_new = |received: &Received| matches!(received, Received::New(_));
                format!("{:?}", received.iter().map(is_new).collect::<Vec<_>>())
            }
            Self::Post(rows, replies) => {
                let there = waiting(store).await?;
                let rows: Vec<InboxId> = rows.iter().map(|index| row_of(&there, *index)).collect();
                store.post(&rows, replies, request).await?.len().to_string()
            }
            Self::TakeOutbound { process, limit } => {
                let taken = store.take_outbound(&account(), &holder(*process), *limit, request).await?;
                format!("{:?}", taken.iter().map(super::picture::part).collect::<Vec<_>>())
            }
            Self::SettleOutbound { part, is_current, how } => {
                let parts = store.outbound(None, u32::MAX).await?;
                let named = parts.get(*part).map_or((OutboundId(i64::MAX), 1), |part| (part.id, part.attempts));
                let attempt = if *is_current { named.1 } else { named.1 + 1 };
                store.settle_outbound(named.0, attempt, how, request).await?.to_string()
            }
            Self::ForgetMail(before) => store.forget_mail(*before, u32::MAX).await?.to_string(),
            Self::Switch { switch, is_expected } => {
                let generation = store.route(&switch.key).await?.map(|route| route.generation);
                let expected = if *is_expected { generation } else { Some(generation.unwrap_or(0) + 1) };
                let switch = hermes_session::live::Switch { expected, ..switch.clone() };
                format!("{:?}", store.switch(&switch, request).await?)
            }
            Self::Rekey(from, to) => store.rekey(from, to, request).await?.to_string(),
            Self::PatchRoute(key, patch) => store.patch_route(key, patch, request).await?.to_string(),
        })
    }
}

async fn acquire(
    store: &dyn Store,
    session: &SessionId,
    process: i64,
    take: Taking,
    request: &Request,
) -> Result<String, StoreError> {
    let token = lease_of(store, session).await?.map_or(Fence(0), |lease| lease.fence);
    let take = match take {
        Taking::Free => Take::Free,
        Taking::Idle => Take::Idle,
        Taking::Forced => Take::Force(token),
        Taking::ForcedFromAnother => Take::Dead(Fence(token.0 ^ 1)),
    };
    // Longer than all operations take, because stores judge the expiry by different clocks.
    let terms = Terms { ttl: HOUR, take };
    Ok(match store.acquire(&conversation(session), &holder(process), terms, request).await? {
        Acquired::Got(grant) => {
            let tip = grant.tip.as_ref();
            let is_newest = match tip {
                Some(tip) => newest(store, tip).await? == grant.newest,
                None => grant.newest.is_none(),
            };
            format!("{:?} of {:?}, up to {tip:?}, its end: {is_newest}", grant.lease.holder, grant.lease.resource)
        }
        Acquired::Held(lease) => format!("held by {:?}, busy: {}", lease.holder, lease.busy),
    })
}

/// Returns the received messages that wait.
async fn waiting(store: &dyn Store) -> Result<Vec<InboxId>, StoreError> {
    Ok(store.waiting(None, u32::MAX).await?.into_iter().map(|item| item.id).collect())
}

/// Returns a received message by its index among those that wait; one that was never received if there is none.
fn row_of(waiting: &[InboxId], index: usize) -> InboxId {
    waiting.get(index).copied().unwrap_or(InboxId(i64::MAX))
}

/// Returns a turn without its id and token.
pub(super) fn shown(turn: &Turn) -> String {
    let Turn { conversation, session, kind, route, fence, attempts, opened_at, opened_by, id: _ } = turn;
    let has_owner = fence.is_some();
    format!("{conversation} {session} {kind:?} {route:?} {has_owner} {attempts} {opened_at:?} {opened_by}")
}
