//! Operations as data, so that they can be generated, printed, and applied twice.

use super::live::{Live, Relies};
use hermes_session::import::{ImportError, ImportOptions, import};
use hermes_session::retention::{RetentionPolicy, prune};
use hermes_session::{
    Conflict, DeleteExtent, Emptying, EndReason, Maintenance, MessageId, MessageRequest, NewChild, NewMessage,
    NewSession, Relation, Request, SessionId, SessionPatch, Store, StoreError, Tag, Title, Trashed, UsageUpdate,
};
use std::fmt::Debug;

/// A change, named like its method.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Create(NewSession),
    Ensure(NewSession),
    Update(SessionId, SessionPatch),
    End(SessionId, EndReason),
    Reopen(SessionId),
    SetTitle(SessionId, Option<Title>),
    AllocateTitle(SessionId, Title),
    Split(SessionId, NewChild, Vec<NewMessage>),
    Branch(SessionId, NewChild),
    Append(SessionId, Vec<NewMessage>),
    Replace(SessionId, Vec<NewMessage>),
    RecordUsage(SessionId, UsageUpdate),
    DeleteConversation(SessionId),
    DeleteChain(SessionId),
    DeleteSession(SessionId),
    TrashChain(SessionId),
    Restore(SessionId),
    EmptyTrash(Emptying),
    Prune(RetentionPolicy),
    /// The lines of an export, each with its session.
    Import(Vec<(SessionId, String)>),
    Link(SessionId, SessionId, Relation),
    SetPinned(SessionId, bool),
    SetArchived(SessionId, bool),
    ChangeTags(SessionId, Vec<Tag>, Vec<Tag>),
    Live(Live),
}

/// A change at a time, with or without a key, and the state that it relies on.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) operation: Operation,
    pub(super) request: Request,
    pub(super) relies: Relies,
}

/// The answer of a store, as far as it is the same for all stores.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Done(String),
    NotFound(String),
    /// The conflict, without ids of messages, turns and received messages.
    Conflict(String),
    /// The argument that was refused; the message differs between providers.
    Invalid(&'static str),
    /// An error that no store should return here.
    Failed(String),
}

impl Outcome {
    pub(super) fn of<T: Debug>(result: Result<T, StoreError>) -> Self {
        match result {
            Ok(answer) => Self::Done(format!("{answer:?}")),
            Err(StoreError::NotFound(id)) => Self::NotFound(id),
            Err(StoreError::Conflict(conflict)) => Self::Conflict(match conflict {
                Conflict::Moved { session, newest } => format!("{session} moved, to a message: {}", newest.is_some()),
                Conflict::TurnOpen { session, turn: _ } => format!("{session} is in a turn"),
                Conflict::TurnClosed(_) => "closed".into(),
                Conflict::InboxSettled(_) => "settled".into(),
                other => format!("{other:?}"),
            }),
            Err(StoreError::Invalid(invalid)) => Self::Invalid(invalid.what),
            Err(error) => Self::Failed(format!("{error:?}")),
        }
    }
}

impl Step {
    /// Applies it.
    pub(super) async fn apply(&self, store: &dyn Store) -> Outcome {
        let request = match self.relies.of(store, &self.operation, &self.request).await {
            Ok(request) => request,
            Err(error) => return Outcome::Failed(format!("{error:?}")),
        };
        let request = &request;
        match &self.operation {
            Operation::Create(new) => Outcome::of(store.create(new, request).await),
            Operation::Ensure(new) => Outcome::of(store.ensure(new, request).await),
            Operation::Update(id, patch) => Outcome::of(store.update(id, patch, request).await),
            Operation::End(id, reason) => Outcome::of(store.end(id, reason, request).await),
            Operation::Reopen(id) => Outcome::of(store.reopen(id, request).await),
            Operation::SetTitle(id, title) => Outcome::of(store.set_title(id, title.as_ref(), request).await),
            Operation::AllocateTitle(id, base) => Outcome::of(store.allocate_title(id, base, request).await),
            Operation::Split(id, child, batch) => Outcome::of(store.split(id, child, batch, request).await),
            Operation::Branch(id, child) => Outcome::of(store.branch(id, child, request).await),
            Operation::Append(id, batch) => {
                let answer = store.append(id, batch, request).await;
                Outcome::of(placed(store, id, answer).await)
            }
            Operation::Replace(id, batch) => {
                let answer = store.replace(id, batch, request).await;
                Outcome::of(placed(store, id, answer).await)
            }
            Operation::RecordUsage(id, update) => Outcome::of(store.record_usage(id, update, request).await),
            Operation::Prune(policy) => Outcome::of(prune(store, policy, request.at, &mut |_, _| {}).await),
            Operation::Import(lines) => {
                let text: String = lines.iter().map(|(_, line)| line.as_str()).collect();
                let outcome = import(store, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await;
                Outcome::of(outcome.map_err(|error| match error {
                    ImportError::Store(error) => error,
                    other => panic!("text in memory can be read: {other}"),
                }))
            }
            Operation::Link(child, parent, relation) => Outcome::of(store.link(child, parent, *relation).await),
            Operation::SetPinned(id, is_pinned) => Outcome::of(store.set_pinned(id, *is_pinned, request).await),
            Operation::SetArchived(id, is_archived) => Outcome::of(store.set_archived(id, *is_archived, request).await),
            Operation::ChangeTags(id, add, remove) => Outcome::of(store.change_tags(id, add, remove, request).await),
            Operation::DeleteConversation(id) => {
                Outcome::of(store.delete(id, DeleteExtent::Conversation, request).await)
            }
            Operation::DeleteChain(id) => Outcome::of(store.delete(id, DeleteExtent::Chain, request).await),
            Operation::DeleteSession(id) => Outcome::of(store.delete(id, DeleteExtent::Session, request).await),
            Operation::TrashChain(id) => Outcome::of(store.trash_chain(id, request.at, request).await),
            Operation::Restore(id) => Outcome::of(store.restore(id, request).await),
            Operation::Live(live) => live.apply(store, request).await,
            Operation::EmptyTrash(which) => Outcome::of(store.empty_trash(which).await.map(without_numbers)),
        }
    }
}

/// Returns entries deleted from the trash without their numbers, which differ between stores.
fn without_numbers(gone: Vec<Trashed>) -> Vec<Trashed> {
    gone.into_iter().map(|entry| Trashed { number: 0, ..entry }).collect()
}

/// Returns the indexes of messages in their session. Their ids differ between stores.
pub(super) async fn placed(
    store: &dyn Maintenance,
    session: &SessionId,
    answer: Result<Vec<MessageId>, StoreError>,
) -> Result<Vec<Option<usize>>, StoreError> {
    let ids = answer?;
    let messages = store.messages(session, &MessageRequest::first(u32::MAX)).await?;
    Ok(ids.into_iter().map(|id| messages.iter().position(|message| message.id == id)).collect())
}
