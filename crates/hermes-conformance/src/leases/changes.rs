//! Every change of a session checks the fence.

use crate::fixture::live::{conversation, new_turn, taken, taken_over};
use crate::fixture::{at, conflict, id, made, new_session, request, title, user};
use crate::requests::whole;
use crate::{CaseResult, Setup};
use hermes_session::gateway::{Claim, HandoffEnd, HandoffProgress, HandoffRequest};
use hermes_session::live::{Account, NewTurn, RouteKey, RoutePatch, Switch, SwitchTo, TurnClose, TurnId};
use hermes_session::{
    Conflict, DeleteExtent, EndReason, MessageId, NewChild, NewSession, Relation, Request, SessionId, SessionPatch,
    Store, StoreError, Tag, UsageUpdate,
};
use std::time::Duration;

/// Every call of the contract that takes a request and changes a session, by the name of its method.
const CALLS: [&str; 31] = [
    "create",
    "ensure",
    "update",
    "end",
    "reopen",
    "split",
    "branch",
    "append",
    "replace",
    "record_usage",
    "set_title",
    "allocate_title",
    "entitle",
    "set_pinned",
    "set_archived",
    "change_tags",
    "delete",
    "delete the chain",
    "delete the session",
    "trash_chain",
    "open_turn",
    "resume_turn",
    "close_turn",
    "undo",
    "request_handoff",
    "claim_handoff",
    "advance_handoff",
    "end_handoff",
    "switch",
    "rekey",
    "patch_route",
];

const MINUTE: Duration = Duration::from_secs(60);

/// A conversation of its own for one call.
struct Scene {
    session: SessionId,
    message: MessageId,
    turn: TurnId,
    claim: Claim,
}

impl Scene {
    /// Prepares the conversation, so that the call succeeds.
    async fn set(store: &dyn Store, call: &str) -> Result<Self, StoreError> {
        let session = made(store, call, 0).await;
        let message = store.append(&session, &[user("hello")], &request(1)).await?[0];
        let mut scene = Self { session, message, turn: TurnId(0), claim: Claim(0) };
        let session = &scene.session;
        match call {
            "reopen" => _ = store.end(session, &EndReason::branched(), &request(1)).await?,
            "resume_turn" | "close_turn" => {
                scene.turn = store.open_turn(&new_turn(session, &[]), &request(1)).await?.turn.id;
            }
            "claim_handoff" | "advance_handoff" | "end_handoff" => {
                store.request_handoff(session, &HandoffRequest::to("telegram"), &request(1)).await?;
                if call != "claim_handoff" {
                    let claimed = store.claim_handoff(session, MINUTE, None, &request(1)).await?;
                    scene.claim = claimed.unwrap().claim;
                }
            }
            "switch" | "rekey" | "patch_route" => {
                store.switch(&to(place(call), session, None), &request(1)).await.map(drop)?;
            }
            _ => {}
        }
        Ok(scene)
    }

