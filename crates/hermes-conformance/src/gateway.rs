//! Handoffs, changes of topics, and automatic cleanup.

mod handed_over;

pub use handed_over::{
    a_claim_moves_the_lease, a_conversation_in_a_turn_is_not_handed_over,
    a_failed_handoff_leaves_the_session_as_it_was, a_request_expires, a_waiting_client_ends_no_running_handoff,
    an_arrival_binds_the_place, progress_is_kept_for_the_next_worker,
};

use crate::fixture::{at, id, made, new_session, request, user};
use crate::{CaseResult, Setup};
use hermes_session::gateway::{Claim, Claimed, HandoffEnd, HandoffRequest, HandoffState, unlinked_sessions};
use hermes_session::retention::{self, AutoPrune, AutoPruneOutcome, Pruned, RetentionPolicy};
use hermes_session::{
    Conflict, DeleteExtent, EndReason, NewChild, NewSession, Request, RequestKey, Source, StoreError, Title,
    TopicChange, Topics, UsageUpdate,
};
use std::ops::ControlFlow;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn to(platform: &str) -> HandoffRequest {
    HandoffRequest::to(platform)
}

fn keyed(seconds: i32, key: &str) -> Request {
    request(seconds).keyed(RequestKey::parse(key).unwrap())
}

/// A handoff is requested, claimed and ended; each step is visible to other handles and in the session's own columns.
pub async fn a_handoff_goes_its_way(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let never = other.handoff(&session).await?.unwrap();
    assert_eq!((never.state, never.platform, never.error, never.requested_at), (None, None, None, None));
    assert_eq!(other.handoff(&id("nobody")).await?, None);
    assert_eq!(store.claim_handoff(&session, MINUTE, None, &request(1)).await?, None);
    assert!(store.request_handoff(&session, &to("telegram 大"), &request(2)).await?);
    let asked = other.handoff(&session).await?.unwrap();
    assert_eq!((asked.state, asked.platform.as_deref()), (Some(HandoffState::Pending), Some("telegram 大")));
    assert_eq!((asked.requested_at, asked.lease_until), (Some(at(2)), None));
    assert_eq!(other.waiting_handoffs(at(3)).await?, [asked]);
    let claim = other.claim_handoff(&session, MINUTE, None, &request(3)).await?.unwrap().claim;
    let taken = store.handoff(&session).await?.unwrap();
    assert_eq!((taken.state, taken.lease_until), (Some(HandoffState::Running), Some(at(63))));
    assert_eq!(store.waiting_handoffs(at(4)).await?, []);
    assert_eq!(store.session(&session).await?.unwrap().handoff.state.as_deref(), Some("running"));
    assert!(other.end_handoff(&session, Some(claim), &HandoffEnd::Completed, &request(5)).await?);
    let ended = store.handoff(&session).await?.unwrap();
    assert_eq!((ended.state, ended.error, ended.lease_until), (Some(HandoffState::Completed), None, None));
    // Again, this time it fails.
    assert!(store.request_handoff(&session, &to("slack"), &request(6)).await?);
    let again = store.claim_handoff(&session, MINUTE, None, &request(7)).await?.unwrap().claim;
    assert!(again > claim);
    let why = HandoffEnd::Failed("大".repeat(501));
    assert!(store.end_handoff(&session, Some(again), &why, &request(8)).await?);
    let failed = other.handoff(&session).await?.unwrap();
    assert_eq!((failed.state, failed.platform.as_deref()), (Some(HandoffState::Failed), Some("slack")));
    assert_eq!(failed.error, Some("大".repeat(500)));
    for nobody in [
        store.request_handoff(&id("nobody"), &to("x"), &request(9)).await,
        store.end_handoff(&id("nobody"), None, &HandoffEnd::Completed, &request(9)).await,
        store.claim_handoff(&id("nobody"), MINUTE, None, &request(9)).await.map(|claim| claim.is_some()),
    ] {
        assert!(matches!(nobody, Err(StoreError::NotFound(_))), "{nobody:?}");
    }
    store.delete(&session, DeleteExtent::Conversation, &request(10)).await?;
    made(&*store, "s", 11).await;
    assert_eq!(other.handoff(&session).await?.unwrap().state, None);
    assert!(store.verify().await?.is_sound());
    assert_eq!(store.foreign().await?, []);
    Ok(())
}

