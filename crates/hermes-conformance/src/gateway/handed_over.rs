//! Handoffs between live processes: leases, expiry, progress, and what the end of a handoff changes.

use super::{MINUTE, keyed, to};
use crate::fixture::live::{MOMENT, ask, conversation, granted, holder, new_turn, taken};
use crate::fixture::{
    assert_invalid, assert_not_found, assistant, at, conflict, id, made, request, stored, texts, user,
};
use crate::{CaseResult, Setup};
use hermes_session::gateway::{Claimed, HandoffEnd, HandoffProgress, HandoffRequest, HandoffState, TIMED_OUT};
use hermes_session::live::{
    Account, Fence, Holder, NewOutbound, NewPart, NewTurn, OpenedTurn, Origin, Resource, RouteKey, Settled, Switch,
    SwitchTo, Take, Termination, TurnClose, TurnKind,
};
use hermes_session::{Conflict, EndReason, MessageId, NewChild, NewMessage, Request, SessionId, Store, StoreError};
use std::time::Duration;

/// Returns the owners of conversations.
async fn owners(store: &dyn Store) -> Result<Vec<(Fence, Holder)>, StoreError> {
    let leases = store.leases(Resource::CONVERSATIONS).await?;
    Ok(leases.into_iter().map(|lease| (lease.fence, lease.holder)).collect())
}

/// Claims a handoff for a worker that names itself. Returns the claim and the fence.
async fn claimed(
    store: &dyn Store,
    session: &SessionId,
    lease: Duration,
    who: &Holder,
    seconds: i32,
) -> Result<(Claimed, Fence), StoreError> {
    let claimed = store.claim_handoff(session, lease, Some(who), &request(seconds)).await?.unwrap();
    Ok((claimed, claimed.fence.unwrap()))
}

fn progress(lease: Duration) -> HandoffProgress {
    HandoffProgress { lease, thread: None, turn: None, synthetic_from: None }
}

/// Opens the turn that introduces a session to its new place, and records it with the handoff.
async fn introduced(
    store: &dyn Store,
    session: &SessionId,
    (claimed, fence): (Claimed, Fence),
    lease: Duration,
) -> Result<OpenedTurn, StoreError> {
    let turn = NewTurn { kind: TurnKind::Handoff, ..new_turn(session, &["(moved here)"]) };
    let opened = store.open_turn(&turn, &request(4).fenced(fence)).await?;
    let reached = HandoffProgress {
        turn: Some(opened.turn.id),
        synthetic_from: opened.messages.first().copied(),
        ..progress(lease)
    };
    assert!(store.advance_handoff(session, claimed.claim, &reached, &request(4).fenced(fence)).await?);
    Ok(opened)
}

fn answer() -> TurnClose {
    let part = |body: &str| NewPart { body: body.into(), plain: None, nonce: body.into() };
    let account = Account::from_stored("telegram:1");
    let outbound =
        NewOutbound { account, destination: "thread 77".into(), parts: vec![part("1"), part("2"), part("3")] };
    TurnClose { messages: vec![assistant("here I am")], outbound: vec![outbound], ..TurnClose::default() }
}

fn thread() -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: "1".into(),
        chat_type: "dm".into(),
        chat: "123".into(),
        thread: Some("77".into()),
        participant: None,
    }
}

fn arrival(session: &SessionId) -> HandoffEnd {
    let end = Termination { reason: EndReason::from_stored("session_switch"), cause: None };
    HandoffEnd::Arrived(Box::new(Switch {
        key: thread(),
        expected: None,
        to: SwitchTo::Existing(session.clone()),
        end: Some(end),
        origin: Some(Origin { session_key: "agent:main:telegram:dm:123:77".into(), ..Origin::default() }),
        notice: None,
    }))
}

fn failed() -> HandoffEnd {
    HandoffEnd::Failed("no thread 大".into())
}