    async fn call(&self, store: &dyn Store, call: &str, request: &Request) -> Result<(), StoreError> {
        let session = &self.session;
        let new = || child_of(session, &format!("{call}, created"));
        let child = || NewChild::new(id(&format!("{call}, born")));
        match call {
            "create" => store.create(&new(), request).await,
            "ensure" => store.ensure(&new(), request).await.map(drop),
            "update" => {
                let patch = SessionPatch { model: Some(Some("m".into())), ..SessionPatch::default() };
                store.update(session, &patch, request).await
            }
            "end" => store.end(session, &EndReason::branched(), request).await.map(drop),
            "reopen" => store.reopen(session, request).await.map(drop),
            "split" => store.split(session, &child(), &[user("summary")], request).await.map(drop),
            "branch" => store.branch(session, &child(), request).await.map(drop),
            "append" => store.append(session, &[user("more")], request).await.map(drop),
            "replace" => store.replace(session, &[user("other")], request).await.map(drop),
            "record_usage" => {
                let update = UsageUpdate { input_tokens: Some(1), ..UsageUpdate::default() };
                store.record_usage(session, &update, request).await
            }
            "set_title" => store.set_title(session, Some(&title("set")), request).await,
            "allocate_title" => store.allocate_title(session, &title("allocated"), request).await.map(drop),
            "entitle" => store.entitle(session, &title("entitled"), request).await.map(drop),
            "set_pinned" => store.set_pinned(session, true, request).await.map(drop),
            "set_archived" => store.set_archived(session, true, request).await.map(drop),
            "change_tags" => store.change_tags(session, &[Tag::from_stored("x")], &[], request).await.map(drop),
            "delete" => store.delete(session, DeleteExtent::Conversation, request).await.map(drop),
            "delete the chain" => store.delete(session, DeleteExtent::Chain, request).await.map(drop),
            "delete the session" => store.delete(session, DeleteExtent::Session, request).await.map(drop),
            "trash_chain" => store.trash_chain(session, at(100), request).await.map(drop),
            "open_turn" => store.open_turn(&NewTurn { ..new_turn(session, &["asked"]) }, request).await.map(drop),
            "resume_turn" => store.resume_turn(self.turn, request).await.map(drop),
            "close_turn" => {
                let close = TurnClose { messages: vec![user("answer")], ..TurnClose::default() };
                store.close_turn(self.turn, &close, request).await.map(drop)
            }
            "undo" => store.undo(session, self.message, request).await.map(drop),
            "request_handoff" => {
                store.request_handoff(session, &HandoffRequest::to("telegram"), request).await.map(drop)
            }
            "claim_handoff" => store.claim_handoff(session, MINUTE, None, request).await.map(drop),
            "advance_handoff" => {
                let progress =
                    HandoffProgress { lease: MINUTE, thread: Some("7".into()), turn: None, synthetic_from: None };
                store.advance_handoff(session, self.claim, &progress, request).await.map(drop)
            }
            "end_handoff" => {
                store.end_handoff(session, Some(self.claim), &HandoffEnd::Completed, request).await.map(drop)
            }
            "switch" => store.switch(&to(place(call), &id("elsewhere"), Some(1)), request).await.map(drop),
            "rekey" => store.rekey(&place(call), &place("moved"), request).await.map(drop),
            "patch_route" => {
                let patch = RoutePatch { suspended: Some(true), ..RoutePatch::default() };
                store.patch_route(&place(call), &patch, request).await.map(drop)
            }
            other => panic!("{other} is not in the list"),
        }
    }
}

fn child_of(parent: &SessionId, name: &str) -> NewSession {
    new_session(name).child_of(parent.clone(), Relation::Delegate)
}

fn place(chat: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: Account::from_stored("telegram:1").to_string(),
        chat_type: "dm".into(),
        chat: chat.into(),
        thread: None,
        participant: None,
    }
}

fn to(key: RouteKey, session: &SessionId, expected: Option<i64>) -> Switch {
    Switch { key, expected, to: SwitchTo::Existing(session.clone()), end: None, origin: None, notice: None }
}

/// Returns everything that the calls may change.
async fn picture(store: &dyn Store) -> Result<String, StoreError> {
    let (leases, turns, routes) =
        (store.leases("").await?, store.open_turns(None, 100).await?, store.routes(None, 100).await?);
    let mut handoffs = Vec::new();
    for call in CALLS {
        handoffs.push(store.handoff(&id(call)).await?);
    }
    Ok(format!("{} {leases:?} {turns:?} {routes:?} {handoffs:?}", whole(store).await?))
}

/// Each change of a session is refused to an old owner, and granted to the present one.
pub async fn every_change_checks_the_fence(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "elsewhere", 0).await;
    for call in CALLS {
        let scene = Scene::set(&*store, call).await?;
        let first = taken(&*store, &scene.session, 1).await.lease;
        let second = taken_over(&*store, &scene.session, 2, first.fence).await.lease;
        let before = picture(&*store).await?;
        let refused = scene.call(&*store, call, &request(2).fenced(first.fence)).await;
        assert_eq!(conflict(refused), Conflict::Fenced(scene.session.clone()), "{call}");
        assert_eq!(picture(&*store).await?, before, "{call}");
        scene.call(&*store, call, &request(3).fenced(second.fence)).await?;
        assert_ne!(picture(&*store).await?, before, "{call} changes nothing, so the case proves nothing");
    }
    Ok(())
}

/// Calls without a fence are never refused because somebody owns the conversation.
pub async fn no_fence_is_never_refused(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "elsewhere", 0).await;
    for call in CALLS {
        let scene = Scene::set(&*store, call).await?;
        let lease = taken(&*store, &scene.session, 1).await.lease;
        assert_eq!(lease.resource, conversation(&scene.session));
        scene.call(&*store, call, &request(2)).await?;
    }
    Ok(())
}