/// A handoff in progress can't be requested again; a repeated request with the same key succeeds.
pub async fn one_on_its_way_is_not_asked_for_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    assert!(store.request_handoff(&session, &to("a"), &keyed(1, "ask")).await?);
    assert!(!store.request_handoff(&session, &to("b"), &request(2)).await?);
    assert!(store.request_handoff(&session, &to("a"), &keyed(3, "ask")).await?);
    let claim = store.claim_handoff(&session, MINUTE, None, &keyed(4, "take")).await?;
    assert!(claim.is_some());
    assert_eq!(store.claim_handoff(&session, MINUTE, None, &keyed(5, "take")).await?, claim);
    assert_eq!(store.claim_handoff(&session, MINUTE, None, &request(6)).await?, None);
    assert!(!store.request_handoff(&session, &to("b"), &request(7)).await?);
    assert_eq!(store.handoff(&session).await?.unwrap().platform.as_deref(), Some("a"));
    let reused = store.request_handoff(&session, &to("c"), &keyed(8, "ask")).await;
    assert!(matches!(reused, Err(StoreError::Conflict(Conflict::KeyReused(_)))), "{reused:?}");
    Ok(())
}

/// Of many concurrent workers exactly one claims a handoff.
pub async fn one_worker_wins(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.request_handoff(&session, &to("a"), &request(1)).await?;
    let mut workers = Vec::new();
    for number in 0..6 {
        let (store, session) = (setup.store().await, session.clone());
        workers
            .push(tokio::spawn(async move { store.claim_handoff(&session, MINUTE, None, &request(2 + number)).await }));
    }
    let mut claims = Vec::new();
    for worker in workers {
        claims.extend(worker.await.unwrap()?);
    }
    assert_eq!(claims, [Claimed { claim: Claim(1), fence: None }]);
    Ok(())
}

/// A worker whose lease expired is replaced, and can't end the handoff that another one holds now.
pub async fn a_lost_worker_is_replaced(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.request_handoff(&session, &to("a"), &request(1)).await?;
    let lost = store.claim_handoff(&session, MINUTE, None, &request(2)).await?.unwrap().claim;
    assert_eq!(store.waiting_handoffs(at(61)).await?, []);
    assert_eq!(store.claim_handoff(&session, MINUTE, None, &request(61)).await?, None);
    assert_eq!(store.waiting_handoffs(at(62)).await?.len(), 1);
    let next = store.claim_handoff(&session, MINUTE, None, &request(62)).await?.unwrap().claim;
    assert!(!store.end_handoff(&session, Some(lost), &HandoffEnd::Completed, &request(63)).await?);
    assert_eq!(store.handoff(&session).await?.unwrap().state, Some(HandoffState::Running));
    assert!(store.end_handoff(&session, Some(next), &HandoffEnd::Completed, &request(64)).await?);
    assert!(!store.end_handoff(&session, Some(next), &HandoffEnd::Failed("late".into()), &request(65)).await?);
    // A handoff whose lease expired without a new claim can be requested again.
    store.request_handoff(&session, &to("a"), &request(70)).await?;
    store.claim_handoff(&session, MINUTE, None, &request(71)).await?;
    assert!(!store.request_handoff(&session, &to("b"), &request(130)).await?);
    assert!(store.request_handoff(&session, &to("b"), &request(131)).await?);
    assert_eq!(store.handoff(&session).await?.unwrap().state, Some(HandoffState::Pending));
    Ok(())
}

/// The agent has no claim: it completes a requested handoff, and fails one in progress.
pub async fn agents_end_handoffs_without_a_claim(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let failed = HandoffEnd::Failed("timed out".into());
    for end in [&failed, &HandoffEnd::Completed] {
        assert!(!store.end_handoff(&session, None, end, &request(1)).await?);
    }
    store.request_handoff(&session, &to("a"), &request(2)).await?;
    assert!(store.end_handoff(&session, None, &failed, &request(3)).await?);
    assert!(!store.end_handoff(&session, None, &failed, &request(4)).await?);
    assert!(store.end_handoff(&session, None, &HandoffEnd::Completed, &request(5)).await?);
    assert!(!store.end_handoff(&session, None, &failed, &request(6)).await?);
    assert_eq!(store.handoff(&session).await?.unwrap().error, None);
    Ok(())
}

/// Handoffs are listed in the order of their requests, regardless of the age of the session.
pub async fn waiting_in_the_order_of_requests(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (name, start, asked) in [("old", 0, 30), ("new", 20, 25), ("b", 10, 26), ("a", 10, 26)] {
        let session = made(&*store, name, start).await;
        store.request_handoff(&session, &to("x"), &request(asked)).await?;
    }
    let waiting: Vec<String> =
        store.waiting_handoffs(at(40)).await?.iter().map(|handoff| handoff.session.to_string()).collect();
    assert_eq!(waiting, ["new", "a", "b", "old"]);
    Ok(())
}

fn on(chat: &str, user: &str, capabilities: (Option<bool>, Option<bool>)) -> TopicChange {
    TopicChange::On {
        chat_id: chat.into(),
        user_id: user.into(),
        has_topics_enabled: capabilities.0,
        allows_users_to_create_topics: capabilities.1,
    }
}