/// A request that nobody claimed in time fails, and can be made again. One without a limit waits for ever.
pub async fn a_request_expires(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let limited = HandoffRequest { destination: Some("-100 大".into()), expires: Some(MINUTE), ..to("telegram") };
    for name in ["b", "a", "taken", "patient"] {
        let session = made(&*store, name, 0).await;
        let what = if name == "patient" { to("telegram") } else { limited.clone() };
        assert!(store.request_handoff(&session, &what, &request(0)).await?);
    }
    let asked = other.handoff(&id("a")).await?.unwrap();
    assert_eq!((asked.expires_at, asked.destination.as_deref()), (Some(at(60)), Some("-100 大")));
    assert!(other.claim_handoff(&id("taken"), MINUTE, None, &request(59.9)).await?.is_some());
    assert_eq!(other.waiting_handoffs(at(59.9)).await?.len(), 3);
    assert_eq!(other.expire_handoffs(at(59.9)).await?, []);
    let waiting = other.waiting_handoffs(at(60)).await?;
    assert_eq!(waiting.iter().map(|handoff| handoff.session.as_str()).collect::<Vec<_>>(), ["patient"]);
    for who in [None, Some(holder(1))] {
        assert_eq!(other.claim_handoff(&id("a"), MINUTE, who.as_ref(), &request(60)).await?, None);
    }
    assert!(store.request_handoff(&id("b"), &limited, &request(61)).await?, "the first request had expired");
    assert_eq!(other.expire_handoffs(at(61)).await?, [id("a")]);
    assert_eq!(other.expire_handoffs(at(61)).await?, []);
    let expired = store.handoff(&id("a")).await?.unwrap();
    assert_eq!((expired.state, expired.error.as_deref()), (Some(HandoffState::Failed), Some(TIMED_OUT)));
    assert_eq!(stored(&*store, &id("a")).await.handoff.state.as_deref(), Some("failed"));
    assert!(store.request_handoff(&id("a"), &limited, &request(62)).await?);
    assert_eq!(other.expire_handoffs(at(1_000)).await?, [id("a"), id("b")], "in the order of their ids");
    assert_eq!(store.handoff(&id("taken")).await?.unwrap().state, Some(HandoffState::Running));
    assert!(other.claim_handoff(&id("patient"), MINUTE, None, &request(100_000)).await?.is_some());
    let odd = HandoffRequest { destination: Some(String::new()), ..to("telegram") };
    assert_invalid(store.request_handoff(&id("a"), &odd, &request(1_001)).await, "destination");
    Ok(())
}

/// With the claim the lease of the conversation moves to the worker, whoever had it, unless its owner is in a turn.
pub async fn a_claim_moves_the_lease(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let (terminal, gateway) = (holder(1), holder(2));
    let held = taken(&*store, &session, 1).await.lease;
    assert!(store.request_handoff(&session, &to("telegram"), &request(1).fenced(held.fence)).await?);
    // An agent claims without a name.
    let agents = other.claim_handoff(&session, MINUTE, None, &request(2)).await?.unwrap();
    assert_eq!((agents.fence, owners(&*store).await?), (None, vec![(held.fence, terminal.clone())]));
    assert!(other.end_handoff(&session, Some(agents.claim), &failed(), &request(2)).await?);
    assert!(store.request_handoff(&session, &to("telegram"), &request(3).fenced(held.fence)).await?);
    // The owner does not want to be disturbed, and then has an open turn.
    store.renew(&held, MINUTE, true, &request(3)).await?;
    assert_eq!(other.claim_handoff(&session, MINUTE, Some(&gateway), &request(4)).await?, None);
    store.renew(&held, MINUTE, false, &request(4)).await?;
    let asked = new_turn(&session, &["one more thing"]);
    let opened = store.open_turn(&asked, &request(4).fenced(held.fence)).await?;
    assert_eq!(other.claim_handoff(&session, MINUTE, Some(&gateway), &request(5)).await?, None);
    assert_eq!(other.handoff(&session).await?.unwrap().state, Some(HandoffState::Pending));
    store.close_turn(opened.turn.id, &TurnClose::default(), &request(5).fenced(held.fence)).await?;

    let request_to_claim = keyed(6, "claim");
    let claimed = other.claim_handoff(&session, MINUTE, Some(&gateway), &request_to_claim).await?.unwrap();
    let fence = claimed.fence.unwrap();
    assert_eq!(other.claim_handoff(&session, MINUTE, Some(&gateway), &request_to_claim).await?, Some(claimed));
    assert_ne!(fence, held.fence);
    assert_eq!(owners(&*store).await?, [(fence, gateway.clone())]);
    assert_eq!(store.handoff(&session).await?.unwrap().claimed_by, Some(gateway.key()));
    // The terminal is out, also with the end that it writes when it is left.
    let fenced = Conflict::Fenced(session.clone());
    let by_terminal = request(7).fenced(held.fence);
    assert_eq!(conflict(store.append(&session, &[user("too late")], &by_terminal).await), fenced);
    assert_eq!(conflict(store.end(&session, &EndReason::from_stored("cli_close"), &by_terminal).await), fenced);
    other.append(&session, &[assistant("moved")], &request(7).fenced(fence)).await?;
    assert_eq!(texts(&*store, &session).await, ["one more thing", "moved"]);
    // A conversation without an owner gets one, for a session behind its first one, too.
    let root = made(&*store, "root", 0).await;
    store.split(&root, &NewChild::new(id("tip")), &[user("so far")], &request(1)).await?;
    store.request_handoff(&id("tip"), &to("telegram"), &request(2)).await?;
    let (who, tip, now) = (holder(3), id("tip"), request(3));
    let answers = tokio::join!(
        store.claim_handoff(&tip, MINUTE, Some(&who), &now),
        other.claim_handoff(&tip, MINUTE, Some(&who), &now)
    );
    let fences: Vec<Fence> = [answers.0?, answers.1?].into_iter().flatten().filter_map(|won| won.fence).collect();
    let lease = store.leases(&conversation(&root).key()).await?.remove(0);
    assert_eq!((fences, lease.resource), (vec![lease.fence], conversation(&root)));
    let odd = Holder { label: "a\0b".into(), ..who };
    assert_invalid(store.claim_handoff(&session, MINUTE, Some(&odd), &request(8)).await, "holder");
    Ok(())
}

