//! Operations about live data, and the state that requests rely on.
//!
//! Tokens and ids differ between stores, so an operation names a lease by its conversation, and a turn, a message or a
//! part by its index. Each store looks them up when the operation is applied.

mod apply;
pub(super) mod picture;
pub(super) mod strategy;

use super::operation::{Operation, Outcome};
use hermes_session::live::{
    Account, Fence, Inbound, Lease, NewOutbound, Resource, RouteKey, RoutePatch, Settled, Switch, TurnClose, TurnId,
    TurnKind,
};
use hermes_session::{MessageId, MessageRequest, NewMessage, Request, SessionId, Store, StoreError, Timestamp};

/// A change of live data, named like its method.
#[derive(Debug, Clone)]
pub(in crate::property) enum Live {
    Acquire {
        session: SessionId,
        process: i64,
        take: Taking,
    },
    Renew {
        session: SessionId,
        is_busy: bool,
    },
    Release(SessionId),
    OpenTurn {
        session: SessionId,
        kind: TurnKind,
        route: Option<RouteKey>,
        said: Vec<(NewMessage, Option<usize>)>,
    },
    ResumeTurn(usize),
    CloseTurn(usize, TurnClose),
    Undo(SessionId, usize),
    Receive(Vec<Inbound>, Option<String>),
    Post(Vec<usize>, Vec<NewOutbound>),
    TakeOutbound {
        process: i64,
        limit: u32,
    },
    SettleOutbound {
        part: usize,
        is_current: bool,
        how: Settled,
    },
    ForgetMail(Timestamp),
    /// The generation that is expected is looked up, unless it should be another one.
    Switch {
        switch: Switch,
        is_expected: bool,
    },
    Rekey(RouteKey, RouteKey),
    PatchRoute(RouteKey, RoutePatch),
}

/// Condition under which a lease is asked for. Its tokens are looked up.
#[derive(Debug, Clone, Copy)]
pub(in crate::property) enum Taking {
    Free,
    Idle,
    Forced,
    ForcedFromAnother,
}

/// The state that a request relies on.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::property) struct Relies {
    owner: Option<Owner>,
    newest: Option<Newest>,
}

#[derive(Debug, Clone, Copy)]
enum Owner {
    /// The caller has the present lease of the conversation.
    Present,
    /// The caller has a token that is not valid any more.
    Former,
}

#[derive(Debug, Clone, Copy)]
enum Newest {
    /// The caller knows the newest message.
    Known,
    /// The caller read an empty transcript.
    Nothing,
}

impl Relies {
    /// Returns the request with the token and the message that it relies on.
    pub(in crate::property) async fn of(
        self,
        store: &dyn Store,
        operation: &Operation,
        request: &Request,
    ) -> Result<Request, StoreError> {
        let mut request = request.clone();
        if self.owner.is_none() && self.newest.is_none() {
            return Ok(request);
        }
        let Some(session) = operation.whose(store).await? else { return Ok(request) };
        let lease = lease_of(store, &session).await?;
        request.fence = self.owner.map(|owner| match (owner, &lease) {
            (Owner::Present, Some(lease)) => lease.fence,
            _ => Fence(0),
        });
        request.after = match self.newest {
            Some(Newest::Known) => Some(newest(store, &session).await?.unwrap_or(MessageId(0))),
            Some(Newest::Nothing) => Some(MessageId(0)),
            None => None,
        };
        Ok(request)
    }
}

impl Operation {
    /// Returns the session whose owner and transcript a request for this operation relies on.
    async fn whose(&self, store: &dyn Store) -> Result<Option<SessionId>, StoreError> {
        Ok(match self {
            Self::Create(new) | Self::Ensure(new) => Some(new.parent_session_id.as_ref().unwrap_or(&new.id).clone()),
            Self::Update(id, _)
            | Self::End(id, _)
            | Self::Reopen(id)
            | Self::SetTitle(id, _)
            | Self::AllocateTitle(id, _)
            | Self::Split(id, ..)
            | Self::Branch(id, _)
            | Self::Append(id, _)
            | Self::Replace(id, _)
            | Self::RecordUsage(id, _)
            | Self::DeleteConversation(id)
            | Self::DeleteChain(id)
            | Self::DeleteSession(id)
            | Self::TrashChain(id)
            | Self::SetPinned(id, _)
            | Self::SetArchived(id, _)
            | Self::ChangeTags(id, ..)
            | Self::Live(Live::OpenTurn { session: id, .. } | Live::Undo(id, _)) => Some(id.clone()),
            Self::Live(Live::ResumeTurn(index) | Live::CloseTurn(index, _)) => {
                store.open_turns(None, u32::MAX).await?.into_iter().nth(*index).map(|turn| turn.session)
            }
            Self::Live(
                Live::Switch { switch: Switch { key, .. }, .. } | Live::Rekey(key, _) | Live::PatchRoute(key, _),
            ) => store.route(key).await?.map(|route| route.session),
            // A session in the trash has no owner.
            Self::Restore(_)
            | Self::Live(_)
            | Self::EmptyTrash(_)
            | Self::Prune(_)
            | Self::Import(_)
            | Self::Link(..) => None,
        })
    }
}

/// Returns the lease of the conversation of a session; `None` if nobody has it or the session does not exist.
async fn lease_of(store: &dyn Store, session: &SessionId) -> Result<Option<Lease>, StoreError> {
    let root = match store.lineage(session).await {
        Ok(lineage) => lineage.conversation_root(session),
        Err(StoreError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let key = Resource::Conversation(root).key();
    Ok(store.leases(&key).await?.into_iter().find(|lease| lease.resource.key() == key))
}

/// Returns the newest message of a session's transcript.
async fn newest(store: &dyn Store, session: &SessionId) -> Result<Option<MessageId>, StoreError> {
    match store.messages(session, &MessageRequest::last(1)).await {
        Ok(messages) => Ok(messages.first().map(|message| message.id)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the id of an open turn, by its index; one that was never used if there is none.
async fn turn(store: &dyn Store, index: usize) -> Result<TurnId, StoreError> {
    let turns = store.open_turns(None, u32::MAX).await?;
    Ok(turns.get(index).map_or(TurnId(i64::MAX), |turn| turn.id))
}

/// Returns the one account of the operations.
fn account() -> Account {
    Account::from_stored("telegram:1")
}

impl Live {
    /// Applies it.
    pub(in crate::property) async fn apply(&self, store: &dyn Store, request: &Request) -> Outcome {
        match self.answer(store, request).await {
            Ok(answer) => Outcome::Done(answer),
            Err(error) => Outcome::of::<()>(Err(error)),
        }
    }
}