fn bind(chat: &str, thread: &str, session: &str) -> TopicChange {
    TopicChange::Bind {
        chat_id: chat.into(),
        thread_id: thread.into(),
        user_id: "u".into(),
        session_key: format!("key {chat} {thread}"),
        session_id: id(session),
        managed_mode: "auto".into(),
    }
}

/// Topics are switched on and off; the capabilities of the platform and the time of activation are kept.
pub async fn topics_are_switched(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    assert_eq!(store.topic_mode("1").await?, None);
    store.change_topics(&TopicChange::Prepare, at(0)).await?;
    assert_eq!(store.topics().await?, Topics::default(), "to prepare for topics changes none");
    store.change_topics(&TopicChange::Off { chat_id: "1".into(), clears: true }, at(0)).await?;
    assert_eq!(store.topic_mode("1").await?, None);
    store.change_topics(&on("1", "u", (Some(true), Some(false))), at(1)).await?;
    store.change_topics(&on("1", "v", (None, Some(true))), at(2)).await?;
    let mode = other.topic_mode("1").await?.unwrap();
    assert_eq!((mode.user_id.as_str(), mode.enabled, mode.activated_at, mode.updated_at), ("v", true, at(1), at(2)));
    assert_eq!((mode.has_topics_enabled, mode.allows_users_to_create_topics), (Some(true), Some(true)));
    made(&*store, "a", 0).await;
    made(&*store, "b", 0).await;
    store.change_topics(&bind("1", "1", "a"), at(3)).await?;
    store.change_topics(&bind("2", "1", "b"), at(3)).await?;
    store.change_topics(&TopicChange::Off { chat_id: "1".into(), clears: false }, at(4)).await?;
    let mode = other.topic_mode("1").await?.unwrap();
    assert_eq!((mode.enabled, mode.updated_at, other.topic("1", "1").await?.is_some()), (false, at(4), true));
    store.change_topics(&TopicChange::Off { chat_id: "1".into(), clears: true }, at(5)).await?;
    assert_eq!(other.topic("1", "1").await?, None);
    assert!(other.topic("2", "1").await?.is_some());
    let odd = store.change_topics(&on("N\0L", "u", (None, None)), at(6)).await;
    assert!(matches!(odd, Err(StoreError::Invalid(_))), "{odd:?}");
    assert_eq!((store.topic_mode("N\0L").await?, store.topic("N\0L", "").await?), (None, None));
    Ok(())
}

/// A topic is bound to one session, and a session to one topic.
pub async fn topics_lead_to_sessions(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    for name in ["a", "b"] {
        made(&*store, name, 0).await;
    }
    let nobody = store.change_topics(&bind("1", "1", "nobody"), at(0)).await;
    assert!(matches!(nobody, Err(StoreError::NotFound(_))), "{nobody:?}");
    store.change_topics(&bind("1", "1", "a"), at(1)).await?;
    let taken = store.change_topics(&bind("1", "2", "a"), at(2)).await;
    assert!(matches!(taken, Err(StoreError::Conflict(Conflict::TopicTaken { .. }))), "{taken:?}");
    store.change_topics(&bind("1", "1", "a"), at(3)).await?;
    store.change_topics(&bind("1", "1", "b"), at(4)).await?;
    let topic = other.topic("1", "1").await?.unwrap();
    assert_eq!((topic.session_id.as_str(), topic.linked_at, topic.updated_at), ("b", at(1), at(4)));
    assert_eq!((other.topic_of(&id("b")).await?, other.topic_of(&id("a")).await?), (Some(topic), None));
    store.change_topics(&bind("1", "2", "a"), at(5)).await?;
    store.delete(&id("a"), DeleteExtent::Conversation, &request(6)).await?;
    assert_eq!(other.topic("1", "2").await?, None);
    Ok(())
}

/// The sessions of a person without a topic, most recently active first.
pub async fn sessions_without_a_topic(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let telegram = Source::from_stored("telegram");
    for (name, source, user) in [
        ("a", "telegram", "u"),
        ("b", "telegram", "u"),
        ("c", "telegram", "v"),
        ("d", "cli", "u"),
        ("e", "telegram", "u"),
    ] {
        let new = NewSession { user_id: Some(user.into()), ..NewSession::new(id(name), Source::from_stored(source)) };
        store.create(&new, &request(0)).await?;
    }
    store.append(&id("a"), &[user("later")], &request(5)).await?;
    store.change_topics(&bind("1", "1", "b"), at(1)).await?;
    let found = |rows: Vec<hermes_session::SessionSummary>| -> Vec<String> {
        rows.iter().map(|row| row.id.to_string()).collect()
    };
    assert_eq!(found(unlinked_sessions(&*store, &telegram, "u", 10).await?), ["a", "e"]);
    assert_eq!(found(unlinked_sessions(&*store, &telegram, "u", 1).await?), ["a"]);
    Ok(())
}