/// The progress of a worker is kept, and the next worker continues from there.
pub async fn progress_is_kept_for_the_next_worker(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    store.request_handoff(&session, &to("telegram"), &request(1)).await?;
    let (first, fence) = claimed(&*store, &session, MINUTE, &holder(1), 2).await?;
    let threaded = HandoffProgress { thread: Some("77 大".into()), ..progress(MINUTE) };
    assert!(store.advance_handoff(&session, first.claim, &threaded, &request(30)).await?);
    assert_eq!(other.waiting_handoffs(at(89)).await?, [], "progress renews the lease");
    let opened = introduced(&*store, &session, (first, fence), MOMENT).await?;
    let reached = other.handoff(&session).await?.unwrap();
    assert_eq!((reached.thread.as_deref(), reached.turn), (Some("77 大"), Some(opened.turn.id)));
    assert_eq!(reached.synthetic_from, opened.messages.first().copied());
    let lease = store.leases(Resource::CONVERSATIONS).await?.remove(0);
    store.renew(&lease, MOMENT, true, &request(4)).await?;
    tokio::time::sleep(10 * MOMENT).await;
    // The worker is dead: handoff and conversation go to the next one.
    assert_eq!(other.waiting_handoffs(at(5)).await?.len(), 1);
    let (second, next) = claimed(&*other, &session, MINUTE, &holder(2), 5).await?;
    assert!(second.claim > first.claim && next != fence, "{second:?}");
    let kept = store.handoff(&session).await?.unwrap();
    assert_eq!((kept.thread.as_deref(), kept.turn), (Some("77 大"), Some(opened.turn.id)));
    assert_eq!((kept.synthetic_from, kept.claimed_by.as_ref()), (reached.synthetic_from, Some(&holder(2).key())));
    let resumed = other.resume_turn(opened.turn.id, &request(6).fenced(next)).await?;
    assert_eq!((resumed.attempts, resumed.fence), (2, Some(next)));
    // It was not dead after all, and changes nothing any more.
    let elsewhere = HandoffProgress { thread: Some("other".into()), ..progress(MINUTE) };
    assert!(!store.advance_handoff(&session, first.claim, &elsewhere, &request(7)).await?);
    let late = request(7).fenced(fence);
    let refused = store.advance_handoff(&session, first.claim, &elsewhere, &late).await;
    assert_eq!(conflict(refused), Conflict::Fenced(session.clone()));
    assert!(!store.end_handoff(&session, Some(first.claim), &failed(), &request(7)).await?);
    assert!(!store.end_handoff(&session, Some(first.claim), &arrival(&session), &request(7)).await?);
    assert_eq!((store.handoff(&session).await?.unwrap(), store.route(&thread()).await?), (kept, None));
    let odd = HandoffProgress { thread: Some("a\0b".into()), ..progress(MINUTE) };
    assert_invalid(other.advance_handoff(&session, second.claim, &odd, &request(8)).await, "thread");
    assert_not_found(other.advance_handoff(&id("nobody"), second.claim, &elsewhere, &request(8)).await, &id("nobody"));
    Ok(())
}