/// Ghost sessions, which a terminal created and left without a message, are deleted, and nothing else.
pub async fn ghosts_are_cleared_away(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let day = 86_400;
    let tui = |name: &str| NewSession::new(id(name), Source::from_stored("tui"));
    for (name, start) in [("ghost", 0), ("spoken", 0), ("titled", 0), ("active", 0), ("young", day)] {
        store.create(&tui(name), &request(start)).await?;
        if name != "active" {
            store.end(&id(name), &EndReason::from_stored("tui_close"), &request(start + 1)).await?;
        }
    }
    store.create(&new_session("elsewhere"), &request(0)).await?;
    store.end(&id("elsewhere"), &EndReason::from_stored("cli_close"), &request(1)).await?;
    store.append(&id("spoken"), &[user("hello")], &request(2)).await?;
    store.set_title(&id("titled"), Title::clean("kept").unwrap().as_ref(), &request(2)).await?;
    let now = at(f64::from(day) + 10.0);
    // A message was appended after planning.
    let late = tui("late");
    store.create(&late, &request(0)).await?;
    store.end(&late.id, &EndReason::from_stored("tui_close"), &request(1)).await?;
    store.append(&late.id, &[user("still here")], &request(1)).await?;
    let step = store.prune(std::slice::from_ref(&late.id), &RetentionPolicy::ghosts(), now).await?;
    assert_eq!((step.kept, step.conversations), (1, 0));
    assert_eq!(retention::prune_ghosts(&*store, now).await?.sessions, 1);
    assert_eq!(store.session(&id("ghost")).await?, None);
    for name in ["spoken", "titled", "active", "young", "elsewhere", "late"] {
        assert!(store.session(&id(name)).await?.is_some(), "{name}");
    }
    Ok(())
}

/// Orphans, which a compression created and that were never continued, are ended once.
pub async fn orphans_are_ended(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let week = 7 * 86_400;
    for (name, start) in [("p1", 0), ("p2", 0), ("p3", week)] {
        made(&*store, name, start).await;
        let child = NewChild::new(id(&format!("{name}c")));
        store.split(&id(name), &child, &[user("so far")], &request(start + 1)).await?;
    }
    let used = UsageUpdate { api_call_count: Some(1), ..UsageUpdate::default() };
    store.record_usage(&id("p2c"), &used, &request(2)).await?;
    let now = at(f64::from(week) + 100.0);
    assert_eq!(retention::end_orphans(&*store, now).await?, 1);
    let ended = store.session(&id("p1c")).await?.unwrap();
    assert_eq!(ended.end_reason.unwrap().as_str(), EndReason::ORPHANED_COMPRESSION);
    assert_eq!(ended.ended_at, Some(now));
    for name in ["p2c", "p3c"] {
        assert_eq!(store.session(&id(name)).await?.unwrap().ended_at, None, "{name}");
    }
    assert_eq!(retention::end_orphans(&*store, now).await?, 0);
    Ok(())
}

/// Auto-prune is done by one of several processes, and not again before its interval is over.
pub async fn what_is_old_goes_by_itself(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let day = 86_400.0;
    let rule = AutoPrune::new(RetentionPolicy::new(1.0, None)?, 24.0);
    let go_on = |_: &Pruned| ControlFlow::Continue(());
    let (mut one, mut two) = (go_on, go_on);
    for name in ["a", "b"] {
        made(&*store, name, 0).await;
        store.end(&id(name), &EndReason::from_stored("cli_close"), &request(1)).await?;
    }
    let (one, two) = tokio::join!(
        retention::auto_prune(&*store, &rule, at(2.0 * day), &mut one),
        retention::auto_prune(&*other, &rule, at(2.0 * day), &mut two)
    );
    let runs: Vec<_> = [one?, two?].into_iter().filter_map(AutoPruneOutcome::run).collect();
    assert_eq!(runs.iter().map(|run| run.pruned.sessions).collect::<Vec<_>>(), [2]);
    assert!(runs[0].is_first && runs[0].is_finished);
    made(&*store, "c", 0).await;
    store.end(&id("c"), &EndReason::from_stored("cli_close"), &request(1)).await?;
    let early = retention::auto_prune(&*store, &rule, at(2.9 * day), &mut { go_on }).await?;
    assert_eq!(early, AutoPruneOutcome::NotDue);
    // A stored time from a wrong clock does not block it.
    for last in ["inf", "nan", "soon", "9e18"] {
        store.set_meta(retention::LAST_AUTO_PRUNE, Some(last)).await?;
        let outcome = retention::auto_prune(&*store, &rule, at(3.1 * day), &mut { go_on }).await?;
        assert!(outcome.run().is_some(), "{last}");
    }
    assert_eq!(store.session(&id("c")).await?, None);
    Ok(())
}