/// A client that waits can withdraw a handoff that nobody claimed, or whose worker died; not one that is on its way.
pub async fn a_waiting_client_ends_no_running_handoff(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let state = async || Ok::<_, StoreError>(store.handoff(&session).await?.unwrap().state);
    store.request_handoff(&session, &to("telegram"), &request(1)).await?;
    assert!(store.end_handoff(&session, None, &failed(), &request(2)).await?, "nobody had claimed it");
    store.request_handoff(&session, &to("telegram"), &request(3)).await?;
    claimed(&*store, &session, MINUTE, &holder(1), 4).await?;
    for end in [failed(), HandoffEnd::Completed, arrival(&session)] {
        assert!(!store.end_handoff(&session, None, &end, &request(63)).await?, "{end:?}");
    }
    assert_eq!((state().await?, store.route(&thread()).await?), (Some(HandoffState::Running), None));
    assert!(!store.end_handoff(&session, None, &arrival(&session), &request(64)).await?, "only a worker binds it");
    assert!(store.end_handoff(&session, None, &failed(), &request(64)).await?, "the worker is dead");
    assert_eq!(state().await?, Some(HandoffState::Failed));
    // The handoff of an agent, which has no name, is ended as agents do.
    store.request_handoff(&session, &to("telegram"), &request(70)).await?;
    store.claim_handoff(&session, MINUTE, None, &request(71)).await?;
    assert!(store.end_handoff(&session, None, &failed(), &request(72)).await?);
    Ok(())
}

/// With its arrival a session gets the place and is open; the session that was there ends; the lease is released.
pub async fn an_arrival_binds_the_place(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let there = made(&*store, "there", 0).await;
    let before = Switch {
        key: thread(),
        expected: None,
        to: SwitchTo::Existing(there.clone()),
        end: None,
        origin: None,
        notice: Some("an old notice".into()),
    };
    store.switch(&before, &request(1)).await?;
    store.request_handoff(&session, &to("telegram"), &request(1)).await?;
    let (worker, fence) = claimed(&*store, &session, MINUTE, &holder(1), 2).await?;
    let opened = introduced(&*store, &session, (worker, fence), MINUTE).await?;
    store.close_turn(opened.turn.id, &answer(), &request(5).fenced(fence)).await?;
    store.end(&session, &EndReason::from_stored("cli_close"), &request(6)).await?;
    let missing = store.end_handoff(&session, Some(worker.claim), &arrival(&id("nobody")), &request(7)).await;
    assert_not_found(missing, &id("nobody"));
    assert_eq!(store.route(&thread()).await?.unwrap().session, there, "it happens wholly or not at all");
    assert_eq!(store.handoff(&session).await?.unwrap().state, Some(HandoffState::Running));
    let end = keyed(8, "arrived").fenced(fence);
    for _ in 0..2 {
        assert!(other.end_handoff(&session, Some(worker.claim), &arrival(&session), &end).await?);
    }
    let route = store.route(&thread()).await?.unwrap();
    assert_eq!((&route.session, route.generation, route.notice.as_deref()), (&session, 2, None));
    assert_eq!((route.origin.session_key.as_str(), route.touched_at), ("agent:main:telegram:dm:123:77", at(8)));
    let (arrived, left) = (stored(&*store, &session).await, stored(&*store, &there).await);
    assert_eq!((arrived.ended_at, arrived.handoff.state.as_deref()), (None, Some("completed")));
    assert_eq!((left.ended_at, left.end_reason.unwrap().as_str()), (Some(at(8)), "session_switch"));
    assert_eq!(owners(&*store).await?, []);
    assert_eq!(texts(&*store, &session).await, ["(moved here)", "here I am"]);
    assert_eq!(store.outbound(None, 10).await?.len(), 3);
    Ok(())
}

/// A handoff that fails takes back what it said: messages, turn and replies. Its place was never bound.
pub async fn a_failed_handoff_leaves_the_session_as_it_was(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    // It fails before anything was said, within the turn, after the answer, and by the client after the worker died.
    for (n, (turns, is_client)) in (0..).zip([(0, false), (1, false), (2, false), (1, true), (2, true)]) {
        let session = made(&*store, &format!("s{n}"), 0).await;
        store.append(&session, &[user("hello"), assistant("hi")], &request(1)).await?;
        let before = (stored(&*store, &session).await, texts(&*store, &session).await);
        store.request_handoff(&session, &to("telegram"), &request(1)).await?;
        let lease = if is_client { Duration::from_secs(5) } else { MINUTE };
        let (worker, fence) = claimed(&*store, &session, lease, &holder(1), 2).await?;
        if turns > 0 {
            let opened = introduced(&*store, &session, (worker, fence), lease).await?;
            if turns > 1 {
                store.close_turn(opened.turn.id, &answer(), &request(5).fenced(fence)).await?;
            }
        }
        // The first part has arrived, the second is being sent.
        let account = Account::from_stored("telegram:1");
        for part in other.take_outbound(&account, &holder(2), 1, &request(6)).await? {
            other.settle_outbound(part.id, 1, &Settled::Sent { platform_id: None }, &request(6)).await?;
            assert_eq!(other.take_outbound(&account, &holder(2), 1, &request(6)).await?.len(), 1);
        }
        let (claim, request) = match is_client {
            true => (None, request(20)),
            false => (Some(worker.claim), request(20).fenced(fence)),
        };
        let done = Request { key: Some(crate::fixture::key(&format!("k{n}"))), ..request };
        for _ in 0..2 {
            assert!(other.end_handoff(&session, claim, &failed(), &done).await?, "{n}");
        }
        let mut after = (stored(&*store, &session).await, texts(&*store, &session).await);
        assert_eq!(after.0.handoff.error.as_deref(), Some("no thread 大"), "{n}");
        after.0.handoff = before.0.handoff.clone();
        assert_eq!(after, before, "{n}");
        assert_eq!((store.open_turns(None, 9).await?, store.route(&thread()).await?), (Vec::new(), None), "{n}");
        let said: Vec<NewMessage> =
            store.undone(&session).await?.into_iter().map(|undone| undone.message.body.into()).collect();
        assert_eq!(said.len(), turns, "{n}: what was said is kept as undone");
        let unsettled = store.outbound(None, 100).await?.into_iter().filter(|part| !part.state.is_settled());
        assert_eq!(unsettled.count(), 0, "{n}");
        if !is_client {
            let leases = store.leases(&conversation(&session).key()).await?;
            assert_eq!(leases, [], "{n}");
        }
        // The terminal goes on.
        let next = acquired_again(&*store, &session).await?;
        store
            .append(&session, &[user("then here")], &Request { after: newest(&*store, &session).await?, ..next })
            .await?;
        assert_eq!(texts(&*store, &session).await, ["hello", "hi", "then here"]);
    }
    Ok(())
}

/// Takes the conversation back after a handoff, from a worker that may have died with its lease.
async fn acquired_again(store: &dyn Store, session: &SessionId) -> Result<Request, StoreError> {
    let what = conversation(session);
    let dead = store.leases(&what.key()).await?.first().map(|lease| lease.fence);
    let grant = granted(ask(store, session, 9, dead.map_or(Take::Free, Take::Dead)).await?);
    Ok(request(30).fenced(grant.lease.fence))
}

async fn newest(store: &dyn Store, session: &SessionId) -> Result<Option<MessageId>, StoreError> {
    Ok(crate::fixture::transcript(store, session).await.last().map(|message| message.id))
}

/// A conversation that is in a turn is not handed over, whichever of its sessions is named.
pub async fn a_conversation_in_a_turn_is_not_handed_over(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (root, other) = (made(&*store, "root", 0).await, made(&*store, "other", 0).await);
    store.split(&root, &NewChild::new(id("tip")), &[user("so far")], &request(1)).await?;
    let opened = store.open_turn(&new_turn(&id("tip"), &["and now?"]), &request(2)).await?.turn.id;
    for session in [root, id("tip")] {
        let refused = store.request_handoff(&session, &to("telegram"), &keyed(3, "k")).await;
        assert_eq!(conflict(refused), Conflict::TurnOpen { session: session.clone(), turn: opened });
        assert_eq!(store.handoff(&session).await?.unwrap().state, None);
    }
    assert!(store.request_handoff(&other, &to("telegram"), &request(3)).await?, "another one is handed over");
    store.close_turn(opened, &TurnClose::default(), &request(4)).await?;
    assert!(store.request_handoff(&id("tip"), &to("telegram"), &keyed(5, "k")).await?);
    Ok(())
}
